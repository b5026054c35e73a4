//! TaskList: shows the tasks of the session's plan. Changes nothing.

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, PlanList, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    hands::Limits,
    planned::{open_blockers, row, status_name},
};

/// Shows all tasks.
#[derive(Debug)]
pub(crate) struct TaskList(pub(crate) Limits);

/// Arguments of TaskList: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

impl Tool for TaskList {
    const NAME: &'static str = "TaskList";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("task_list.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, _: &Args) -> String {
        "Tasks".to_owned()
    }

    async fn run(&self, _: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let tasks = cx.state.get::<PlanList>().get();
        let mut text = String::new();
        for (at, task) in tasks.iter().enumerate() {
            let row = row(&tasks, task);
            if text.len() + row.len() > self.0.shown_bytes {
                let left = tasks.len() - at;
                text.push_str(&format!(
                    "[{left} more: delete tasks that are done with TaskUpdate]"
                ));
                break;
            }
            text.push_str(&row);
            text.push('\n');
        }
        let listed: Vec<Value> = tasks
            .iter()
            .map(|task| {
                let mut row = json!({
                    "id": task.id,
                    "subject": task.subject,
                    "status": status_name(task.status),
                    "blockedBy": open_blockers(&tasks, task),
                });
                if let Some(owner) = &task.owner {
                    row["owner"] = json!(owner);
                }
                row
            })
            .collect();
        let text = if tasks.is_empty() { "no tasks are planned" } else { text.trim_end() };
        Ok(ToolOutput::text(text, json!({ "tasks": listed })))
    }
}
