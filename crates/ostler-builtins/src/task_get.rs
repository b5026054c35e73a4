//! TaskGet: shows one task of the session's plan. Changes nothing.

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, PlanList, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::planned::{row, whole};

/// Shows a task.
#[derive(Debug)]
pub(crate) struct TaskGet;

/// Arguments of TaskGet.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The task's id.
    #[serde(rename = "taskId", alias = "task_id")]
    task_id: String,
}

impl Tool for TaskGet {
    const NAME: &'static str = "TaskGet";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("task_get.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, args: &Args) -> String {
        format!("Task {}", args.task_id)
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let tasks = cx.state.get::<PlanList>().get();
        let Some(task) = tasks.iter().find(|task| task.id == args.task_id) else {
            let text = format!("there is no task `{}`: TaskList shows all", args.task_id);
            return Ok(ToolOutput::text(text, json!({ "task": Value::Null })));
        };
        let mut text = row(&tasks, task);
        if !task.blocks.is_empty() {
            text.push_str(&format!("\nwaited for by {}", task.blocks.join(", ")));
        }
        if !task.description.is_empty() {
            text.push_str(&format!("\n\n{}", task.description));
        }
        Ok(ToolOutput::text(text, json!({ "task": whole(task) })))
    }
}
