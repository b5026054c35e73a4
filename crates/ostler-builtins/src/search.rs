//! What Glob and Grep share: the walk over a tree, when it ends, and how paths are shown.
//!
//! The walk never follows links, never enters Ostler's own folders, and looks at its
//! deadline and at the order to stop for each file.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use ignore::{DirEntry, WalkBuilder, WalkState};
use ostler_protocol::Access;
use ostler_stdx::{AbsPath, Cancel};
use ostler_tool::{ToolCx, ToolError};

use crate::{
    args::shown,
    disk::Place,
    files::{ask, cannot},
    hands::{Gate, Hands},
};

/// A search through one folder or file.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    /// Where the walk starts, links resolved.
    pub(crate) root: AbsPath,
    /// How `root` is shown.
    prefix: PathBuf,
    gate: Gate,
    private: Vec<AbsPath>,
    pub(crate) stop: Stop,
}

/// When to end early.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    cancel: Cancel,
    deadline: Instant,
    late: Arc<AtomicBool>,
}

impl Stop {
    /// Whether to end now.
    pub(crate) fn now(&self) -> bool {
        if self.cancel.is_cancelled() || self.late.load(Ordering::Relaxed) {
            return true;
        }
        let late = Instant::now() > self.deadline;
        if late {
            self.late.store(true, Ordering::Relaxed);
        }
        late
    }

    /// Whether the time ended before the search did.
    pub(crate) fn was_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }
}

impl Search {
    /// Resolves where to search.
    pub(crate) fn new(asked: &AbsPath, hands: &Hands, cx: &ToolCx) -> Result<Self, ToolError> {
        let root = Place::resolve(asked).map_err(|error| cannot("search", asked, &error))?;
        ask(hands, &Access::Search { root: root.clone() })?;
        if !root.exists() {
            return Err(ToolError::Tell(format!(
                "cannot search `{asked}`: there is no such file or folder"
            )));
        }
        let prefix = PathBuf::from(shown(asked, &cx.cwd));
        let prefix = if prefix == Path::new(".") { PathBuf::new() } else { prefix };
        // The home may itself be reached through a link.
        let private = hands
            .private
            .iter()
            .map(|path| Place::resolve(path).unwrap_or_else(|_| path.clone()))
            .collect();
        let deadline = Instant::now() + Duration::from_millis(hands.limits.search_ms);
        let stop = Stop { cancel: cx.cancel.clone(), deadline, late: Arc::default() };
        Ok(Self { root, prefix, gate: hands.gate.clone(), private, stop })
    }

    /// A walk from `from`, which lies at or below the root, by ignore files but hidden
    /// files alike; the caller may set it up further.
    pub(crate) fn walk(&self, from: &Path) -> WalkBuilder {
        let mut builder = WalkBuilder::new(from);
        builder.require_git(false).threads(threads());
        let private: Vec<_> = self
            .private
            .iter()
            .filter(|path| !self.root.is_within(path))
            .map(|path| path.as_path().to_owned())
            .collect();
        builder.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_git = is_folder && entry.depth() > 0 && entry.file_name() == ".git";
            !(is_git || is_folder && private.iter().any(|path| path == entry.path()))
        });
        builder
    }

    /// Runs a parallel walk: each thread gets a worker, which sees the ordinary files.
    pub(crate) fn each<'s, W: FnMut(&DirEntry) -> WalkState + Send + 's>(
        &self,
        builder: &WalkBuilder,
        mut worker: impl FnMut() -> W,
    ) {
        let stop = &self.stop;
        builder.build_parallel().run(|| {
            let mut work = worker();
            Box::new(move |entry| {
                if stop.now() {
                    return WalkState::Quit;
                }
                // What cannot be entered or read is passed over, as ripgrep does.
                let Ok(entry) = entry else { return WalkState::Continue };
                if entry.file_type().is_some_and(|kind| kind.is_file()) {
                    work(&entry)
                } else {
                    WalkState::Continue
                }
            })
        });
    }

    /// Whether the host lets a search show this file.
    pub(crate) fn shows(&self, path: &Path) -> bool {
        self.gate.shows(path)
    }

    /// How a path below the root is shown: relative to the working folder if it is in it.
    pub(crate) fn display(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let shown = if below.as_os_str().is_empty() {
            self.prefix.clone()
        } else {
            self.prefix.join(below)
        };
        match shown.as_os_str().is_empty() {
            true => path.to_string_lossy().into_owned(),
            false => shown.to_string_lossy().into_owned(),
        }
    }
}

/// When the file was changed last; the oldest time if that cannot be said.
pub(crate) fn modified(entry: &DirEntry) -> SystemTime {
    entry.metadata().ok().and_then(|meta| meta.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Newest first, then by name, so that the order never depends on the walk.
pub(crate) fn newest_first(files: &mut [(SystemTime, String)]) {
    files.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).min(12)
}
