//! The session task: effects out, inputs in.

use std::{
    collections::{HashMap, VecDeque},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt as _, StreamExt as _};
use ostler_protocol::{ErrorKind, RunId, ToolCallId};
use ostler_provider::{Failure, ModelEvent, ModelRequest, ModelStream, SystemBlock, ToolSpec};
use ostler_stdx::{AbsPath, Cancel, Clock};
use ostler_store::{
    OpenBlock, SessionLog,
    record::{Own, Record, Why},
};
use ostler_tool::{Later, Note, Outputs, Progress, Registry, SessionState, ShellFolder, ToolCx};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::Instant,
};

use super::{
    Adviser, Command, Gate, GateCall, Moderation, PromptReply, Runner, SessionConfig, SessionParts,
    SessionSnapshot, Sink,
    calls::{Calls, News, Report, Told},
    history::History,
    readers,
};
use crate::{
    event::{HookRun, RunEnd, SessionEvent},
    failpoint,
    turn::{
        Advice, Answer, AnswerSource, Effect, Input, JournalPlace, Moment, Policy, Ruled, Ruling,
        ToolCall, Turn, step,
    },
};

/// Messages that may wait (ipc.md R-26).
const QUEUE_CAP: usize = 100;

/// Notes from the background that may wait; who sends more waits until one is taken.
const NOTES: usize = 64;

pub(super) struct Driver {
    turn: Turn,
    history: History,
    log: SessionLog,
    config: SessionConfig,
    tools: Registry,
    state: SessionState,
    gate: Arc<dyn Gate>,
    sink: Arc<dyn Sink>,
    clock: Arc<dyn Clock>,
    session_id: String,
    stream: Option<(u64, ModelStream)>,
    model_cancel: Cancel,
    judging: JoinSet<(ToolCallId, Box<Ruled>)>,
    adviser: Arc<dyn Adviser>,
    advising: JoinSet<(u64, Advice)>,
    advice_cancel: Cancel,
    hook_runs: mpsc::Receiver<HookRun>,
    calls: Calls,
    runner: Arc<dyn Runner>,
    outputs: Outputs,
    /// The project folder, to come back to.
    project: AbsPath,
    run_started_ms: i64,
    ends: HashMap<RunId, oneshot::Sender<RunEnd>>,
    notes_in: mpsc::Sender<Note>,
    notes_out: mpsc::Receiver<Note>,
    last_usage: ostler_protocol::Usage,
    window: Option<u64>,
    place: u32,
}

/// What woke the task.
enum Wake {
    Command(Option<Command>),
    Tool(Result<Report, tokio::task::JoinError>),
    Judged(Result<(ToolCallId, Box<Ruled>), tokio::task::JoinError>),
    Advised(Result<(u64, Advice), tokio::task::JoinError>),
    Hook(Box<HookRun>),
    Progress(Told),
    Note(Note),
    Deadline,
    Model(Option<ModelEvent>),
}

impl Driver {
    pub(super) fn new(parts: SessionParts) -> Self {
        let policy = Policy {
            max_responses: parts.config.max_responses,
            join_waiting: parts.config.join_waiting,
            readers: readers(&parts.tools),
        };
        let mode = parts.config.mode;
        let (notes_in, notes_out) = mpsc::channel(NOTES);
        let history = History {
            entries: parts.entries,
            cut: parts.cut.into_iter().collect(),
            tools: HashMap::new(),
        };
        Self {
            turn: Turn::new(parts.ids, policy, mode, parts.opening, parts.queue),
            history,
            session_id: parts.log.session_id().to_owned(),
            log: parts.log,
            project: parts.config.cwd.clone(),
            config: parts.config,
            tools: parts.tools,
            state: parts.state,
            gate: parts.gate,
            sink: parts.sink,
            clock: parts.clock,
            stream: None,
            model_cancel: Cancel::new(),
            judging: JoinSet::new(),
            adviser: parts.adviser,
            advising: JoinSet::new(),
            advice_cancel: Cancel::new(),
            hook_runs: parts.hook_runs,
            calls: Calls::new(),
            runner: parts.runner,
            outputs: parts.outputs,
            run_started_ms: 0,
            ends: HashMap::new(),
            notes_in,
            notes_out,
            last_usage: ostler_protocol::Usage::default(),
            window: None,
            place: 0,
        }
    }

    pub(super) async fn run(mut self, mut mailbox: mpsc::Receiver<Command>) {
        let mut ending: Option<oneshot::Sender<()>> = None;
        let mut open = true;
        while open || !self.turn.is_idle() {
            match self.wake(&mut mailbox, open).await {
                Wake::Command(None) => {
                    open = false;
                    self.end_now().await;
                }
                Wake::Command(Some(Command::Shutdown(reply))) => {
                    open = false;
                    ending = Some(reply);
                    self.end_now().await;
                }
                Wake::Command(Some(command)) => self.on_command(command).await,
                Wake::Tool(report) => self.on_tool_report(report).await,
                Wake::Judged(Ok((call_id, ruled))) => {
                    self.feed(Input::Judged { call_id, ruled }).await
                }
                Wake::Advised(Ok((id, advice))) => self.feed(Input::Advised { id, advice }).await,
                // One that was stopped; whoever stopped it has gone on.
                Wake::Advised(Err(error)) if error.is_cancelled() => {}
                Wake::Judged(Err(_)) | Wake::Advised(Err(_)) => self.feed(Input::Interrupt).await,
                Wake::Hook(run) => self.feed(Input::Hook(run)).await,
                Wake::Progress(told) => {
                    if let Some(event) = self.calls.heard(told) {
                        self.sink.emit(event);
                    }
                }
                Wake::Note(note) => {
                    self.feed(Input::Note { note, at_ms: self.clock.now_ms() }).await
                }
                Wake::Deadline => self.on_deadline().await,
                Wake::Model(event) => self.on_model(event).await,
            }
        }
        while let Ok(run) = self.hook_runs.try_recv() {
            self.feed(Input::Hook(Box::new(run))).await;
        }
        self.feed(Input::TasksGone { at_ms: self.clock.now_ms() }).await;
        if let Some(reply) = ending {
            reply.send(()).unwrap_or_default();
        }
    }

    async fn wake(&mut self, mailbox: &mut mpsc::Receiver<Command>, open: bool) -> Wake {
        let deadline = self.deadline();
        let sink = Arc::clone(&self.sink);
        tokio::select! {
            biased;
            command = mailbox.recv(), if open => Wake::Command(command),
            // Before what they led to: their runs stand in the log first.
            Some(run) = self.hook_runs.recv() => Wake::Hook(Box::new(run)),
            news = self.calls.next() => match news { News::Ended(report) => Wake::Tool(report), News::Told(told) => Wake::Progress(told) },
            Some(judged) = self.judging.join_next() => Wake::Judged(judged),
            Some(advised) = self.advising.join_next() => Wake::Advised(advised),
            Some(note) = self.notes_out.recv(), if open => Wake::Note(note),
            () = tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => Wake::Deadline,
            event = next_event(&mut self.stream, &*sink), if self.stream.is_some() => Wake::Model(event),
        }
    }

    /// The mailbox is closed or the host ends: stop what goes on. Waiting messages would
    /// start the next run; they stay in the log's queue.
    async fn end_now(&mut self) {
        self.turn.hold_queue();
        self.feed(Input::Interrupt).await;
    }

    async fn on_command(&mut self, command: Command) {
        match command {
            Command::Prompt { prompt, reply } => self.on_prompt(prompt, reply).await,
            Command::Interrupt { clear_queue, reply } => {
                if clear_queue {
                    self.feed(Input::ClearQueue).await;
                }
                let waiting = self.turn.queue().map(|item| item.id.clone()).collect();
                self.feed(Input::Interrupt).await;
                reply.send(waiting).unwrap_or_default();
            }
            Command::Answer { request_id, answer, reply } => {
                let open =
                    self.turn.open_requests().iter().any(|asked| asked.request_id == request_id);
                if open {
                    self.feed(Input::Answered { request_id, answer }).await;
                }
                reply.send(open).unwrap_or_default();
            }
            Command::RefuseOpen => {
                for asked in self.turn.open_requests() {
                    self.feed(Input::Answered {
                        request_id: asked.request_id,
                        answer: refused(AnswerSource::Gone),
                    })
                    .await;
                }
            }
            Command::SetMode(mode) => self.feed(Input::SetMode(mode)).await,
            Command::SetModel(choice) => {
                let input = Input::SetModel {
                    provider: choice.provider.id().to_owned(),
                    model: choice.model.clone(),
                };
                self.config.model = *choice;
                self.feed(input).await;
            }
            Command::SetTitle(title) => self.feed(Input::SetTitle(title)).await,
            Command::Dequeue { id, reply } => {
                let waiting = self.turn.queue().any(|item| item.id == id);
                self.feed(Input::Dequeue { id }).await;
                reply.send(waiting).unwrap_or_default();
            }
            Command::Snapshot(reply, place) => {
                reply.send((place.read(), self.snapshot())).unwrap_or_default();
            }
            Command::Wind(reply) => {
                self.end_now().await;
                reply.send(()).unwrap_or_default();
            }
            Command::Shutdown(reply) => reply.send(()).unwrap_or_default(),
        }
    }

    async fn on_prompt(
        &mut self,
        prompt: crate::turn::Prompt,
        reply: oneshot::Sender<PromptReply>,
    ) {
        if !self.turn.is_idle() && self.turn.queue().count() >= QUEUE_CAP {
            reply.send(PromptReply::Full).unwrap_or_default();
            return;
        }
        let was_idle = self.turn.is_idle();
        // The receiver must be in place before the run can end.
        let (end, ended) = oneshot::channel();
        self.turn.attend(self.adviser.moments());
        let effects = step(&mut self.turn, Input::Prompt(prompt));
        let answer = match self.turn.run_id() {
            Some(run_id) if was_idle => {
                self.ends.insert(run_id.clone(), end);
                PromptReply::Started(ended)
            }
            _ => PromptReply::Queued(
                self.turn.queue().last().map(|item| item.id.clone()).unwrap_or_default(),
            ),
        };
        reply.send(answer).unwrap_or_default();
        self.apply(effects).await;
    }

    fn snapshot(&self) -> SessionSnapshot {
        SessionSnapshot {
            entries: self.history.entries.clone(),
            requests: self.turn.open_requests(),
            queue: self.turn.queue().filter(|item| !item.note).cloned().collect(),
            tasks: self.turn.tasks().to_vec(),
            open_block: self.turn.open_block(),
            running: !self.turn.is_idle(),
            mode: self.turn.mode(),
            provider: self.config.model.provider.id().to_owned(),
            model: self.config.model.model.clone(),
            tools: self.history.tools.clone(),
            last_usage: self.last_usage,
        }
    }

    async fn on_tool_report(&mut self, report: Result<Report, tokio::task::JoinError>) {
        if let Some((call_id, outcome, ms)) = self.calls.ended(report) {
            self.feed(Input::ToolDone { call_id, outcome, ms }).await;
        }
    }

    /// The next moment at which something times out.
    fn deadline(&self) -> Option<Instant> {
        let now_ms = self.clock.now_ms();
        let asks =
            self.turn.open_requests().into_iter().filter_map(|asked| asked.question.expires_at);
        let ask = asks.min().map(|at| {
            Instant::now() + Duration::from_millis(u64::try_from(at - now_ms).unwrap_or(0))
        });
        [ask, self.calls.deadline()].into_iter().flatten().min()
    }

    async fn on_deadline(&mut self) {
        let now_ms = self.clock.now_ms();
        for asked in self.turn.open_requests() {
            if asked.question.expires_at.is_some_and(|at| at <= now_ms) {
                let answer = refused(AnswerSource::Timeout);
                self.feed(Input::Answered { request_id: asked.request_id, answer }).await;
            }
        }
        let (events, given_up) = self.calls.due();
        events.into_iter().for_each(|event| self.sink.emit(event));
        for (call_id, outcome, ms) in given_up {
            self.feed(Input::ToolDone { call_id, outcome, ms }).await;
        }
    }

    async fn on_model(&mut self, event: Option<ModelEvent>) {
        let Some((call, _)) = &self.stream else { return };
        let call = *call;
        let event = event.unwrap_or_else(|| {
            ModelEvent::Failed(Failure {
                kind: ErrorKind::BadStream,
                message: "the provider's answer ended without an end".to_owned(),
                hint: None,
                status: None,
                retry_after_ms: None,
            })
        });
        if let ModelEvent::Done { usage, .. } = &event {
            self.last_usage = *usage;
        }
        if matches!(event, ModelEvent::Done { .. } | ModelEvent::Failed(_)) {
            self.stream = None;
        }
        self.feed(Input::Model { call, event }).await;
    }

    async fn feed(&mut self, input: Input) {
        self.turn.attend(self.adviser.moments());
        let effects = step(&mut self.turn, input);
        self.apply(effects).await;
    }

    /// Does effects in order. After a failed append nothing more of them is done.
    async fn apply(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            failpoint::reach(&mut self.place);
            if let Err(message) = self.perform(effect).await {
                effects = step(&mut self.turn, Input::StorageFailed { message }).into();
                continue;
            }
            failpoint::reach(&mut self.place);
        }
    }

    async fn perform(&mut self, effect: Effect) -> Result<(), String> {
        match effect {
            Effect::Append(records) => {
                self.log.append(&records).map_err(|error| error.to_string())?;
                let now = self.clock.now_ms();
                self.history.take(records, now);
            }
            Effect::Sync => self.sync().await?,
            Effect::Delta(place, event) => {
                self.journal(&place, &event)?;
                self.sink.emit(event);
            }
            Effect::ClearJournal => self.log.clear_journal().map_err(|error| error.to_string())?,
            Effect::Emit(event) => self.emit(event),
            Effect::CallModel { call } => self.call_model(call)?,
            Effect::StopModel => {
                self.model_cancel.cancel();
                self.stream = None;
            }
            Effect::Judge { call, approved } => self.judge(call, approved),
            Effect::RunTool(call) => self.run_tool(call),
            Effect::CancelTools => {
                self.calls.stop();
            }
            Effect::Consult { id, moment } => self.consult(id, moment),
            Effect::StopConsulting => {
                self.advice_cancel.cancel();
                self.advising.abort_all();
            }
        }
        Ok(())
    }

    /// Waits for the disk on a thread that may block, so that other sessions go on.
    async fn sync(&mut self) -> Result<(), String> {
        let syncing = self.log.syncing().map_err(|error| error.to_string())?;
        let synced = tokio::task::spawn_blocking(syncing).await;
        synced.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    fn journal(&mut self, place: &JournalPlace, event: &SessionEvent) -> Result<(), String> {
        let (SessionEvent::TextDelta(delta) | SessionEvent::ThinkingDelta(delta)) = event else {
            return Ok(());
        };
        let block = OpenBlock {
            message_id: place.vendor_id.clone(),
            block: delta.block,
            thinking: place.thinking,
            model: place.model.clone(),
        };
        self.log
            .append_delta(&block, u64::from(delta.n), &delta.text)
            .map_err(|error| error.to_string())
    }

    fn emit(&mut self, event: SessionEvent) {
        let event = match event {
            SessionEvent::RunStarted { .. } => {
                self.run_started_ms = self.clock.now_ms();
                event
            }
            SessionEvent::ModelDone {
                message_id,
                text,
                thinking,
                stop_reason,
                usage,
                total,
                ..
            } => {
                let window = self.window;
                SessionEvent::ModelDone {
                    message_id,
                    text,
                    thinking,
                    stop_reason,
                    usage,
                    total,
                    window,
                }
            }
            SessionEvent::RunEnded(mut end) => {
                end.ms = self.run_ms();
                self.calls.settled();
                // A missing checkpoint only makes the next resume read more.
                self.log.checkpoint().unwrap_or_default();
                if let Some(waiting) = self.ends.remove(&end.run_id) {
                    self.sink.emit(SessionEvent::RunEnded(end.clone()));
                    waiting.send(*end).unwrap_or_default();
                    return;
                }
                SessionEvent::RunEnded(end)
            }
            SessionEvent::FolderChanged(folder) => {
                self.config.cwd = folder.clone().unwrap_or_else(|| self.project.clone());
                self.state.get::<ShellFolder>().set(None);
                self.log.set_cwd(self.config.cwd.clone());
                SessionEvent::FolderChanged(folder)
            }
            event => event,
        };
        self.sink.emit(event);
    }

    /// How long the run took; nothing if it could not even begin.
    fn run_ms(&mut self) -> u64 {
        let started = std::mem::take(&mut self.run_started_ms);
        if started == 0 { 0 } else { u64::try_from(self.clock.now_ms() - started).unwrap_or(0) }
    }

    fn call_model(&mut self, call: u64) -> Result<(), String> {
        let cuts = self.history.plan_cuts();
        if !cuts.is_empty() {
            let records = vec![Record::Own(Own::Cut { tool_use_ids: cuts })];
            self.log.append(&records).map_err(|error| error.to_string())?;
            let now = self.clock.now_ms();
            self.history.take(records, now);
        }
        let choice = &self.config.model;
        self.window = choice.provider.model(&choice.model).context_window;
        let request = ModelRequest {
            model: choice.model.clone(),
            system: self
                .config
                .system
                .iter()
                .map(|block| SystemBlock { text: block.text.clone(), cache: block.cache })
                .collect(),
            tools: tool_specs(&self.tools),
            messages: self.history.messages(self.config.preamble.as_deref()),
            max_output_tokens: choice.max_output_tokens,
            thinking: choice.thinking,
            effort: choice.effort,
            session_id: self.session_id.clone(),
            betas: choice.betas.clone(),
        };
        self.model_cancel = Cancel::new();
        self.calls.renew();
        self.stream = Some((call, choice.provider.stream(request, self.model_cancel.clone())));
        Ok(())
    }

    fn tool_cx(&self, call: &ToolCall, progress: Progress) -> ToolCx {
        let notes = self.notes_in.clone();
        ToolCx {
            cwd: self.config.cwd.clone(),
            session_id: self.session_id.clone(),
            call_id: call.id.0.clone(),
            cancel: self.calls.cancel(),
            progress,
            state: self.state.clone(),
            later: Later::new(move |note| {
                let notes = notes.clone();
                // A session that has ended takes none.
                Box::pin(async move { notes.send(note).await.unwrap_or_default() })
            }),
            outputs: self.outputs.clone(),
            clock: Arc::clone(&self.clock),
        }
    }

    fn judge(&mut self, call: ToolCall, approved: bool) {
        let id = call.id.clone();
        let cx = self.tool_cx(&call, Progress::none());
        let ruled = self.gate.judge(GateCall { call, mode: self.turn.mode(), approved, cx });
        self.judging.spawn(async move {
            let ruled = AssertUnwindSafe(ruled).catch_unwind().await;
            (id, Box::new(ruled.unwrap_or_else(|_| unjudged().into())))
        });
    }

    fn consult(&mut self, id: u64, moment: Moment) {
        self.advice_cancel = Cancel::new();
        let at = Moderation {
            cwd: self.config.cwd.clone(),
            mode: self.turn.mode(),
            cancel: self.advice_cancel.clone(),
        };
        let advice = self.adviser.advise(moment, at);
        self.advising.spawn(async move { (id, advice.await) });
    }

    fn run_tool(&mut self, call: ToolCall) {
        let cx = self.tool_cx(&call, self.calls.progress(&call.id));
        let tool = self.tools.get(&call.name).map(Arc::clone);
        self.calls.start(call, tool, &*self.runner, cx);
    }
}

/// The next event of the model, once front ends have room for it.
async fn next_event(
    stream: &mut Option<(u64, ModelStream)>,
    sink: &dyn Sink,
) -> Option<ModelEvent> {
    if let Some(ready) = sink.ready() {
        ready.await;
    }
    match stream {
        Some((_, stream)) => stream.next().await,
        None => std::future::pending().await,
    }
}

fn tool_specs(tools: &Registry) -> Vec<ToolSpec> {
    tools
        .iter()
        .map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema().clone(),
        })
        .collect()
}

/// What is said of a call that could not be judged.
fn unjudged() -> Ruling {
    Ruling::Deny {
        message: "The permission check failed, so the call was not run.".to_owned(),
        by: crate::turn::DeniedBy::Safety,
        reason_kind: None,
        title: String::new(),
        why: Why {
            by: "fault".to_owned(),
            reason: "the permission check itself failed".to_owned(),
            ..Why::default()
        },
    }
}

fn refused(source: AnswerSource) -> Answer {
    Answer::Deny { message: None, reason: None, interrupt: false, source }
}
