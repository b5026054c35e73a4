//! Events of the Messages wire become ours. It never panics, whatever a server sends.

use ostler_protocol::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    ModelEvent, StopReason,
    blocks::Blocks,
    failure,
    wire::{Lifter, Text},
};

/// Lifts one answer.
#[derive(Debug)]
pub struct Lift {
    provider: String,
    model: String,
    request_id: Option<String>,
    blocks: Blocks,
    usage: Usage,
    stop: Option<StopReason>,
    ended: bool,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(default)]
    content_block: Option<Value>,
    #[serde(borrow, default)]
    message: Option<Start<'a>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(borrow, default)]
    error: Option<WireError<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    thinking: Text<'a>,
    #[serde(borrow, default)]
    signature: Text<'a>,
    #[serde(borrow, default)]
    partial_json: Text<'a>,
    #[serde(borrow, default)]
    stop_reason: Text<'a>,
}

#[derive(Deserialize)]
struct Start<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct WireError<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    message: Text<'a>,
}

#[derive(Deserialize, Clone, Copy)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

impl Lift {
    /// Begins an answer of `model` at `provider`; `request_id` is its header, if any.
    #[must_use]
    pub fn new(provider: &str, model: &str, request_id: Option<String>) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            request_id,
            blocks: Blocks::default(),
            usage: Usage::default(),
            stop: None,
            ended: false,
        }
    }

    /// Takes the data of one event.
    pub fn push(&mut self, data: &str) -> Vec<ModelEvent> {
        self.take(data);
        self.events()
    }

    /// The body has ended: the failure, unless the answer was whole.
    pub fn finish(&mut self) -> Vec<ModelEvent> {
        self.end();
        self.events()
    }

    fn on(&mut self, event: &Event<'_>) {
        match &*event.kind {
            "content_block_delta" => {
                if let Some(delta) = &event.delta {
                    self.delta(delta);
                }
            }
            "content_block_start" => {
                if let Some(block) = &event.content_block {
                    self.block(block);
                }
            }
            "content_block_stop" => self.blocks.close(),
            "message_start" => self.start(event.message.as_ref()),
            "message_delta" => {
                self.tokens(event.usage);
                if let Some(reason) = event.delta.as_ref().and_then(|it| it.stop_reason.some()) {
                    self.stop = Some(StopReason::named(reason));
                }
            }
            "message_stop" => self.done(),
            "error" => {
                let (kind, said) =
                    event.error.as_ref().map_or(("", ""), |it| (&*it.kind, &*it.message));
                let failure = failure::mid_stream(&self.provider, &self.model, kind, said);
                self.fail(failure);
            }
            // `ping`, and what later versions bring.
            _ => {}
        }
    }

    fn start(&mut self, start: Option<&Start<'_>>) {
        self.tokens(start.and_then(|it| it.usage));
        let id = start.map_or("", |it| &*it.id).to_owned();
        let model = start.and_then(|it| it.model.some()).unwrap_or(&self.model).to_owned();
        self.blocks.events.push(ModelEvent::Started {
            message_id: id,
            model,
            request_id: self.request_id.take(),
            usage: self.usage,
        });
    }

    fn block(&mut self, block: &Value) {
        let text = |field: &str| block[field].as_str().unwrap_or_default();
        match text("type") {
            "text" => {
                self.blocks.start_text();
                self.blocks.text(text("text"));
            }
            "thinking" => {
                self.blocks.start_thinking();
                self.blocks.thinking(text("thinking"));
                self.blocks.signature(text("signature"));
            }
            "tool_use" => {
                self.blocks.start_tool(text("id").to_owned(), text("name").to_owned());
                // Some servers send the arguments whole with the start.
                if block["input"].as_object().is_some_and(|input| !input.is_empty()) {
                    self.blocks.json(&block["input"].to_string());
                }
            }
            _ => self.blocks.start_other(block.clone()),
        }
    }

    fn delta(&mut self, delta: &Delta<'_>) {
        match &*delta.kind {
            "text_delta" => self.blocks.text(&delta.text),
            "thinking_delta" => self.blocks.thinking(&delta.thinking),
            "signature_delta" => self.blocks.signature(&delta.signature),
            "input_json_delta" => self.blocks.json(&delta.partial_json),
            _ => {}
        }
    }

    /// Counts are totals so far; what an event does not say stays as it was.
    fn tokens(&mut self, usage: Option<WireUsage>) {
        let Some(usage) = usage else { return };
        self.usage.input_tokens = usage.input_tokens.unwrap_or(self.usage.input_tokens);
        self.usage.output_tokens = usage.output_tokens.unwrap_or(self.usage.output_tokens);
        let write = usage.cache_creation_input_tokens;
        self.usage.cache_creation_input_tokens = write.or(self.usage.cache_creation_input_tokens);
        let read = usage.cache_read_input_tokens;
        self.usage.cache_read_input_tokens = read.or(self.usage.cache_read_input_tokens);
    }

    fn done(&mut self) {
        self.blocks.close();
        self.ended = true;
        let stop_reason = self.stop.take().unwrap_or(StopReason::EndTurn);
        self.blocks.events.push(ModelEvent::Done { stop_reason, usage: self.usage });
    }

    fn fail(&mut self, failure: crate::Failure) {
        self.ended = true;
        self.blocks.events.push(ModelEvent::Failed(failure));
    }
}

impl Lifter for Lift {
    fn take(&mut self, data: &str) {
        if self.ended {
            return;
        }
        match serde_json::from_str::<Event<'_>>(data) {
            Ok(event) => self.on(&event),
            Err(error) => self.fail(failure::bad_event(&self.provider, data, &error)),
        }
    }

    fn end(&mut self) {
        if self.ended {
            return;
        }
        // The reason to stop is the last thing of weight; what follows it is form.
        if self.stop.is_some() {
            self.done();
        } else {
            self.fail(failure::cut(&self.provider));
        }
    }

    fn events(&mut self) -> Vec<ModelEvent> {
        std::mem::take(&mut self.blocks.events)
    }
}
