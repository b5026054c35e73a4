//! The machine while the model answers.

use std::collections::BTreeMap;

use ostler_protocol::{Block, MessageId, ToolCallId, Usage, canonical_tool};
use ostler_provider::{BlockKind, Failure, ModelEvent, StopReason};
use ostler_store::record::{AssistantEntry, Own, Record};
use serde_json::{Map, Value};

use super::{Effect, JournalPlace, Moment, State, ToolCall, Turn, batch::Batch, pause::Pause};
use crate::{
    event::{Delta, RunReason, SessionEvent},
    mend::{self, Unfinished},
};

/// An answer that is being written.
#[derive(Debug)]
pub(super) struct Sampling {
    /// Our name of the answer: the uuid of its first block.
    message_id: MessageId,
    vendor_id: String,
    model: String,
    request_id: Option<String>,
    usage: Usage,
    /// Whether anything was shown since the answer began.
    shown: bool,
    /// The blocks that are in the log.
    done: Vec<String>,
    /// Blocks that began and are not done; a well-behaved vendor has at most one.
    open: BTreeMap<u32, OpenBlock>,
    calls: Vec<ToolCall>,
    text: String,
    thinking: String,
}

#[derive(Debug)]
struct OpenBlock {
    uuid: String,
    kind: BlockKind,
    n: u32,
    chars: u32,
    text: String,
}

impl Sampling {
    pub(super) fn new(message_id: MessageId) -> Self {
        Self {
            message_id,
            vendor_id: String::new(),
            model: String::new(),
            request_id: None,
            usage: Usage::default(),
            shown: false,
            done: Vec::new(),
            open: BTreeMap::new(),
            calls: Vec::new(),
            text: String::new(),
            thinking: String::new(),
        }
    }

    pub(super) fn open_block(&self) -> Option<(MessageId, u32, u32, bool, String)> {
        let (index, block) = self.open.iter().next_back()?;
        let thinking = match block.kind {
            BlockKind::Text => false,
            BlockKind::Thinking => true,
            BlockKind::ToolUse { .. } | BlockKind::Other => return None,
        };
        Some((self.message_id.clone(), *index, block.n, thinking, block.text.clone()))
    }

    #[cfg(test)]
    pub(super) fn open_blocks(&self) -> usize {
        self.open.len()
    }

    /// The uuid that a block gets: the first one has the answer's own name.
    fn block_uuid(&self, turn: &mut Turn) -> String {
        if self.done.is_empty() && self.open.is_empty() {
            self.message_id.0.clone()
        } else {
            turn.ids.uuid()
        }
    }

    /// What was shown of unfinished words and reasoning.
    fn unfinished(&mut self) -> Vec<Unfinished> {
        let (vendor_id, model) = (&self.vendor_id, &self.model);
        std::mem::take(&mut self.open)
            .into_values()
            .filter(|block| matches!(block.kind, BlockKind::Text | BlockKind::Thinking))
            .map(|block| Unfinished {
                uuid: block.uuid,
                message_id: vendor_id.clone(),
                model: model.clone(),
                thinking: block.kind == BlockKind::Thinking,
                text: block.text,
            })
            .collect()
    }
}

impl Turn {
    /// Takes one event of the answer; leaves the machine in its next state.
    pub(super) fn sample(
        &mut self,
        mut sampling: Sampling,
        event: ModelEvent,
        out: &mut Vec<Effect>,
    ) {
        match event {
            ModelEvent::Started { message_id, model, request_id, usage } => {
                self.on_started(&mut sampling, message_id, model, request_id, usage, out);
            }
            ModelEvent::BlockStarted { index, kind } => {
                self.on_block_started(&mut sampling, index, kind, out)
            }
            ModelEvent::TextDelta { index, text } => {
                self.on_delta(&mut sampling, index, BlockKind::Text, text, out);
            }
            ModelEvent::ThinkingDelta { index, text } => {
                self.on_delta(&mut sampling, index, BlockKind::Thinking, text, out);
            }
            ModelEvent::InputDelta { index, json } => {
                on_input_delta(&mut sampling, index, json, out)
            }
            ModelEvent::BlockDone { index, block } => {
                self.on_block_done(&mut sampling, index, block, out)
            }
            ModelEvent::Retrying { attempt, max, delay_ms, failure } => {
                self.on_retrying(&mut sampling, attempt, max, delay_ms, failure, out);
            }
            ModelEvent::Done { stop_reason, usage } => {
                return self.on_answer(sampling, stop_reason, usage, out);
            }
            ModelEvent::Failed(failure) => return self.on_failed(sampling, failure, out),
        }
        self.state = State::Sampling(sampling);
    }

    fn on_started(
        &mut self,
        sampling: &mut Sampling,
        vendor_id: String,
        model: String,
        request_id: Option<String>,
        usage: Usage,
        out: &mut Vec<Effect>,
    ) {
        if let Some(run) = &mut self.run {
            run.model.clone_from(&model);
        }
        sampling.vendor_id.clone_from(&vendor_id);
        sampling.model.clone_from(&model);
        sampling.request_id = request_id;
        sampling.usage = usage;
        let message_id = sampling.message_id.clone();
        out.push(Effect::Emit(SessionEvent::ModelStarted { message_id, vendor_id, model, usage }));
    }

    fn on_block_started(
        &mut self,
        sampling: &mut Sampling,
        index: u32,
        kind: BlockKind,
        out: &mut Vec<Effect>,
    ) {
        if sampling.open.contains_key(&index) {
            return;
        }
        let uuid = sampling.block_uuid(self);
        out.push(Effect::Emit(SessionEvent::BlockStarted {
            message_id: sampling.message_id.clone(),
            index,
            kind: kind.clone(),
        }));
        sampling.open.insert(index, OpenBlock { uuid, kind, n: 0, chars: 0, text: String::new() });
    }

    fn on_delta(
        &mut self,
        sampling: &mut Sampling,
        index: u32,
        kind: BlockKind,
        text: String,
        out: &mut Vec<Effect>,
    ) {
        if text.is_empty() {
            return;
        }
        self.on_block_started(sampling, index, kind, out);
        let (vendor_id, model) = (sampling.vendor_id.clone(), sampling.model.clone());
        let Some(open) = sampling.open.get_mut(&index) else { return };
        let thinking = open.kind == BlockKind::Thinking;
        let delta = Delta {
            message_id: sampling.message_id.clone(),
            block: index,
            n: open.n,
            text: text.clone(),
        };
        open.n += 1;
        open.text.push_str(&text);
        sampling.shown = true;
        let place = JournalPlace { vendor_id, model, thinking };
        let event = if thinking {
            SessionEvent::ThinkingDelta(delta)
        } else {
            SessionEvent::TextDelta(delta)
        };
        out.push(Effect::Delta(place, event));
    }

    fn on_block_done(
        &mut self,
        sampling: &mut Sampling,
        index: u32,
        block: Block,
        out: &mut Vec<Effect>,
    ) {
        let block = whole_call(block);
        let uuid = match sampling.open.remove(&index) {
            Some(open) => open.uuid,
            None => sampling.block_uuid(self),
        };
        match &block {
            Block::Text { text } if text.is_empty() => return out.push(Effect::ClearJournal),
            Block::Text { text } => sampling.text.push_str(text),
            Block::Thinking { thinking, .. } => sampling.thinking.push_str(thinking),
            Block::ToolUse { id, name, input } => sampling.calls.push(ToolCall {
                id: ToolCallId(id.clone()),
                message_id: sampling.message_id.clone(),
                name: name.clone(),
                args: arguments(input),
            }),
            _ => {}
        }
        sampling.done.push(uuid.clone());
        sampling.shown = true;
        self.append_block(sampling, index, uuid, block, false, out);
    }

    /// A block goes to the log, its deltas are forgotten, then it is shown.
    fn append_block(
        &mut self,
        sampling: &Sampling,
        index: u32,
        uuid: String,
        block: Block,
        interrupted: bool,
        out: &mut Vec<Effect>,
    ) {
        out.push(Effect::Append(vec![Record::Assistant(AssistantEntry {
            uuid: uuid.clone(),
            message_id: sampling.vendor_id.clone(),
            model: sampling.model.clone(),
            block: block.clone(),
            stop_reason: None,
            usage: Some(sampling.usage),
            request_id: sampling.request_id.clone(),
            api_error: None,
            interrupted,
        })]));
        out.push(Effect::ClearJournal);
        out.push(Effect::Emit(SessionEvent::BlockDone {
            message_id: sampling.message_id.clone(),
            vendor_id: sampling.vendor_id.clone(),
            model: sampling.model.clone(),
            uuid,
            index,
            block,
            usage: sampling.usage,
            interrupted,
        }));
    }

    fn on_retrying(
        &mut self,
        sampling: &mut Sampling,
        attempt: u32,
        max: u32,
        delay_ms: u64,
        failure: Failure,
        out: &mut Vec<Effect>,
    ) {
        let message_id = sampling.shown.then(|| sampling.message_id.clone());
        let mut records = vec![Record::Own(Own::Retried {
            attempt,
            max,
            delay_ms,
            message: failure.message.clone(),
            status: failure.status,
        })];
        if !sampling.done.is_empty() {
            let uuids = std::mem::take(&mut sampling.done);
            records.push(Record::Own(Own::Void { uuids }));
        }
        out.push(Effect::Append(records));
        out.push(Effect::ClearJournal);
        out.push(Effect::Emit(SessionEvent::Retrying {
            message_id,
            attempt,
            max,
            delay_ms,
            failure,
        }));
        *sampling = Sampling::new(MessageId(self.ids.uuid()));
    }

    /// The answer is whole: tools run, or the run ends.
    fn on_answer(
        &mut self,
        mut sampling: Sampling,
        stop: StopReason,
        usage: Usage,
        out: &mut Vec<Effect>,
    ) {
        let left: Vec<u32> = sampling.open.keys().copied().collect();
        for index in left {
            // A vendor that never said that a block is done: keep what was shown of it.
            self.close_open_block(&mut sampling, index, out);
        }
        let response = Own::Response {
            message_id: sampling.vendor_id.clone(),
            stop_reason: stop.name().to_owned(),
            usage,
        };
        let ends = sampling.calls.is_empty();
        let Some(run) = &mut self.run else { return };
        run.responses += 1;
        run.usage = run.usage.plus(usage);
        run.context_tokens = usage.total_input() + usage.output_tokens;
        run.stop_reason = Some(stop.name().to_owned());
        if !sampling.text.is_empty() || ends {
            run.last_text.clone_from(&sampling.text);
            run.last_message = sampling.message_id.clone();
        }
        let total = run.usage;
        let mut tail = vec![Record::Own(response)];
        if !ends {
            out.push(Effect::Append(std::mem::take(&mut tail)));
        }
        let capped = stop == StopReason::MaxTokens;
        let text = sampling.text.clone();
        let returns = run.returns;
        let done = SessionEvent::ModelDone {
            message_id: sampling.message_id,
            text: sampling.text,
            thinking: sampling.thinking,
            stop_reason: stop,
            usage,
            total,
            window: None,
        };
        out.push(Effect::Emit(done));
        if capped {
            out.push(Effect::Emit(SessionEvent::Notice {
                warn: true,
                text: "The answer reached the model's limit of output and was cut there."
                    .to_owned(),
                key: "notice.max_tokens",
            }));
        }
        if ends && self.moments.stop {
            self.pause(Pause::End { tail }, Moment::Stop { text, returns }, out);
        } else if ends {
            self.end_run(RunReason::End, None, tail, out);
        } else {
            let batch = Batch::new(sampling.calls, &self.policy.readers);
            self.work(batch, out);
        }
    }

    /// A block that never ended becomes one, as far as it came.
    fn close_open_block(&mut self, sampling: &mut Sampling, index: u32, out: &mut Vec<Effect>) {
        let block = match sampling.open.get(&index) {
            Some(OpenBlock { kind: BlockKind::Text, text, .. }) => Block::text(text.clone()),
            Some(OpenBlock { kind: BlockKind::Thinking, text, .. }) => {
                Block::Thinking { thinking: text.clone(), signature: String::new() }
            }
            _ => {
                sampling.open.remove(&index);
                return;
            }
        };
        self.on_block_done(sampling, index, block, out);
    }

    /// There is no answer. What was shown stays, open calls get a result, the failure is
    /// kept in words.
    fn on_failed(&mut self, mut sampling: Sampling, failure: Failure, out: &mut Vec<Effect>) {
        self.keep_unfinished(&mut sampling, out);
        self.close_calls(&sampling.calls, out);
        let entry = self.failure_entry(&failure);
        let (uuid, text) = (entry.uuid.clone(), super::failure_text(&failure));
        out.push(Effect::Append(vec![Record::Assistant(entry)]));
        if let Some(run) = &mut self.run {
            run.last_text = text;
            run.last_message = MessageId(uuid.clone());
            run.stop_reason = Some("stop_sequence".to_owned());
        }
        out.push(Effect::Emit(SessionEvent::RunFailed { failure: failure.clone(), uuid }));
        self.end_run(RunReason::Failed, Some(failure), Vec::new(), out);
    }

    /// The person stopped the run while the model was answering.
    pub(super) fn stop_sampling(&mut self, mut sampling: Sampling, out: &mut Vec<Effect>) {
        self.keep_unfinished(&mut sampling, out);
        let in_tools = !sampling.calls.is_empty();
        self.close_calls(&sampling.calls, out);
        let (note, event) = self.interruption_note(in_tools);
        out.push(Effect::Append(vec![note]));
        out.push(event);
        self.end_run(RunReason::InterruptedStreaming, None, Vec::new(), out);
    }

    /// Words and reasoning that were shown and not finished go to the log as they are.
    fn keep_unfinished(&mut self, sampling: &mut Sampling, out: &mut Vec<Effect>) {
        let first = sampling.open.keys().next().copied().unwrap_or(0);
        for (at, unfinished) in sampling.unfinished().into_iter().enumerate() {
            let index = first + u32::try_from(at).unwrap_or(0);
            if let Some(entry) = unfinished.entry() {
                if let (Block::Text { text }, Some(run)) = (&entry.block, &mut self.run) {
                    run.last_text.clone_from(text);
                    run.last_message = sampling.message_id.clone();
                }
                self.append_block(sampling, index, entry.uuid, entry.block, true, out);
            }
        }
        out.push(Effect::ClearJournal);
    }

    /// Results for calls that never ran, each written and shown.
    fn close_calls(&mut self, calls: &[ToolCall], out: &mut Vec<Effect>) {
        for call in calls {
            let uuid = self.ids.uuid();
            let result = mend::interrupted_result(uuid.clone(), call.id.as_str());
            if let Some(run) = &mut self.run {
                run.user_messages += 1;
            }
            out.push(Effect::Append(vec![Record::User(result)]));
            out.push(Effect::Emit(super::batch::interrupted_event(call, uuid)));
        }
    }
}

fn on_input_delta(sampling: &mut Sampling, index: u32, json: String, out: &mut Vec<Effect>) {
    let message_id = sampling.message_id.clone();
    let Some(open) = sampling.open.get_mut(&index) else { return };
    let BlockKind::ToolUse { id, name } = &open.kind else { return };
    open.chars = open.chars.saturating_add(u32::try_from(json.len()).unwrap_or(u32::MAX));
    out.push(Effect::Emit(SessionEvent::InputDelta {
        message_id,
        index,
        tool_call_id: ToolCallId(id.clone()),
        tool_name: name.clone(),
        json,
        chars: open.chars,
    }));
}

/// A call whose arguments are an object, as vendors want it back.
fn whole_call(block: Block) -> Block {
    match block {
        Block::ToolUse { id, name, input } => {
            // Transcripts, events and rules know the canonical names of tools alone.
            let name = canonical_tool(&name).to_owned();
            Block::ToolUse { id, name, input: Value::Object(arguments(&input)) }
        }
        block => block,
    }
}

/// A call's arguments as an object; what is not one becomes an argument that no tool
/// knows, so that the tool's own check says what is wrong.
fn arguments(input: &Value) -> Map<String, Value> {
    match input {
        Value::Object(map) => map.clone(),
        Value::Null => Map::new(),
        other => Map::from_iter([("__unparsed".to_owned(), other.clone())]),
    }
}
