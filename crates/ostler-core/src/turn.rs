//! The turn machine: `step(turn, input) -> effects`, synchronous and pure.
//!
//! No I/O, no clock, no locks: every interleaving can be replayed or generated. Effects
//! are done in order; an `Append` is in the log before the `Emit` after it is seen.
//!
//! | state \ input | Prompt | Interrupt | Model | Judged, Answered, ToolDone |
//! |---|---|---|---|---|
//! | Idle | start a run: Sampling | - | late: ignored | late: ignored |
//! | Sampling | wait in the queue | close what is open: Idle | grow; at its end Working or Idle | late: ignored |
//! | Working | wait in the queue | close what does not run: Stopping, or Idle | late: ignored | settle in call order; at the end Sampling or Idle |
//! | Stopping | wait in the queue | - | late: ignored | ToolDone settles; at the last Idle |
//! | Pausing | wait in the queue | close the run: Idle | late: ignored | late: ignored; Advised goes on |
//!
//! Idle with a waiting message goes on to Sampling at once.

mod background;
mod batch;
mod pause;
mod sampling;
mod types;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use ostler_protocol::{
    BackgroundTask, Block, MessageId, Mode, RunId, Usage, conversation::ToolResultContent,
};
use ostler_provider::{Failure, ModelEvent};
use ostler_stdx::IdGen;
use ostler_store::record::{AssistantEntry, Own, QueuedPrompt, Record, UserEntry};

use crate::{
    event::{Denial, RunEnd, RunReason, SessionEvent},
    mend,
};
pub use background::tasks_gone;
use batch::Batch;
use pause::Pause;
pub use pause::{Advice, Aside, MOST_RETURNS, Moment, Moments, SettledCall};
use sampling::Sampling;
pub use types::{
    Answer, AnswerSource, DeniedBy, Effect, Input, JournalPlace, Policy, Prompt, Question, Ruled,
    Ruling, ToolCall, ToolOutcome,
};

/// The state of a session's turn machine.
#[derive(Debug)]
pub struct Turn {
    state: State,
    ids: IdGen,
    policy: Policy,
    mode: Mode,
    queue: VecDeque<QueuedPrompt>,
    /// Written with the first prompt of a new session.
    opening: Vec<Record>,
    run: Option<Run>,
    /// Waiting messages stay where they are.
    held: bool,
    /// Work that goes on in the background.
    tasks: Vec<BackgroundTask>,
    /// The mode to go back to when plan mode ends.
    before_plan: Mode,
    /// Names the newest model call; events of older ones are late.
    model_call: u64,
    /// Where the host wants to have its say.
    moments: Moments,
    /// Names the newest question to the host; answers to older ones are late.
    consultation: u64,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one per session, and it changes in place")]
enum State {
    Idle,
    Sampling(Sampling),
    Working(Batch),
    /// Interrupted, and calls still run.
    Stopping(Batch),
    /// The host has its say.
    Pausing(Pause),
}

/// What is known of the run that goes on.
#[derive(Debug)]
struct Run {
    id: RunId,
    prompts: Vec<MessageId>,
    queued_ids: Vec<String>,
    origin: Option<serde_json::Value>,
    responses: u32,
    user_messages: u32,
    usage: Usage,
    context_tokens: u64,
    model: String,
    last_text: String,
    last_message: MessageId,
    stop_reason: Option<String>,
    denials: Vec<Denial>,
    /// How often the host sent the model back to work.
    returns: u32,
    /// Whether its start was shown.
    told: bool,
    /// Whether its start is in the log.
    written: bool,
}

impl Run {
    /// Tells the end; how long it took is the driver's to say.
    fn ended(self, reason: RunReason, failure: Option<Failure>) -> Effect {
        Effect::Emit(SessionEvent::RunEnded(Box::new(RunEnd {
            run_id: self.id,
            reason,
            failure,
            text: self.last_text,
            message_id: self.last_message,
            model: self.model,
            stop_reason: self.stop_reason,
            ms: 0,
            responses: self.responses,
            user_messages: self.user_messages,
            usage: self.usage,
            context_tokens: self.context_tokens,
            denials: self.denials,
            queued_ids: self.queued_ids,
            prompt_ids: self.prompts,
            origin: self.origin,
        })))
    }
}

impl Turn {
    /// An idle machine. `opening` is written with the first prompt.
    #[must_use]
    pub fn new(
        ids: IdGen,
        policy: Policy,
        mode: Mode,
        opening: Vec<Record>,
        queue: Vec<QueuedPrompt>,
    ) -> Self {
        Self {
            state: State::Idle,
            ids,
            policy,
            mode,
            queue: queue.into(),
            opening,
            run: None,
            held: false,
            tasks: Vec::new(),
            before_plan: if mode == Mode::Plan { Mode::Default } else { mode },
            model_call: 0,
            moments: Moments::default(),
            consultation: 0,
        }
    }

    /// Whether nothing goes on and nothing waits.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// The mode in force.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The waiting messages.
    pub fn queue(&self) -> impl Iterator<Item = &QueuedPrompt> {
        self.queue.iter()
    }

    /// The run that goes on.
    #[must_use]
    pub fn run_id(&self) -> Option<&RunId> {
        self.run.as_ref().map(|run| &run.id)
    }

    /// The requests that wait for the person: request, call and question.
    #[must_use]
    pub fn open_requests(&self) -> Vec<crate::event::AskedEvent> {
        match &self.state {
            State::Working(batch) => batch.open_requests(self.mode),
            State::Idle | State::Sampling(_) | State::Stopping(_) | State::Pausing(_) => Vec::new(),
        }
    }

    /// The block that is being written: place of the next delta, and the text so far.
    #[must_use]
    pub fn open_block(&self) -> Option<(MessageId, u32, u32, bool, String)> {
        match &self.state {
            State::Sampling(sampling) => sampling.open_block(),
            State::Idle | State::Working(_) | State::Stopping(_) | State::Pausing(_) => None,
        }
    }

    /// Waiting messages stay where they are: the session is about to end, and they are in
    /// the log.
    pub fn hold_queue(&mut self) {
        self.held = true;
    }

    /// Changes the limits of the runs to come.
    pub fn set_max_responses(&mut self, max: Option<u32>) {
        self.policy.max_responses = max;
    }
}

/// Takes one input and says what to do, in order.
pub fn step(turn: &mut Turn, input: Input) -> Vec<Effect> {
    let mut out = Vec::new();
    match input {
        Input::Prompt(prompt) => turn.on_prompt(prompt, &mut out),
        Input::Interrupt => turn.on_interrupt(&mut out),
        Input::Model { call, event } => {
            if call == turn.model_call {
                turn.on_model(event, &mut out);
            }
        }
        Input::Judged { call_id, ruled } => turn.on_judged(&call_id, *ruled, &mut out),
        Input::Advised { id, advice } => turn.on_advised(id, advice, &mut out),
        Input::Hook(run) => turn.on_hook(*run, &mut out),
        Input::Answered { request_id, answer } => turn.on_answered(&request_id, answer, &mut out),
        Input::ToolDone { call_id, outcome, ms } => {
            turn.on_tool_done(&call_id, outcome, ms, &mut out)
        }
        Input::Dequeue { id } => turn.on_dequeue(&id, &mut out),
        Input::ClearQueue => turn.on_clear_queue(&mut out),
        Input::SetMode(mode) => turn.on_set_mode(mode, &mut out),
        Input::SetModel { provider, model } => turn.on_set_model(provider, model, &mut out),
        Input::SetTitle(title) => {
            out.push(Effect::Append(vec![Record::CustomTitle(title.clone())]));
            out.push(Effect::Emit(SessionEvent::Titled(title)));
        }
        Input::Note { note, at_ms } => turn.on_note(note, at_ms, &mut out),
        Input::TasksGone { at_ms } => turn.on_tasks_gone(at_ms, &mut out),
        Input::StorageFailed { message } => turn.on_storage_failed(message, &mut out),
    }
    out
}

impl Turn {
    fn on_prompt(&mut self, prompt: Prompt, out: &mut Vec<Effect>) {
        if self.is_idle() {
            self.start_with_notes(prompt, out);
            return;
        }
        let item = prompt.into_queued(&mut self.ids);
        let (id, content) = (item.id.clone(), item.content.text());
        self.queue.push_back(item);
        out.push(Effect::Append(vec![self.queue_record()]));
        out.push(Effect::Emit(SessionEvent::Queued { id, content }));
    }

    fn queue_record(&self) -> Record {
        let paused = match &self.state {
            State::Pausing(pause) => pause.waiting(),
            State::Idle | State::Sampling(_) | State::Working(_) | State::Stopping(_) => Vec::new(),
        };
        let items = paused.into_iter().chain(self.queue.iter().cloned());
        Record::Own(Own::Queue { items: items.collect() })
    }

    fn on_dequeue(&mut self, id: &str, out: &mut Vec<Effect>) {
        let before = self.queue.len();
        self.queue.retain(|item| item.id != id);
        if self.queue.len() < before {
            out.push(Effect::Append(vec![self.queue_record()]));
            out.push(Effect::Emit(SessionEvent::Dequeued { id: id.to_owned() }));
        }
    }

    fn on_clear_queue(&mut self, out: &mut Vec<Effect>) {
        let (notes, prompts): (Vec<_>, Vec<_>) = self.queue.drain(..).partition(|item| item.note);
        self.queue.extend(notes);
        let joining = match &mut self.state {
            State::Pausing(pause) => pause.take_joining(),
            State::Idle | State::Sampling(_) | State::Working(_) | State::Stopping(_) => Vec::new(),
        };
        let waiting = prompts.into_iter().map(|item| item.id);
        let ids: Vec<_> = joining.into_iter().chain(waiting).collect();
        if !ids.is_empty() {
            out.push(Effect::Append(vec![self.queue_record()]));
            out.extend(ids.into_iter().map(|id| Effect::Emit(SessionEvent::Dequeued { id })));
        }
    }

    fn on_set_mode(&mut self, mode: Mode, out: &mut Vec<Effect>) {
        let mut records = Vec::new();
        let event = self.change_mode(mode, &mut records);
        if let Some(event) = event {
            out.push(Effect::Append(records));
            out.push(Effect::Emit(event));
        }
    }

    fn on_set_model(&mut self, provider: String, model: String, out: &mut Vec<Effect>) {
        let pinned = Own::Pinned { provider: provider.clone(), model: model.clone() };
        out.push(Effect::Append(vec![Record::Own(pinned)]));
        out.push(Effect::Emit(SessionEvent::ModelChanged { provider, model }));
    }

    /// Starts a run for one prompt, or for waiting ones that are merged. Each has its id
    /// in the queue, if it was shown there.
    fn start_run(
        &mut self,
        mut prompts: Vec<(Prompt, Option<String>)>,
        from_queue: bool,
        out: &mut Vec<Effect>,
    ) {
        let run_id = RunId(self.ids.uuid());
        for (prompt, _) in &mut prompts {
            prompt.uuid.get_or_insert_with(|| self.ids.uuid());
        }
        let ids: Vec<_> =
            prompts.iter().filter_map(|(prompt, _)| prompt.uuid.clone().map(MessageId)).collect();
        let told = prompts.iter().find(|(prompt, _)| !prompt.note).or(prompts.first());
        let first = ids.first().cloned().unwrap_or_else(|| MessageId(String::new()));
        self.run = Some(Run {
            id: run_id,
            user_messages: u32::try_from(ids.len()).unwrap_or(u32::MAX),
            prompts: ids,
            queued_ids: prompts.iter().filter_map(|(_, id)| id.clone()).collect(),
            origin: told.and_then(|(prompt, _)| prompt.origin.clone()),
            responses: 0,
            usage: Usage::default(),
            context_tokens: 0,
            model: String::new(),
            last_text: String::new(),
            last_message: first,
            stop_reason: None,
            denials: Vec::new(),
            returns: 0,
            told: false,
            written: false,
        });
        let moment = Self::moment_of(&prompts, true).filter(|_| self.moments.prompt);
        match moment {
            Some(moment) => {
                out.extend(self.run_started());
                self.pause(Pause::Begin { prompts, from_queue }, moment, out);
            }
            None => self.begin(prompts, from_queue, Advice::default(), out),
        }
    }

    /// The start of the run, if it was not shown yet.
    fn run_started(&mut self) -> Option<Effect> {
        let run = self.run.as_mut().filter(|run| !run.told)?;
        run.told = true;
        Some(Effect::Emit(SessionEvent::RunStarted {
            run_id: run.id.clone(),
            queued_ids: run.queued_ids.clone(),
        }))
    }

    /// The messages are let in and the model is asked, unless the host says otherwise.
    fn begin(
        &mut self,
        prompts: Vec<(Prompt, Option<String>)>,
        from_queue: bool,
        mut advice: Advice,
        out: &mut Vec<Effect>,
    ) {
        let stop = advice.aside.stop.take();
        self.let_in(prompts, from_queue, advice, out);
        match stop {
            Some(reason) => self.end_for(reason, Vec::new(), out),
            None => self.call_model(out),
        }
    }

    /// Writes and shows the messages that a run begins with, and what the host adds.
    fn let_in(
        &mut self,
        mut prompts: Vec<(Prompt, Option<String>)>,
        from_queue: bool,
        mut advice: Advice,
        out: &mut Vec<Effect>,
    ) {
        let started = self.run_started();
        if advice.hides_prompt && !advice.aside.context.is_empty() {
            hide(&mut prompts, std::mem::take(&mut advice.aside.context));
        }
        let last_prompt = prompts.iter().rfind(|(prompt, _)| !prompt.note);
        let last_prompt = last_prompt.map(|(prompt, _)| prompt.content.text());
        let mut records = Vec::new();
        let mut events: Vec<_> = started.into_iter().collect();
        for (prompt, queued_id) in prompts {
            let (entry, event) = self.user_entry(prompt, queued_id);
            records.push(Record::User(entry));
            events.push(Effect::Emit(event));
            records.append(&mut self.opening);
        }
        records.extend(self.context_records(advice.aside.context));
        if let Some(run) = &mut self.run {
            run.written = true;
            records.push(Record::Own(Own::RunStarted {
                run_id: run.id.0.clone(),
                prompt: run.last_message.0.clone(),
            }));
        }
        records.extend(last_prompt.map(Record::LastPrompt));
        if from_queue {
            records.push(self.queue_record());
        }
        out.push(Effect::Append(records));
        out.extend(events);
        self.titled(advice.title, out);
    }

    fn user_entry(
        &mut self,
        prompt: Prompt,
        queued_id: Option<String>,
    ) -> (UserEntry, SessionEvent) {
        let uuid = prompt.uuid.unwrap_or_else(|| self.ids.uuid());
        let event = SessionEvent::UserMessage {
            message_id: MessageId(uuid.clone()),
            content: prompt.content.clone(),
            client_id: prompt.client_id,
            queued_id,
            origin: prompt.origin.clone(),
            synthetic: prompt.note,
        };
        let entry = UserEntry {
            uuid,
            content: prompt.content,
            tool_use_result: None,
            is_meta: prompt.note,
            origin: prompt.origin,
        };
        (entry, event)
    }

    /// Asks the model, unless the run has used up its answers.
    fn call_model(&mut self, out: &mut Vec<Effect>) {
        let spent = self.run.as_ref().map_or(0, |run| run.responses);
        if self.policy.max_responses.is_some_and(|max| spent >= max) {
            self.end_run(RunReason::Turns, None, Vec::new(), out);
            return;
        }
        self.model_call += 1;
        self.state = State::Sampling(Sampling::new(MessageId(self.ids.uuid())));
        out.push(Effect::CallModel { call: self.model_call });
    }

    /// Ends the run: `records` and the end go out in one write, then the disk is waited for.
    fn end_run(
        &mut self,
        reason: RunReason,
        failure: Option<Failure>,
        mut records: Vec<Record>,
        out: &mut Vec<Effect>,
    ) {
        self.state = State::Idle;
        let Some(run) = self.run.take() else { return };
        // Of a run whose messages were erased the log knows nothing.
        if run.written {
            records.push(Record::Own(Own::RunEnded {
                run_id: run.id.0.clone(),
                reason: reason.name().to_owned(),
                message: failure.as_ref().map(|failure| failure.message.clone()),
                ms: 0,
                usage: run.usage,
            }));
        }
        if !records.is_empty() {
            out.push(Effect::Append(records));
            out.push(Effect::Sync);
        }
        out.push(run.ended(reason, failure));
        self.start_waiting(reason, out);
    }

    /// Takes up what waits: notes, and one message or all of them merged, as the policy
    /// says. Notes alone begin nothing after a run that was stopped or failed.
    fn start_waiting(&mut self, reason: RunReason, out: &mut Vec<Effect>) {
        if self.held {
            return;
        }
        let goes_on = matches!(reason, RunReason::End | RunReason::HookStopped);
        if !goes_on && self.queue.iter().all(|item| item.note) {
            return;
        }
        let items = self.take_waiting(if self.policy.join_waiting { usize::MAX } else { 1 });
        if !items.is_empty() {
            self.start_run(items.into_iter().map(from_queue).collect(), true, out);
        }
    }

    /// A prompt to an idle session takes the notes along that wait.
    fn start_with_notes(&mut self, prompt: Prompt, out: &mut Vec<Effect>) {
        let notes = self.take_waiting(0);
        let from_queue_too = !notes.is_empty();
        let mut prompts: Vec<_> = notes.into_iter().map(from_queue).collect();
        prompts.push((prompt, None));
        self.start_run(prompts, from_queue_too, out);
    }

    /// Takes all waiting notes, and at most so many messages, out of the queue in order.
    fn take_waiting(&mut self, mut messages: usize) -> Vec<QueuedPrompt> {
        let mut stay = VecDeque::new();
        let mut taken = Vec::new();
        for item in self.queue.drain(..) {
            if item.note || messages > 0 {
                messages -= usize::from(!item.note);
                taken.push(item);
            } else {
                stay.push_back(item);
            }
        }
        self.queue = stay;
        taken
    }

    /// Waiting notes, and messages if the policy says so, join the running turn beside
    /// the tool results; then the model is asked.
    fn send_results(&mut self, out: &mut Vec<Effect>) {
        let items = self.take_waiting(if self.policy.join_waiting { usize::MAX } else { 0 });
        if items.is_empty() {
            return self.call_model(out);
        }
        let prompts: Vec<_> = items.into_iter().map(from_queue).collect();
        match Self::moment_of(&prompts, false).filter(|_| self.moments.prompt) {
            Some(moment) => self.pause(Pause::Join { prompts }, moment, out),
            None => self.join(prompts, Advice::default(), out),
        }
    }

    /// Writes and shows the messages that join the run, and what the host adds.
    fn join(
        &mut self,
        mut prompts: Vec<(Prompt, Option<String>)>,
        mut advice: Advice,
        out: &mut Vec<Effect>,
    ) {
        if advice.hides_prompt && !advice.aside.context.is_empty() {
            hide(&mut prompts, std::mem::take(&mut advice.aside.context));
        }
        let mut records = Vec::new();
        let mut events = Vec::new();
        for (prompt, id) in prompts {
            let (entry, event) = self.user_entry(prompt, id);
            if let Some(run) = &mut self.run {
                run.user_messages += 1;
                run.prompts.push(MessageId(entry.uuid.clone()));
            }
            records.push(Record::User(entry));
            events.push(Effect::Emit(event));
        }
        records.extend(self.context_records(advice.aside.context));
        records.push(self.queue_record());
        out.push(Effect::Append(records));
        out.extend(events);
        self.titled(advice.title, out);
        match advice.aside.stop {
            Some(reason) => self.end_for(reason, Vec::new(), out),
            None => self.call_model(out),
        }
    }

    fn on_interrupt(&mut self, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => {}
            State::Sampling(sampling) => {
                self.model_call += 1;
                out.push(Effect::StopModel);
                self.stop_sampling(sampling, out);
            }
            State::Working(mut batch) => {
                batch.withdraw_requests("interrupted", out);
                if batch.any_running() {
                    out.push(Effect::CancelTools);
                    self.state = State::Stopping(batch);
                } else {
                    // What is still being judged is not waited for.
                    if batch.any_judging() {
                        out.push(Effect::CancelTools);
                    }
                    self.stop_batch(batch, out);
                }
            }
            State::Stopping(batch) => self.state = State::Stopping(batch),
            State::Pausing(pause) => self.stop_pause(pause, out),
        }
    }

    /// The note in the person's place, as record and event.
    fn interruption_note(&mut self, in_tools: bool) -> (Record, Effect) {
        let note = mend::interruption_note(self.ids.uuid(), in_tools);
        if let Some(run) = &mut self.run {
            run.user_messages += 1;
        }
        let event = SessionEvent::UserMessage {
            message_id: MessageId(note.uuid.clone()),
            content: note.content.clone(),
            client_id: None,
            queued_id: None,
            origin: None,
            synthetic: true,
        };
        (Record::User(note), Effect::Emit(event))
    }

    /// Nothing more may be shown: the log cannot be written. Waiting messages stay.
    fn on_storage_failed(&mut self, message: String, out: &mut Vec<Effect>) {
        let was = std::mem::replace(&mut self.state, State::Idle);
        match was {
            State::Idle => return,
            State::Sampling(_) => out.push(Effect::StopModel),
            State::Working(_) | State::Stopping(_) => out.push(Effect::CancelTools),
            State::Pausing(_) => {
                self.consultation += 1;
                out.push(Effect::StopConsulting);
            }
        }
        self.model_call += 1;
        let Some(run) = self.run.take() else { return };
        let failure = Failure {
            kind: ostler_protocol::ErrorKind::Storage,
            message,
            hint: Some(
                "free some disk space, then send again; what was shown before is kept".to_owned(),
            ),
            status: None,
            retry_after_ms: None,
        };
        out.push(Effect::Emit(SessionEvent::RunFailed {
            failure: failure.clone(),
            uuid: String::new(),
        }));
        out.push(run.ended(RunReason::Failed, Some(failure)));
    }

    /// Our own words about a failure, kept in the log and never sent to a model.
    fn failure_entry(&mut self, failure: &Failure) -> AssistantEntry {
        AssistantEntry {
            uuid: self.ids.uuid(),
            message_id: self.ids.uuid(),
            model: "<synthetic>".to_owned(),
            block: Block::text(failure_text(failure)),
            stop_reason: Some("stop_sequence".to_owned()),
            usage: Some(Usage::default()),
            request_id: None,
            api_error: Some(failure.kind.name()),
            interrupted: false,
        }
    }

    fn on_model(&mut self, event: ModelEvent, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Sampling(sampling) => self.sample(sampling, event, out),
            state => self.state = state,
        }
    }
}

/// The line that a person reads about a failure.
fn failure_text(failure: &Failure) -> String {
    match failure.status {
        Some(status) if !failure.message.contains(&status.to_string()) => {
            format!("API Error: {status} {}", failure.message)
        }
        _ => format!("API Error: {}", failure.message),
    }
}

impl Prompt {
    fn into_queued(mut self, ids: &mut IdGen) -> QueuedPrompt {
        let id = self.uuid.take().unwrap_or_else(|| ids.uuid());
        self.queued(id)
    }

    fn queued(self, id: String) -> QueuedPrompt {
        QueuedPrompt {
            id,
            content: self.content,
            queued_at: self.at_ms,
            client_id: self.client_id,
            origin: self.origin,
            note: self.note,
        }
    }

    fn from_queued(item: QueuedPrompt) -> Self {
        Self {
            uuid: Some(item.id),
            content: item.content,
            at_ms: item.queued_at,
            client_id: item.client_id,
            origin: item.origin,
            note: item.note,
        }
    }
}

/// Puts other words in the place of the person's.
fn hide(prompts: &mut Vec<(Prompt, Option<String>)>, context: Vec<String>) {
    let mut context = Some(ToolResultContent::Text(context.join("\n\n")));
    for (prompt, _) in prompts.iter_mut().rev().filter(|(prompt, _)| !prompt.note) {
        // The last message carries them all; the others have nothing left to say.
        prompt.content = context.take().unwrap_or(ToolResultContent::Text(String::new()));
    }
    prompts.retain(|(prompt, _)| !prompt.content.text().is_empty());
}

/// A waiting message as a prompt, with its id in the queue if people saw it there.
fn from_queue(item: QueuedPrompt) -> (Prompt, Option<String>) {
    let id = (!item.note).then(|| item.id.clone());
    (Prompt::from_queued(item), id)
}

/// A tool result's content as an entry holds it.
fn result_content(call_id: &str, content: ToolResultContent, ok: bool) -> ToolResultContent {
    ToolResultContent::Blocks(vec![Block::ToolResult {
        tool_use_id: call_id.to_owned(),
        content,
        is_error: Some(!ok),
    }])
}
