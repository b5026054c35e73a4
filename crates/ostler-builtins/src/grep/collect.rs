//! Gathers what threads find, in an order that does not depend on them, and keeps no
//! more than will be shown.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

use crate::grep::{Mode, lines::Shown};

/// What one file gave.
#[derive(Debug)]
pub(crate) enum Hit {
    /// It has a match; when it was changed.
    File(SystemTime),
    /// Its number of matching lines.
    Count(u64),
    /// Its lines.
    Lines(Vec<Shown>),
}

/// What all files gave.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) mode: Mode,
    /// Lines that will be shown at most, those left out first included.
    room: usize,
    inner: Mutex<Inner>,
    /// Whether `inner.last` stands, so that other threads need no lock before.
    full: AtomicBool,
}

/// What was gathered.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    pub(crate) files: Vec<(SystemTime, PathBuf)>,
    pub(crate) counts: Vec<(PathBuf, u64)>,
    /// In content mode the first files by path whose lines fill the room.
    pub(crate) lines: BTreeMap<PathBuf, Vec<Shown>>,
    held: usize,
    /// Whether lines were dropped or not looked for because others come first.
    pub(crate) more: bool,
    pub(crate) skipped: usize,
    pub(crate) skipped_why: String,
}

impl Found {
    /// `wanted`: entries that are shown, `None` for as many as fit into `bytes`.
    pub(crate) fn new(mode: Mode, wanted: Option<usize>, bytes: usize) -> Self {
        // A line costs at least its ending; one more shows that there are more.
        let room = wanted.unwrap_or(bytes).saturating_add(1);
        Self { mode, room, inner: Mutex::default(), full: AtomicBool::new(false) }
    }

    /// Lines of one file that can be of use.
    pub(crate) fn room(&self) -> usize {
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
            Hit::File(modified) => inner.files.push((modified, path.to_owned())),
            Hit::Count(count) => inner.counts.push((path.to_owned(), count)),
            Hit::Lines(lines) => {
                inner.held += lines.len();
                inner.lines.insert(path.to_owned(), lines);
                // Files behind those that fill the room go again.
                while let Some(last) = inner.lines.last_entry()
                    && inner.held - last.get().len() >= self.room
                {
                    let dropped = last.remove().len();
                    inner.held -= dropped;
                    inner.more = true;
                }
                // Set within the lock: a file passed over by it makes `more` true below.
                if inner.held >= self.room {
                    self.full.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    pub(crate) fn skipped(&self, error: &io::Error) {
        let mut inner = self.lock();
        inner.skipped += 1;
        if inner.skipped_why.is_empty() {
            inner.skipped_why = error.to_string();
        }
    }

    pub(crate) fn into_inner(self) -> Inner {
        self.inner.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
