//! Stream events: what a front end sees of a session (ipc.md sections 3 and 11.6).
//!
//! On the wire an event is a bare object with `type` and no `jsonrpc`. Clients skip
//! types and fields that they do not know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{
    diff::FileDiff,
    error::ErrorKind,
    ids::{MessageId, RequestId, RunId, SessionId, ToolCallId},
    mode::Mode,
    session::{PermissionDecision, SessionRow, TranscriptBlock},
    task::{BackgroundTask, Todo},
};

/// One event of one session, or of the host if it names no session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The session that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Rises by one with each event of a session while one host serves it; absent on host events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// New whenever another host process serves the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
    /// The run that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Which delta of which block of which message: a client takes each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct DeltaPlace {
    /// The message of the provider response.
    pub message_id: MessageId,
    /// The block's position in the response, from 0.
    pub block: u32,
    /// The delta's ordinal in its block, from 0.
    pub n: u32,
}

/// What happened. Names of the reference are kept, dotted ones included (ipc.md 3.1, 3.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(
    missing_docs,
    reason = "the field names are those of ipc.md section 3, which says what they hold"
)]
pub enum EventKind {
    /// A run starts (every run, not only the first).
    #[serde(rename = "session.created")]
    SessionCreated { project_path: String },
    /// A message of the person is in the log.
    UserMessage {
        message_id: MessageId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queued_id: Option<String>,
        blocks: Vec<TranscriptBlock>,
    },
    /// Some more words of the model.
    TextDelta {
        delta: String,
        #[serde(flatten)]
        place: DeltaPlace,
    },
    /// Some more reasoning of the model.
    ThinkingDelta {
        delta: String,
        #[serde(flatten)]
        place: DeltaPlace,
    },
    /// All words of one provider response; replaces what its deltas gave.
    Text { content: String, message_id: MessageId },
    /// All reasoning of one provider response; replaces what its deltas gave.
    Thinking { content: String, message_id: MessageId },
    /// The model is writing a tool call.
    ToolInput { tool_call_id: ToolCallId, tool_name: String, chars: u32 },
    /// A call was allowed and starts, or was refused (then `tool_complete` follows at once).
    ToolStart {
        tool_call_id: ToolCallId,
        tool_name: String,
        #[ts(type = "Record<string, unknown>")]
        args: Map<String, Value>,
        title: String,
        message_id: MessageId,
    },
    /// A running call goes on.
    ToolProgress { tool_call_id: ToolCallId, elapsed_ms: u64, bytes: u64, tail: String },
    /// The last lines of what a call gave: at most 5, each at most 200 characters.
    ToolOutput { tool_call_id: ToolCallId, content: String },
    /// A call ended.
    ToolComplete {
        tool_call_id: ToolCallId,
        tool_name: String,
        result: String,
        success: bool,
        #[serde(rename = "duration_ms", default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        denied_by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<Truncated>,
    },
    /// Files changed by one call.
    #[serde(rename = "session.diff")]
    SessionDiff { tool_call_id: ToolCallId, diff: Vec<FileDiff>, added: u32, removed: u32 },
    /// A user hook ran.
    #[serde(rename = "hook.triggered")]
    HookTriggered {
        hook_name: String,
        event: String,
        outcome: String,
        ms: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
    },
    /// A user hook stood in the way of what it ran for.
    #[serde(rename = "hook.blocked")]
    HookBlocked {
        hook_name: String,
        event: String,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
    },
    /// A decision is wanted from the person.
    PermissionAsked(Box<PermissionAsked>),
    /// A permission request was answered.
    #[serde(rename = "permission.answered")]
    PermissionAnswered { request_id: RequestId, answer: PermissionAnswer },
    /// A permission request was refused, timed out or was withdrawn.
    #[serde(rename = "permission.rejected")]
    PermissionRejected {
        request_id: RequestId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// An answer is wanted from the person: to questions, or to a plan.
    QuestionAsked(Box<QuestionAsked>),
    /// Questions were answered, or a plan approved.
    #[serde(rename = "question.answered")]
    QuestionAnswered {
        request_id: RequestId,
        /// One per question, in order; empty for a plan.
        answers: Vec<String>,
    },
    /// Questions or a plan were refused, timed out or were withdrawn.
    #[serde(rename = "question.rejected")]
    QuestionRejected {
        request_id: RequestId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Something worth a quiet line.
    Notice {
        level: NoticeLevel,
        content: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        #[ts(type = "Record<string, unknown>", optional)]
        args: Map<String, Value>,
    },
    /// Drop the deltas of this message: the provider call is made again.
    StreamReset { message_id: MessageId },
    /// Running totals of tokens for the current run; cache reads and writes are contained.
    UsageTotals {
        total_input_tokens: u64,
        total_output_tokens: u64,
        total_cache_read_tokens: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_cache_write_tokens: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<u64>,
    },
    /// A message waits because the session is busy.
    MessageQueued { id: String, content: String },
    /// A waiting message was taken out.
    MessageDequeued { id: String },
    /// A waiting message becomes a run.
    MessageStarted { id: String },
    /// Mode or model changed.
    OptionsChanged {
        agent_mode: String,
        permission_mode: Mode,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The to-do list is now this.
    TodosUpdated { todos: Vec<Todo> },
    /// Work in the background started, or is now as this says.
    TaskUpdated { task: Box<BackgroundTask> },
    /// A run failed; exactly once per failed run.
    #[serde(rename = "session.error")]
    SessionError {
        error: String,
        kind: ErrorKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
    /// A run completed or was stopped.
    #[serde(rename = "session.updated")]
    SessionUpdated {},
    /// The end of a run; exactly once per run.
    Done {
        content: String,
        message_id: MessageId,
        ms: u64,
        model: String,
        reason: DoneReason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queued_id: Option<String>,
    },
    /// The row of a session changed; to every window.
    #[serde(rename = "session.changed")]
    SessionChanged { row: Box<SessionRow> },
    /// A session is gone; to every window.
    #[serde(rename = "session.removed")]
    SessionRemoved {},
    /// Events were lost: read the session again.
    StreamGap { from: u64, to: u64 },
    /// An event of a later version.
    #[serde(untagged)]
    #[ts(skip)]
    Unknown(Value),
}

/// A text was cut for the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Truncated {
    /// Length of the whole in bytes.
    pub total: u64,
}

/// An open permission request, as `permission_asked` and `permission.pending` give it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAsked {
    /// Name this in `permission.answer`.
    pub request_id: RequestId,
    /// The call that waits.
    pub tool_call_id: ToolCallId,
    /// Its tool.
    pub tool_name: String,
    /// Its final arguments.
    #[ts(type = "Record<string, unknown>")]
    pub args: Map<String, Value>,
    /// One line that says what would happen.
    pub description: String,
    /// A rule that would allow this and its like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_rule: Option<String>,
    /// The decisions beyond this one call, with the rule of each and what it covers; none
    /// where no rule would allow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<PermissionSuggestion>,
    /// Why it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The session's working folder.
    pub cwd: String,
    /// The mode in force.
    pub mode: Mode,
    /// The paths and hosts that it touches, links resolved.
    pub targets: Vec<AskTarget>,
    /// Dangerous parts of a command.
    pub spans: Vec<AskSpan>,
    /// What an edit would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Vec<FileDiff>>,
    /// Hash of what was shown; an answer may repeat it to be sure (-32011 if it differs).
    pub hash: String,
    /// When it was asked, ms since the epoch.
    pub asked_at: i64,
    /// When it counts as denied; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// What the person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Questions with options.
    Question,
    /// Whether a plan is to be carried out.
    Plan,
}

/// One question (ipc.md 2.11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct QuestionSpec {
    /// The question.
    pub question: String,
    /// A word or two that name it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub header: String,
    /// What can be chosen.
    pub options: Vec<QuestionOption>,
    /// Whether several can be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
    /// Whether free text can be given instead.
    pub custom: bool,
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    /// What the answer names.
    pub label: String,
    /// What choosing it means.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What it would look like, as Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// An open question or plan, as `question_asked` and `question.pending` give it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct QuestionAsked {
    /// Name this in `question.answer`.
    pub request_id: RequestId,
    /// The call that waits.
    pub tool_call_id: ToolCallId,
    /// What is asked.
    pub kind: QuestionKind,
    /// The questions; empty for a plan.
    pub questions: Vec<QuestionSpec>,
    /// The plan, as Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// What the plan wants to do without further questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<PlanAllowed>,
    /// The modes in which an approved plan can be carried out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// When it was asked, ms since the epoch.
    pub asked_at: i64,
    /// When it counts as refused; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// Something that a plan wants to do without further questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlanAllowed {
    /// The tool.
    pub tool: String,
    /// What it is to do.
    pub text: String,
}

/// One thing that a call touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskTarget {
    /// A file or folder, links resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Whether it lies outside the project.
    pub outside: bool,
}

/// A part of a command that deserves a look; `start` and `end` are byte offsets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskSpan {
    /// First byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
    /// What is dangerous about it.
    pub why: String,
}

/// A decision that holds beyond one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PermissionSuggestion {
    /// The decision.
    pub decision: PermissionDecision,
    /// The rule that it stores.
    pub rule: String,
    /// What the rule allows from then on, in words.
    pub covers: String,
}

/// How a permission request was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAnswer {
    /// The decision.
    pub decision: PermissionDecision,
    /// The rule as the person changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_rule: Option<String>,
    /// The person's reason for a `deny`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Worth a look.
    Warn,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum DoneReason {
    /// The model had no more to do.
    End,
    /// The person stopped it.
    Interrupted,
    /// It failed.
    Failed,
    /// A budget or turn limit was reached.
    Budget,
    /// It went in circles.
    Loop,
}
