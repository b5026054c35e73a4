//! What a session emits: the left column of design.md 8 (a).
//!
//! Doors project these; the type has no serde form, because it is not promised.

use ostler_protocol::{
    BackgroundTask, Block, FileDiff, MessageId, Mode, PlannedTask, RequestId, RunId, Todo,
    ToolCallId, Usage, conversation::ToolResultContent,
};
use ostler_provider::{BlockKind, Failure, StopReason};
use ostler_stdx::AbsPath;
use ostler_store::record::HookRecord;
use serde_json::{Map, Value};

use crate::turn::{DeniedBy, Question};

/// One thing that happened in a session, in order. What is final is in the log before.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEvent {
    /// A run starts.
    RunStarted {
        /// The run.
        run_id: RunId,
        /// The waiting messages that it takes up, if any.
        queued_ids: Vec<String>,
    },
    /// A message of the person is in the log.
    UserMessage {
        /// Its uuid.
        message_id: MessageId,
        /// As received.
        content: ToolResultContent,
        /// The sender's own id for it.
        client_id: Option<String>,
        /// Its id while it waited.
        queued_id: Option<String>,
        /// Where a host says that it came from.
        origin: Option<Value>,
        /// Whether it is Ostler's own word in the person's place (an interruption).
        synthetic: bool,
    },
    /// The model begins to answer.
    ModelStarted {
        /// Our name of the answer: the uuid of its first block.
        message_id: MessageId,
        /// The vendor's id of the answer.
        vendor_id: String,
        /// The model.
        model: String,
        /// Tokens known so far.
        usage: Usage,
    },
    /// A block of the answer begins; progress only.
    BlockStarted {
        /// The answer.
        message_id: MessageId,
        /// The block's position.
        index: u32,
        /// What it is.
        kind: BlockKind,
    },
    /// Some more words; in the journal.
    TextDelta(Delta),
    /// Some more reasoning; in the journal.
    ThinkingDelta(Delta),
    /// Some more of a call's arguments; progress only.
    InputDelta {
        /// The answer.
        message_id: MessageId,
        /// The block's position.
        index: u32,
        /// The call.
        tool_call_id: ToolCallId,
        /// The tool.
        tool_name: String,
        /// The piece of JSON.
        json: String,
        /// Characters so far.
        chars: u32,
    },
    /// A block of the answer is in the log.
    BlockDone {
        /// Our name of the answer.
        message_id: MessageId,
        /// The vendor's id of the answer.
        vendor_id: String,
        /// The model.
        model: String,
        /// The entry's uuid.
        uuid: String,
        /// The block's position.
        index: u32,
        /// The block.
        block: Block,
        /// Tokens known when the answer began.
        usage: Usage,
        /// Whether it was cut off by an interruption.
        interrupted: bool,
    },
    /// The answer is whole.
    ModelDone {
        /// Our name of the answer.
        message_id: MessageId,
        /// All its words.
        text: String,
        /// All its reasoning.
        thinking: String,
        /// Why the model stopped.
        stop_reason: StopReason,
        /// Tokens of the answer.
        usage: Usage,
        /// Tokens of the run so far.
        total: Usage,
        /// The model's context window, if known.
        window: Option<u64>,
    },
    /// The provider failed and is asked again; what the answer showed so far is void.
    Retrying {
        /// The answer whose deltas are void, if it had begun.
        message_id: Option<MessageId>,
        /// Which attempt comes next, from 2.
        attempt: u32,
        /// The last attempt that will be made.
        max: u32,
        /// Pause before it.
        delay_ms: u64,
        /// Why.
        failure: Failure,
    },
    /// The person is asked.
    Asked(Box<AskedEvent>),
    /// The person, or a host in their place, answered.
    Answered {
        /// The request.
        request_id: RequestId,
        /// Whether the call may run.
        allowed: bool,
        /// The decision's name, as in the log.
        decision: String,
        /// The rule as the person changed it.
        edited_rule: Option<String>,
        /// The person's reason.
        reason: Option<String>,
        /// The arguments that the person gave in the place of those that were asked about.
        input: Option<Map<String, Value>>,
    },
    /// The request is no longer open: time out or interruption.
    Withdrawn {
        /// The request.
        request_id: RequestId,
        /// Why.
        reason: String,
    },
    /// A call was refused and nobody was asked; [`SessionEvent::ToolDone`] follows.
    Denied {
        /// The call.
        tool_call_id: ToolCallId,
        /// Its tool.
        tool_name: String,
        /// What refused it.
        by: DeniedBy,
        /// The kind of the reason, for hosts (agent-sdk.md 3.4).
        reason_kind: Option<String>,
        /// What the model is told.
        message: String,
    },
    /// A call starts.
    ToolStarted {
        /// The call.
        tool_call_id: ToolCallId,
        /// The answer that it belongs to.
        message_id: MessageId,
        /// Its tool.
        tool_name: String,
        /// Its final arguments.
        args: Map<String, Value>,
        /// One line for a person.
        title: String,
    },
    /// A running call goes on; progress only.
    ToolProgress {
        /// The call.
        tool_call_id: ToolCallId,
        /// Since it started.
        elapsed_ms: u64,
        /// Bytes of output so far.
        bytes: u64,
        /// The newest output.
        tail: String,
    },
    /// A call's result is in the log.
    ToolDone(Box<ToolDone>),
    /// A message waits.
    Queued {
        /// Its id.
        id: String,
        /// Its text.
        content: String,
    },
    /// A waiting message was taken out.
    Dequeued {
        /// Its id.
        id: String,
    },
    /// The mode changed.
    ModeChanged(Mode),
    /// Provider and model changed.
    ModelChanged {
        /// The provider.
        provider: String,
        /// The model.
        model: String,
    },
    /// The person gave a title.
    Titled(String),
    /// The to-do list is now this.
    TodosChanged(Vec<Todo>),
    /// The planned tasks are now these.
    PlanChanged(Vec<PlannedTask>),
    /// Work in the background started, or is now as this says.
    TaskChanged {
        /// The task.
        task: BackgroundTask,
        /// Whether the model is told of it: by the run that goes on, or by one that begins
        /// right after.
        tells: bool,
    },
    /// Tools work in this folder from here on; `None` is the project folder.
    FolderChanged(Option<AbsPath>),
    /// A hook starts; progress only.
    HookStarted(Box<HookRun>),
    /// A hook ran; in the log.
    HookRan(Box<HookRun>),
    /// Something worth a quiet line.
    Notice {
        /// Whether it is a warning.
        warn: bool,
        /// The line.
        text: String,
        /// Its stable key.
        key: &'static str,
    },
    /// The run failed; [`SessionEvent::RunEnded`] follows.
    RunFailed {
        /// What to do about it.
        failure: Failure,
        /// The uuid of the synthetic entry that says so.
        uuid: String,
    },
    /// The run ended.
    RunEnded(Box<RunEnd>),
}

/// Some more of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The answer.
    pub message_id: MessageId,
    /// The block's position.
    pub block: u32,
    /// The delta's ordinal in its block.
    pub n: u32,
    /// The text.
    pub text: String,
}

/// An open request to the person.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedEvent {
    /// The request.
    pub request_id: RequestId,
    /// The call that waits.
    pub tool_call_id: ToolCallId,
    /// Its tool.
    pub tool_name: String,
    /// Its final arguments.
    pub args: Map<String, Value>,
    /// The mode in force.
    pub mode: Mode,
    /// What the person should know.
    pub question: Question,
}

/// The end of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDone {
    /// The call.
    pub tool_call_id: ToolCallId,
    /// The answer that it belongs to.
    pub message_id: MessageId,
    /// Its tool.
    pub tool_name: String,
    /// Its final arguments.
    pub args: Map<String, Value>,
    /// One line for a person.
    pub title: String,
    /// The uuid of the result's entry.
    pub uuid: String,
    /// What the model is told.
    pub content: ToolResultContent,
    /// The structured output.
    pub structured: Value,
    /// Whether it succeeded.
    pub ok: bool,
    /// How long it ran; absent if it never did.
    pub ms: Option<u64>,
    /// What refused it.
    pub denied_by: Option<DeniedBy>,
    /// Files that it changed.
    pub diffs: Vec<FileDiff>,
}

/// One run of a hook. What is known only at its end is empty before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookRun {
    /// Its own id.
    pub id: String,
    /// The hook's name.
    pub name: String,
    /// The event that it ran for.
    pub event: String,
    /// The call that it is about.
    pub tool_call_id: Option<ToolCallId>,
    /// What is shown while it runs.
    pub status: Option<String>,
    /// `success`, `error` or `cancelled`.
    pub outcome: String,
    /// Its output.
    pub stdout: String,
    /// Its errors.
    pub stderr: String,
    /// Its exit code, if it was a command that ended by itself.
    pub exit_code: Option<i32>,
    /// How long it ran.
    pub ms: u64,
    /// Why it failed.
    pub problem: Option<String>,
    /// Why it stands in the way, if it does.
    pub blocked: Option<String>,
}

impl HookRun {
    pub(crate) fn into_record(self) -> HookRecord {
        HookRecord {
            hook_id: self.id,
            name: self.name,
            event: self.event,
            tool_use_id: self.tool_call_id.map(|id| id.0),
            outcome: self.outcome,
            exit_code: self.exit_code,
            ms: self.ms,
            problem: self.problem,
            blocked: self.blocked,
        }
    }
}

/// A call that was refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Denial {
    /// The call.
    pub tool_call_id: ToolCallId,
    /// Its tool.
    pub tool_name: String,
    /// Its arguments.
    pub args: Map<String, Value>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunReason {
    /// The model had no more to do.
    End,
    /// It was stopped while the model was answering.
    InterruptedStreaming,
    /// It was stopped while tools ran or waited.
    InterruptedTools,
    /// It failed.
    Failed,
    /// The limit of answers was reached.
    Turns,
    /// A hook ended it.
    HookStopped,
    /// A hook kept its message back.
    Blocked,
}

impl RunReason {
    /// Whether the person stopped it.
    #[must_use]
    pub fn is_interrupt(self) -> bool {
        matches!(self, Self::InterruptedStreaming | Self::InterruptedTools)
    }

    /// Whether nothing went wrong and nobody was cut off.
    #[must_use]
    pub fn is_success(self) -> bool {
        matches!(self, Self::End | Self::HookStopped | Self::Blocked)
    }

    /// The name in the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::InterruptedStreaming | Self::InterruptedTools => "interrupted",
            Self::Failed => "failed",
            Self::Turns => "turns",
            Self::HookStopped => "hook_stopped",
            Self::Blocked => "blocked",
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// The run.
    pub run_id: RunId,
    /// Why it ended.
    pub reason: RunReason,
    /// What went wrong, if it failed.
    pub failure: Option<Failure>,
    /// The last words of the model, or of the failure.
    pub text: String,
    /// The uuid of the entry that holds them.
    pub message_id: MessageId,
    /// The model.
    pub model: String,
    /// Why the model stopped last.
    pub stop_reason: Option<String>,
    /// How long it took.
    pub ms: u64,
    /// Provider answers.
    pub responses: u32,
    /// Messages of the person's side, results included.
    pub user_messages: u32,
    /// Tokens of all answers.
    pub usage: Usage,
    /// Input of the last answer: the window's occupancy.
    pub context_tokens: u64,
    /// Calls that were refused.
    pub denials: Vec<Denial>,
    /// The waiting messages that it took up.
    pub queued_ids: Vec<String>,
    /// The uuids of the prompts that it answered.
    pub prompt_ids: Vec<MessageId>,
    /// Where a host says that the prompt came from.
    pub origin: Option<Value>,
}
