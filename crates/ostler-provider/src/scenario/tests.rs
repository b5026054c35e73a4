//! What `scenario` promises, held on examples.

use ostler_protocol::{Block, Message};

use super::*;
use crate::ModelRequest;

fn parse(text: &str) -> Result<Scenario, String> {
    Scenario::parse("t.scenario.json", text, &Vars::new()).map_err(|error| error.to_string())
}

fn step(json: &str) -> Result<Step, String> {
    let text = format!(r#"{{"name":"t","replies":[{{"steps":[{json}]}}]}}"#);
    parse(&text).map(|scenario| scenario.replies[0].steps[0].clone())
}

fn script(replies: &str) -> Script {
    Script::new(parse(&format!(r#"{{"name":"t","replies":{replies}}}"#)).unwrap())
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest { model: "m".to_owned(), messages, ..ModelRequest::default() }
}

fn call(id: &str, name: &str) -> Message {
    let (id, name) = (id.to_owned(), name.to_owned());
    Message::assistant(vec![Block::ToolUse { id, name, input: serde_json::json!({}) }])
}

fn said(script: &Script, request: &ModelRequest) -> String {
    match script.next(request) {
        Ok(played) => match &played.steps[0] {
            Step::Text { text, .. } => text.clone(),
            other => panic!("{other:?}"),
        },
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_name_file_place_and_remedy() {
    let cases = [
        ("{", "is not JSON"),
        (r#"{"name":"t"}"#, "`the top`: missing field `replies`"),
        (
            r#"{"name":"t","replies":[{"steps":[{"txet":"a"}]}]}"#,
            "`replies[0].steps[0]`: unknown field `txet`",
        ),
        (
            r#"{"name":"t","replies":[{"when":{"foo":1},"steps":[]}]}"#,
            "`replies[0]`: unknown field `foo`",
        ),
        (r#"{"name":"t","replies":[{"steps":[{"text":"a","stall":true}]}]}"#, "exactly one of"),
        (r#"{"name":"t","replies":[{"steps":[{}]}]}"#, "exactly one of"),
        (
            r#"{"name":"t","replies":[{"steps":[{"text":"a","signature":"s"}]}]}"#,
            "belongs to `thinking`",
        ),
        (r#"{"name":"t","replies":[{"steps":[{"stall":false}]}]}"#, "write `true`"),
        (
            r#"{"name":"t","replies":[{"steps":[{"toolUse":{"name":"A","input":3}}]}]}"#,
            "is an object",
        ),
        (
            r#"{"name":"t","replies":[{"steps":[{"repeatText":{"text":"aaaa","count":99999999999}}]}]}"#,
            "64 MiB",
        ),
    ];
    for (text, want) in cases {
        let error = parse(text).unwrap_err();
        assert!(error.contains("t.scenario.json"), "{error}");
        assert!(error.contains(want), "`{error}` lacks `{want}`");
    }
}

#[test]
fn every_step_is_read() {
    assert_eq!(step(r#"{"delayMs":5}"#), Ok(Step::Delay(Duration::from_millis(5))));
    assert_eq!(step(r#"{"cut":true}"#), Ok(Step::Cut { bytes: None }));
    assert_eq!(step(r#"{"cut":{"bytes":7}}"#), Ok(Step::Cut { bytes: Some(7) }));
    assert_eq!(step(r#"{"stall":true}"#), Ok(Step::Stall));
    let Ok(Step::ToolUse { input, id: None, .. }) =
        step(r#"{"toolUse":{"name":"A","inputText":"{\"a"}}"#)
    else {
        panic!("no call")
    };
    assert_eq!(input, "{\"a");
}

#[test]
fn variables_of_the_caller_win_and_unknown_ones_stay() {
    let text = r#"{"name":"t","vars":{"a":"own","b":"own"},
        "replies":[{"steps":[{"text":"${a} ${b} ${HOME} ${"}]}]}"#;
    let vars = Vars::from([("a".to_owned(), "caller".to_owned())]);
    let scenario = Scenario::parse("t", text, &vars).unwrap();
    let Step::Text { text, .. } = &scenario.replies[0].steps[0] else { panic!("no text") };
    assert_eq!(text, "caller own ${HOME} ${");
}

#[test]
fn replies_are_used_up_in_order_unless_they_repeat() {
    let script = script(
        r#"[{"steps":[{"text":"one"}]},{"steps":[{"text":"two"}]},{"repeat":true,"steps":[{"text":"more"}]}]"#,
    );
    let request = request(vec![Message::user(vec![Block::text("x")])]);
    let all = [(); 4].map(|()| said(&script, &request));
    assert_eq!(all, ["one", "two", "more", "more"]);
    assert!(script.unplayed().is_empty());
}

#[test]
fn predicates_look_at_the_end_of_the_request() {
    let replies = r#"[
        {"repeat":true,"when":{"toolResultFor":"Read","toolResultIsError":true},"steps":[{"text":"failed"}]},
        {"repeat":true,"when":{"toolResultFor":"c1","toolResultContains":"gold"},"steps":[{"text":"gold"}]},
        {"repeat":true,"when":{"lastUserText":"dig","turn":2},"steps":[{"text":"second"}]},
        {"repeat":true,"when":{"lastUserText":"dig"},"steps":[{"text":"first"}]}]"#;
    let script = script(replies);
    let user = |text: &str| Message::user(vec![Block::text("context"), Block::text(text)]);
    let result = |text: &str, bad| {
        let reminder = Block::text("<system-reminder>dig</system-reminder>");
        Message::user(vec![Block::tool_result("c1", text, bad), reminder])
    };
    assert_eq!(said(&script, &request(vec![user("dig")])), "first");
    let with = |text, bad| request(vec![user("dig"), call("c1", "Read"), result(text, bad)]);
    assert_eq!(said(&script, &with("gold", false)), "gold");
    assert_eq!(said(&script, &with("gold", true)), "failed");
    assert_eq!(said(&script, &with("sand", false)), "second");
    let mut later = with("sand", false);
    later.messages.extend([Message::assistant(vec![Block::text("ok")]), user("stop")]);
    assert!(said(&script, &later).contains("has no reply"));
}

#[test]
fn made_up_ids_go_on_where_the_request_ends() {
    let script = script(r#"[{"steps":[{"toolUse":{"name":"A"}}]}]"#);
    let result = Message::user(vec![Block::tool_result("toolu_000007", "x", false)]);
    let user = Message::user(vec![Block::text("x")]);
    let played = script.next(&request(vec![user, call("toolu_000007", "A"), result])).unwrap();
    let Step::ToolUse { id, .. } = &played.steps[0] else { panic!("no call") };
    assert_eq!(id.as_deref(), Some("toolu_000008"));
}

#[test]
fn pieces_are_whole_characters() {
    let pace = Pace { chunk: Some(2), delay: Duration::ZERO };
    assert_eq!(pace.pieces("aßc€e"), ["aß", "c€", "e"]);
    assert_eq!(Pace::default().pieces("aßc"), ["aßc"]);
    assert!(pace.pieces("").is_empty());
}

#[test]
fn the_readme_example_is_a_scenario() {
    let readme = include_str!("../../README.md");
    let start = readme.find("```json").unwrap() + 7;
    let end = start + readme[start..].find("```").unwrap();
    let scenario = parse(&readme[start..end]).unwrap();
    assert_eq!(scenario.replies.len(), 3);
}
