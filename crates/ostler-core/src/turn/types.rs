//! What goes into the turn machine and what comes out.

use std::collections::BTreeSet;

use ostler_protocol::{
    FileDiff, MessageId, Mode, RequestId, ToolCallId,
    conversation::ToolResultContent,
    event::{AskSpan, AskTarget},
};
use ostler_provider::ModelEvent;
use ostler_store::record::{Own, Record, Why};
use ostler_tool::{Change, Note};
use serde_json::{Map, Value};

use super::pause::{Advice, Aside, Moment};
use crate::event::{HookRun, SessionEvent};

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Input {
    /// A message of the person.
    Prompt(Prompt),
    /// Stop what goes on.
    Interrupt,
    /// An event of a model call.
    Model {
        /// The call.
        call: u64,
        /// The event.
        event: ModelEvent,
    },
    /// The gate judged a call.
    Judged {
        /// The call.
        call_id: ToolCallId,
        /// What it says.
        ruled: Box<Ruled>,
    },
    /// The host had its say.
    Advised {
        /// The question that it answers.
        id: u64,
        /// What it says.
        advice: Advice,
    },
    /// A hook of the host ran.
    Hook(Box<HookRun>),
    /// An open request was answered or timed out.
    Answered {
        /// The request.
        request_id: RequestId,
        /// The answer.
        answer: Answer,
    },
    /// A tool ended.
    ToolDone {
        /// The call.
        call_id: ToolCallId,
        /// What it gave.
        outcome: ToolOutcome,
        /// How long it ran.
        ms: u64,
    },
    /// Take a waiting message out.
    Dequeue {
        /// The message.
        id: String,
    },
    /// Take all waiting messages out.
    ClearQueue,
    /// Change the mode; holds from the next tool call.
    SetMode(Mode),
    /// Change provider and model; holds from the next request.
    SetModel {
        /// The provider.
        provider: String,
        /// The model.
        model: String,
    },
    /// The person gave a title.
    SetTitle(String),
    /// Something happened in the background.
    Note {
        /// What.
        note: Note,
        /// When, ms since the epoch.
        at_ms: i64,
    },
    /// The session ends, and with it what still runs in the background.
    TasksGone {
        /// When, ms since the epoch.
        at_ms: i64,
    },
    /// An append failed: nothing after it was done.
    StorageFailed {
        /// What the disk said.
        message: String,
    },
}

/// Something to do. The driver does effects in order and stops at a failed `Append`.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Write these records in one piece.
    Append(Vec<Record>),
    /// Wait for the disk.
    Sync,
    /// Write this delta to the journal, then show it.
    Delta(JournalPlace, SessionEvent),
    /// The block is in the log: forget its deltas.
    ClearJournal,
    /// Show this.
    Emit(SessionEvent),
    /// Ask the model.
    CallModel {
        /// Name its events by this.
        call: u64,
    },
    /// Drop the model's answer.
    StopModel,
    /// Judge this call. `approved`: the person has said yes to these very arguments, so
    /// that only a denial counts.
    Judge {
        /// The call.
        call: ToolCall,
        /// Whether the person has said yes.
        approved: bool,
    },
    /// Run this call.
    RunTool(ToolCall),
    /// Stop all running calls.
    CancelTools,
    /// Ask the host what it has to say.
    Consult {
        /// Name the answer by this.
        id: u64,
        /// About what.
        moment: Moment,
    },
    /// Stop asking the host.
    StopConsulting,
}

/// Which block a journalled delta belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalPlace {
    /// The vendor's id of the answer.
    pub vendor_id: String,
    /// The model.
    pub model: String,
    /// Whether it is reasoning.
    pub thinking: bool,
}

/// A message of the person.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The uuid that a host wants it to have.
    pub uuid: Option<String>,
    /// As received.
    pub content: ToolResultContent,
    /// When it came, ms since the epoch.
    pub at_ms: i64,
    /// The sender's own id for it.
    pub client_id: Option<String>,
    /// Where a host says that it came from.
    pub origin: Option<Value>,
    /// Whether it is Ostler's own word about a background task, and not a person's.
    pub note: bool,
}

/// A call that the model made.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The call's name.
    pub id: ToolCallId,
    /// The answer that it belongs to.
    pub message_id: MessageId,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub args: Map<String, Value>,
}

/// What the gate says of a call, and what it wants besides.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruled {
    /// What it says.
    pub ruling: Ruling,
    /// Other arguments than the model gave; the ruling is about these.
    pub args: Option<Map<String, Value>>,
    /// Texts for the model, and the end of the run.
    pub aside: Aside,
}

impl From<Ruling> for Ruled {
    fn from(ruling: Ruling) -> Self {
        Self { ruling, args: None, aside: Aside::default() }
    }
}

/// What the gate says of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Ruling {
    /// It may run.
    Allow {
        /// One line for a person.
        title: String,
        /// What allowed it, for the log.
        why: Why,
    },
    /// The person must decide.
    Ask(Question),
    /// It may not run.
    Deny {
        /// What the model is told.
        message: String,
        /// What refused it.
        by: DeniedBy,
        /// The kind of the reason, for hosts.
        reason_kind: Option<String>,
        /// One line for a person.
        title: String,
        /// What refused it, for the log.
        why: Why,
    },
}

/// What a person should know to decide.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// One line that says what would happen.
    pub title: String,
    /// Why it is asked.
    pub reason: Option<String>,
    /// The kind of the reason, for hosts (agent-sdk.md 2.12).
    pub reason_kind: Option<String>,
    /// A rule that would allow this and its like.
    pub suggested_rule: Option<String>,
    /// Permission updates that a host may apply (agent-sdk.md 5.2).
    pub suggestions: Vec<Value>,
    /// What it touches.
    pub targets: Vec<AskTarget>,
    /// Dangerous parts of a command.
    pub spans: Vec<AskSpan>,
    /// What an edit would change.
    pub diffs: Vec<FileDiff>,
    /// The path that made it ask.
    pub blocked_path: Option<String>,
    /// When it was asked, ms since the epoch.
    pub asked_at: i64,
    /// When it counts as denied, ms since the epoch; never if absent.
    pub expires_at: Option<i64>,
    /// What made it ask, for the log.
    pub why: Why,
}

/// How an open request ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The call may run.
    Allow {
        /// Other arguments than those that were asked about; judged again.
        updated_input: Option<Map<String, Value>>,
        /// The decision's name, as in the log.
        decision: String,
        /// The rule as the person changed it.
        edited_rule: Option<String>,
    },
    /// It may not.
    Deny {
        /// What the model is told, exactly; the usual words if absent.
        message: Option<String>,
        /// The person's reason, told to the model.
        reason: Option<String>,
        /// Stop the run as well.
        interrupt: bool,
        /// Who says so.
        source: AnswerSource,
    },
}

/// Who ended a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerSource {
    /// The person or their host.
    Person,
    /// The person, who closed the request without deciding; as good as a no.
    Dismissed,
    /// Nobody in time.
    Timeout,
    /// The front end that could have answered went away.
    Gone,
    /// A hook, in the person's place.
    Hook,
}

impl AnswerSource {
    /// The name of such a refusal in the log and in events.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "deny",
            Self::Dismissed => "dismissed",
            Self::Timeout => "timeout",
            Self::Gone => "gone",
            Self::Hook => "hook",
        }
    }
}

/// What refused a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeniedBy {
    /// A deny rule.
    Rule,
    /// The mode.
    Mode,
    /// A safety check.
    Safety,
    /// The person.
    Person,
    /// A hook.
    Hook,
    /// Nobody could be asked.
    NoOne,
    /// There is no such tool, or the arguments do not fit.
    Invalid,
    /// An interruption.
    Interrupt,
}

impl DeniedBy {
    /// The name in log and events.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Mode => "mode",
            Self::Safety => "safety",
            Self::Person => "user",
            Self::Hook => "hook",
            Self::NoOne => "no-one",
            Self::Invalid => "invalid",
            Self::Interrupt => "interrupt",
        }
    }
}

/// What a tool gave.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// What the model is told.
    pub content: ToolResultContent,
    /// The structured output.
    pub structured: Value,
    /// Whether it succeeded.
    pub ok: bool,
    /// Whether it was stopped before it ended.
    pub interrupted: bool,
    /// Files that it changed.
    pub diffs: Vec<FileDiff>,
    /// What it changed in the session itself.
    pub changes: Vec<Change>,
    /// Records that belong to it, written with its result.
    pub records: Vec<Own>,
    /// Texts for the model, and the end of the run.
    pub aside: Box<Aside>,
}

impl ToolOutcome {
    /// A call that gave nothing but words that say why.
    #[must_use]
    pub fn failed(text: String) -> Self {
        Self {
            structured: Value::String(format!("Error: {text}")),
            content: ToolResultContent::Text(text),
            ok: false,
            interrupted: false,
            diffs: Vec::new(),
            changes: Vec::new(),
            records: Vec::new(),
            aside: Box::default(),
        }
    }
}

/// What a door decides about the runs of its sessions.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Most provider answers of a run.
    pub max_responses: Option<u32>,
    /// Waiting messages join the running turn and merge at its end (agent-sdk.md 2.3);
    /// else each becomes a run of its own.
    pub join_waiting: bool,
    /// Tools that only read, in lower case: they run beside each other.
    pub readers: BTreeSet<String>,
}
