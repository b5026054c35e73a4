//! The tool calls that run: started, watched, stopped, and turned into outcomes.
//!
//! A call that panics, hangs or goes silent is this file's business; what a result means
//! for the conversation is the turn machine's.

use std::{collections::HashMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::{FutureExt as _, future::BoxFuture};
use ostler_protocol::{Block, ToolCallId, conversation::ToolResultContent};
use ostler_stdx::Cancel;
use ostler_store::record::Own;
use ostler_tool::{AnyTool, Progress, ToolCx, ToolError, ToolOutput};
use serde_json::{Map, Value};
use tokio::{
    sync::mpsc,
    task::{JoinError, JoinSet},
    time::Instant,
};

use crate::{
    context,
    event::SessionEvent,
    turn::{Aside, ToolCall, ToolOutcome},
};

/// After this the session no longer waits for tools that were told to stop.
const STOP_GRACE: Duration = Duration::from_millis(900);

/// Progress reports that may wait; newer ones are dropped, progress is not kept.
const PROGRESS_QUEUE: usize = 64;

/// A call that says nothing for so long is reported as still running.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// The end of a call: which, what it gave, and how many milliseconds it ran.
pub(super) type Report = (ToolCallId, ToolOutcome, u64);

/// Runs a tool; the host puts around it what must happen before and after.
pub trait Runner: Send + Sync + std::fmt::Debug {
    /// Runs the call to its end.
    fn run(
        &self,
        tool: Arc<dyn AnyTool>,
        args: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Ran>;
}

/// What a run of a tool gave.
#[derive(Debug)]
pub struct Ran {
    /// The tool's own result.
    pub result: Result<ToolOutput, ToolError>,
    /// Records to write beside it.
    pub records: Vec<Own>,
    /// Texts for the model beside it, and the end of the run.
    pub aside: Aside,
}

impl From<Result<ToolOutput, ToolError>> for Ran {
    fn from(result: Result<ToolOutput, ToolError>) -> Self {
        Self { result, records: Vec::new(), aside: Aside::default() }
    }
}

/// What is known of a call that runs.
#[derive(Debug)]
struct Running {
    started: Instant,
    reported: Instant,
    bytes: u64,
    tail: String,
}

/// One report of a running call.
pub(super) type Told = (ToolCallId, u64, String);

/// What a call does.
#[derive(Debug)]
pub(super) enum News {
    Ended(Result<Report, JoinError>),
    Told(Told),
}

/// The calls that run.
#[derive(Debug)]
pub(super) struct Calls {
    running: JoinSet<Report>,
    /// To name those that panicked or would not stop.
    known: HashMap<ToolCallId, Running>,
    cancel: Cancel,
    stop_by: Option<Instant>,
    progress_in: mpsc::Sender<Told>,
    progress_out: mpsc::Receiver<Told>,
}

impl Calls {
    pub(super) fn new() -> Self {
        let (progress_in, progress_out) = mpsc::channel(PROGRESS_QUEUE);
        Self {
            running: JoinSet::new(),
            known: HashMap::new(),
            cancel: Cancel::new(),
            stop_by: None,
            progress_in,
            progress_out,
        }
    }

    /// A new answer of the model: its calls are stopped together.
    pub(super) fn renew(&mut self) {
        self.cancel = Cancel::new();
    }

    /// Stops a call, or all of them, when cancelled.
    pub(super) fn cancel(&self) -> Cancel {
        self.cancel.child()
    }

    /// Where a call tells how it goes.
    pub(super) fn progress(&self, id: &ToolCallId) -> Progress {
        let (queue, id) = (self.progress_in.clone(), id.clone());
        Progress::new(move |bytes, tail| {
            // Full: this report is dropped, a later one says more.
            queue.try_send((id.clone(), bytes, tail.to_owned())).unwrap_or_default();
        })
    }

    pub(super) fn start(
        &mut self,
        call: ToolCall,
        tool: Option<Arc<dyn AnyTool>>,
        runner: &dyn Runner,
        cx: ToolCx,
    ) {
        let started = Instant::now();
        let known = Running { started, reported: started, bytes: 0, tail: String::new() };
        self.known.insert(call.id.clone(), known);
        let run = tool.map(|tool| runner.run(tool, call.args, cx));
        self.running.spawn(async move {
            let ran = match run {
                Some(run) => {
                    AssertUnwindSafe(run).catch_unwind().await.unwrap_or_else(|_| crashed())
                }
                None => {
                    let text = format!("No such tool available: {}", call.name);
                    Err(ToolError::Invalid(text)).into()
                }
            };
            (call.id, outcome(ran), millis(started.elapsed()))
        });
    }

    /// All are told to stop; after a while nobody waits for them.
    pub(super) fn stop(&mut self) {
        self.cancel.cancel();
        self.stop_by = Some(Instant::now() + STOP_GRACE);
    }

    /// The run is over: nothing is waited for.
    pub(super) fn settled(&mut self) {
        self.stop_by = None;
    }

    /// What a call does next. Safe to drop while it waits.
    pub(super) async fn next(&mut self) -> News {
        tokio::select! {
            biased;
            Some(report) = self.running.join_next() => News::Ended(report),
            Some(told) = self.progress_out.recv() => News::Told(told),
        }
    }

    /// The end of a call that is known and not ended yet.
    pub(super) fn ended(&mut self, report: Result<Report, JoinError>) -> Option<Report> {
        // Panics are caught inside the task; an error here is an abort that was reported.
        report.ok().filter(|(id, ..)| self.known.remove(id).is_some())
    }

    /// Notes what a call tells; the event for front ends if it still runs.
    pub(super) fn heard(&mut self, (id, bytes, tail): Told) -> Option<SessionEvent> {
        let known = self.known.get_mut(&id)?;
        (known.bytes, known.tail) = (bytes, tail);
        Some(known.event(id))
    }

    /// The next moment at which [`Calls::due`] has something to say.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let beat = self.known.values().map(|known| known.reported + HEARTBEAT).min();
        [beat, self.stop_by].into_iter().flatten().min()
    }

    /// Calls that went silent are reported as still running; those that were told to stop
    /// and did not are given up.
    pub(super) fn due(&mut self) -> (Vec<SessionEvent>, Vec<Report>) {
        let now = Instant::now();
        if self.stop_by.is_some_and(|by| by <= now) {
            self.stop_by = None;
            self.running.abort_all();
            let given_up = |(id, known): (ToolCallId, Running)| {
                (id, interrupted(), millis(known.started.elapsed()))
            };
            return (Vec::new(), self.known.drain().map(given_up).collect());
        }
        let silent = self.known.iter_mut().filter(|(_, known)| known.reported + HEARTBEAT <= now);
        (silent.map(|(id, known)| known.event(id.clone())).collect(), Vec::new())
    }
}

impl Running {
    fn event(&mut self, tool_call_id: ToolCallId) -> SessionEvent {
        self.reported = Instant::now();
        SessionEvent::ToolProgress {
            tool_call_id,
            elapsed_ms: millis(self.started.elapsed()),
            bytes: self.bytes,
            tail: self.tail.clone(),
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn crashed() -> Ran {
    let text = "The tool crashed; this is a fault of Ostler. Try another way.";
    Err(ToolError::Tell(text.to_owned())).into()
}

fn outcome(ran: Ran) -> ToolOutcome {
    let outcome = match ran.result {
        Ok(output) => ToolOutcome {
            content: context::cap_result(plain(output.content)),
            structured: output.structured,
            ok: true,
            interrupted: false,
            diffs: output.diffs,
            changes: output.changes,
            records: Vec::new(),
            aside: Box::default(),
        },
        Err(ToolError::Cancelled) => interrupted(),
        Err(ToolError::Failed { text, structured }) => ToolOutcome { structured, ..failed(text) },
        Err(error @ (ToolError::Invalid(_) | ToolError::Tell(_))) => failed(error.to_string()),
    };
    ToolOutcome { records: ran.records, aside: Box::new(ran.aside), ..outcome }
}

fn failed(text: String) -> ToolOutcome {
    let outcome = ToolOutcome::failed(text);
    ToolOutcome { content: context::cap_result(outcome.content), ..outcome }
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
        interrupted: true,
        ..ToolOutcome::failed(crate::mend::CALL_INTERRUPTED.to_owned())
    }
}
