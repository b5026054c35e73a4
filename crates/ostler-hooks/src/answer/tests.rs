//! Decoding answers: each field, each event, and what is not an answer at all.

use serde_json::json;

use super::*;

fn answer(event: Event, value: Value) -> Result<Answer, String> {
    decode(event, value.as_object().unwrap())
}

/// The answer with only what a change sets.
fn only(change: impl FnOnce(&mut Answer)) -> Answer {
    let mut answer = Answer::default();
    change(&mut answer);
    answer
}

fn specific(event: Event, mut fields: Value) -> Value {
    fields["hookEventName"] = json!(event.name());
    json!({"hookSpecificOutput": fields})
}

#[test]
fn top_fields_mean_what_they_say() {
    use Event::{PermissionRequest, PostToolUse, PreToolUse, Stop, UserPromptSubmit};
    let no = |reason: Option<&str>| {
        let reason = reason.map(str::to_owned);
        only(|answer| (answer.block, answer.reason) = (true, reason))
    };
    let table = [
        (Stop, json!({}), Answer::default()),
        (Stop, json!({"unknown": 1, "decision": null}), Answer::default()),
        (Stop, json!({"decision": "block", "reason": "r"}), no(Some("r"))),
        (UserPromptSubmit, json!({"decision": "block"}), no(None)),
        (PostToolUse, json!({"block": true, "reason": "r"}), no(Some("r"))),
        (
            PreToolUse,
            json!({"decision": "block", "reason": "r"}),
            only(|a| (a.decision, a.reason) = (Some(Decision::Deny), Some("r".to_owned()))),
        ),
        (PreToolUse, json!({"decision": "approve"}), only(|a| a.decision = Some(Decision::Allow))),
        (Stop, json!({"decision": "approve"}), Answer::default()),
        (
            PermissionRequest,
            json!({"decision": "block", "reason": "r"}),
            only(|a| {
                a.reason = Some("r".to_owned());
                a.permission = Some(PermissionAnswer::Deny {
                    message: Some("r".to_owned()),
                    interrupt: false,
                });
            }),
        ),
        (
            Stop,
            json!({"continue": false, "stopReason": "done"}),
            only(|a| a.stop = Some("done".to_owned())),
        ),
        (Stop, json!({"continue": false}), only(|a| a.stop = Some(String::new()))),
        (Stop, json!({"continue": true, "stopReason": "done"}), Answer::default()),
        (
            Stop,
            json!({"systemMessage": "hi", "suppressOutput": true}),
            only(|a| (a.message, a.suppress_output) = (Some("hi".to_owned()), true)),
        ),
        (Stop, json!({"async": true}), only(|a| a.goes_on = Some(None))),
        (
            Stop,
            json!({"async": true, "asyncTimeout": 1500}),
            only(|a| a.goes_on = Some(Some(Duration::from_millis(1500)))),
        ),
        (Stop, json!({"context": "c"}), only(|a| a.context = vec!["c".to_owned()])),
        (Stop, json!({"context": "  "}), Answer::default()),
        (
            PreToolUse,
            json!({"modifiedInput": {"a": 1}}),
            only(|a| {
                a.input = Some(NewInput::Fields(Map::from_iter([("a".to_owned(), json!(1))])))
            }),
        ),
        (PostToolUse, json!({"modifiedOutput": "x"}), only(|a| a.output = Some(json!("x")))),
    ];
    for (event, value, expected) in table {
        assert_eq!(answer(event, value.clone()).unwrap(), expected, "{event:?} {value}");
    }
}

#[test]
fn fields_of_an_event_mean_what_they_say() {
    use Event::{
        PermissionDenied, PermissionRequest, PostToolUse, PreToolUse, SessionStart, Stop,
        UserPromptSubmit,
    };
    let map = || Map::from_iter([("a".to_owned(), json!(1))]);
    let decided = |decision| only(|a| a.decision = Some(decision));
    let table = [
        (PreToolUse, json!({"permissionDecision": "allow"}), decided(Decision::Allow)),
        (PreToolUse, json!({"permissionDecision": "ask"}), decided(Decision::Ask)),
        (PreToolUse, json!({"permissionDecision": "defer"}), decided(Decision::Defer)),
        (
            PreToolUse,
            json!({"permissionDecision": "deny", "permissionDecisionReason": "r"}),
            only(|a| (a.decision, a.reason) = (Some(Decision::Deny), Some("r".to_owned()))),
        ),
        (
            PreToolUse,
            json!({"updatedInput": {"a": 1}, "additionalContext": "c"}),
            only(|a| (a.input, a.context) = (Some(NewInput::Whole(map())), vec!["c".to_owned()])),
        ),
        (
            PostToolUse,
            json!({"updatedToolOutput": {"a": 1}}),
            only(|a| a.output = Some(json!({"a": 1}))),
        ),
        (PostToolUse, json!({"updatedMCPToolOutput": [1]}), only(|a| a.output = Some(json!([1])))),
        (
            PermissionRequest,
            json!({"decision": {"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": [{"type": "setMode"}]}}),
            only(|a| {
                a.permission = Some(PermissionAnswer::Allow {
                    updated_input: Some(map()),
                    updates: vec![json!({"type": "setMode"})],
                });
            }),
        ),
        (
            PermissionRequest,
            json!({"decision": {"behavior": "deny", "message": "m", "interrupt": true}}),
            only(|a| {
                a.permission =
                    Some(PermissionAnswer::Deny { message: Some("m".to_owned()), interrupt: true });
            }),
        ),
        (PermissionDenied, json!({"retry": true}), only(|a| a.retry = true)),
        (
            UserPromptSubmit,
            json!({"additionalContext": "c", "sessionTitle": "t", "suppressOriginalPrompt": true}),
            only(|a| {
                (a.context, a.title, a.suppress_prompt) =
                    (vec!["c".to_owned()], Some("t".to_owned()), true);
            }),
        ),
        (
            SessionStart,
            json!({"additionalContext": "c", "sessionTitle": "t"}),
            only(|a| (a.context, a.title) = (vec!["c".to_owned()], Some("t".to_owned()))),
        ),
        (Stop, json!({"additionalContext": "c"}), only(|a| a.context = vec!["c".to_owned()])),
        (Stop, json!({"permissionDecision": "deny", "updatedInput": {}}), Answer::default()),
    ];
    for (event, fields, expected) in table {
        let value = specific(event, fields);
        assert_eq!(answer(event, value.clone()).unwrap(), expected, "{event:?} {value}");
    }
}

#[test]
fn half_an_answer_is_none() {
    use Event::{PermissionRequest, PostToolUse, PreToolUse, Stop};
    let table = [
        (Stop, json!({"decision": "maybe"}), "`decision`"),
        (Stop, json!({"decision": true}), "`decision`"),
        (Stop, json!({"continue": "no"}), "`continue`"),
        (Stop, json!({"stopReason": 1, "continue": false}), "`stopReason`"),
        (Stop, json!({"systemMessage": {}}), "`systemMessage`"),
        (Stop, json!({"async": 1}), "`async`"),
        (Stop, json!({"async": true, "asyncTimeout": -1}), "`asyncTimeout`"),
        (Stop, json!({"hookSpecificOutput": 1}), "`hookSpecificOutput`"),
        (Stop, json!({"hookSpecificOutput": {}}), "no `hookEventName`"),
        (Stop, specific(PreToolUse, json!({})), "but the event is `Stop`"),
        (
            PreToolUse,
            specific(PreToolUse, json!({"permissionDecision": "yes"})),
            "`permissionDecision`",
        ),
        (PreToolUse, specific(PreToolUse, json!({"updatedInput": "x"})), "`updatedInput`"),
        (
            PostToolUse,
            specific(PostToolUse, json!({"additionalContext": 1})),
            "`additionalContext`",
        ),
        (
            PermissionRequest,
            specific(PermissionRequest, json!({"decision": "allow"})),
            "`decision`",
        ),
        (
            PermissionRequest,
            specific(PermissionRequest, json!({"decision": {}})),
            "`decision.behavior`",
        ),
        (
            PermissionRequest,
            specific(
                PermissionRequest,
                json!({"decision": {"behavior": "allow", "updatedPermissions": 1}}),
            ),
            "`updatedPermissions`",
        ),
    ];
    for (event, value, words) in table {
        let error = answer(event, value.clone()).unwrap_err();
        assert!(error.contains(words), "{value}: {error}");
    }
}

#[test]
fn exit_codes_mean_the_same_for_every_event() {
    for event in Event::ALL.iter().copied() {
        let zero = of_exit(event, 0, "", "noise").unwrap();
        assert_eq!(zero, Answer::default(), "{event:?}");
        let two = of_exit(event, 2, "out", "err\n");
        match two {
            Ok(answer) => {
                assert!(event.can_block() && answer.is_block(), "{event:?}");
                assert_eq!(answer.reason.as_deref(), Some("err"));
            }
            Err(why) => assert!(!event.can_block() && why == "err", "{event:?}"),
        }
        for code in [1, 3, 126, 127, 255] {
            let why = of_exit(event, code, "{\"decision\":\"block\"}", "").unwrap_err();
            assert_eq!(why, format!("exit code {code}"), "{event:?}");
        }
    }
    assert_eq!(of_exit(Event::Stop, 2, "from stdout", " ").unwrap().reason.unwrap(), "from stdout");
    assert_eq!(of_exit(Event::Stop, 1, "", "boom").unwrap_err(), "exit code 1: boom");
}

#[test]
fn plain_words_are_context_where_that_is_so_and_nothing_elsewhere() {
    for event in Event::ALL.iter().copied() {
        let context = of_text(event, " some words\n").unwrap().context;
        let expected: &[&str] = if event.plain_text_is_context() { &["some words"] } else { &[] };
        assert_eq!(context, expected, "{event:?}");
    }
    for odd in ["{", "{not json}", "[1]", "\"x\"", "{}{}"] {
        assert_eq!(of_text(Event::UserPromptSubmit, odd).unwrap().context, [odd]);
        assert_eq!(of_text(Event::PreToolUse, odd).unwrap(), Answer::default());
    }
}

#[test]
fn a_first_line_may_be_the_answer() {
    let text = "{\"async\":true}\nand so on\n";
    assert_eq!(of_text(Event::Stop, text).unwrap().goes_on, Some(None));
    let pretty = "{\n  \"decision\": \"block\",\n  \"reason\": \"r\"\n}\n";
    assert!(of_text(Event::Stop, pretty).unwrap().block);
}

#[test]
fn long_texts_are_cut() {
    let long = "x".repeat(1 << 20);
    let answer = of_text(Event::UserPromptSubmit, &long).unwrap();
    assert!(answer.context[0].len() < CONTEXT_CAP + 200);
    let answer = of_exit(Event::Stop, 2, "", &long).unwrap();
    assert!(answer.reason.unwrap().len() < TEXT_CAP + 200);
}

#[test]
fn a_model_says_no_in_two_ways_and_yes_in_all_others() {
    for no in [
        r#"{"ok": false, "reason": "r"}"#,
        r#"{"decision": "block", "reason": "r"}"#,
        "Sure!\n```json\n{\"ok\":false,\"reason\":\"r\"}\n```",
    ] {
        let answer = of_model(Event::PreToolUse, no);
        assert_eq!(
            (answer.decision, answer.reason.as_deref()),
            (Some(Decision::Deny), Some("r")),
            "{no}"
        );
        assert!(of_model(Event::Stop, no).block);
    }
    for yes in [r#"{"ok": true}"#, r#"{"decision":"allow"}"#, "no", "", "}{", "{\"ok\": \"false\"}"]
    {
        assert_eq!(of_model(Event::Stop, yes), Answer::default(), "{yes}");
    }
}
