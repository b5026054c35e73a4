//! The machine's part in what happens beside the conversation: tasks in the background,
//! what they tell the model, and what a call changes in the session itself.

use ostler_protocol::{BackgroundTask, Mode, TaskState, conversation::ToolResultContent};
use ostler_stdx::IdGen;
use ostler_store::record::{Own, QueuedPrompt, Record};
use ostler_tool::{Change, Note};
use serde_json::json;

use super::{Effect, Prompt, Turn};
use crate::event::SessionEvent;

impl Turn {
    /// The tasks that go on in the background.
    #[must_use]
    pub fn tasks(&self) -> &[BackgroundTask] {
        &self.tasks
    }

    pub(super) fn on_note(&mut self, note: Note, at_ms: i64, out: &mut Vec<Effect>) {
        match note {
            Note::Task { task, tell } => {
                let task_id = task.id.clone();
                self.on_task(task, tell.is_some(), out);
                if let Some(text) = tell {
                    self.tell(&task_id, text, at_ms, out);
                }
            }
            Note::Tell { task_id, text } => self.tell(&task_id, text, at_ms, out),
        }
    }

    fn tell(&mut self, task_id: &str, text: String, at_ms: i64, out: &mut Vec<Effect>) {
        let prompt = task_note(task_id, text, at_ms);
        if self.is_idle() {
            self.start_with_notes(prompt, out);
        } else {
            self.queue.push_back(prompt.into_queued(&mut self.ids));
            out.push(Effect::Append(vec![self.queue_record()]));
        }
    }

    fn on_task(&mut self, task: BackgroundTask, tells: bool, out: &mut Vec<Effect>) {
        self.tasks.retain(|known| known.id != task.id);
        if task.is_running() {
            self.tasks.push(task.clone());
        }
        out.push(Effect::Append(vec![Record::Own(Own::Task { task: task.clone() })]));
        out.push(Effect::Emit(SessionEvent::TaskChanged { task, tells }));
    }

    pub(super) fn on_tasks_gone(&mut self, at_ms: i64, out: &mut Vec<Effect>) {
        let tasks = std::mem::take(&mut self.tasks);
        let records = tasks_gone(&tasks, self.queue.make_contiguous(), at_ms, &mut self.ids);
        if records.is_empty() {
            return;
        }
        let stopped = records.iter().filter_map(|record| match record {
            Record::Own(Own::Task { task }) => {
                Some(SessionEvent::TaskChanged { task: task.clone(), tells: false })
            }
            _ => None,
        });
        let events: Vec<_> = stopped.map(Effect::Emit).collect();
        out.push(Effect::Append(records));
        out.extend(events);
    }

    /// Changes the mode, if it is another; gives what front ends are told.
    pub(super) fn change_mode(
        &mut self,
        mode: Mode,
        records: &mut Vec<Record>,
    ) -> Option<SessionEvent> {
        if self.mode == mode {
            return None;
        }
        if mode == Mode::Plan {
            self.before_plan = self.mode;
        }
        self.mode = mode;
        records.push(Record::PermissionMode(mode));
        Some(SessionEvent::ModeChanged(mode))
    }

    /// Makes the changes of a call: their records are written with its result.
    pub(super) fn state_changes(
        &mut self,
        changes: &[Change],
        records: &mut Vec<Record>,
    ) -> Vec<SessionEvent> {
        let mut events = Vec::new();
        for change in changes {
            match change {
                Change::Todos(todos) => {
                    records.push(Record::Own(Own::Todos { items: todos.clone() }));
                    events.push(SessionEvent::TodosChanged(todos.clone()));
                }
                Change::Plan(tasks) => {
                    records.push(Record::Own(Own::Plan { tasks: tasks.clone() }));
                    events.push(SessionEvent::PlanChanged(tasks.clone()));
                }
                Change::Mode(mode) => events.extend(self.change_mode(*mode, records)),
                Change::LeavePlan if self.mode == Mode::Plan => {
                    events.extend(self.change_mode(self.before_plan, records));
                }
                Change::LeavePlan => {}
                Change::Folder(folder) => {
                    let path = folder.as_ref().map(ostler_stdx::AbsPath::to_text);
                    records.push(Record::Own(Own::Folder { path }));
                    events.push(SessionEvent::FolderChanged(folder.clone()));
                }
            }
        }
        events
    }
}

/// The records of tasks that ended with the process that ran them: each is stopped, and
/// the model reads so with the next prompt. Empty if none of them runs.
#[must_use]
pub fn tasks_gone(
    tasks: &[BackgroundTask],
    queue: &[QueuedPrompt],
    at_ms: i64,
    ids: &mut IdGen,
) -> Vec<Record> {
    let mut items = queue.to_vec();
    let mut records = Vec::new();
    for task in tasks.iter().filter(|task| task.is_running()) {
        let mut task = task.clone();
        task.state = TaskState::Stopped;
        task.ended_at = Some(at_ms);
        let text = format!(
            "\"{}\" was stopped because the session ended. TaskOutput shows what it wrote until then.",
            task.title
        );
        items.push(task_note(&task.id, text, at_ms).into_queued(ids));
        records.push(Record::Own(Own::Task { task }));
    }
    if !records.is_empty() {
        records.push(Record::Own(Own::Queue { items }));
    }
    records
}

/// Words about a task, as a message to the model.
fn task_note(task_id: &str, text: String, at_ms: i64) -> Prompt {
    Prompt {
        uuid: None,
        content: ToolResultContent::Text(format!(
            "<task-notification>\nTask {task_id}: {text}\n</task-notification>"
        )),
        at_ms,
        client_id: None,
        origin: Some(json!({ "kind": "task-notification", "taskId": task_id })),
        note: true,
    }
}
