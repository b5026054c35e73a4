//! Gathers what threads find, in an order that does not depend on them, and keeps no
//! more than will be shown.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    grep::{Mode, lines::Shown},
    search::{Newest, Time},
};

/// What one file gave.
#[derive(Debug)]
pub(crate) enum Hit {
    /// It has a match; when it was changed.
    File(Time),
    /// Its number of matching lines.
    Count(u64),
    /// Its lines.
    Lines(Vec<Shown>),
}

/// How much can be shown at most, what is left out first included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) lines: usize,
    pub(crate) bytes: usize,
}

impl Room {
    /// Whether there is room beside so many lines of so many bytes.
    pub(crate) fn has(self, lines: usize, bytes: usize) -> bool {
        lines < self.lines && bytes <= self.bytes
    }
}

/// What all files gave.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) mode: Mode,
    room: Room,
    inner: Mutex<Inner>,
    /// Whether `inner.last` stands, so that other threads need no lock before.
    full: AtomicBool,
}

/// What was gathered.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) files: Newest,
    /// The first by path, and the sums of all.
    pub(crate) counts: BTreeMap<PathBuf, u64>,
    pub(crate) counted: (usize, u64),
    /// In content mode the first files by path whose lines fill the room.
    pub(crate) lines: BTreeMap<PathBuf, Vec<Shown>>,
    held: Held,
    /// Whether lines were dropped or not looked for because others come first.
    pub(crate) more: bool,
    /// Whether the one file that was asked for is binary and matches.
    pub(crate) binary_matches: bool,
}

#[derive(Debug, Default)]
struct Held {
    lines: usize,
    bytes: usize,
}

fn size(lines: &[Shown]) -> usize {
    lines.iter().map(Shown::bytes).sum()
}

impl Found {
    /// Keeps what fits into `room`.
    pub(crate) fn new(mode: Mode, room: Room) -> Self {
        let inner = Inner {
            files: Newest::new(room.lines),
            counts: BTreeMap::new(),
            counted: (0, 0),
            lines: BTreeMap::new(),
            held: Held::default(),
            more: false,
            binary_matches: false,
        };
        Self { mode, room, inner: Mutex::new(inner), full: AtomicBool::new(false) }
    }

    /// What of one file can be of use.
    pub(crate) fn room(&self) -> Room {
        self.room
    }

    /// Whether a file of this path can still change the result.
    pub(crate) fn takes(&self, path: &Path) -> bool {
        if !self.full.load(Ordering::Relaxed) {
            return true;
        }
        self.lock().lines.last_key_value().is_none_or(|(last, _)| path < last.as_path())
    }

    pub(crate) fn add(&self, path: &Path, hit: Hit) {
        let inner = &mut *self.lock();
        match hit {
            Hit::File(modified) => inner.files.add(modified, path),
            Hit::Count(count) => {
                inner.counted.0 += 1;
                inner.counted.1 += count;
                inner.counts.insert(path.to_owned(), count);
                if inner.counts.len() > self.room.lines {
                    inner.counts.pop_last();
                }
            }
            Hit::Lines(lines) => {
                inner.held.lines += lines.len();
                inner.held.bytes += size(&lines);
                inner.lines.insert(path.to_owned(), lines);
                // Files behind those that fill the room go again.
                while let Some(last) = inner.lines.last_entry() {
                    let (lines, bytes) = (last.get().len(), size(last.get()));
                    if self.room.has(inner.held.lines - lines, inner.held.bytes - bytes) {
                        break;
                    }
                    last.remove();
                    inner.held.lines -= lines;
                    inner.held.bytes -= bytes;
                    inner.more = true;
                }
                // Set within the lock: a file passed over by it makes `more` true below.
                if !self.room.has(inner.held.lines, inner.held.bytes) {
                    self.full.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    /// The one file that was asked for is binary and has a match.
    pub(crate) fn binary_matches(&self) {
        self.lock().binary_matches = true;
    }

    pub(crate) fn into_inner(self) -> Inner {
        self.inner.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
