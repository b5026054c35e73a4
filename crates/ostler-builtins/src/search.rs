//! What Glob, Grep and LS share: the walk over a tree, when it ends, and how paths are shown.
//!
//! The walk never follows links, never enters Ostler's own folders, and looks at its
//! deadline and at the order to stop every few files. What cannot be read is counted and
//! said, never fatal.

mod newest;
mod trouble;

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use ignore::{DirEntry, WalkBuilder, WalkState};
use ostler_protocol::Access;
use ostler_stdx::{AbsPath, Cancel};
use ostler_tool::{Progress, ToolCx, ToolError};

use crate::{
    args::shown,
    disk::Place,
    files::{ask, cannot},
    hands::{Gate, Hands},
    plain::one_line,
};

pub(crate) use self::{
    newest::{Newest, Time, Times},
    trouble::Trouble,
};

/// How often progress is told at most.
const PULSE: Duration = Duration::from_millis(500);
/// Entries between two looks at the clock and at the order to stop.
const LOOK: u32 = 16;

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
    /// What could not be read.
    pub(crate) trouble: Arc<Trouble>,
    pub(crate) pulse: Arc<Pulse>,
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

/// Tells how a long search goes, now and then.
#[derive(Debug)]
pub(crate) struct Pulse {
    begin: Instant,
    files: AtomicU64,
    bytes: AtomicU64,
    /// Milliseconds after `begin` when progress was told last.
    told: AtomicU64,
    progress: Progress,
}

impl Pulse {
    fn new(progress: Progress) -> Self {
        Self {
            begin: Instant::now(),
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            told: AtomicU64::new(0),
            progress,
        }
    }

    /// Counts bytes that were read.
    pub(crate) fn read(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts files that were looked at, and tells if it is time.
    pub(crate) fn saw(&self, files: u32) {
        let files = self.files.fetch_add(files.into(), Ordering::Relaxed) + u64::from(files);
        let now = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        let told = self.told.load(Ordering::Relaxed);
        let due = now.saturating_sub(told) >= u64::try_from(PULSE.as_millis()).unwrap_or(u64::MAX);
        let turn =
            || self.told.compare_exchange(told, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if due && turn() {
            let bytes = self.bytes.load(Ordering::Relaxed);
            let text = match bytes >> 20 {
                0 => format!("{files} files searched"),
                megabytes => format!("{files} files searched, {megabytes} MB"),
            };
            self.progress.report(bytes, &text);
        }
    }
}

impl Search {
    /// Resolves where to search.
    pub(crate) fn new(asked: &AbsPath, hands: &Hands, cx: &ToolCx) -> Result<Self, ToolError> {
        let root = Place::resolve(asked).map_err(|error| cannot("search", asked, &error))?;
        ask(hands, &Access::Search { root: root.clone() })?;
        // The home may itself be reached through a link.
        let resolved = |path: &AbsPath| Place::resolve(path).unwrap_or_else(|_| path.clone());
        let private: Vec<_> = hands.private.iter().map(resolved).collect();
        let is_folder = match root.metadata() {
            Ok(meta) => meta.is_dir(),
            Err(error) => {
                let what = match error.kind() {
                    std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
                    std::io::ErrorKind::PermissionDenied => "not permitted".to_owned(),
                    _ => error.to_string(),
                };
                return Err(ToolError::Tell(format!("cannot search `{asked}`: {what}")));
            }
        };
        let home = resolved(&cx.cwd);
        let owns = |path: &&AbsPath| root.is_within(path) && !home.is_within(path);
        if is_folder && let Some(own) = private.iter().find(owns) {
            return Err(ToolError::Tell(format!(
                "`{asked}` is not searched: `{own}` holds what Ostler itself writes, so a search would find its own output; name the one file that is meant"
            )));
        }
        let prefix = PathBuf::from(shown(asked, &cx.cwd));
        let prefix = if prefix == Path::new(".") { PathBuf::new() } else { prefix };
        let deadline = Instant::now() + Duration::from_millis(hands.limits.search_ms);
        let stop = Stop { cancel: cx.cancel.clone(), deadline, late: Arc::default() };
        let pulse = Arc::new(Pulse::new(cx.progress.clone()));
        let gate = hands.gate.clone();
        Ok(Self { root, prefix, gate, private, stop, trouble: Arc::default(), pulse })
    }

    /// A walk from `from`, which lies at or below the root, by ignore files but hidden
    /// files alike; the caller may set it up further. Of what is not a folder, only what
    /// `takes` lets through is handed to the workers; it is asked for all entries of a
    /// folder one after another in one thread.
    pub(crate) fn walk(
        &self,
        from: &Path,
        takes: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
    ) -> WalkBuilder {
        let mut builder = WalkBuilder::new(from);
        builder.require_git(false).threads(threads());
        let private: Vec<_> = self
            .private
            .iter()
            .filter(|path| !self.root.is_within(path))
            .map(|path| path.as_path().to_owned())
            .collect();
        builder.filter_entry(move |entry| {
            if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return takes(entry);
            }
            let is_git = entry.depth() > 0 && entry.file_name() == ".git";
            !is_git && private.iter().all(|path| path.as_os_str() != entry.path().as_os_str())
        });
        builder
    }

    /// Runs a parallel walk: each thread gets a worker, which sees the ordinary files.
    pub(crate) fn each<'s, W: FnMut(DirEntry) + Send + 's>(
        &self,
        builder: &WalkBuilder,
        mut worker: impl FnMut() -> W,
    ) {
        builder.build_parallel().run(|| {
            let mut work = worker();
            let mut seen = 0_u32;
            Box::new(move |entry| {
                if seen.is_multiple_of(LOOK) {
                    if self.stop.now() {
                        return WalkState::Quit;
                    }
                    self.pulse.saw(seen.min(LOOK));
                }
                seen = seen.wrapping_add(1);
                match entry {
                    Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                        work(entry);
                    }
                    Ok(_) => {}
                    Err(error) => self.trouble.folder(&error),
                }
                WalkState::Continue
            })
        });
    }

    /// Whether the host lets a search show this file.
    pub(crate) fn shows(&self, path: &Path) -> bool {
        self.gate.shows(path)
    }

    /// How a path below the root is shown: relative to the working folder if it is in it.
    pub(crate) fn display(&self, path: &Path) -> String {
        let below = below(path, &self.root);
        let shown = if below.is_empty() {
            self.prefix.clone()
        } else {
            self.prefix.join(OsStr::from_bytes(below))
        };
        match shown.as_os_str().is_empty() {
            true => one_line(&path.to_string_lossy()),
            false => one_line(&shown.to_string_lossy()),
        }
    }

    /// What is to be said besides the answer: what could not be read, and whether the
    /// time ended.
    pub(crate) fn notes(&self, advice: &str) -> String {
        let mut notes = self.trouble.text(|path| self.display(path));
        if self.stop.was_late() {
            notes.push_str("\n[the search was ended after its time: there may be more, ");
            notes.push_str(advice);
            notes.push(']');
        }
        notes
    }
}

/// The part of a walked path below its root: all paths of a walk start with the root as
/// it was given, so bytes are enough, and comparing parts would cost more than the walk.
pub(crate) fn below<'a>(path: &'a Path, root: &Path) -> &'a [u8] {
    let (path, root) = (path.as_os_str().as_bytes(), root.as_os_str().as_bytes());
    let rest = path.strip_prefix(root).unwrap_or(path);
    rest.strip_prefix(b"/").unwrap_or(rest)
}

/// Threads of a walk.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).min(12)
}
