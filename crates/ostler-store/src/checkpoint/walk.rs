//! Every file of a project but what git ignores, and of that, if wanted, single small files:
//! names and stamps, no contents. Never enters an ignored folder, `.git`, a link, another
//! file system or Ostler's own folders, and stops at a number of entries, so that a home
//! folder costs no more than a large project.

use std::{
    fs::{self, DirEntry},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use ostler_stdx::Cancel;

use super::look::{Kind, Stamp};

/// Most threads of a walk; more only wait for each other.
const THREADS: usize = 4;
/// Entries of one folder between two looks at the cancellation.
const STRIDE: usize = 256;
/// Bytes up to which an ignored file is small: settings and keys are, what tools make is not.
const SMALL: u64 = 128 << 10;

/// An entry below the root.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) stamp: Stamp,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// In no order.
    pub(super) found: Vec<Found>,
    /// Whether something was left out: too many entries, an unreadable folder, another file
    /// system, a cancellation.
    pub(super) more: bool,
}

/// Which part of a tree to walk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent<'a> {
    pub(super) root: &'a Path,
    /// Folders that are left out, Ostler's own.
    pub(super) skip: &'a [PathBuf],
    /// Most entries.
    pub(super) max: usize,
    /// Most small files that git ignores beside files that it does not, such as `.env`.
    pub(super) ignored: usize,
}

/// The ignore files that hold in a folder, innermost first.
#[derive(Debug)]
struct Rules {
    own: Gitignore,
    outer: Option<Arc<Self>>,
}

struct Job {
    dir: PathBuf,
    rules: Option<Arc<Rules>>,
}

#[derive(Default)]
struct Queue {
    jobs: Vec<Job>,
    busy: usize,
}

struct Walk<'a> {
    extent: Extent<'a>,
    dev: u64,
    cancel: &'a Cancel,
    queue: Mutex<Queue>,
    wake: Condvar,
    count: AtomicUsize,
    more: AtomicBool,
    ignored: AtomicUsize,
}

/// Walks a tree.
pub(super) fn walk(extent: Extent<'_>, cancel: &Cancel) -> Walked {
    let Ok(metadata) = fs::metadata(extent.root) else {
        return Walked { found: Vec::new(), more: true };
    };
    let first = Job { dir: extent.root.to_path_buf(), rules: outer_rules(extent.root) };
    let walk = Walk {
        extent,
        dev: metadata.dev(),
        cancel,
        queue: Mutex::new(Queue { jobs: vec![first], busy: 0 }),
        wake: Condvar::new(),
        count: AtomicUsize::new(0),
        more: AtomicBool::new(false),
        ignored: AtomicUsize::new(0),
    };
    let threads = thread::available_parallelism().map_or(1, |n| n.get().min(THREADS));
    let mut found = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| walk.work())).collect();
        let mut found = walk.work();
        for other in others {
            // A worker does not panic; if one did, what it found is missing and said so.
            match other.join() {
                Ok(more) => found.extend(more),
                Err(_) => walk.more.store(true, Ordering::Relaxed),
            }
        }
        found
    });
    let over = found.len() > walk.extent.max;
    found.truncate(walk.extent.max);
    Walked { found, more: over || walk.more.into_inner() }
}

impl Walk<'_> {
    fn work(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let mut jobs = Vec::new();
        while let Some(job) = self.next() {
            self.folder(&job, &mut found, &mut jobs);
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.jobs.append(&mut jobs);
            queue.busy -= 1;
            drop(queue);
            self.wake.notify_all();
        }
        found
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = queue.jobs.pop() {
                queue.busy += 1;
                return Some(job);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn folder(&self, job: &Job, found: &mut Vec<Found>, jobs: &mut Vec<Job>) {
        if self.cancel.is_cancelled() || self.count.load(Ordering::Relaxed) > self.extent.max {
            return self.left_out();
        }
        let Ok(read) = fs::read_dir(&job.dir) else { return self.left_out() };
        let entries: Vec<(PathBuf, DirEntry)> =
            read.flatten().map(|entry| (entry.path(), entry)).collect();
        let before = found.len();
        let rules = rules_of(job, &entries);
        for (n, (path, entry)) in entries.into_iter().enumerate() {
            let is_full = before.saturating_add(self.extent.max) < found.len();
            if is_full || n % STRIDE == STRIDE - 1 && self.cancel.is_cancelled() {
                self.left_out();
                break;
            }
            self.entry(path, &entry, rules.as_ref(), found, jobs);
        }
        self.count.fetch_add(found.len() - before, Ordering::Relaxed);
    }

    fn entry(
        &self,
        path: PathBuf,
        entry: &DirEntry,
        rules: Option<&Arc<Rules>>,
        found: &mut Vec<Found>,
        jobs: &mut Vec<Job>,
    ) {
        if is_called(&path, b"/.git") {
            return;
        }
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_ignored = rules.is_some_and(|rules| rules.ignore(&path, is_folder));
        if is_ignored && (is_folder || self.ignored.load(Ordering::Relaxed) >= self.extent.ignored)
        {
            return;
        }
        if is_folder && self.extent.skip.contains(&path) {
            return;
        }
        let metadata = match entry.metadata() {
            Ok(metadata) => metadata,
            // Gone since the folder was read.
            Err(error) if super::look::is_absent(&error) => return,
            Err(_) => return self.left_out(),
        };
        let kind = Kind::of(&metadata);
        if is_ignored {
            if kind != Kind::File || metadata.len() > SMALL {
                return;
            }
            self.ignored.fetch_add(1, Ordering::Relaxed);
        }
        if kind == Kind::Folder {
            if metadata.dev() != self.dev {
                return self.left_out();
            }
            jobs.push(Job { dir: path.clone(), rules: rules.cloned() });
        }
        found.push(Found { path, kind, stamp: Stamp::of(&metadata) });
    }

    fn left_out(&self) {
        self.more.store(true, Ordering::Relaxed);
    }
}

impl Rules {
    fn ignore(&self, path: &Path, is_folder: bool) -> bool {
        let mut rules = Some(self);
        while let Some(these) = rules {
            match these.own.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = these.outer.as_deref(),
            }
        }
        false
    }
}

/// Whether the last part of an absolute path is this name; it comes with its slash.
fn is_called(path: &Path, name: &[u8]) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(name)
}

/// The rules inside a folder: a repository's own only, and whatever the folder adds.
fn rules_of(job: &Job, entries: &[(PathBuf, DirEntry)]) -> Option<Arc<Rules>> {
    let has = |name| entries.iter().any(|(path, _)| is_called(path, name));
    let mut rules = job.rules.clone();
    if has(b"/.git") {
        rules = excluded(&job.dir);
    }
    if has(b"/.gitignore") {
        rules = added(&job.dir, rules);
    }
    rules
}

fn added(dir: &Path, outer: Option<Arc<Rules>>) -> Option<Arc<Rules>> {
    let (own, _unreadable_lines) = Gitignore::new(dir.join(".gitignore"));
    if own.is_empty() { outer } else { Some(Arc::new(Rules { own, outer })) }
}

fn excluded(repository: &Path) -> Option<Arc<Rules>> {
    let mut builder = GitignoreBuilder::new(repository);
    builder.add(repository.join(".git/info/exclude"));
    let own = builder.build().ok()?;
    (!own.is_empty()).then(|| Arc::new(Rules { own, outer: None }))
}

/// The rules of the folders above a root that lies within a repository.
fn outer_rules(root: &Path) -> Option<Arc<Rules>> {
    if root.join(".git").exists() {
        return None;
    }
    let repository = root.ancestors().find(|dir| dir.join(".git").exists())?;
    let mut above: Vec<&Path> =
        root.ancestors().skip(1).take_while(|dir| dir.starts_with(repository)).collect();
    above.reverse();
    above.into_iter().fold(excluded(repository), |rules, dir| added(dir, rules))
}
