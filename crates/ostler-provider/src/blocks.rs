//! The blocks of an answer as it comes in, for every wire.
//!
//! Deltas of one block that are pushed before the events are taken become one event, so
//! that what arrived in one read is shown at once.

use ostler_protocol::Block;
use serde_json::Value;

use crate::{BlockKind, ModelEvent};

#[derive(Debug)]
enum Open {
    Text(String),
    Thinking { text: String, signature: String },
    Tool { id: String, name: String, json: String },
    Other { block: Value, json: String },
}

/// Builds blocks and tells of them.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    open: Option<Open>,
    next: u32,
    /// What was told since the events were last taken.
    pub(crate) events: Vec<ModelEvent>,
}

impl Blocks {
    fn index(&self) -> u32 {
        self.next.saturating_sub(1)
    }

    fn start(&mut self, open: Open, kind: BlockKind) {
        self.close();
        let index = self.next;
        self.next += 1;
        self.open = Some(open);
        self.events.push(ModelEvent::BlockStarted { index, kind });
    }

    /// Begins a block of words.
    pub(crate) fn start_text(&mut self) {
        self.start(Open::Text(String::new()), BlockKind::Text);
    }

    /// Begins reasoning.
    pub(crate) fn start_thinking(&mut self) {
        let open = Open::Thinking { text: String::new(), signature: String::new() };
        self.start(open, BlockKind::Thinking);
    }

    /// Begins a tool call.
    pub(crate) fn start_tool(&mut self, id: String, name: String) {
        let kind = BlockKind::ToolUse { id: id.clone(), name: name.clone() };
        self.start(Open::Tool { id, name, json: String::new() }, kind);
    }

    /// Begins a block that is told whole.
    pub(crate) fn start_other(&mut self, block: Value) {
        self.start(Open::Other { block, json: String::new() }, BlockKind::Other);
    }

    /// More words; they open a block if none is open.
    pub(crate) fn text(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if let Some(Open::Other { block, .. }) = &mut self.open {
            append(block, "text", piece);
            return;
        }
        if !matches!(self.open, Some(Open::Text(_))) {
            self.start_text();
        }
        let index = self.index();
        if let Some(Open::Text(text)) = &mut self.open {
            text.push_str(piece);
        }
        match self.events.last_mut() {
            Some(ModelEvent::TextDelta { index: last, text }) if *last == index => {
                text.push_str(piece);
            }
            _ => self.events.push(ModelEvent::TextDelta { index, text: piece.to_owned() }),
        }
    }

    /// More reasoning; it opens a block if none is open.
    pub(crate) fn thinking(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if !matches!(self.open, Some(Open::Thinking { .. })) {
            self.start_thinking();
        }
        let index = self.index();
        if let Some(Open::Thinking { text, .. }) = &mut self.open {
            text.push_str(piece);
        }
        match self.events.last_mut() {
            Some(ModelEvent::ThinkingDelta { index: last, text }) if *last == index => {
                text.push_str(piece);
            }
            _ => self.events.push(ModelEvent::ThinkingDelta { index, text: piece.to_owned() }),
        }
    }

    /// More of the open reasoning's proof.
    pub(crate) fn signature(&mut self, piece: &str) {
        if let Some(Open::Thinking { signature, .. }) = &mut self.open {
            signature.push_str(piece);
        }
    }

    /// More of the open call's arguments.
    pub(crate) fn json(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let index = self.index();
        match &mut self.open {
            Some(Open::Tool { json, .. }) => json.push_str(piece),
            Some(Open::Other { json, .. }) => {
                json.push_str(piece);
                return;
            }
            _ => return,
        }
        match self.events.last_mut() {
            Some(ModelEvent::InputDelta { index: last, json }) if *last == index => {
                json.push_str(piece);
            }
            _ => self.events.push(ModelEvent::InputDelta { index, json: piece.to_owned() }),
        }
    }

    /// Whether a tool call is open whose arguments are not whole.
    pub(crate) fn is_mid_call(&self) -> bool {
        match &self.open {
            Some(Open::Tool { json, .. }) => {
                serde_json::from_str::<serde::de::IgnoredAny>(json).is_err()
            }
            _ => false,
        }
    }

    /// Ends the open block, if there is one.
    pub(crate) fn close(&mut self) {
        let index = self.index();
        let block = match self.open.take() {
            None => return,
            Some(Open::Text(text)) => Block::Text { text },
            Some(Open::Thinking { text, signature }) => {
                Block::Thinking { thinking: text, signature }
            }
            Some(Open::Tool { id, name, json }) => {
                Block::ToolUse { id, name, input: parse_input(&json) }
            }
            Some(Open::Other { mut block, json }) => {
                if !json.is_empty()
                    && let Some(fields) = block.as_object_mut()
                {
                    fields.insert("input".to_owned(), parse_input(&json));
                }
                // A block that we do know, such as encrypted reasoning, becomes itself.
                serde_json::from_value(block.clone()).unwrap_or(Block::Other(block))
            }
        };
        self.events.push(ModelEvent::BlockDone { index, block });
    }
}

/// The arguments of a tool call; broken JSON stays text, which no tool takes.
pub(crate) fn parse_input(json: &str) -> Value {
    if json.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.to_owned()))
}

fn append(block: &mut Value, field: &str, piece: &str) {
    if let Some(fields) = block.as_object_mut() {
        let value = fields.entry(field).or_insert_with(|| Value::String(String::new()));
        if let Value::String(text) = value {
            text.push_str(piece);
        }
    }
}
