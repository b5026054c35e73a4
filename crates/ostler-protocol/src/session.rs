//! Sessions as front ends see them: rows of a list and messages of a transcript
//! (ipc.md 2.11 and 11.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{
    conversation::{Role, Usage},
    diff::FileDiff,
    event::Truncated,
    ids::{MessageId, SessionId, ToolCallId},
    mode::Mode,
};

/// The stored state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// Normal.
    Active,
    /// Its last run was stopped or cut off.
    Interrupted,
    /// Put away by the person.
    Archived,
    /// Deleted by the person.
    Deleted,
}

/// What a session is doing now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum SessionState {
    /// Nothing.
    Idle,
    /// A run goes on.
    Running,
    /// A run waits for the person.
    NeedsYou,
    /// The last run failed.
    Failed,
}

/// Facts of a session, never its transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionMeta {
    /// The session.
    pub id: SessionId,
    /// Its title: the person's, else a generated one, else the first prompt.
    pub title: String,
    /// Its project folder.
    pub project_path: String,
    /// The provider pinned to it.
    pub provider: String,
    /// The model pinned to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its stored state.
    pub status: SessionStatus,
    /// First entry, ms since the epoch.
    pub created_at: i64,
    /// Last change, ms since the epoch.
    pub updated_at: i64,
    /// End of the last turn, ms since the epoch.
    pub last_turn_at: i64,
    /// Prompts so far.
    pub turn_count: u32,
    /// The session that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<SessionId>,
}

/// A row of the session list: facts and what it is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// The facts.
    #[serde(flatten)]
    pub meta: SessionMeta,
    /// What it is doing.
    pub state: SessionState,
    /// Requests that wait for the person.
    pub pending: u32,
    /// Size of its log in bytes.
    pub bytes: u64,
    /// The mode in force, exact name.
    pub permission_mode: Mode,
    /// The process that owns it, if that is not this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked_by: Option<u32>,
    /// Whether its answers are scripted, not a model's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scripted: bool,
}

/// One message of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptMessage {
    /// The uuid of its first log entry.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// What is said and done, in order; a tool's result follows its call.
    pub blocks: Vec<TranscriptBlock>,
    /// When, ms since the epoch.
    pub at: i64,
    /// Whether it was cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// The model that spoke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens of the response; on at most one message per provider response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// One piece of a transcript message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(
    missing_docs,
    reason = "the field names are those of ipc.md 11.3, which says what they hold"
)]
pub enum TranscriptBlock {
    /// Words.
    Text { text: String },
    /// Reasoning.
    Thinking { thinking: String },
    /// A tool call.
    ToolUse {
        id: ToolCallId,
        name: String,
        #[ts(type = "Record<string, unknown>")]
        input: Map<String, Value>,
        title: String,
    },
    /// What a call gave.
    ToolResult {
        tool_use_id: ToolCallId,
        content: String,
        ok: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        denied_by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<Vec<FileDiff>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<Truncated>,
    },
    /// A picture, as a data address.
    Image { media_type: String, data: String },
    /// A line about the run: a failure, an interruption.
    Notice { level: crate::event::NoticeLevel, content: String },
}

/// A message in the shape of the reference (ipc.md 2.11), as `session.resume` answers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SerializedMessage {
    /// The uuid of its first log entry.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// Its pieces.
    pub parts: Vec<MessagePart>,
    /// When, ms since the epoch.
    pub timestamp: i64,
    /// Whether it was cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

/// A piece of a [`SerializedMessage`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
#[expect(
    missing_docs,
    reason = "the field names are those of ipc.md 2.11, which says what they hold"
)]
pub enum MessagePart {
    /// Words.
    Text { content: String },
    /// A tool call with its result.
    Tool {
        tool: PartTool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<String>,
    },
    /// A picture.
    Image { data: String, media_type: String },
}

/// The call in a tool part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PartTool {
    /// The call's id.
    pub id: ToolCallId,
    /// The tool.
    pub name: String,
    /// Its arguments.
    #[ts(type = "Record<string, unknown>")]
    pub args: Map<String, Value>,
}

/// What a person decides on a permission request (ipc.md 2.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "kebab-case")]
pub enum PermissionDecision {
    /// This one call.
    AllowOnce,
    /// This and its like, while the session lives in this process.
    AllowSession,
    /// This and its like, in this project.
    AllowProject,
    /// This and its like, everywhere.
    AllowAlways,
    /// No.
    Deny,
}

/// How `session.send` ended its run (ipc.md 2.2.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoopResult {
    /// False if the run failed; that is a result, not an error.
    pub success: bool,
    /// "Done", "Interrupted", or what went wrong.
    pub message: String,
    /// The last words of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The kind of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<crate::error::ErrorKind>,
    /// What to do about the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Prompts of the session so far.
    pub turn_count: u32,
    /// Provider calls of this run.
    pub iteration_count: u32,
    /// Where the session stands now.
    pub final_state: FinalState,
    /// Tokens of this run; inputs contain cache reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<LoopUsage>,
}

/// Where a session stands after a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct FinalState {
    /// `idle`, `error` or `stopped`.
    pub status: String,
    /// The session.
    pub session_id: SessionId,
    /// Its project folder.
    pub project_path: String,
    /// Prompts so far.
    pub turn_count: u32,
    /// Provider calls of the run.
    pub iteration_count: u32,
    /// Mode, short vocabulary.
    pub agent_mode: String,
}

/// Tokens of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoopUsage {
    /// All input tokens.
    pub input_tokens: u64,
    /// All output tokens.
    pub output_tokens: u64,
    /// Part of the input that was read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_input_tokens: Option<u64>,
    /// Part of the input that was written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation_input_tokens: Option<u64>,
    /// Input of the last provider call: the window's occupancy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
}
