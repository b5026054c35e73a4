//! How records change the state that outlives them. The writer and the reader apply the
//! same functions, so that a resumed session knows exactly what the live one knew.

use ostler_protocol::{BackgroundTask, Block, Mode};

use crate::record::{Carried, Own, UserContent};

/// Characters of a prompt that are kept for lists.
const PROMPT_CHARS: usize = 200;

/// Background tasks that ended of which a session still knows.
const ENDED_TASKS: usize = 50;

/// Texts that start like these stand in user entries and are not a person's prompt
/// (agent-sdk.md 4.4).
const NOT_A_PROMPT: [&str; 6] = [
    "<local-command-stdout>",
    "<session-start-hook>",
    "<tick>",
    "<goal>",
    "[Request interrupted by user",
    "<command-name>",
];

/// The words of a person's prompt; none for results, marks and texts that are not theirs.
pub(crate) fn prompt(content: &UserContent, is_meta: bool) -> Option<String> {
    if is_meta {
        return None;
    }
    match content {
        UserContent::Text(text) => short_prompt(text),
        UserContent::Blocks(blocks) => {
            if blocks.iter().any(|block| matches!(block, Block::ToolResult { .. })) {
                return None;
            }
            let mut texts = blocks.iter().filter_map(|block| match block {
                Block::Text { text } => Some(text),
                _ => None,
            });
            match texts.next() {
                Some(first) => short_prompt(first).or_else(|| texts.find_map(|t| short_prompt(t))),
                // A picture alone is a prompt too.
                None => (!blocks.is_empty()).then(String::new),
            }
        }
    }
}

fn short_prompt(text: &str) -> Option<String> {
    let text = text.trim();
    if NOT_A_PROMPT.iter().any(|mark| text.starts_with(mark)) {
        return None;
    }
    let mut chars = text.chars().map(|c| if c == '\n' { ' ' } else { c });
    let mut short: String = chars.by_ref().take(PROMPT_CHARS).collect();
    if chars.next().is_some() {
        short.push('\u{2026}');
    }
    Some(short)
}

impl Carried {
    /// A conversation entry was written.
    pub(crate) fn note_entry(&mut self, at_ms: i64, cwd: Option<&str>) {
        self.created_at.get_or_insert(at_ms);
        if let (None, Some(cwd)) = (&self.project, cwd) {
            self.project = Some(cwd.to_owned());
        }
    }

    /// The entry was a person's prompt.
    pub(crate) fn note_prompt(&mut self, text: String) {
        self.turns = self.turns.saturating_add(1);
        if text.is_empty() {
            return;
        }
        if self.first_prompt.is_none() {
            self.first_prompt = Some(text.clone());
        }
        self.last_prompt = Some(text);
    }

    /// A summary replaced everything before it.
    pub(crate) fn note_compaction(&mut self) {
        self.cut.clear();
    }

    /// The mode changed.
    pub(crate) fn note_mode(&mut self, mode: Mode) {
        self.mode = Some(mode);
    }

    /// A background task started or changed. Of those that ended only the newest are kept.
    fn note_task(&mut self, task: &BackgroundTask) {
        match self.tasks.iter_mut().find(|known| known.id == task.id) {
            Some(known) => known.clone_from(task),
            None => self.tasks.push(task.clone()),
        }
        let ended = self.tasks.iter().filter(|task| !task.is_running()).count();
        let mut surplus = ended.saturating_sub(ENDED_TASKS);
        self.tasks.retain(|task| {
            let goes = surplus > 0 && !task.is_running();
            surplus -= usize::from(goes);
            !goes
        });
    }

    /// One of our own records was written.
    pub(crate) fn note_own(&mut self, own: &Own) {
        match own {
            Own::Frozen { system, preamble } => {
                self.system = Some(system.clone());
                self.preamble.clone_from(preamble);
            }
            Own::Project { path } => self.project = Some(path.clone()),
            Own::Pinned { provider, model } => {
                self.pinned = Some((provider.clone(), model.clone()));
            }
            Own::RunStarted { run_id, .. } => self.open_run = Some(run_id.clone()),
            Own::RunEnded { .. } => self.open_run = None,
            Own::Cut { tool_use_ids } => self.cut.extend(tool_use_ids.iter().cloned()),
            Own::Queue { items } => self.queue.clone_from(items),
            Own::Todos { items } => self.todos.clone_from(items),
            Own::Plan { tasks } => self.plan.clone_from(tasks),
            Own::Task { task } => self.note_task(task),
            Own::Folder { path } => self.folder.clone_from(path),
            Own::Context(context) => *self = context.carried.clone(),
            Own::Asked { .. }
            | Own::Verdict { .. }
            | Own::Answered { .. }
            | Own::Tool { .. }
            | Own::Response { .. }
            | Own::Retried { .. }
            | Own::Void { .. }
            | Own::Hook(_)
            | Own::Checkpoint(_)
            | Own::Repaired { .. }
            | Own::Unknown => {}
        }
    }
}
