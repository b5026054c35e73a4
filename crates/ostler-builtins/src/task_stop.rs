//! TaskStop: ends a background command with its whole tree.

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    task_output::unknown,
    tasks::{StoppedBy, Tasks},
};

/// Stops background commands.
#[derive(Debug)]
pub(crate) struct TaskStop;

/// Arguments of TaskStop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The task's id.
    #[serde(alias = "shell_id", alias = "bash_id", alias = "taskId")]
    task_id: String,
}

impl Tool for TaskStop {
    const NAME: &'static str = "TaskStop";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("task_stop.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, args: &Args) -> String {
        format!("Stop {}", args.task_id)
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let tasks = cx.state.get::<Tasks>();
        let task = tasks.get(&args.task_id).ok_or_else(|| unknown(&tasks, &args.task_id))?;
        let was = task.now();
        let message = if was.is_running() {
            task.stop(StoppedBy::Model).await;
            format!("Stopped task {} ({})", was.id, was.title)
        } else {
            format!("Task {} ({}) had ended already", was.id, was.title)
        };
        let structured = json!({
            "message": message,
            "task_id": was.id,
            "task_type": "local_bash",
            "command": was.command,
        });
        Ok(ToolOutput::text(message, structured))
    }
}
