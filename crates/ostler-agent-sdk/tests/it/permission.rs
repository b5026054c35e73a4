//! `can_use_tool`: what the host is asked, and what its answers do.

use serde_json::{Value, json};

use crate::pipes::{Pipes, kinds, only};

const ASKED: &[&str] = &["--permission-prompt-tool", "stdio"];

fn edit() -> Value {
    json!([
        {"when": {"toolResultFor": "Edit"}, "steps": [{"text": "Done."}]},
        {"when": {"toolResultFor": "Read"}, "steps": [{"toolUse": {"name": "Edit", "input":
            {"file_path": "greet.sh", "old_string": "Helo", "new_string": "Hello"}}}]},
        {"steps": [{"toolUse": {"name": "Read", "input": {"file_path": "greet.sh"}}}]}
    ])
}

/// Frames up to the question, and the question.
async fn asked(pipes: &mut Pipes) -> (Vec<Value>, Value) {
    let frames = pipes.until("control_request").await;
    let request = frames.last().unwrap().clone();
    (frames, request)
}

fn file(pipes: &Pipes) -> String {
    std::fs::read_to_string(pipes.home.project().join("greet.sh")).unwrap()
}

#[tokio::test]
async fn a_call_runs_once_the_host_allows_it() {
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    let (frames, request) = asked(&mut pipes).await;
    assert_eq!(
        kinds(&frames),
        ["system/init", "assistant tool_use", "user", "assistant tool_use", "control_request"]
    );
    let body = &request["request"];
    assert_eq!((&body["subtype"], &body["tool_name"]), (&json!("can_use_tool"), &json!("Edit")));
    assert_eq!(body["input"]["new_string"], "Hello");
    assert_eq!(body["tool_use_id"], frames[3]["message"]["content"][0]["id"]);
    assert!(
        body["permission_suggestions"]
            .as_array()
            .unwrap()
            .iter()
            .all(|update| update["type"].is_string())
    );
    assert_eq!(file(&pipes), "echo Helo\n");
    pipes.answer(&request, json!({"behavior": "allow"})).await;
    let rest = pipes.until("result").await;
    assert!(rest[0]["tool_use_result"]["filePath"].is_string(), "{}", rest[0]);
    assert_eq!(rest[0]["message"]["content"][0]["is_error"], false);
    assert_eq!(file(&pipes), "echo Hello\n");
    assert_eq!(rest.last().unwrap()["num_turns"], 3);
    let end = pipes.end().await;
    assert_eq!((end.status, end.stderr.as_str()), (0, ""));
}

#[tokio::test]
async fn other_input_of_the_host_is_what_runs() {
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    let (_, request) = asked(&mut pipes).await;
    let mut input = request["request"]["input"].clone();
    input["new_string"] = json!("Hallo");
    pipes.answer(&request, json!({"behavior": "allow", "updatedInput": input})).await;
    pipes.until("result").await;
    assert_eq!(file(&pipes), "echo Hallo\n");
}

#[tokio::test]
async fn a_denial_has_exactly_the_words_of_the_host() {
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    let (_, request) = asked(&mut pipes).await;
    pipes.answer(&request, json!({"behavior": "deny", "message": "not today"})).await;
    let frames = pipes.until("result").await;
    let block = &frames[0]["message"]["content"][0];
    assert_eq!((&block["is_error"], &block["content"]), (&json!(true), &json!("not today")));
    let denials = &frames.last().unwrap()["permission_denials"];
    assert_eq!(denials[0]["tool_name"], "Edit");
    assert_eq!(denials[0]["tool_input"]["new_string"], "Hello");
    assert_eq!(pipes.end().await.status, 0);
}

#[tokio::test]
async fn a_denial_can_stop_the_turn() {
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    let (_, request) = asked(&mut pipes).await;
    pipes.answer(&request, json!({"behavior": "deny", "message": "stop", "interrupt": true})).await;
    let frames = pipes.until("result").await;
    assert_eq!(kinds(&frames), ["user", "user", "result"]);
    let result = frames.last().unwrap();
    assert_eq!(
        (&result["terminal_reason"], &result["stop_reason"]),
        (&json!("aborted_tools"), &json!("tool_use"))
    );
}

#[tokio::test]
async fn a_failed_callback_is_a_denial() {
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    let (_, request) = asked(&mut pipes).await;
    let error = json!({"subtype": "error", "request_id": request["request_id"], "error": "boom"});
    pipes.send(json!({"type": "control_response", "response": error})).await;
    let frames = pipes.until("result").await;
    assert_eq!(
        frames[0]["message"]["content"][0]["content"],
        "Tool permission request failed: boom"
    );
}

#[tokio::test]
async fn updated_permissions_hold_before_the_tool_runs() {
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    let (_, request) = asked(&mut pipes).await;
    let updates = json!([
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        {"type": "setMode", "mode": "bypassPermissions", "destination": "session"},
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": null}], "behavior": "deny", "destination": "localSettings"}
    ]);
    pipes.answer(&request, json!({"behavior": "allow", "updatedPermissions": updates})).await;
    let frames = pipes.until("result").await;
    let status = frames.iter().find(|frame| frame["subtype"] == "status").unwrap();
    assert_eq!(status["permissionMode"], "acceptEdits", "bypass was not permitted at launch");
    let end = pipes.end().await;
    assert!(end.stderr.contains("bypassPermissions"), "{}", end.stderr);
    let kept = end.home.project().join(".ostler/settings.local.json");
    assert!(std::fs::read_to_string(kept).unwrap().contains("\"Bash\""));
}

#[tokio::test]
async fn an_interrupt_withdraws_what_is_open() {
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    let (_, request) = asked(&mut pipes).await;
    pipes.request("i", json!({"subtype": "interrupt"})).await;
    let frames = pipes.until("result").await;
    let cancel = only(&frames, "control_cancel_request");
    assert_eq!(cancel["request_id"], request["request_id"]);
    let result = only(&frames, "result");
    assert_eq!(result["terminal_reason"], "aborted_tools");
    assert_eq!(result["permission_denials"][0]["tool_name"], "Edit");
    // TypeScript hosts may still answer; it is no longer open.
    pipes.answer(&request, json!({"behavior": "allow"})).await;
    let end = pipes.end().await;
    assert_eq!(end.status, 1);
    assert_eq!(
        std::fs::read_to_string(end.home.project().join("greet.sh")).unwrap(),
        "echo Helo\n"
    );
}

#[tokio::test]
async fn the_end_of_the_input_refuses_what_waits_and_what_comes() {
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    asked(&mut pipes).await;
    pipes.close();
    let end = pipes.wait().await;
    assert_eq!(only(&end.frames, "result")["result"], "Done.");
    assert_eq!(end.status, 0);
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    let end = pipes.end().await;
    assert!(end.frames.iter().all(|frame| frame["type"] != "control_request"));
    assert_eq!(only(&end.frames, "result")["permission_denials"][0]["tool_name"], "Edit");
}

#[tokio::test]
async fn without_a_callback_the_host_is_told_of_the_denial() {
    for args in [&[][..], &["--permission-prompt-tool=stdio", "--permission-prompts=none"]] {
        let mut pipes = Pipes::start(args, edit());
        pipes.prompt("correct it").await;
        let end = pipes.end().await;
        let denied =
            end.frames.iter().find(|frame| frame["subtype"] == "permission_denied").unwrap();
        assert_eq!(denied["tool_name"], "Edit");
        assert!(denied["message"].is_string());
        assert_eq!(
            std::fs::read_to_string(end.home.project().join("greet.sh")).unwrap(),
            "echo Helo\n"
        );
    }
}

#[tokio::test]
async fn states_follow_an_open_question() {
    let home = ostler_test::TempHome::with_project("=== greet.sh\necho Helo\n").unwrap();
    let states = [("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1")];
    let mut pipes = Pipes::start_in(home, ASKED, &states, edit());
    pipes.prompt("correct it").await;
    let (mut frames, request) = asked(&mut pipes).await;
    pipes.answer(&request, json!({"behavior": "allow"})).await;
    frames.extend(pipes.end().await.frames);
    let states: Vec<_> = frames.iter().filter_map(|frame| frame["state"].as_str()).collect();
    assert_eq!(states, ["running", "requires_action", "running", "idle"]);
}

#[tokio::test]
async fn a_host_that_asks_again_hears_what_is_open() {
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    let (_, request) = asked(&mut pipes).await;
    let answer = pipes.asked(json!({"subtype": "initialize"})).await;
    assert_eq!(answer["pending_permission_requests"], json!([request]));
    pipes.answer(&request, json!({"behavior": "allow"})).await;
    pipes.until("result").await;
    assert_eq!(file(&pipes), "echo Hello\n");
}

#[tokio::test(start_paused = true)]
async fn a_host_may_take_as_long_as_it_wants() {
    let mut pipes = Pipes::start(ASKED, edit());
    pipes.prompt("correct it").await;
    let (_, request) = asked(&mut pipes).await;
    tokio::time::advance(std::time::Duration::from_secs(30 * 24 * 3600)).await;
    pipes.answer(&request, json!({"behavior": "allow"})).await;
    let frames = pipes.until("result").await;
    assert!(frames.iter().all(|frame| frame["type"] != "control_cancel_request"), "{frames:?}");
    assert_eq!(file(&pipes), "echo Hello\n");
}

fn calls(tool: &str, inputs: &[Value]) -> Value {
    let turn = |(at, input): (usize, &Value)| json!({"when": {"turn": at + 1}, "steps": [{"toolUse": {"name": tool, "input": input}}]});
    let mut replies: Vec<_> = inputs.iter().enumerate().map(turn).collect();
    replies.push(json!({"repeat": true, "steps": [{"text": "End."}]}));
    Value::Array(replies)
}

#[tokio::test]
async fn each_destination_gets_its_rule_and_the_next_call_is_not_asked_about() {
    for (destination, file) in [
        ("session", None),
        ("cliArg", None),
        ("localSettings", Some("project/.ostler/settings.local.json")),
        ("projectSettings", Some("project/.ostler/settings.json")),
        ("userSettings", Some("home/settings.json")),
    ] {
        let replies =
            calls("Bash", &[json!({"command": "touch a"}), json!({"command": "touch b"})]);
        let mut pipes = Pipes::start(ASKED, replies);
        pipes.prompt("go").await;
        let (_, request) = asked(&mut pipes).await;
        let rules = json!([{"toolName": "Bash", "ruleContent": "touch:*"}]);
        let update = json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": destination});
        pipes.answer(&request, json!({"behavior": "allow", "updatedPermissions": [update]})).await;
        let frames = pipes.until("result").await;
        assert!(frames.iter().all(|frame| frame["type"] != "control_request"), "{destination}");
        assert!(pipes.home.project().join("b").exists(), "{destination}");
        let written: Vec<_> = [
            (
                "project/.ostler/settings.local.json",
                pipes.home.project().join(".ostler/settings.local.json"),
            ),
            ("project/.ostler/settings.json", pipes.home.project().join(".ostler/settings.json")),
            ("home/settings.json", pipes.home.ostler_home().join("settings.json")),
        ]
        .into_iter()
        .filter(|(_, path)| path.exists())
        .map(|(name, _)| name)
        .collect();
        assert_eq!(written, Vec::from_iter(file), "{destination}");
    }
}

#[tokio::test]
async fn an_update_that_makes_no_sense_is_told_and_the_others_count() {
    let replies = calls("Bash", &[json!({"command": "touch a"}), json!({"command": "touch b"})]);
    let mut pipes = Pipes::start(ASKED, replies);
    pipes.prompt("go").await;
    let (_, request) = asked(&mut pipes).await;
    let rules = json!([{"toolName": "Bash", "ruleContent": "touch:*"}]);
    let updates = json!([
        {"type": "addRule"},
        {"type": "setMode", "mode": "mad", "destination": "session"},
        {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}
    ]);
    pipes.answer(&request, json!({"behavior": "allow", "updatedPermissions": updates})).await;
    let frames = pipes.until("result").await;
    assert!(frames.iter().all(|frame| frame["type"] != "control_request"));
    let end = pipes.end().await;
    assert!(end.stderr.contains("addRule") && end.stderr.contains("`mad`"), "{}", end.stderr);
}

#[tokio::test]
async fn a_host_is_told_what_it_must_not_offer() {
    let options = json!([{"label": "a", "description": ""}, {"label": "b", "description": ""}]);
    let question = json!({"questions": [{"question": "Which?", "header": "h", "options": options, "multiSelect": false}]});
    let keys = [
        "requires_user_interaction",
        "suppress_always_allow_rule",
        "default_to_no",
        "classifier_approvable",
    ];
    for (tool, input, flags) in [
        ("Bash", json!({"command": "touch a"}), [None, None, None, None]),
        ("Bash", json!({"command": "git push"}), [None, Some(true), None, None]),
        (
            "Write",
            json!({"file_path": ".git/config", "content": "x"}),
            [None, Some(true), Some(true), Some(false)],
        ),
        ("AskUserQuestion", question, [Some(true), None, None, None]),
    ] {
        let home = ostler_test::TempHome::with_project(
            "=== .ostler/settings.json\n{\"permissions\": {\"ask\": [\"Bash(git push:*)\"]}}\n",
        )
        .unwrap();
        let mut pipes = Pipes::start_in(home, ASKED, &[], calls(tool, &[input]));
        pipes.prompt("go").await;
        let (_, request) = asked(&mut pipes).await;
        let told = keys.map(|key| request["request"][key].as_bool());
        assert_eq!(told, flags, "{request}");
        pipes.answer(&request, json!({"behavior": "deny", "message": "no"})).await;
        pipes.until("result").await;
    }
}
