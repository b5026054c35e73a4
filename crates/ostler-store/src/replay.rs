//! A session read back: tolerant of torn, damaged and foreign lines, lossless for the rest.
//! Reading takes no lock and changes nothing; what it had to mend it says in `repairs`.

mod fold;
mod lenient;
mod line;
mod source;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, fs::File, path::Path};

use ostler_protocol::FileDiff;
use serde::Deserialize;

use crate::{
    error::{Error, Result},
    journal::JournalTail,
    log::Window,
    record::{Carried, Checkpoint, Entry, EntryBody},
};
use fold::Fold;
use source::Part;
pub(crate) use source::read_at;

/// A session as its log and its journal tell it.
#[derive(Debug, Default)]
pub struct Replay {
    /// The conversation that the next request is built from: after the last compaction;
    /// or all of it, where the whole transcript was asked for.
    pub entries: Vec<Entry>,
    /// What the records said and still holds.
    pub carried: Carried,
    /// Facts of finished tool calls beyond their results, by call.
    pub tools: HashMap<String, ToolFacts>,
    /// What calls and undos changed on disk, in order; of the part of the log that was read.
    pub checkpoints: Vec<Checkpoint>,
    /// Uuids of entries that are summaries of what was before them.
    pub summaries: Vec<String>,
    /// What was shown of a block that is not in the log.
    pub journal: Option<JournalTail>,
    /// What had to be mended, in words for a person.
    pub repairs: Vec<String>,
    /// Size of the log.
    pub bytes: u64,
    /// When the last entry was written, ms since the epoch.
    pub last_at_ms: Option<i64>,
    /// When the first entry was written, ms since the epoch.
    pub created_at_ms: Option<i64>,
    /// Whether no record of ours is in it: another program's session.
    pub foreign: bool,
    /// The last entry of the chain.
    pub(crate) last_uuid: Option<String>,
    /// Whether the file ends within a line.
    pub(crate) torn: bool,
    pub(crate) window: Option<Window>,
    pub(crate) context_at: u64,
    pub(crate) meta_at: u64,
}

/// Facts of a finished tool call beyond its result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolFacts {
    /// How long it ran, in ms; none if it never did.
    pub ms: Option<u64>,
    /// What refused it.
    pub denied_by: Option<String>,
    /// Files that it changed.
    pub diffs: Vec<FileDiff>,
}

/// Reads what the next request needs.
pub(crate) fn read_window(path: &Path) -> Result<Replay> {
    let failed = |error| Error::storage("read", path)(error);
    let file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    if let Some(part) = source::window(&file, len).map_err(failed)? {
        let is_whole = part.from == 0;
        let (fold, torn) = fold(&part);
        if is_whole || !fold.needs_more {
            return Ok(replay(fold, len, torn, Extent::Window));
        }
    }
    let bytes = source::read_at(&file, 0, len).map_err(failed)?;
    let (fold, torn) = fold(&Part { from: 0, bytes });
    Ok(replay(fold, len, torn, Extent::Window))
}

/// Reads the whole transcript, what summaries stand for included.
pub(crate) fn read_whole(path: &Path) -> Result<Replay> {
    let failed = |error| Error::storage("read", path)(error);
    let file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    let bytes = source::read_at(&file, 0, len).map_err(failed)?;
    let (fold, torn) = fold(&Part { from: 0, bytes });
    Ok(replay(fold, len, torn, Extent::Whole))
}

/// What another program's lines, appended while we had the log open, change.
pub(crate) fn appended_meanwhile(bytes: &[u8], carried: &mut Carried, parent: &mut Option<String>) {
    let mut fold = Fold::from_the_middle();
    fold.carried = std::mem::take(carried);
    for line in bytes.split(|&byte| byte == b'\n') {
        fold.line(line, 0, None);
    }
    *carried = fold.carried;
    if fold.last_uuid.is_some() {
        *parent = fold.last_uuid;
    }
}

/// Reads bytes as a log's.
#[cfg(test)]
pub(crate) fn read_bytes(bytes: Vec<u8>) -> Replay {
    let len = bytes.len() as u64;
    let (fold, torn) = fold(&source::window_of(bytes));
    replay(fold, len, torn, Extent::Window)
}

/// Reads any bytes as a log, for fuzzing: whole and from the last `context` record.
///
/// Gives the number of entries of both readings.
#[must_use]
pub fn fuzz_log(bytes: &[u8]) -> (usize, usize) {
    let whole = fold(&Part { from: 0, bytes: bytes.to_vec() });
    let window = fold(&source::window_of(bytes.to_vec()));
    let len = bytes.len() as u64;
    let whole = replay(whole.0, len, whole.1, Extent::Whole);
    let window = replay(window.0, len, window.1, Extent::Window);
    (whole.entries.len(), window.entries.len())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Window,
    Whole,
}

/// Folds the lines; says too whether the last one is torn.
fn fold(part: &Part) -> (Fold, bool) {
    let whole = part.from == 0;
    let mut fold = if whole { Fold::default() } else { Fold::from_the_middle() };
    let bytes = &part.bytes;
    let mut start = 0;
    let mut number = 0;
    let ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
    for end in ends {
        number += 1;
        if let Some(line) = bytes.get(start..end) {
            fold.line(line, part.from + start as u64, whole.then_some(number));
        }
        start = end + 1;
    }
    fold.finish();
    (fold, bytes.last().is_some_and(|&last| last != b'\n'))
}

fn replay(mut fold: Fold, bytes: u64, torn: bool, extent: Extent) -> Replay {
    let (entries, window) = fold.take_entries(extent == Extent::Whole);
    Replay {
        meta_at: fold.meta_at(),
        created_at_ms: fold.carried.created_at,
        entries,
        carried: fold.carried,
        tools: fold.tools,
        checkpoints: fold.checkpoints,
        summaries: fold.summaries,
        journal: None,
        repairs: fold.repairs,
        bytes,
        last_at_ms: fold.last_at_ms,
        foreign: !fold.ours,
        last_uuid: fold.last_uuid,
        torn,
        window,
        context_at: fold.context_at,
    }
}

impl Replay {
    /// Adds the journal, unless its block reached the log before the process ended.
    pub(crate) fn with_journal(mut self, tail: Option<JournalTail>) -> Self {
        self.journal = tail.filter(|tail| !self.holds(tail));
        self
    }

    fn holds(&self, tail: &JournalTail) -> bool {
        self.entries.iter().rev().any(|entry| match &entry.body {
            EntryBody::Assistant(answer) if answer.message_id == tail.message_id => {
                match &answer.block {
                    ostler_protocol::Block::Text { text } => {
                        !tail.thinking && text.starts_with(&tail.text)
                    }
                    ostler_protocol::Block::Thinking { thinking, .. } => {
                        tail.thinking && thinking.starts_with(&tail.text)
                    }
                    _ => false,
                }
            }
            _ => false,
        })
    }
}

/// The few fields that finding a session needs of its head.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Peek {
    pub(crate) is_sidechain: bool,
    pub(crate) cwd: Option<String>,
}
