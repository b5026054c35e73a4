//! From a played reply to the bytes of a vendor's answer, rendered before the first is
//! sent so that the server is never what a throughput test measures.

use std::time::Duration;

use axum::body::Bytes;
use ostler_protocol::Usage;
use ostler_provider::{
    StopReason,
    scenario::{Pace, Played, Step},
};
use serde_json::{Value, json};

use super::Wire;

/// Bytes that are sent at once where nothing delays them.
const CHUNK: usize = 64 << 10;

/// One thing that the server does.
#[derive(Debug, PartialEq)]
pub(super) enum Op {
    /// Send.
    Bytes(Bytes),
    /// Wait.
    Delay(Duration),
    /// Wait for ever.
    Stall,
    /// Close the socket.
    Cut,
}

/// Collects what is done, with neighbouring bytes joined.
#[derive(Debug, Default)]
struct Sink {
    ops: Vec<Op>,
    open: Vec<u8>,
    sent: usize,
    cut_at: Option<usize>,
    ended: bool,
}

impl Sink {
    fn bytes(&mut self, bytes: &[u8]) {
        if self.ended {
            return;
        }
        let room = self.cut_at.map_or(usize::MAX, |at| at.saturating_sub(self.sent));
        let taken = bytes.len().min(room);
        self.open.extend_from_slice(&bytes[..taken]);
        self.sent += taken;
        if taken < bytes.len() {
            self.end(Op::Cut);
        } else if self.open.len() >= CHUNK {
            self.flush();
        }
    }

    fn delay(&mut self, delay: Duration) {
        if !delay.is_zero() && !self.ended {
            self.flush();
            self.ops.push(Op::Delay(delay));
        }
    }

    fn end(&mut self, op: Op) {
        if !self.ended {
            self.flush();
            self.ops.push(op);
            self.ended = true;
        }
    }

    fn flush(&mut self) {
        if !self.open.is_empty() {
            self.ops.push(Op::Bytes(std::mem::take(&mut self.open).into()));
        }
    }
}

/// The answer as a stream of events.
pub(super) fn ops(wire: Wire, played: Played, include_usage: bool) -> Vec<Op> {
    let cut_at = played.steps.iter().find_map(|step| match step {
        Step::Cut { bytes } => *bytes,
        _ => None,
    });
    let mut sink = Sink { cut_at, ..Sink::default() };
    match wire {
        Wire::Messages => messages(&played, &mut sink),
        Wire::Chat => chat(&played, include_usage, &mut sink),
    }
    sink.flush();
    sink.ops
}

/// The answer as one JSON object.
pub(super) fn whole(wire: Wire, played: &Played) -> Value {
    match wire {
        Wire::Messages => messages_whole(played),
        Wire::Chat => chat_whole(played),
    }
}

fn event(sink: &mut Sink, data: &Value) {
    let name = data["type"].as_str().unwrap_or("message");
    sink.bytes(format!("event: {name}\ndata: {data}\n\n").as_bytes());
}

fn message(played: &Played, content: Value, stop: Value, output: u64) -> Value {
    json!({
        "id": played.message_id, "type": "message", "role": "assistant", "model": played.model,
        "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": Usage { output_tokens: output, ..played.usage },
    })
}

fn messages(played: &Played, sink: &mut Sink) {
    let message = message(played, json!([]), Value::Null, 1);
    event(sink, &json!({ "type": "message_start", "message": message }));
    let mut index = 0;
    for step in &played.steps {
        match step {
            Step::Delay(delay) => sink.delay(*delay),
            Step::Stall => sink.end(Op::Stall),
            Step::Cut { bytes: None } => sink.end(Op::Cut),
            Step::Error(refusal) => {
                event(sink, &json!({ "type": "error", "error": refusal.error_object() }));
                sink.flush();
                sink.ended = true;
            }
            _ => {
                if let Some(open) = messages_block(step, true) {
                    messages_open(sink, index, &open);
                    messages_deltas(sink, index, step);
                    event(sink, &json!({ "type": "content_block_stop", "index": index }));
                    index += 1;
                }
            }
        }
    }
    let delta = json!({ "stop_reason": played.stop_reason.name(), "stop_sequence": null });
    event(sink, &json!({ "type": "message_delta", "delta": delta, "usage": played.usage }));
    event(sink, &json!({ "type": "message_stop" }));
}

fn messages_open(sink: &mut Sink, index: u32, block: &Value) {
    let start = json!({ "type": "content_block_start", "index": index, "content_block": block });
    event(sink, &start);
    if index == 0 {
        event(sink, &json!({ "type": "ping" }));
    }
}

/// A content block: empty as it starts, or whole.
fn messages_block(step: &Step, empty: bool) -> Option<Value> {
    let or_empty = |text: &str| if empty { String::new() } else { text.to_owned() };
    Some(match step {
        Step::Text { text, .. } => json!({ "type": "text", "text": or_empty(text) }),
        Step::RepeatText { text, count, .. } => {
            let text = if empty { String::new() } else { text.repeat(*count) };
            json!({ "type": "text", "text": text })
        }
        Step::Thinking { thinking, signature, .. } => json!({
            "type": "thinking", "thinking": or_empty(thinking), "signature": or_empty(signature),
        }),
        Step::ToolUse { id, name, input, .. } => {
            let input = if empty { json!({}) } else { arguments(input) };
            json!({ "type": "tool_use", "id": id, "name": name, "input": input })
        }
        _ => return None,
    })
}

fn arguments(input: &str) -> Value {
    serde_json::from_str(input).unwrap_or_else(|_| json!({}))
}

fn messages_deltas(sink: &mut Sink, index: u32, step: &Step) {
    let delta = |sink: &mut Sink, kind: &str, field: &str, text: &str| {
        let delta = json!({ "type": kind, field: text });
        event(sink, &json!({ "type": "content_block_delta", "index": index, "delta": delta }));
    };
    match step {
        Step::RepeatText { text, count, delay } => {
            for _ in 0..*count {
                sink.delay(*delay);
                delta(sink, "text_delta", "text", text);
            }
        }
        Step::Text { text, pace } => {
            paced(sink, *pace, text, |sink, piece| delta(sink, "text_delta", "text", piece));
        }
        Step::Thinking { thinking, signature, pace } => {
            paced(sink, *pace, thinking, |sink, piece| {
                delta(sink, "thinking_delta", "thinking", piece);
            });
            if !signature.is_empty() {
                delta(sink, "signature_delta", "signature", signature);
            }
        }
        Step::ToolUse { input, pace, .. } => {
            delta(sink, "input_json_delta", "partial_json", "");
            paced(sink, *pace, input, |sink, piece| {
                delta(sink, "input_json_delta", "partial_json", piece);
            });
        }
        _ => {}
    }
}

fn paced(sink: &mut Sink, pace: Pace, text: &str, send: impl Fn(&mut Sink, &str)) {
    for piece in pace.pieces(text) {
        sink.delay(pace.delay);
        send(sink, piece);
    }
}

fn messages_whole(played: &Played) -> Value {
    let blocks = played.steps.iter().filter_map(|step| messages_block(step, false));
    let stop = json!(played.stop_reason.name());
    message(played, blocks.collect(), stop, played.usage.output_tokens)
}

fn chat_event(sink: &mut Sink, played: &Played, choices: &Value, usage: &Value) {
    let mut data = json!({
        "id": played.message_id, "object": "chat.completion.chunk", "created": 0,
        "model": played.model, "choices": choices,
    });
    if !usage.is_null() {
        data["usage"] = usage.clone();
    }
    sink.bytes(format!("data: {data}\n\n").as_bytes());
}

fn chat(played: &Played, include_usage: bool, sink: &mut Sink) {
    let delta = |sink: &mut Sink, delta: Value| {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
        chat_event(sink, played, &choices, &Value::Null);
    };
    delta(sink, json!({ "role": "assistant", "content": "" }));
    let mut calls = 0;
    for step in &played.steps {
        match step {
            Step::Delay(delay) => sink.delay(*delay),
            Step::Stall => sink.end(Op::Stall),
            Step::Cut { bytes: None } => sink.end(Op::Cut),
            Step::Error(refusal) => {
                let error = json!({ "error": refusal.error_object() });
                sink.bytes(format!("data: {error}\n\n").as_bytes());
                sink.flush();
                sink.ended = true;
            }
            Step::Text { text, pace } => {
                paced(sink, *pace, text, |sink, piece| delta(sink, json!({ "content": piece })));
            }
            Step::RepeatText { text, count, delay } => {
                for _ in 0..*count {
                    sink.delay(*delay);
                    delta(sink, json!({ "content": text }));
                }
            }
            Step::Thinking { thinking, pace, .. } => paced(sink, *pace, thinking, |sink, piece| {
                delta(sink, json!({ "reasoning_content": piece }));
            }),
            Step::ToolUse { id, name, input, pace } => {
                let function = json!({ "name": name, "arguments": "" });
                let call =
                    json!({ "index": calls, "id": id, "type": "function", "function": function });
                delta(sink, json!({ "tool_calls": [call] }));
                paced(sink, *pace, input, |sink, piece| {
                    let call = json!({ "index": calls, "function": { "arguments": piece } });
                    delta(sink, json!({ "tool_calls": [call] }));
                });
                calls += 1;
            }
            Step::Cut { bytes: Some(_) } | Step::Usage(_) | Step::StopReason(_) => {}
        }
    }
    let finish = json!([{ "index": 0, "delta": {}, "finish_reason": finish_reason(played) }]);
    chat_event(sink, played, &finish, &Value::Null);
    if include_usage {
        chat_event(sink, played, &json!([]), &chat_usage(&played.usage));
    }
    sink.bytes(b"data: [DONE]\n\n");
}

fn finish_reason(played: &Played) -> &str {
    match &played.stop_reason {
        StopReason::EndTurn | StopReason::StopSequence => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens => "length",
        StopReason::Refusal => "content_filter",
        StopReason::Other(reason) => reason,
    }
}

fn chat_usage(usage: &Usage) -> Value {
    let input = usage.total_input();
    let mut value = json!({
        "prompt_tokens": input, "completion_tokens": usage.output_tokens,
        "total_tokens": input + usage.output_tokens,
    });
    if let Some(read) = usage.cache_read_input_tokens {
        value["prompt_tokens_details"] = json!({ "cached_tokens": read });
    }
    if let Some(reasoning) = usage.reasoning_tokens {
        value["completion_tokens_details"] = json!({ "reasoning_tokens": reasoning });
    }
    value
}

fn chat_whole(played: &Played) -> Value {
    let mut content = String::new();
    let mut calls = Vec::new();
    for step in &played.steps {
        match step {
            Step::Text { text, .. } => content.push_str(text),
            Step::RepeatText { text, count, .. } => content.push_str(&text.repeat(*count)),
            Step::ToolUse { id, name, input, .. } => calls.push(json!({
                "id": id, "type": "function", "function": { "name": name, "arguments": input },
            })),
            _ => {}
        }
    }
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    json!({
        "id": played.message_id, "object": "chat.completion", "created": 0,
        "model": played.model, "usage": chat_usage(&played.usage),
        "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason(played) }],
    })
}
