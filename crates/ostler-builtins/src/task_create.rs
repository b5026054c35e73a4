//! TaskCreate: adds a task to the session's plan. Has no effect outside the session.

use ostler_protocol::{Access, PlannedTask};
use ostler_stdx::AbsPath;
use ostler_tool::{Change, Concurrency, PlanList, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::planned::{LastNumber, TASKS, description, line, merge};

/// Adds a task.
#[derive(Debug)]
pub(crate) struct TaskCreate;

/// Arguments of TaskCreate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// One line that says what is to be done, such as `Fix the login test`.
    subject: String,
    /// What is needed to do it, and when it is done.
    #[serde(default)]
    description: String,
    /// The subject while it goes on, such as `Fixing the login test`.
    #[serde(default, rename = "activeForm", alias = "active_form")]
    active_form: Option<String>,
    /// Whatever is to be kept with the task.
    #[serde(default)]
    metadata: Map<String, Value>,
}

impl Tool for TaskCreate {
    const NAME: &'static str = "TaskCreate";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("task_create.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, args: &Args) -> String {
        format!("Plan: {}", args.subject)
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let task = planned(args).map_err(|why| ToolError::Invalid(format!("TaskCreate: {why}")))?;
        let numbers = cx.state.get::<LastNumber>();
        let (made, list) = cx.state.get::<PlanList>().change(|tasks| {
            if tasks.len() >= TASKS {
                let text = format!("there are {TASKS} tasks: delete those that are done first");
                return Err(ToolError::Tell(text));
            }
            let task = PlannedTask { id: numbers.next(tasks).to_string(), ..task };
            tasks.push(task.clone());
            Ok(task)
        });
        let made = made?;
        let text = format!("task {} is planned: {}", made.id, made.subject);
        let structured = json!({ "task": { "id": made.id, "subject": made.subject } });
        Ok(ToolOutput::text(text, structured).with_change(Change::Plan(list)))
    }
}

fn planned(args: Args) -> Result<PlannedTask, String> {
    let mut metadata = Map::new();
    merge(&mut metadata, args.metadata)?;
    Ok(PlannedTask {
        subject: line("subject", &args.subject)?,
        description: description(&args.description)?,
        active_form: args.active_form.map(|text| line("activeForm", &text)).transpose()?,
        metadata,
        ..PlannedTask::default()
    })
}
