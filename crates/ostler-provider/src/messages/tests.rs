//! What `messages` promises, held on examples.

use ostler_protocol::{Block, ErrorKind, Message, Usage};
use serde_json::{Value, json};

use super::*;
use crate::{
    Effort, ModelEvent, ModelInfo, ModelRequest, StopReason, SystemBlock, Thinking, ToolSpec,
    replay::{every_split, failure, replay},
};

fn lift() -> Lift {
    Lift::new("anthropic", "asked", Some("req_1".to_owned()))
}

fn fixture(name: &str) -> Vec<u8> {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read(format!("{root}/tests/fixtures/anthropic/{name}.sse")).unwrap()
}

fn done(events: &[ModelEvent]) -> Vec<Block> {
    let blocks = events.iter().filter_map(|event| match event {
        ModelEvent::BlockDone { block, .. } => Some(block.clone()),
        _ => None,
    });
    blocks.collect()
}

#[test]
fn every_kind_of_block_is_lifted_wherever_it_is_cut() {
    let events = every_split(&fixture("everything"), lift);
    let usage = Usage {
        input_tokens: 12,
        output_tokens: 1,
        cache_creation_input_tokens: Some(300),
        cache_read_input_tokens: Some(4000),
        reasoning_tokens: None,
    };
    let started = ModelEvent::Started {
        message_id: "msg_01".to_owned(),
        model: "claude-sonnet-4-5-20250929".to_owned(),
        request_id: Some("req_1".to_owned()),
        usage,
    };
    assert_eq!(events[0], started);
    let call = |id: &str, name: &str, input: Value| Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input,
    };
    let want = vec![
        Block::Thinking {
            thinking: "Erst lesen – dann schreiben 🐎".to_owned(),
            signature: "EqQBCgIYAhIM".to_owned(),
        },
        Block::RedactedThinking { data: "EmwKAhgBEgy3".to_owned() },
        Block::text("Grüße, \"Welt\"\n"),
        Block::Other(json!({
            "type": "server_tool_use", "id": "srvtoolu_01", "name": "web_search",
            "input": { "query": "ostler" },
        })),
        Block::Other(json!({
            "type": "web_search_tool_result", "tool_use_id": "srvtoolu_01",
            "content": [{ "type": "web_search_result", "url": "https://example.com", "encrypted_content": "x" }],
        })),
        call("toolu_01", "Read", json!({ "file_path": "/tmp/ü.txt" })),
        call("toolu_02", "LS", json!({})),
    ];
    assert_eq!(done(&events), want);
    let usage = Usage { output_tokens: 89, ..usage };
    assert_eq!(events.last(), Some(&ModelEvent::Done { stop_reason: StopReason::ToolUse, usage }));
}

#[test]
fn ends_other_than_the_ordinary_are_told_apart() {
    for (name, want) in [("max_tokens", StopReason::MaxTokens), ("refusal", StopReason::Refusal)] {
        let events = every_split(&fixture(name), lift);
        let Some(ModelEvent::Done { stop_reason, .. }) = events.last() else {
            panic!("{events:?}")
        };
        assert_eq!(*stop_reason, want);
    }
    let events = every_split(&fixture("overloaded"), lift);
    assert_eq!(failure(&events).kind, ErrorKind::Overloaded);
}

#[test]
fn an_answer_that_breaks_off_is_a_network_failure_at_any_byte() {
    let bytes = fixture("everything");
    let last = bytes.windows(13).position(|window| window == b"message_delta").unwrap();
    for at in 0..last {
        let events = replay(lift(), &[&bytes[..at]]);
        assert_eq!(failure(&events).kind, ErrorKind::Network, "cut at {at}");
    }
}

#[test]
fn what_is_not_json_is_a_bad_stream() {
    let events = lift().push("<html>");
    assert_eq!(failure(&events).kind, ErrorKind::BadStream);
}

#[test]
fn broken_arguments_stay_text() {
    let mut lift = lift();
    lift.push(r#"{"type":"content_block_start","content_block":{"type":"tool_use","id":"a","name":"A","input":{}}}"#);
    lift.push(r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"a"}}"#);
    let events = lift.push(r#"{"type":"content_block_stop"}"#);
    let [Block::ToolUse { input, .. }] = &done(&events)[..] else { panic!("{events:?}") };
    assert_eq!(*input, json!("{\"a"));
}

fn request() -> ModelRequest {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "d".to_owned(),
        schema: json!({ "type": "object" }),
    };
    let block = |text: &str, cache| SystemBlock { text: text.to_owned(), cache };
    let thinking = |signature: &str| Block::Thinking {
        thinking: "hm".to_owned(),
        signature: signature.to_owned(),
    };
    let (id, name, input) = ("t1".to_owned(), "A".to_owned(), json!({}));
    ModelRequest {
        model: "m".to_owned(),
        system: vec![block("a", true), block("b", true), block("c", false)],
        tools: vec![tool("A"), tool("B")],
        messages: vec![
            Message::user(vec![Block::text("context")]),
            Message::user(vec![Block::text("prompt"), Block::text(" ")]),
            Message::assistant(vec![thinking("sig"), Block::ToolUse { id, name, input }]),
            Message::assistant(vec![thinking("")]),
            Message::user(vec![Block::tool_result("t1", "r", true), Block::text("note")]),
        ],
        session_id: "s".to_owned(),
        thinking: Thinking::Budget(50_000),
        effort: Some(Effort::High),
        ..ModelRequest::default()
    }
}

#[test]
fn a_request_has_its_shape_and_four_breakpoints() {
    let anchor = json!({ "type": "ephemeral" });
    let info = ModelInfo { max_output: Some(8000), ..ModelInfo::default() };
    let want = json!({
        "model": "m",
        "max_tokens": 8000,
        "system": [
            { "type": "text", "text": "a" },
            { "type": "text", "text": "b", "cache_control": anchor },
            { "type": "text", "text": "c" },
        ],
        "tools": [
            { "name": "A", "description": "d", "input_schema": { "type": "object" } },
            { "name": "B", "description": "d", "input_schema": { "type": "object" }, "cache_control": anchor },
        ],
        "messages": [
            { "role": "user", "content": [
                { "type": "text", "text": "context" },
                { "type": "text", "text": "prompt", "cache_control": anchor },
            ] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "hm", "signature": "sig" },
                { "type": "tool_use", "id": "t1", "name": "A", "input": {} },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "t1", "content": "r", "is_error": true },
                { "type": "text", "text": "note", "cache_control": anchor },
            ] },
        ],
        "thinking": { "type": "enabled", "budget_tokens": 7999 },
        "output_config": { "effort": "high" },
        "metadata": { "user_id": "s" },
        "stream": true,
    });
    assert_eq!(lower(&request(), &info), want);
    assert_eq!(lower(&request(), &info).to_string(), want.to_string());
}

#[test]
fn defaults_leave_out_what_was_not_asked() {
    let request = ModelRequest {
        model: "m".to_owned(),
        messages: vec![Message::user(vec![Block::text("x")])],
        ..ModelRequest::default()
    };
    let body = lower(&request, &ModelInfo::default());
    let names = body.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names, ["model", "max_tokens", "messages", "stream"]);
    assert_eq!(body["max_tokens"], json!(32_000));
    let with =
        |thinking| lower(&ModelRequest { thinking, ..request.clone() }, &ModelInfo::default());
    assert_eq!(with(Thinking::Disabled)["thinking"], json!({ "type": "disabled" }));
    assert_eq!(with(Thinking::Adaptive)["thinking"], json!({ "type": "adaptive" }));
    let budget = json!({ "type": "enabled", "budget_tokens": 1024 });
    assert_eq!(with(Thinking::Budget(5))["thinking"], budget);
}

#[test]
fn the_words_of_a_request_begin_the_next_ones() {
    let plain = |request: &ModelRequest| {
        let text = lower(request, &ModelInfo::default())["messages"].to_string();
        let text = text.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
        text.trim_end_matches("]}]").to_owned()
    };
    let first = request();
    let mut next = first.clone();
    next.messages.push(Message::assistant(vec![Block::text("done")]));
    next.messages.push(Message::user(vec![Block::text("more")]));
    assert!(plain(&next).starts_with(&plain(&first)));
}
