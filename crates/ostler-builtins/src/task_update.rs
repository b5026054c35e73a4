//! TaskUpdate: changes or deletes a task of the session's plan, all of it or nothing.
//! Has no effect outside the session.

use ostler_protocol::{Access, PlannedTask, TodoStatus};
use ostler_stdx::AbsPath;
use ostler_tool::{Change, Concurrency, PlanList, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    args::list,
    planned::{description, line, merge, remove, row, status_name, wait},
};

/// Changes a task.
#[derive(Debug)]
pub(crate) struct TaskUpdate;

/// Arguments of TaskUpdate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The task's id.
    #[serde(rename = "taskId", alias = "task_id")]
    task_id: String,
    /// How far it is now; `deleted` takes it out of the plan.
    #[serde(default)]
    status: Option<Status>,
    /// A new subject.
    #[serde(default)]
    subject: Option<String>,
    /// A new description.
    #[serde(default)]
    description: Option<String>,
    /// A new form of the subject while it goes on.
    #[serde(default, rename = "activeForm", alias = "active_form")]
    active_form: Option<String>,
    /// Ids of tasks that shall wait for this one.
    #[serde(default, rename = "addBlocks", alias = "add_blocks", deserialize_with = "list")]
    add_blocks: Vec<String>,
    /// Ids of tasks that this one shall wait for.
    #[serde(default, rename = "addBlockedBy", alias = "add_blocked_by", deserialize_with = "list")]
    add_blocked_by: Vec<String>,
    /// Who does it.
    #[serde(default)]
    owner: Option<String>,
    /// What is to be kept with the task besides; `null` takes a key away.
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

/// How far a task shall be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Deleted,
}

impl Status {
    fn kept(self) -> Option<TodoStatus> {
        match self {
            Self::Pending => Some(TodoStatus::Pending),
            Self::InProgress => Some(TodoStatus::InProgress),
            Self::Completed => Some(TodoStatus::Completed),
            Self::Deleted => None,
        }
    }
}

impl Tool for TaskUpdate {
    const NAME: &'static str = "TaskUpdate";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("task_update.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, args: &Args) -> String {
        match args.status {
            Some(status) => {
                let status = status.kept().map_or("deleted", status_name);
                format!("Task {}: {}", args.task_id, status.replace('_', " "))
            }
            None => format!("Change task {}", args.task_id),
        }
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let id = args.task_id.clone();
        let (updated, tasks) = cx.state.get::<PlanList>().change(|tasks| {
            // On a copy, so that nothing is left half done.
            let mut copy = tasks.clone();
            let updated = update(&mut copy, args)?;
            *tasks = copy;
            Ok::<_, String>(updated)
        });
        let updated = updated.map_err(|error| ToolError::Failed {
            text: error.clone(),
            structured: json!({ "success": false, "taskId": id, "updatedFields": [], "error": error }),
        })?;
        let text = match tasks.iter().find(|task| task.id == id) {
            None => format!("task {id} is deleted"),
            Some(task) if updated.fields.is_empty() => {
                format!("nothing changed: {}", row(&tasks, task))
            }
            Some(task) => row(&tasks, task),
        };
        let mut structured =
            json!({ "success": true, "taskId": id, "updatedFields": updated.fields });
        if let Some((from, to)) = updated.status {
            structured["statusChange"] = json!({ "from": from, "to": to });
        }
        Ok(ToolOutput::text(text, structured).with_change(Change::Plan(tasks)))
    }
}

/// What was changed.
#[derive(Debug, Default)]
struct Updated {
    fields: Vec<&'static str>,
    status: Option<(&'static str, &'static str)>,
}

fn update(tasks: &mut Vec<PlannedTask>, args: Args) -> Result<Updated, String> {
    let id = args.task_id;
    let mut updated = Updated::default();
    let Some(task) = tasks.iter_mut().find(|task| task.id == id) else {
        return Err(format!("there is no task `{id}`: TaskList shows all"));
    };
    let mut set = |name, changed: bool| {
        if changed {
            updated.fields.push(name);
        }
    };
    if let Some(subject) = args.subject {
        let subject = line("subject", &subject)?;
        set("subject", task.subject != subject);
        task.subject = subject;
    }
    if let Some(text) = args.description {
        let text = description(&text)?;
        set("description", task.description != text);
        task.description = text;
    }
    if let Some(form) = args.active_form {
        let form = Some(line("activeForm", &form)?);
        set("activeForm", task.active_form != form);
        task.active_form = form;
    }
    if let Some(owner) = args.owner {
        let owner = if owner.trim().is_empty() { None } else { Some(line("owner", &owner)?) };
        set("owner", task.owner != owner);
        task.owner = owner;
    }
    if let Some(metadata) = args.metadata {
        let before = task.metadata.clone();
        merge(&mut task.metadata, metadata)?;
        set("metadata", task.metadata != before);
    }
    let from = task.status;
    if let Some(status) = args.status {
        let to = status.kept();
        if to != Some(from) {
            set("status", true);
            updated.status = Some((status_name(from), to.map_or("deleted", status_name)));
        }
        match to {
            Some(to) => task.status = to,
            None => {
                remove(tasks, &id);
                return Ok(updated);
            }
        }
    }
    for later in &args.add_blocks {
        wait(tasks, &id, later)?;
    }
    for first in &args.add_blocked_by {
        wait(tasks, first, &id)?;
    }
    let given = [("blocks", &args.add_blocks), ("blockedBy", &args.add_blocked_by)];
    updated.fields.extend(given.iter().filter(|(_, ids)| !ids.is_empty()).map(|(name, _)| *name));
    Ok(updated)
}
