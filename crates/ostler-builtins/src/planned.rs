//! What the tools for planned tasks share: limits, ids, waiting, and how tasks are shown.
//! Pure: the list itself is `ostler_tool::PlanList`.

use ostler_protocol::{PlannedTask, TodoStatus};
use serde_json::{Map, Value, json};

/// Tasks of a session.
pub(crate) const TASKS: usize = 200;
/// Characters of a subject, owner or active form.
pub(crate) const LINE: usize = 200;
/// Characters of a description. Each change of the plan is logged with the whole of it.
pub(crate) const DESCRIPTION: usize = 4000;
/// Bytes of a task's metadata as JSON.
pub(crate) const METADATA: usize = 4_000;

/// The number of the last task that was made: a number is not used again while the
/// process runs. Kept in `ostler_tool::SessionState`.
#[derive(Debug, Default)]
pub(crate) struct LastNumber(std::sync::atomic::AtomicU64);

impl LastNumber {
    /// The next number. Only called while the list is held.
    pub(crate) fn next(&self, tasks: &[PlannedTask]) -> u64 {
        use std::sync::atomic::Ordering::SeqCst;
        let known = tasks.iter().filter_map(|task| task.id.parse().ok()).max().unwrap_or(0);
        let next = self.0.load(SeqCst).max(known) + 1;
        self.0.store(next, SeqCst);
        next
    }
}

/// One line of an argument, or why it is none.
pub(crate) fn line(name: &str, text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("{name} is empty"));
    }
    if text.contains('\n') {
        return Err(format!("{name} has several lines: put them into the description"));
    }
    if text.chars().count() > LINE {
        return Err(format!(
            "{name} has more than {LINE} characters: put them into the description"
        ));
    }
    Ok(text.to_owned())
}

/// A description, or why it is none.
pub(crate) fn description(text: &str) -> Result<String, String> {
    if text.chars().count() > DESCRIPTION {
        return Err(format!(
            "description has more than {DESCRIPTION} characters: name a file instead"
        ));
    }
    Ok(text.to_owned())
}

/// Puts `new` over the metadata; `null` takes a key away.
pub(crate) fn merge(
    metadata: &mut Map<String, Value>,
    new: Map<String, Value>,
) -> Result<(), String> {
    for (key, value) in new {
        if value.is_null() {
            metadata.remove(&key);
        } else {
            metadata.insert(key, value);
        }
    }
    let size = serde_json::to_string(metadata).map_or(0, |text| text.len());
    if size > METADATA {
        return Err(format!("metadata has {size} bytes, more than {METADATA}"));
    }
    Ok(())
}

/// Makes `later` wait for `first`.
pub(crate) fn wait(tasks: &mut [PlannedTask], first: &str, later: &str) -> Result<(), String> {
    let at = |id: &str| {
        tasks
            .iter()
            .position(|task| task.id == id)
            .ok_or_else(|| format!("there is no task `{id}`: TaskList shows all"))
    };
    let (from, to) = (at(first)?, at(later)?);
    if leads(tasks, later, first) {
        return Err(format!(
            "task `{first}` would wait for itself: `{later}` comes before it already"
        ));
    }
    if !tasks[from].blocks.iter().any(|id| id == later) {
        tasks[from].blocks.push(later.to_owned());
    }
    if !tasks[to].blocked_by.iter().any(|id| id == first) {
        tasks[to].blocked_by.push(first.to_owned());
    }
    Ok(())
}

/// Whether `to` is `from`, or waits for it, also by others.
fn leads(tasks: &[PlannedTask], from: &str, to: &str) -> bool {
    let mut seen = vec![from];
    let mut at = 0;
    while let Some(&id) = seen.get(at) {
        if id == to {
            return true;
        }
        let blocks = tasks.iter().find(|task| task.id == id).map(|task| &task.blocks);
        for next in blocks.into_iter().flatten() {
            if !seen.contains(&next.as_str()) {
                seen.push(next);
            }
        }
        at += 1;
    }
    false
}

/// Takes a task out of the list and out of what waits for it.
pub(crate) fn remove(tasks: &mut Vec<PlannedTask>, id: &str) {
    tasks.retain(|task| task.id != id);
    for task in tasks {
        task.blocks.retain(|other| other != id);
        task.blocked_by.retain(|other| other != id);
    }
}

/// The tasks that a task still waits for.
pub(crate) fn open_blockers(tasks: &[PlannedTask], task: &PlannedTask) -> Vec<String> {
    let is_open = |id: &&String| {
        tasks.iter().any(|other| other.id == **id && other.status != TodoStatus::Completed)
    };
    task.blocked_by.iter().filter(is_open).cloned().collect()
}

/// The wire's name of a status.
pub(crate) fn status_name(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Completed => "completed",
    }
}

/// One line that names a task.
pub(crate) fn row(tasks: &[PlannedTask], task: &PlannedTask) -> String {
    let owner = task.owner.as_ref().map(|owner| format!(", {owner}")).unwrap_or_default();
    let waits = match open_blockers(tasks, task) {
        blockers if blockers.is_empty() => String::new(),
        blockers => format!(", waits for {}", blockers.join(", ")),
    };
    format!("{} [{}{owner}{waits}] {}", task.id, status_name(task.status), task.subject)
}

/// A task as TaskGet gives it.
pub(crate) fn whole(task: &PlannedTask) -> Value {
    json!({
        "id": task.id,
        "subject": task.subject,
        "description": task.description,
        "status": status_name(task.status),
        "blocks": task.blocks,
        "blockedBy": task.blocked_by,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tasks(count: usize) -> Vec<PlannedTask> {
        let task = |id: usize| PlannedTask { id: id.to_string(), ..PlannedTask::default() };
        (1..=count).map(task).collect()
    }

    #[test]
    fn a_ring_is_refused() {
        let mut list = tasks(3);
        wait(&mut list, "1", "2").unwrap();
        wait(&mut list, "2", "3").unwrap();
        wait(&mut list, "1", "2").unwrap();
        assert_eq!(list[1].blocked_by, ["1"]);
        for (first, later) in [("3", "1"), ("2", "1"), ("1", "1")] {
            assert!(wait(&mut list, first, later).unwrap_err().contains("wait for itself"));
        }
        assert!(wait(&mut list, "1", "9").unwrap_err().contains("no task `9`"));
        remove(&mut list, "2");
        wait(&mut list, "3", "1").unwrap();
    }

    proptest! {
        #[test]
        fn tasks_never_wait_for_each_other_in_a_ring(pairs in prop::collection::vec((1usize..6, 1usize..6), 0..30)) {
            let mut list = tasks(5);
            for (first, later) in pairs {
                let _refused = wait(&mut list, &first.to_string(), &later.to_string());
            }
            // Tasks that wait for none can be taken away until none is left.
            for _ in 0..5 {
                let free = list.iter().find(|task| task.blocked_by.is_empty()).map(|task| task.id.clone());
                prop_assert!(free.is_some());
                remove(&mut list, &free.unwrap());
            }
        }
    }
}
