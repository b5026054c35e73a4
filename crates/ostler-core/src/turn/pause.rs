//! Where the host may have its say before a run goes on: over its messages, over the
//! results of an answer, and when the model has no more to do.
//!
//! The machine waits and knows nothing of who decides. Where nobody wants a say it does not
//! even stop, so that a session without hooks pays nothing.

use ostler_protocol::{MessageId, ToolCallId, conversation::ToolResultContent};
use ostler_store::record::{Own, QueuedPrompt, Record, UserEntry};
use serde_json::{Map, Value};

use super::{Effect, Prompt, State, Turn};
use crate::event::{HookRun, RunReason, SessionEvent};

/// How often in a run the model is sent back to work instead of ending.
pub const MOST_RETURNS: u32 = 8;

/// Records of hooks that are kept until a new session has its first message.
const KEPT_RECORDS: usize = 200;

/// What somebody who watches a call wants besides its result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aside {
    /// Texts for the model, beside the results.
    pub context: Vec<String>,
    /// The run ends once what is open is written, for this reason.
    pub stop: Option<String>,
}

/// A point at which the host may have its say.
#[derive(Debug, Clone, PartialEq)]
pub enum Moment {
    /// These messages are about to be written and sent to the model.
    Prompt {
        /// The person's words.
        text: String,
        /// The uuid of the last message.
        prompt_id: String,
        /// Whether a run begins with them; else they join the one that goes on.
        begins: bool,
    },
    /// All calls of an answer have their results.
    Batch {
        /// In call order.
        calls: Vec<SettledCall>,
    },
    /// The model has no more to do.
    Stop {
        /// Its last words.
        text: String,
        /// How often it was sent back to work already.
        returns: u32,
    },
}

/// A call that has its result.
#[derive(Debug, Clone, PartialEq)]
pub struct SettledCall {
    /// The call.
    pub id: ToolCallId,
    /// Its tool.
    pub name: String,
    /// Its final arguments.
    pub args: Map<String, Value>,
    /// What the model is told.
    pub content: ToolResultContent,
}

/// At which points the host wants to have its say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moments {
    /// [`Moment::Prompt`].
    pub prompt: bool,
    /// [`Moment::Batch`].
    pub batch: bool,
    /// [`Moment::Stop`].
    pub stop: bool,
}

/// What the host says at a [`Moment`]. The default lets everything go on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advice {
    /// Texts for the model, and the end of the run.
    pub aside: Aside,
    /// Messages are erased; results carry this; a model that would end goes on with this.
    pub block: Option<String>,
    /// The person's own words are left out; the texts stand in their place.
    pub hides_prompt: bool,
    /// A title for the session.
    pub title: Option<String>,
}

/// Messages with their ids in the queue, if they were shown there.
type Prompts = Vec<(Prompt, Option<String>)>;

/// What the run waits to do.
#[derive(Debug)]
pub(super) enum Pause {
    /// Begin with these messages.
    Begin { prompts: Prompts, from_queue: bool },
    /// Let these waiting messages join.
    Join { prompts: Prompts },
    /// Send the results.
    Results,
    /// End; these records go with the end.
    End { tail: Vec<Record> },
}

impl Pause {
    /// Messages that the log still shows as waiting.
    pub(super) fn waiting(&self) -> Vec<QueuedPrompt> {
        match self {
            Self::Begin { prompts, from_queue: true } | Self::Join { prompts } => prompts
                .iter()
                .map(|(prompt, _)| prompt.clone().queued(prompt.uuid.clone().unwrap_or_default()))
                .collect(),
            Self::Begin { .. } | Self::Results | Self::End { .. } => Vec::new(),
        }
    }

    /// Takes the messages out that were about to join; their ids.
    pub(super) fn take_joining(&mut self) -> Vec<String> {
        let Self::Join { prompts } = self else { return Vec::new() };
        let (notes, own): (Vec<_>, Vec<_>) =
            std::mem::take(prompts).into_iter().partition(|(prompt, _)| prompt.note);
        *prompts = notes;
        own.into_iter().filter_map(|(_, id)| id).collect()
    }
}

impl Turn {
    /// Says at which points the host wants to have its say from here on.
    pub fn attend(&mut self, moments: Moments) {
        self.moments = moments;
    }

    pub(super) fn pause(&mut self, pause: Pause, moment: Moment, out: &mut Vec<Effect>) {
        self.consultation += 1;
        self.state = State::Pausing(pause);
        out.push(Effect::Consult { id: self.consultation, moment });
    }

    /// Messages for the host to see; Ostler's own notes are none.
    pub(super) fn moment_of(prompts: &Prompts, begins: bool) -> Option<Moment> {
        let own: Vec<_> = prompts.iter().filter(|(prompt, _)| !prompt.note).collect();
        let (last, _) = own.last()?;
        let texts: Vec<_> = own.iter().map(|(prompt, _)| prompt.content.text()).collect();
        let prompt_id = last.uuid.clone().unwrap_or_default();
        Some(Moment::Prompt { text: texts.join("\n"), prompt_id, begins })
    }

    pub(super) fn on_advised(&mut self, id: u64, advice: Advice, out: &mut Vec<Effect>) {
        if id != self.consultation {
            return;
        }
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Pausing(pause) => self.resume(pause, advice, out),
            state => self.state = state,
        }
    }

    fn resume(&mut self, pause: Pause, advice: Advice, out: &mut Vec<Effect>) {
        match pause {
            Pause::Begin { prompts, from_queue } => match advice.block {
                Some(reason) => {
                    if let Some(run) = &mut self.run {
                        run.last_text.clone_from(&reason);
                    }
                    kept_back(&reason, out);
                    self.erase(prompts, from_queue, RunReason::Blocked, out);
                }
                None => self.begin(prompts, from_queue, advice, out),
            },
            Pause::Join { prompts } => match advice.block {
                Some(reason) => {
                    let (notes, own): (Vec<_>, _) =
                        prompts.into_iter().partition(|(prompt, _)| prompt.note);
                    let ids = own.into_iter().filter_map(|(_, id)| id);
                    out.extend(ids.map(|id| Effect::Emit(SessionEvent::Dequeued { id })));
                    kept_back(&reason, out);
                    self.join(notes, Advice::default(), out);
                }
                None => self.join(prompts, advice, out),
            },
            Pause::Results => {
                let mut context = advice.aside.context;
                context.extend(advice.block);
                self.add_context(context, out);
                match advice.aside.stop {
                    Some(reason) => self.end_for(reason, Vec::new(), out),
                    None => self.send_results(out),
                }
            }
            Pause::End { tail } => self.end_or_return(tail, advice, out),
        }
    }

    /// The model has no more to do: it ends, unless the host sends it back to work.
    fn end_or_return(&mut self, tail: Vec<Record>, advice: Advice, out: &mut Vec<Effect>) {
        let Some(run) = &mut self.run else { return };
        if let Some(reason) = advice.aside.stop {
            return self.end_for(reason, tail, out);
        }
        let Some(reason) = advice.block else {
            return self.end_run(RunReason::End, None, tail, out);
        };
        if run.returns >= MOST_RETURNS {
            out.push(Effect::Emit(SessionEvent::Notice {
                warn: true,
                text: format!(
                    "The hooks have sent the model back to work {MOST_RETURNS} times; the turn ends here."
                ),
                key: "notice.hook_limit",
            }));
            return self.end_run(RunReason::End, None, tail, out);
        }
        run.returns += 1;
        out.push(Effect::Append(tail));
        let mut context = vec![reason];
        context.extend(advice.aside.context);
        self.add_context(context, out);
        self.call_model(out);
    }

    /// The run ends because the host says so.
    pub(super) fn end_for(&mut self, reason: String, tail: Vec<Record>, out: &mut Vec<Effect>) {
        out.push(Effect::Emit(SessionEvent::Notice {
            warn: false,
            text: format!("A hook ended the turn: {reason}"),
            key: "notice.hook_stopped",
        }));
        if let Some(run) = &mut self.run
            && run.last_text.is_empty()
        {
            run.last_text = reason;
        }
        self.end_run(RunReason::HookStopped, None, tail, out);
    }

    /// The messages never reach log or model; the run ends before it began.
    fn erase(
        &mut self,
        prompts: Prompts,
        from_queue: bool,
        reason: RunReason,
        out: &mut Vec<Effect>,
    ) {
        if let Some(run) = &mut self.run {
            run.user_messages = 0;
        }
        // Notes of the background are no part of what is erased.
        let notes = prompts.into_iter().filter(|(prompt, _)| prompt.note);
        let notes: Vec<_> = notes.map(|(prompt, _)| prompt.into_queued(&mut self.ids)).collect();
        let changed = from_queue || !notes.is_empty();
        self.queue.extend(notes);
        let records = if changed { vec![self.queue_record()] } else { Vec::new() };
        self.end_run(reason, None, records, out);
    }

    /// Texts of the host for the model, in a message that people are not shown.
    pub(super) fn add_context(&mut self, context: Vec<String>, out: &mut Vec<Effect>) {
        let records = self.context_records(context);
        if !records.is_empty() {
            out.push(Effect::Append(records));
        }
    }

    pub(super) fn context_records(&mut self, context: Vec<String>) -> Vec<Record> {
        if context.is_empty() {
            return Vec::new();
        }
        vec![Record::User(UserEntry {
            uuid: self.ids.uuid(),
            content: ToolResultContent::Text(context.join("\n\n")),
            tool_use_result: None,
            is_meta: true,
            origin: None,
        })]
    }

    pub(super) fn titled(&self, title: Option<String>, out: &mut Vec<Effect>) {
        if let Some(title) = title {
            out.push(Effect::Append(vec![Record::CustomTitle(title.clone())]));
            out.push(Effect::Emit(SessionEvent::Titled(title)));
        }
    }

    /// Stops what the run waits for. Messages that were not let through do not slip through.
    pub(super) fn stop_pause(&mut self, pause: Pause, out: &mut Vec<Effect>) {
        self.consultation += 1;
        out.push(Effect::StopConsulting);
        match pause {
            Pause::Begin { prompts, from_queue } => {
                self.erase(prompts, from_queue, RunReason::InterruptedStreaming, out);
            }
            Pause::Join { prompts } => {
                for (prompt, _) in prompts.into_iter().rev() {
                    let item = prompt.into_queued(&mut self.ids);
                    self.queue.push_front(item);
                }
                self.end_stopped(Vec::new(), out);
            }
            Pause::Results => self.end_stopped(Vec::new(), out),
            Pause::End { tail } => self.end_stopped(tail, out),
        }
    }

    fn end_stopped(&mut self, mut records: Vec<Record>, out: &mut Vec<Effect>) {
        let (note, event) = self.interruption_note(false);
        records.push(note);
        out.push(Effect::Append(records));
        out.push(event);
        self.end_run(RunReason::InterruptedStreaming, None, Vec::new(), out);
    }

    /// A hook ran. A session without a message has no log yet: the record waits for it.
    pub(super) fn on_hook(&mut self, run: HookRun, out: &mut Vec<Effect>) {
        let record = Record::Own(Own::Hook(run.clone().into_record()));
        if self.opening.is_empty() {
            out.push(Effect::Append(vec![record]));
        } else if self.opening.len() < KEPT_RECORDS {
            self.opening.push(record);
        }
        out.push(Effect::Emit(SessionEvent::HookRan(Box::new(run))));
    }

    /// The id of the message that the run answers.
    #[must_use]
    pub fn prompt_id(&self) -> Option<&MessageId> {
        self.run.as_ref()?.prompts.last()
    }
}

fn kept_back(reason: &str, out: &mut Vec<Effect>) {
    out.push(Effect::Emit(SessionEvent::Notice {
        warn: true,
        text: format!("A hook kept the message back: {reason}"),
        key: "notice.hook_blocked",
    }));
}
