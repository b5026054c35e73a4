//! What a session keeps beside its conversation: the to-do list, the list of planned
//! tasks, and work that goes on in the background.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::ids::ToolCallId;

/// How far a to-do item or a planned task is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}

/// One item of the to-do list (agent-sdk.md section 6, TodoWrite).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    /// What is to be done, as an order.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// The same while it is being done, such as `Running the tests`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub active_form: String,
    /// The item's own name, if its writer gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// One planned task (agent-sdk.md section 6, TaskCreate).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlannedTask {
    /// Names it in the session; short, never used twice.
    pub id: String,
    /// One line.
    pub subject: String,
    /// What is to be done.
    pub description: String,
    /// The subject while it is being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
    /// How far it is.
    pub status: TodoStatus,
    /// Who does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Tasks that wait for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<String>,
    /// Tasks that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
    /// Whatever its maker wants to keep with it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(type = "Record<string, unknown>", optional)]
    pub metadata: Map<String, Value>,
}

/// What kind of work goes on in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// A command.
    Shell,
    /// A command whose lines the model is told of.
    Monitor,
    /// A subagent.
    Agent,
}

/// How work in the background is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It goes on.
    Running,
    /// It ended well.
    Completed,
    /// It ended badly.
    Failed,
    /// It was stopped, or died with the process that ran it.
    Stopped,
}

/// Work that goes on while the conversation does (ipc.md 11.5, `tasks.list`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct BackgroundTask {
    /// Names it in the session.
    pub id: String,
    /// What it is.
    pub kind: TaskKind,
    /// One line for a person.
    pub title: String,
    /// The command, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How it is doing.
    pub state: TaskState,
    /// When it started, ms since the epoch.
    pub started_at: i64,
    /// When it ended, ms since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// The exit code, if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The call that started it.
    pub tool_call_id: ToolCallId,
    /// The file that takes its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_file: Option<String>,
}

impl BackgroundTask {
    /// Whether it still goes on.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state == TaskState::Running
    }
}
