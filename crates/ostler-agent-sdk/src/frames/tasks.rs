//! Frames about work in the background (agent-sdk.md 3.4, section 9): the set grows, the
//! task starts, ends, is notified, the set shrinks.

use ostler_protocol::{BackgroundTask, TaskKind, TaskState};
use serde_json::{Value, json};

use super::Projector;

impl Projector {
    /// The tasks that go on in the background.
    #[must_use]
    pub fn tasks(&self) -> &[BackgroundTask] {
        &self.tasks
    }

    /// Whether nothing goes on or waits that a host should stay for.
    pub(super) fn is_quiet(&self) -> bool {
        self.queued.is_empty() && (self.tasks.is_empty() || self.waits_no_more)
    }

    /// Background work has kept the host long enough: it is told that the session is idle.
    pub fn wait_no_more(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        if !self.in_run && !self.waits_no_more && !self.tasks.is_empty() {
            self.waits_no_more = true;
            self.state("idle", &mut out);
        }
        out
    }

    pub(super) fn task_changed(
        &mut self,
        task: &BackgroundTask,
        tells: bool,
        out: &mut Vec<String>,
    ) {
        if task.is_running() {
            self.task_started(task, out);
        } else {
            self.task_ended(task, out);
            if !self.in_run && !tells && self.is_quiet() {
                self.state("idle", out);
            }
        }
    }

    fn task_started(&mut self, task: &BackgroundTask, out: &mut Vec<String>) {
        self.tasks.push(task.clone());
        out.push(self.task_set());
        out.push(self.system(json!({
            "subtype": "task_started",
            "task_id": task.id,
            "tool_use_id": task.tool_call_id.0,
            "description": task.title,
            "task_type": type_name(task.kind),
            "is_backgrounded": true,
        })));
    }

    fn task_ended(&mut self, task: &BackgroundTask, out: &mut Vec<String>) {
        self.tasks.retain(|known| known.id != task.id);
        let mut patch = json!({ "status": status(task.state) });
        if let Some(ended_at) = task.ended_at {
            patch["end_time"] = json!(ended_at);
        }
        let frame = json!({ "subtype": "task_updated", "task_id": task.id, "patch": patch });
        out.push(self.system(frame));
        out.push(self.system(json!({
            "subtype": "task_notification",
            "task_id": task.id,
            "tool_use_id": task.tool_call_id.0,
            "status": if task.state == TaskState::Stopped { "stopped" } else { status(task.state) },
            "output_file": task.output_file.clone().unwrap_or_default(),
            "summary": summary(task),
        })));
        out.push(self.task_set());
    }

    /// `background_tasks_changed`, which replaces what hosts knew.
    fn task_set(&mut self) -> String {
        let row = |task: &BackgroundTask| -> Value {
            json!({
                "task_id": task.id,
                "task_type": type_name(task.kind),
                "description": task.title,
            })
        };
        let tasks: Vec<Value> = self.tasks.iter().map(row).collect();
        self.system(json!({ "subtype": "background_tasks_changed", "tasks": tasks }))
    }
}

fn type_name(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Shell | TaskKind::Monitor => "local_bash",
        TaskKind::Agent => "local_agent",
    }
}

/// As `task_updated` names it.
fn status(state: TaskState) -> &'static str {
    match state {
        TaskState::Running => "running",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Stopped => "killed",
    }
}

fn summary(task: &BackgroundTask) -> String {
    let what = match task.kind {
        TaskKind::Shell => "Background command",
        TaskKind::Monitor => "Monitor",
        TaskKind::Agent => "Agent",
    };
    let how = match (task.state, task.exit_code) {
        (TaskState::Running, _) => "is running".to_owned(),
        (TaskState::Completed, Some(code)) => format!("completed (exit code {code})"),
        (TaskState::Completed, None) => "completed".to_owned(),
        (TaskState::Failed, Some(code)) => format!("failed (exit code {code})"),
        (TaskState::Failed, None) => "failed".to_owned(),
        (TaskState::Stopped, _) => "was stopped".to_owned(),
    };
    format!("{what} \"{}\" {how}", task.title)
}
