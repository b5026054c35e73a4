//! `stream_event` frames: the events of the Messages API that a streamed answer would have.

use std::collections::BTreeSet;

use ostler_host::BlockKind;
use ostler_protocol::{Block, Usage};
use serde_json::{Value, json};

use super::result;
use crate::fit;

/// Which blocks of the answer have begun and not ended.
#[derive(Debug, Default)]
pub(super) struct Stream {
    begun: BTreeSet<u32>,
}

impl Stream {
    /// An answer begins, or is asked for again.
    pub(super) fn start(&mut self) {
        self.begun.clear();
    }

    pub(super) fn block_started(&mut self, index: u32, kind: &BlockKind) -> Vec<Value> {
        let block = match kind {
            BlockKind::Text => json!({"type": "text", "text": ""}),
            BlockKind::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
            BlockKind::ToolUse { id, name } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": {}})
            }
            // Comes whole, with its end.
            BlockKind::Other => return Vec::new(),
        };
        let mut events = self.end_others();
        self.begun.insert(index);
        events.push(block_start(index, &block));
        events
    }

    /// What comes before the whole block.
    pub(super) fn before_done(&mut self, index: u32, block: &Block) -> Vec<Value> {
        if self.begun.contains(&index) {
            return match block {
                Block::Thinking { signature, .. } if !signature.is_empty() => {
                    vec![delta(index, json!({"type": "signature_delta", "signature": signature}))]
                }
                _ => Vec::new(),
            };
        }
        let mut events = self.end_others();
        self.begun.insert(index);
        events.push(block_start(index, &json!(block)));
        events
    }

    /// What comes after the whole block.
    pub(super) fn done(&mut self, index: u32) -> Vec<Value> {
        if self.begun.remove(&index) { vec![block_stop(index)] } else { Vec::new() }
    }

    /// What comes after the last block.
    pub(super) fn message_end(&mut self, stop_reason: &str, usage: Usage) -> Vec<Value> {
        let mut events = self.end_others();
        let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
        events
            .push(json!({"type": "message_delta", "delta": delta, "usage": result::usage(usage)}));
        events.push(json!({"type": "message_stop"}));
        events
    }

    /// Blocks without a word end without a frame of their own.
    fn end_others(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.begun).into_iter().map(block_stop).collect()
    }
}

pub(super) fn message_start(id: &str, model: &str, usage: Usage) -> Value {
    let message = json!({
        "model": model, "id": id, "type": "message", "role": "assistant", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": result::usage(usage),
    });
    json!({"type": "message_start", "message": message})
}

fn block_start(index: u32, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn block_stop(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

pub(super) fn text_delta(index: u32, text: &str) -> Vec<Value> {
    let piece = |text: &str| delta(index, json!({"type": "text_delta", "text": text}));
    fit::pieces(text).map(piece).collect()
}

pub(super) fn thinking_delta(index: u32, text: &str) -> Vec<Value> {
    let piece = |text: &str| delta(index, json!({"type": "thinking_delta", "thinking": text}));
    fit::pieces(text).map(piece).collect()
}

pub(super) fn input_delta(index: u32, text: &str) -> Vec<Value> {
    let piece =
        |text: &str| delta(index, json!({"type": "input_json_delta", "partial_json": text}));
    fit::pieces(text).map(piece).collect()
}

fn delta(index: u32, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}
