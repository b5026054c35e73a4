//! Events of the Chat Completions wire become ours. Servers differ, so it takes what any
//! of them sends: calls without ids or positions, early reasons to stop, no last event.
//! It never panics.

use ostler_protocol::Usage;
use serde::Deserialize;

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
    /// Goes into ids that the server does not give.
    seed: String,
    blocks: Blocks,
    calls: Vec<Call>,
    /// The call whose block is open.
    live: Option<usize>,
    usage: Usage,
    stop: Option<StopReason>,
    started: bool,
    ended: bool,
}

#[derive(Debug)]
struct Call {
    index: Option<u32>,
    id: String,
    name: String,
    /// Arguments that came before the call's block could open.
    waiting: String,
    told: bool,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    finish_reason: Text<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Text<'a>,
    #[serde(borrow, default)]
    reasoning_content: Text<'a>,
    #[serde(borrow, default)]
    reasoning: Text<'a>,
    #[serde(borrow, default)]
    refusal: Text<'a>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
struct CallDelta<'a> {
    index: Option<u32>,
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Text<'a>,
}

#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_cache_hit_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

impl Lift {
    /// Begins an answer of `model` at `provider`; `request_id` is its header, if any, and
    /// `seed` makes ids that the server does not give unique.
    #[must_use]
    pub fn new(provider: &str, model: &str, request_id: Option<String>, seed: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            request_id,
            seed: seed.to_owned(),
            blocks: Blocks::default(),
            calls: Vec::new(),
            live: None,
            usage: Usage::default(),
            stop: None,
            started: false,
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

    fn on(&mut self, chunk: &Chunk<'_>) {
        if let Some(error) = chunk.error.as_ref().filter(|error| !error.is_null()) {
            let word = |field: &str| error[field].as_str().unwrap_or_default();
            let class = format!("{} {}", word("type"), word("code"));
            let said = error.as_str().or(error["message"].as_str()).unwrap_or_default();
            return self.fail(failure::mid_stream(&self.provider, &self.model, class.trim(), said));
        }
        self.start(chunk);
        if let Some(usage) = &chunk.usage {
            self.usage = tokens(usage);
        }
        // Only the first choice was asked for.
        let Some(choice) = chunk.choices.as_ref().and_then(|choices| choices.first()) else {
            return;
        };
        if let Some(delta) = &choice.delta {
            self.delta(delta);
        }
        if let Some(reason) = choice.finish_reason.some() {
            self.stop = Some(stop_reason(reason));
        }
    }

    fn start(&mut self, chunk: &Chunk<'_>) {
        if self.started {
            return;
        }
        self.started = true;
        let message_id =
            chunk.id.some().map_or_else(|| format!("chat_{}", self.seed), str::to_owned);
        self.blocks.events.push(ModelEvent::Started {
            message_id,
            model: chunk.model.some().unwrap_or(&self.model).to_owned(),
            request_id: self.request_id.take(),
            usage: Usage::default(),
        });
    }

    fn delta(&mut self, delta: &Delta<'_>) {
        if let Some(piece) = delta.reasoning_content.some().or(delta.reasoning.some()) {
            self.live = None;
            self.blocks.thinking(piece);
        }
        for piece in [&delta.content, &delta.refusal] {
            if let Some(piece) = piece.some() {
                self.live = None;
                self.blocks.text(piece);
            }
        }
        for call in delta.tool_calls.iter().flatten() {
            self.call(call);
        }
    }

    fn call(&mut self, delta: &CallDelta<'_>) {
        let at = self.which(delta);
        let call = &mut self.calls[at];
        let (name, arguments) =
            delta.function.as_ref().map_or(("", ""), |it| (&*it.name, &*it.arguments));
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        if self.live == Some(at) {
            return self.blocks.json(arguments);
        }
        if call.told {
            if !arguments.is_empty() {
                let problem = format!("`{}` got more arguments after its end", call.name);
                self.fail(failure::plain(
                    ostler_protocol::ErrorKind::BadStream,
                    format!("{} mixed up its tool calls: {problem}", self.provider),
                    "try again; if it stays so, the server breaks the protocol",
                ));
            }
            return;
        }
        call.waiting.push_str(arguments);
        let named = !call.name.is_empty();
        // A call that waits is told at the end: asking at every piece would be quadratic.
        let first = call.waiting.len() == arguments.len();
        if named && first && !self.blocks.is_mid_call() {
            self.tell(at);
        }
    }

    /// Which call a piece belongs to, a new one if it must be.
    fn which(&mut self, delta: &CallDelta<'_>) -> usize {
        let id = delta.id.some();
        let fits = |call: &Call| match (delta.index, id) {
            (Some(index), None) => call.index == Some(index),
            (Some(index), Some(id)) => {
                call.index == Some(index) && (call.id == id || call.made_up())
            }
            (None, Some(id)) => call.id == id,
            (None, None) => true,
        };
        if let Some(at) = self.calls.iter().rposition(fits) {
            return at;
        }
        let at = self.calls.len();
        let id = id.map_or_else(|| format!("{MADE_UP}{}_{at}", self.seed), str::to_owned);
        self.calls.push(Call {
            index: delta.index,
            id,
            name: String::new(),
            waiting: String::new(),
            told: false,
        });
        at
    }

    fn tell(&mut self, at: usize) {
        let call = &mut self.calls[at];
        call.told = true;
        let waiting = std::mem::take(&mut call.waiting);
        self.blocks.start_tool(call.id.clone(), call.name.clone());
        self.blocks.json(&waiting);
        self.live = Some(at);
    }

    fn done(&mut self) {
        for at in 0..self.calls.len() {
            if !self.calls[at].told {
                self.tell(at);
            }
        }
        self.blocks.close();
        self.ended = true;
        let stop = self.stop.take().unwrap_or(StopReason::EndTurn);
        // Servers say `stop` where they mean that tools are wanted.
        let wants_tools = !self.calls.is_empty() && stop == StopReason::EndTurn;
        let stop_reason = if wants_tools { StopReason::ToolUse } else { stop };
        self.blocks.events.push(ModelEvent::Done { stop_reason, usage: self.usage });
    }

    fn fail(&mut self, failure: crate::Failure) {
        self.ended = true;
        self.blocks.events.push(ModelEvent::Failed(failure));
    }
}

const MADE_UP: &str = "call_made_up_";

impl Call {
    fn made_up(&self) -> bool {
        self.id.starts_with(MADE_UP)
    }
}

impl Lifter for Lift {
    fn take(&mut self, data: &str) {
        if self.ended {
            return;
        }
        if data.trim() == "[DONE]" {
            // Without any chunk it is the end of nothing.
            return if self.started { self.done() } else { self.end() };
        }
        match serde_json::from_str::<Chunk<'_>>(data) {
            Ok(chunk) => self.on(&chunk),
            Err(error) => self.fail(failure::bad_event(&self.provider, data, &error)),
        }
    }

    fn end(&mut self) {
        if self.ended {
            return;
        }
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

/// This wire counts what was read from the cache among the input, ours does not.
fn tokens(usage: &WireUsage) -> Usage {
    let cached = usage.prompt_tokens_details.as_ref().and_then(|it| it.cached_tokens);
    let cached = cached.or(usage.prompt_cache_hit_tokens);
    let input = usage.prompt_tokens.unwrap_or(0);
    Usage {
        input_tokens: input.saturating_sub(cached.unwrap_or(0)),
        output_tokens: usage.completion_tokens.unwrap_or(0),
        cache_creation_input_tokens: None,
        cache_read_input_tokens: cached,
        reasoning_tokens: usage
            .completion_tokens_details
            .as_ref()
            .and_then(|it| it.reasoning_tokens),
    }
}

fn stop_reason(name: &str) -> StopReason {
    match name {
        "stop" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}
