//! The model server as a test sees it, over plain sockets, and as a program.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
};

use ostler_provider::scenario::{Scenario, Vars};
use ostler_test::{ModelServer, TempHome};
use serde_json::{Value, json};

fn server(replies: &str) -> ModelServer {
    let text = format!(r#"{{"name":"test","model":"m-1","replies":{replies}}}"#);
    ModelServer::start(Scenario::parse("test", &text, &Vars::new()).unwrap()).unwrap()
}

/// One request on a connection of its own: the head and the body of the answer.
fn http(url: &str, method: &str, path: &str, body: &Value) -> (String, String) {
    let host = url.strip_prefix("http://").unwrap();
    let mut socket = TcpStream::connect(host).unwrap();
    let body = body.to_string();
    let length = body.len();
    write!(
        socket,
        "{method} {path} HTTP/1.0\r\nhost: {host}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn ask(messages: Value) -> Value {
    json!({ "model": "claude", "max_tokens": 10, "messages": messages })
}

fn words(text: &str) -> Value {
    ask(json!([{ "role": "user", "content": text }]))
}

#[test]
fn an_answer_may_come_whole() {
    let server = server(
        r#"[{"repeat":true,"steps":[{"text":"Hi"},{"toolUse":{"name":"A","input":{"x":1},"id":"t1"}}]}]"#,
    );
    let (head, body) = http(&server.url(), "POST", "/v1/messages", &words("x"));
    assert!(head.starts_with("HTTP/1.0 200"), "{head}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let content = json!([
        { "type": "text", "text": "Hi" },
        { "type": "tool_use", "id": "t1", "name": "A", "input": { "x": 1 } },
    ]);
    assert_eq!(body["content"], content);
    assert_eq!(body["stop_reason"], json!("tool_use"));
    let (_, body) = http(&server.url(), "POST", "/v1/chat/completions", &words("x"));
    let body: Value = serde_json::from_str(&body).unwrap();
    let message = &body["choices"][0]["message"];
    assert_eq!(message["content"], json!("Hi"));
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], json!("{\"x\":1}"));
    server.assert_clean();
}

#[test]
fn models_and_tokens_are_told() {
    let server = server("[]");
    let (_, body) = http(&server.url(), "GET", "/v1/models", &Value::Null);
    assert!(body.contains("\"id\":\"m-1\""), "{body}");
    let (_, body) = http(&server.url(), "POST", "/v1/messages/count_tokens", &words("x"));
    let tokens = serde_json::from_str::<Value>(&body).unwrap()["input_tokens"].clone();
    assert!(tokens.as_u64().unwrap() > 0);
    assert!(server.requests().is_empty());
}

#[test]
fn what_a_vendor_would_refuse_is_not_clean() {
    let result = json!({ "type": "tool_result", "tool_use_id": "t1", "content": "r" });
    let unsigned = json!({ "type": "thinking", "thinking": "hm" });
    let anchored = json!({ "type": "text", "text": "x", "cache_control": { "type": "ephemeral" } });
    let cases = [
        (json!({ "model": "m" }), "`max_tokens` is missing"),
        (ask(json!([{ "role": "user", "content": [result] }])), "answers no open call"),
        (ask(json!([{ "role": "user", "content": "" }])), "is an empty text"),
        (ask(json!([{ "role": "assistant", "content": [unsigned] }])), "has no signature"),
        (ask(json!([{ "role": "user", "content": vec![anchored; 5] }])), "more than 4"),
        (ask(json!([{ "role": "robot", "content": "x" }])), "role `\"robot\"` is none"),
    ];
    for (body, want) in cases {
        let server = server(r#"[{"steps":[{"text":"Hi"}]}]"#);
        http(&server.url(), "POST", "/v1/messages", &body);
        let violations = server.violations().join("; ");
        assert!(violations.contains(want), "`{violations}` lacks `{want}`");
        let clean =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.assert_clean()));
        assert!(clean.is_err());
    }
}

#[test]
fn a_changed_beginning_is_not_clean_unless_it_was_announced() {
    let server = server(r#"[{"repeat":true,"steps":[{"text":"Hi"}]}]"#);
    let with = |system: &str| {
        let mut body = words("x");
        body["system"] = json!(system);
        body
    };
    let send = |system: &str| drop(http(&server.url(), "POST", "/v1/messages", &with(system)));
    send("one");
    send("one");
    server.assert_clean();
    server.invalidate_prefix();
    send("two");
    server.assert_clean();
    send("three");
    assert_eq!(server.violations(), ["request 4: the system prompt changed"]);
}

#[test]
fn moving_cache_hints_change_nothing() {
    let server = server(r#"[{"repeat":true,"steps":[{"text":"Hi"}]}]"#);
    let mark = json!({ "type": "ephemeral" });
    let first = json!({ "type": "text", "text": "x", "cache_control": mark });
    let plain = json!({ "type": "text", "text": "x" });
    let answer = json!({ "role": "assistant", "content": "Hi" });
    for messages in [
        json!([{ "role": "user", "content": [first] }]),
        json!([{ "role": "user", "content": [plain] }, answer, { "role": "user", "content": [first] }]),
    ] {
        http(&server.url(), "POST", "/v1/messages", &ask(messages));
    }
    server.assert_clean();
}

fn program(home: &TempHome, scenario: &str) -> (Child, String) {
    home.write(&format!("=== t.scenario.json\n{scenario}\n")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the program under test is a process")]
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ostler-model-server"));
    let mut child = command
        .arg(home.project().join("t.scenario.json"))
        .args(["--var", "name=Ada", "--log"])
        .arg(home.project().join("log"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    (child, url.trim().to_owned())
}

#[test]
fn the_program_prints_its_url_logs_and_ends_with_its_input() {
    let home = TempHome::new().unwrap();
    let scenario = r#"{"name":"t","replies":[{"steps":[{"text":"Hi ${name}"}]}]}"#;
    let (child, url) = program(&home, scenario);
    let (_, body) = http(&url, "POST", "/v1/messages", &words("x"));
    assert!(body.contains("Hi Ada"), "{body}");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let log = std::fs::read_to_string(home.project().join("log")).unwrap();
    let line: Value = serde_json::from_str(log.trim()).unwrap();
    assert_eq!(line["path"], json!("/v1/messages"));
    assert_eq!(line["body"], words("x"));
    assert_eq!(line["problems"], json!([]));
}

#[test]
fn the_program_fails_if_a_request_was_not_clean_or_the_scenario_is_none() {
    let home = TempHome::new().unwrap();
    let (child, url) = program(&home, r#"{"name":"t","replies":[]}"#);
    http(&url, "POST", "/v1/messages", &words("x"));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("has no reply"));
    let (child, url) = program(&home, "{}");
    assert_eq!(url, "");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("t.scenario.json"));
}
