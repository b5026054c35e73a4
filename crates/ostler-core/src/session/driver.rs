//! The session task: effects out, inputs in.

use std::{
    collections::{HashMap, VecDeque},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt as _, StreamExt as _};
use ostler_protocol::{Block, ErrorKind, RunId, ToolCallId, conversation::ToolResultContent};
use ostler_provider::{Failure, ModelEvent, ModelRequest, ModelStream, SystemBlock, ToolSpec};
use ostler_stdx::{Cancel, Clock};
use ostler_store::{
    OpenBlock, SessionLog,
    record::{Own, Record},
};
use ostler_tool::{Progress, Registry, SessionState, ToolCx, ToolError, ToolOutput};
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::Instant,
};

use super::{
    Command, Gate, GateCall, PromptReply, SessionConfig, SessionParts, SessionSnapshot, Sink,
    history::History, readers,
};
use crate::{
    context,
    event::{RunEnd, SessionEvent},
    failpoint,
    turn::{
        Answer, AnswerSource, Effect, Input, JournalPlace, Policy, Ruling, ToolCall, ToolOutcome,
        Turn, step,
    },
};

/// Messages that may wait (ipc.md R-26).
const QUEUE_CAP: usize = 100;

/// After this the task no longer waits for tools that were told to stop.
const STOP_GRACE: Duration = Duration::from_millis(900);

/// Progress reports that may wait; newer ones are dropped, progress is not kept.
const PROGRESS_QUEUE: usize = 64;

type ToolReport = (ToolCallId, ToolOutcome, u64);

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
    running: JoinSet<ToolReport>,
    judging: JoinSet<(ToolCallId, Ruling)>,
    tool_cancel: Cancel,
    /// Calls that run, to name those that panicked or would not stop.
    calls: HashMap<ToolCallId, Instant>,
    stop_by: Option<Instant>,
    run_started_ms: i64,
    ends: HashMap<RunId, oneshot::Sender<RunEnd>>,
    progress_in: mpsc::Sender<(ToolCallId, u64, String)>,
    progress_out: mpsc::Receiver<(ToolCallId, u64, String)>,
    last_usage: ostler_protocol::Usage,
    window: Option<u64>,
    place: u32,
}

/// What woke the task.
enum Wake {
    Command(Option<Command>),
    Tool(Result<ToolReport, tokio::task::JoinError>),
    Judged(Result<(ToolCallId, Ruling), tokio::task::JoinError>),
    Progress(ToolCallId, u64, String),
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
        let (progress_in, progress_out) = mpsc::channel(PROGRESS_QUEUE);
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
            config: parts.config,
            tools: parts.tools,
            state: parts.state,
            gate: parts.gate,
            sink: parts.sink,
            clock: parts.clock,
            stream: None,
            model_cancel: Cancel::new(),
            running: JoinSet::new(),
            judging: JoinSet::new(),
            tool_cancel: Cancel::new(),
            calls: HashMap::new(),
            stop_by: None,
            run_started_ms: 0,
            ends: HashMap::new(),
            progress_in,
            progress_out,
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
                    self.end_now();
                }
                Wake::Command(Some(Command::Shutdown(reply))) => {
                    open = false;
                    ending = Some(reply);
                    self.end_now();
                }
                Wake::Command(Some(command)) => self.on_command(command),
                Wake::Tool(report) => self.on_tool_report(report),
                Wake::Judged(Ok((call_id, ruling))) => self.feed(Input::Judged { call_id, ruling }),
                Wake::Judged(Err(_)) => self.feed(Input::Interrupt),
                Wake::Progress(call, bytes, tail) => self.on_progress(call, bytes, tail),
                Wake::Deadline => self.on_deadline(),
                Wake::Model(event) => self.on_model(event),
            }
        }
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
            Some(report) = self.running.join_next() => Wake::Tool(report),
            Some(judged) = self.judging.join_next() => Wake::Judged(judged),
            Some((call, bytes, tail)) = self.progress_out.recv() => Wake::Progress(call, bytes, tail),
            () = tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => Wake::Deadline,
            event = next_event(&mut self.stream, &*sink), if self.stream.is_some() => Wake::Model(event),
        }
    }

    /// The mailbox is closed or the host ends: stop what goes on. Waiting messages would
    /// start the next run; they stay in the log's queue.
    fn end_now(&mut self) {
        self.turn.hold_queue();
        self.feed(Input::Interrupt);
    }

    fn on_command(&mut self, command: Command) {
        match command {
            Command::Prompt { prompt, reply } => self.on_prompt(prompt, reply),
            Command::Interrupt { clear_queue, reply } => {
                if clear_queue {
                    self.feed(Input::ClearQueue);
                }
                let waiting = self.turn.queue().map(|item| item.id.clone()).collect();
                self.feed(Input::Interrupt);
                reply.send(waiting).unwrap_or_default();
            }
            Command::Answer { request_id, answer, reply } => {
                let open =
                    self.turn.open_requests().iter().any(|asked| asked.request_id == request_id);
                if open {
                    self.feed(Input::Answered { request_id, answer });
                }
                reply.send(open).unwrap_or_default();
            }
            Command::RefuseOpen => {
                for asked in self.turn.open_requests() {
                    self.feed(Input::Answered {
                        request_id: asked.request_id,
                        answer: refused(AnswerSource::Gone),
                    });
                }
            }
            Command::SetMode(mode) => self.feed(Input::SetMode(mode)),
            Command::SetModel(choice) => {
                let input = Input::SetModel {
                    provider: choice.provider.id().to_owned(),
                    model: choice.model.clone(),
                };
                self.config.model = *choice;
                self.feed(input);
            }
            Command::SetTitle(title) => self.feed(Input::SetTitle(title)),
            Command::Dequeue { id, reply } => {
                let waiting = self.turn.queue().any(|item| item.id == id);
                self.feed(Input::Dequeue { id });
                reply.send(waiting).unwrap_or_default();
            }
            Command::Snapshot(reply, place) => {
                reply.send((place.read(), self.snapshot())).unwrap_or_default();
            }
            Command::Shutdown(reply) => reply.send(()).unwrap_or_default(),
        }
    }

    fn on_prompt(&mut self, prompt: crate::turn::Prompt, reply: oneshot::Sender<PromptReply>) {
        if !self.turn.is_idle() && self.turn.queue().count() >= QUEUE_CAP {
            reply.send(PromptReply::Full).unwrap_or_default();
            return;
        }
        let was_idle = self.turn.is_idle();
        // The receiver must be in place before the run can end.
        let (end, ended) = oneshot::channel();
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
        self.apply(effects);
    }

    fn snapshot(&self) -> SessionSnapshot {
        SessionSnapshot {
            entries: self.history.entries.clone(),
            requests: self.turn.open_requests(),
            queue: self.turn.queue().cloned().collect(),
            open_block: self.turn.open_block(),
            running: !self.turn.is_idle(),
            mode: self.turn.mode(),
            provider: self.config.model.provider.id().to_owned(),
            model: self.config.model.model.clone(),
            tools: self.history.tools.clone(),
            last_usage: self.last_usage,
        }
    }

    fn on_tool_report(&mut self, report: Result<ToolReport, tokio::task::JoinError>) {
        // Panics are caught inside the task; an error here is an abort that was reported.
        if let Ok((call_id, outcome, ms)) = report
            && self.calls.remove(&call_id).is_some()
        {
            self.feed(Input::ToolDone { call_id, outcome, ms });
        }
    }

    fn on_progress(&mut self, call: ToolCallId, bytes: u64, tail: String) {
        if let Some(started) = self.calls.get(&call) {
            let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.sink.emit(SessionEvent::ToolProgress {
                tool_call_id: call,
                elapsed_ms,
                bytes,
                tail,
            });
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
        [ask, self.stop_by].into_iter().flatten().min()
    }

    fn on_deadline(&mut self) {
        let now_ms = self.clock.now_ms();
        for asked in self.turn.open_requests() {
            if asked.question.expires_at.is_some_and(|at| at <= now_ms) {
                let answer = refused(AnswerSource::Timeout);
                self.feed(Input::Answered { request_id: asked.request_id, answer });
            }
        }
        if self.stop_by.is_some_and(|by| by <= Instant::now()) {
            self.stop_by = None;
            self.running.abort_all();
            let calls: Vec<_> = self.calls.drain().collect();
            for (call_id, started) in calls {
                let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                self.feed(Input::ToolDone { call_id, outcome: interrupted(), ms });
            }
        }
    }

    fn on_model(&mut self, event: Option<ModelEvent>) {
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
        self.feed(Input::Model { call, event });
    }

    fn feed(&mut self, input: Input) {
        let effects = step(&mut self.turn, input);
        self.apply(effects);
    }

    /// Does effects in order. After a failed append nothing more of them is done.
    fn apply(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            failpoint::reach(&mut self.place);
            if let Err(message) = self.perform(effect) {
                effects = step(&mut self.turn, Input::StorageFailed { message }).into();
                continue;
            }
            failpoint::reach(&mut self.place);
        }
    }

    fn perform(&mut self, effect: Effect) -> Result<(), String> {
        match effect {
            Effect::Append(records) => {
                self.log.append(&records).map_err(|error| error.to_string())?;
                let now = self.clock.now_ms();
                self.history.take(records, now);
            }
            Effect::Sync => self.log.sync().map_err(|error| error.to_string())?,
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
                self.tool_cancel.cancel();
                self.stop_by = Some(Instant::now() + STOP_GRACE);
            }
        }
        Ok(())
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
                self.stop_by = None;
                // A missing checkpoint only makes the next resume read more.
                self.log.checkpoint().unwrap_or_default();
                if let Some(waiting) = self.ends.remove(&end.run_id) {
                    self.sink.emit(SessionEvent::RunEnded(end.clone()));
                    waiting.send(*end).unwrap_or_default();
                    return;
                }
                SessionEvent::RunEnded(end)
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
        self.tool_cancel = Cancel::new();
        self.stream = Some((call, choice.provider.stream(request, self.model_cancel.clone())));
        Ok(())
    }

    fn tool_cx(&self, call: &ToolCall, progress: Progress) -> ToolCx {
        ToolCx {
            cwd: self.config.cwd.clone(),
            session_id: self.session_id.clone(),
            call_id: call.id.0.clone(),
            cancel: self.tool_cancel.child(),
            progress,
            state: self.state.clone(),
        }
    }

    fn judge(&mut self, call: ToolCall, approved: bool) {
        let id = call.id.clone();
        let cx = self.tool_cx(&call, Progress::none());
        let ruling = self.gate.judge(GateCall { call, mode: self.turn.mode(), approved, cx });
        self.judging.spawn(async move {
            let ruling =
                AssertUnwindSafe(ruling).catch_unwind().await.unwrap_or_else(|_| Ruling::Deny {
                    message: "The permission check failed, so the call was not run.".to_owned(),
                    by: crate::turn::DeniedBy::Safety,
                    reason_kind: None,
                    title: String::new(),
                });
            (id, ruling)
        });
    }

    fn run_tool(&mut self, call: ToolCall) {
        let started = Instant::now();
        self.calls.insert(call.id.clone(), started);
        let progress = {
            let (queue, id) = (self.progress_in.clone(), call.id.clone());
            Progress::new(move |bytes, tail| {
                // Full: this report is dropped, a later one says more.
                queue.try_send((id.clone(), bytes, tail.to_owned())).unwrap_or_default();
            })
        };
        let cx = self.tool_cx(&call, progress);
        let tool = self.tools.get(&call.name).map(Arc::clone);
        self.running.spawn(async move {
            let result = match tool {
                Some(tool) => AssertUnwindSafe(tool.run(call.args, cx))
                    .catch_unwind()
                    .await
                    .unwrap_or_else(|_| {
                        Err(ToolError::Tell(
                            "The tool crashed; this is a fault of Ostler. Try another way."
                                .to_owned(),
                        ))
                    }),
                None => Err(ToolError::Invalid(format!("No such tool available: {}", call.name))),
            };
            let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            (call.id, outcome(result), ms)
        });
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

fn refused(source: AnswerSource) -> Answer {
    Answer::Deny { message: None, reason: None, interrupt: false, source }
}

fn outcome(result: Result<ToolOutput, ToolError>) -> ToolOutcome {
    match result {
        Ok(output) => ToolOutcome {
            content: context::cap_result(plain(output.content)),
            structured: output.structured,
            ok: true,
            interrupted: false,
            diffs: output.diffs,
        },
        Err(ToolError::Cancelled) => interrupted(),
        Err(ToolError::Failed { text, structured }) => ToolOutcome {
            content: context::cap_result(ToolResultContent::Text(text)),
            structured,
            ok: false,
            interrupted: false,
            diffs: Vec::new(),
        },
        Err(error @ (ToolError::Invalid(_) | ToolError::Tell(_))) => {
            let text = error.to_string();
            ToolOutcome {
                structured: Value::String(format!("Error: {text}")),
                content: context::cap_result(ToolResultContent::Text(text)),
                ok: false,
                interrupted: false,
                diffs: Vec::new(),
            }
        }
    }
}

/// A single text stays text, as most front ends expect.
fn plain(content: Vec<Block>) -> ToolResultContent {
    match <[Block; 1]>::try_from(content) {
        Ok([Block::Text { text }]) => ToolResultContent::Text(text),
        Ok([block]) => ToolResultContent::Blocks(vec![block]),
        Err(content) => ToolResultContent::Blocks(content),
    }
}

fn interrupted() -> ToolOutcome {
    ToolOutcome {
        content: ToolResultContent::Text(crate::mend::CALL_INTERRUPTED.to_owned()),
        structured: Value::String(format!("Error: {}", crate::mend::CALL_INTERRUPTED)),
        ok: false,
        interrupted: true,
        diffs: Vec::new(),
    }
}
