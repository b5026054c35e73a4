//! What `chat` promises, held on examples.

use ostler_protocol::{Block, ErrorKind, MediaSource, Message, ToolResultContent, Usage};
use serde_json::{Value, json};

use super::*;
use crate::{
    Effort, ModelEvent, ModelRequest, StopReason, SystemBlock, ToolSpec,
    replay::{every_split, failure, replay},
};

fn lift() -> Lift {
    Lift::new("openai", "asked", None, "seed")
}

fn fixture(name: &str) -> Vec<u8> {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read(format!("{root}/tests/fixtures/openai/{name}.sse")).unwrap()
}

fn done(events: &[ModelEvent]) -> Vec<Block> {
    let blocks = events.iter().filter_map(|event| match event {
        ModelEvent::BlockDone { block, .. } => Some(block.clone()),
        _ => None,
    });
    blocks.collect()
}

fn call(id: &str, name: &str, input: Value) -> Block {
    Block::ToolUse { id: id.to_owned(), name: name.to_owned(), input }
}

fn thinking(text: &str) -> Block {
    Block::Thinking { thinking: text.to_owned(), signature: String::new() }
}

#[test]
fn every_kind_of_delta_is_lifted_wherever_it_is_cut() {
    let events = every_split(&fixture("everything"), lift);
    let want = [
        thinking("Erst lesen 🐎"),
        Block::text("Grüße"),
        call("call_a", "Read", json!({ "file_path": "/ü" })),
        call("call_b", "LS", json!({})),
    ];
    assert_eq!(done(&events), want);
    let usage = Usage {
        input_tokens: 100,
        output_tokens: 89,
        cache_creation_input_tokens: None,
        cache_read_input_tokens: Some(4000),
        reasoning_tokens: Some(40),
    };
    assert_eq!(events.last(), Some(&ModelEvent::Done { stop_reason: StopReason::ToolUse, usage }));
}

#[test]
fn a_local_server_may_leave_out_ids_and_the_end() {
    let events = every_split(&fixture("local_server"), lift);
    let want = [thinking("hm"), call("call_made_up_seed_0", "Read", json!({ "a": 1 }))];
    assert_eq!(done(&events), want);
    let usage = Usage { input_tokens: 10, output_tokens: 4, ..Usage::default() };
    assert_eq!(events.last(), Some(&ModelEvent::Done { stop_reason: StopReason::ToolUse, usage }));
    let ModelEvent::Started { message_id, model, .. } = &events[0] else { panic!("{events:?}") };
    assert_eq!((message_id.as_str(), model.as_str()), ("chat_seed", "asked"));
}

#[test]
fn calls_that_come_mixed_up_are_told_one_after_the_other() {
    let events = every_split(&fixture("mixed_calls"), lift);
    let mut calls = done(&events);
    calls.sort_by_key(|block| format!("{block:?}"));
    let want = [
        call("a", "A", json!({ "x": 1 })),
        call("b", "B", json!({ "y": 2 })),
        call("c", "C", json!({})),
    ];
    assert_eq!(calls, want);
}

#[test]
fn ends_other_than_the_ordinary_are_told_apart() {
    let events = every_split(&fixture("error"), lift);
    assert_eq!(failure(&events).kind, ErrorKind::Server);
    let events = every_split(&fixture("length"), lift);
    let Some(ModelEvent::Done { stop_reason, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!(*stop_reason, StopReason::MaxTokens);
}

#[test]
fn an_answer_that_breaks_off_is_a_network_failure_at_any_byte() {
    let bytes = fixture("everything");
    let last = bytes.windows(12).position(|window| window == b"\"tool_calls\"").unwrap();
    for at in 0..last {
        let events = replay(lift(), &[&bytes[..at]]);
        assert_eq!(failure(&events).kind, ErrorKind::Network, "cut at {at}");
    }
    assert_eq!(failure(&lift().push("[DONE]")).kind, ErrorKind::Network);
}

#[test]
fn more_arguments_after_the_end_of_a_call_are_a_bad_stream() {
    let mut lift = lift();
    lift.push(r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"A","arguments":"{"}}]}}]}"#);
    lift.push(r#"{"choices":[{"delta":{"content":"words"}}]}"#);
    let events = lift.push(
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}"#,
    );
    assert_eq!(failure(&events).kind, ErrorKind::BadStream);
}

fn request() -> ModelRequest {
    let block = |text: &str| SystemBlock { text: text.to_owned(), cache: false };
    let source =
        MediaSource::Base64 { media_type: "image/png".to_owned(), data: "iVBO".to_owned() };
    let picture = Block::Image { source };
    ModelRequest {
        model: "m".to_owned(),
        system: vec![block("a"), block("b")],
        tools: vec![ToolSpec {
            name: "A".to_owned(),
            description: "d".to_owned(),
            schema: json!({ "type": "object" }),
        }],
        messages: vec![
            Message::user(vec![Block::text("context")]),
            Message::user(vec![Block::text("prompt")]),
            Message::assistant(vec![thinking("hm"), call("t1", "A", json!({ "x": 1 }))]),
            Message::assistant(vec![call("t2", "A", json!({}))]),
            Message::user(vec![
                Block::ToolResult {
                    tool_use_id: "t1".to_owned(),
                    content: ToolResultContent::Blocks(vec![picture]),
                    is_error: None,
                },
                Block::tool_result("t2", "r", false),
                Block::text("note"),
            ]),
        ],
        max_output_tokens: Some(9),
        session_id: "s".to_owned(),
        effort: Some(Effort::Max),
        ..ModelRequest::default()
    }
}

#[test]
fn a_request_has_its_shape() {
    let function = |arguments: &str| json!({ "name": "A", "arguments": arguments });
    let want = json!({
        "model": "m",
        "messages": [
            { "role": "system", "content": "a\n\nb" },
            { "role": "user", "content": "context\n\nprompt" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "t1", "type": "function", "function": function("{\"x\":1}") },
                { "id": "t2", "type": "function", "function": function("{}") },
            ] },
            { "role": "tool", "tool_call_id": "t1", "content": "the picture follows" },
            { "role": "tool", "tool_call_id": "t2", "content": "r" },
            { "role": "user", "content": [
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBO" } },
                { "type": "text", "text": "note" },
            ] },
        ],
        "tools": [{ "type": "function", "function": {
            "name": "A", "description": "d", "parameters": { "type": "object" },
        } }],
        "max_tokens": 9,
        "reasoning_effort": "xhigh",
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    let body = lower(&request(), Dialect::Compatible);
    assert_eq!(body, want);
    assert_eq!(body.to_string(), want.to_string());
}

#[test]
fn only_the_vendor_itself_gets_a_cache_key() {
    let body = lower(&request(), Dialect::OpenAi);
    assert_eq!(body["prompt_cache_key"], json!("s"));
    assert_eq!(body["max_completion_tokens"], json!(9));
    assert!(lower(&request(), Dialect::Compatible).get("prompt_cache_key").is_none());
}

#[test]
fn only_deepseek_gets_the_reasoning_before_a_call_back() {
    let body = lower(&request(), Dialect::DeepSeek);
    assert_eq!(body["messages"][2]["reasoning_content"], json!("hm"));
    let body = lower(&request(), Dialect::Compatible);
    assert!(body["messages"][2].get("reasoning_content").is_none());
}

#[test]
fn the_dialect_goes_by_the_host() {
    assert_eq!(Dialect::of("https://api.openai.com/v1"), Dialect::OpenAi);
    assert_eq!(Dialect::of("https://api.deepseek.com/v1"), Dialect::DeepSeek);
    assert_eq!(Dialect::of("https://api.openai.com.example/v1"), Dialect::Compatible);
    assert_eq!(Dialect::of("http://127.0.0.1:1/v1"), Dialect::Compatible);
}
