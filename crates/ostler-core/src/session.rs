//! The task that drives a session: it owns turn machine, history and log, does the
//! machine's effects in order and feeds what happens back.
//!
//! One task, one mailbox, no locks. The mailbox is bounded ([`MAILBOX`]); a sender waits
//! when it is full. Model events wait while a slow front end catches up ([`Sink::ready`]).

mod calls;
mod driver;
mod handle;
mod history;

use std::{collections::BTreeSet, sync::Arc};

use futures::future::BoxFuture;
use ostler_protocol::{Mode, Usage};
use ostler_provider::{Effort, Provider, Thinking};
use ostler_stdx::{AbsPath, Cancel, Clock, IdGen};
use ostler_store::{
    SessionLog,
    record::{Entry, FrozenBlock, QueuedPrompt},
};
use ostler_tool::{Outputs, Registry, SessionState, ToolCx};

use crate::{
    event::{AskedEvent, HookRun, SessionEvent},
    turn::{Advice, Moment, Moments, Ruled, ToolCall},
};
pub use calls::{Ran, Runner};
pub use handle::{Command, Place, PromptReply, SessionHandle};

/// Commands that may wait for a session.
pub const MAILBOX: usize = 256;

/// Judges calls; the host gathers the facts.
pub trait Gate: Send + Sync + std::fmt::Debug {
    /// Says whether a call may run. Must not block the session: facts are gathered in the
    /// returned future.
    fn judge(&self, call: GateCall) -> BoxFuture<'static, Ruled>;
}

/// Has a say before a run goes on.
pub trait Adviser: Send + Sync + std::fmt::Debug {
    /// At which points; asked often, so it must be cheap.
    fn moments(&self) -> Moments;

    /// What it says. Must not block the session, and ends soon when cancelled.
    fn advise(&self, moment: Moment, at: Moderation) -> BoxFuture<'static, Advice>;
}

/// Has nothing to say.
#[derive(Debug, Clone, Copy)]
pub struct NoAdviser;

impl Adviser for NoAdviser {
    fn moments(&self) -> Moments {
        Moments::default()
    }

    fn advise(&self, _: Moment, _: Moderation) -> BoxFuture<'static, Advice> {
        Box::pin(std::future::ready(Advice::default()))
    }
}

/// What an adviser is told of the session.
#[derive(Debug, Clone)]
pub struct Moderation {
    /// The folder that tools work in.
    pub cwd: AbsPath,
    /// The mode in force.
    pub mode: Mode,
    /// Nobody waits for the answer any more.
    pub cancel: Cancel,
}

/// A call to judge.
#[derive(Debug, Clone)]
pub struct GateCall {
    /// The call with its final arguments.
    pub call: ToolCall,
    /// The mode in force.
    pub mode: Mode,
    /// The person has said yes to these very arguments: only a denial counts.
    pub approved: bool,
    /// What the tool would get, for a preview.
    pub cx: ToolCx,
}

/// Takes what a session emits.
pub trait Sink: Send + Sync + std::fmt::Debug {
    /// Takes one event; never blocks.
    fn emit(&self, event: SessionEvent);

    /// Resolves when more deltas are welcome; `None` if they are right now.
    fn ready(&self) -> Option<BoxFuture<'static, ()>>;
}

/// The model of a session and how it is asked.
#[derive(Debug, Clone)]
pub struct ModelChoice {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// The vendor's own model id.
    pub model: String,
    /// Whether it may reason.
    pub thinking: Thinking,
    /// How hard it tries.
    pub effort: Option<Effort>,
    /// Most tokens of one answer.
    pub max_output_tokens: Option<u64>,
    /// Values for the vendor's beta header.
    pub betas: Vec<String>,
}

/// What a session is made of.
#[derive(Debug)]
pub struct SessionConfig {
    /// The project folder.
    pub cwd: AbsPath,
    /// The model; a session without one refuses prompts before they reach it.
    pub model: ModelChoice,
    /// What every request begins with.
    pub system: Vec<FrozenBlock>,
    /// What stands before the first prompt.
    pub preamble: Option<String>,
    /// The mode to begin with.
    pub mode: Mode,
    /// Most provider answers of a run.
    pub max_responses: Option<u32>,
    /// Waiting messages join the running turn (agent-sdk.md 2.3).
    pub join_waiting: bool,
}

/// Everything that a session task needs.
#[derive(Debug)]
pub struct SessionParts {
    /// The session's configuration.
    pub config: SessionConfig,
    /// Its log.
    pub log: SessionLog,
    /// What the log holds already.
    pub entries: Vec<Entry>,
    /// Results that are cut.
    pub cut: Vec<String>,
    /// Messages that wait.
    pub queue: Vec<QueuedPrompt>,
    /// Records to write with the first prompt: what a new session begins with.
    pub opening: Vec<ostler_store::record::Record>,
    /// Its tools.
    pub tools: Registry,
    /// State that its tools keep.
    pub state: SessionState,
    /// Who runs its calls.
    pub runner: Arc<dyn Runner>,
    /// Where outputs are kept that are too long to show.
    pub outputs: Outputs,
    /// Who judges its calls.
    pub gate: Arc<dyn Gate>,
    /// Who has a say before its runs go on.
    pub adviser: Arc<dyn Adviser>,
    /// Runs of hooks, to be written and shown; bounded by whoever sends them.
    pub hook_runs: tokio::sync::mpsc::Receiver<HookRun>,
    /// Who sees its events.
    pub sink: Arc<dyn Sink>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Names for what it makes.
    pub ids: IdGen,
}

/// A look at a live session, taken between two effects.
#[derive(Debug, Clone)]
pub struct SessionSnapshot {
    /// The conversation so far.
    pub entries: Vec<Entry>,
    /// Open requests.
    pub requests: Vec<AskedEvent>,
    /// Waiting messages.
    pub queue: Vec<QueuedPrompt>,
    /// Work that goes on in the background.
    pub tasks: Vec<ostler_protocol::BackgroundTask>,
    /// The block that is being written: answer, position, next ordinal, reasoning, text.
    pub open_block: Option<(ostler_protocol::MessageId, u32, u32, bool, String)>,
    /// Whether a run goes on.
    pub running: bool,
    /// The mode in force.
    pub mode: Mode,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Facts of finished calls: duration, what refused it, diffs.
    pub tools: std::collections::HashMap<String, ostler_store::ToolFacts>,
    /// Tokens of the newest answer.
    pub last_usage: Usage,
}

/// Names of the tools that only read, in lower case.
fn readers(tools: &Registry) -> BTreeSet<String> {
    tools
        .iter()
        .filter(|tool| tool.concurrency() == ostler_tool::Concurrency::Reader)
        .map(|tool| tool.name().to_ascii_lowercase())
        .collect()
}

/// Starts the task of a session.
#[must_use]
pub fn spawn(parts: SessionParts) -> SessionHandle {
    let (sender, mailbox) = tokio::sync::mpsc::channel(MAILBOX);
    let task = tokio::spawn(driver::Driver::new(parts).run(mailbox));
    SessionHandle::new(sender, task)
}
