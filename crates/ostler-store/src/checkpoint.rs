//! What a tool call changed on disk, and back again: a picture before the call, a list of
//! changes after it, an undo that gives back the bytes. Blocks; never starts git, never
//! writes to a `.git`, never copies what git can give back.
//!
//! A checkpoint is never the reason why a call fails: what cannot be kept is counted and
//! said. An undo is never a guess: a file that is not what the call left stays as it is.

mod git;
mod look;
mod recorded;
mod state;
#[cfg(test)]
mod tests;
mod tree;
mod undo;
mod walk;

use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ostler_stdx::{AbsPath, Cancel};

use crate::blob::{BlobId, Blobs};
use git::Repository;
use look::{Reading, Stamp};
pub use state::{FileChange, KeptPath, Manifest, State, Uncovered, Unkept};
use tree::Tree;
pub use undo::{Conflict, Reason, Step, Undone, Want};

/// What one picture may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the largest file that is kept.
    pub max_file: u64,
    /// Most entries of a tree that are looked at.
    pub tree_entries: usize,
    /// Most small files that git ignores, such as `.env`, in a picture of a tree.
    pub ignored_files: usize,
    /// Bytes of new copies in one picture of a tree.
    pub tree_bytes: u64,
    /// Files above this many bytes are copied last, and not again and again if they change.
    pub small_file: u64,
    /// Bytes that are read after a call to tell what its files are now.
    pub after_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_file: 50 << 20,
            tree_entries: 50_000,
            ignored_files: 500,
            tree_bytes: 64 << 20,
            small_file: 1 << 20,
            after_bytes: 256 << 20,
        }
    }
}

/// Keeps what calls are about to change. One for a session: it remembers what it has seen,
/// so that the second picture of a tree reads only what changed.
#[derive(Debug)]
pub struct Checkpoints {
    blobs: Blobs,
    limits: Limits,
    skip: Vec<PathBuf>,
    cache: Mutex<HashMap<OsString, Cached>>,
    /// When blobs were pruned last, as far as the cache knows.
    pruned_at: Mutex<Option<(i64, i64)>>,
    /// The repository that was used last.
    repository: Mutex<Option<Arc<Repository>>>,
}

/// The content of a file as it was last seen.
#[derive(Debug, Clone, Copy)]
struct Cached {
    stamp: Stamp,
    /// Whether it was too young to trust the stamp.
    is_racy: bool,
    content: Content,
    /// How often it was copied.
    copies: u8,
}

/// Where a content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Among the blobs.
    Kept(BlobId),
    /// Only on disk, but its hash is known.
    Hashed(BlobId),
    /// Among git's objects.
    Git(git::Oid),
}

/// A picture before a call. Give it to [`Checkpoints::after`].
#[derive(Debug)]
pub struct Before(Picture);

#[derive(Debug)]
enum Picture {
    Files(Vec<Named>),
    Tree(Tree),
}

/// A file that a call named.
#[derive(Debug)]
struct Named {
    path: PathBuf,
    state: State,
    stamp: Option<Stamp>,
}

impl Before {
    /// What the picture does not cover.
    #[must_use]
    pub fn uncovered(&self) -> Uncovered {
        match &self.0 {
            Picture::Files(files) => uncovered_files(files),
            Picture::Tree(tree) => tree.uncovered,
        }
    }
}

impl Checkpoints {
    /// Checkpoints that keep contents in `blobs`; touches no disk.
    #[must_use]
    pub fn new(blobs: Blobs, limits: Limits) -> Self {
        let skip = blobs.dir().parent().map(Path::to_path_buf).into_iter().collect();
        Self {
            blobs,
            limits,
            skip,
            cache: Mutex::default(),
            pruned_at: Mutex::default(),
            repository: Mutex::default(),
        }
    }

    /// Leaves further folders out of pictures of trees; `$OSTLER_HOME` always is.
    #[must_use]
    pub fn skipping(mut self, folders: impl IntoIterator<Item = AbsPath>) -> Self {
        self.skip.extend(folders.into_iter().map(|folder| folder.to_path_buf()));
        self
    }

    /// Keeps the files that a call names. Folders that the call would have to make are noted
    /// too, and what a link leads to. Cancelled, it covers nothing more.
    #[must_use]
    pub fn before_files(&self, paths: &[AbsPath], cancel: &Cancel) -> Before {
        let writer = self.blobs.writer().ok();
        let reading = Reading { keep: writer.as_ref(), max_file: self.limits.max_file, cancel };
        let mut files = Vec::new();
        for path in paths.iter().flat_map(concerned) {
            if files.iter().any(|known: &Named| known.path == path) {
                continue;
            }
            let (mut state, stamp) = look::look(&path, reading);
            if let (None, State::File { size, mode, .. }) = (&writer, &state) {
                state = State::Unkept { size: *size, mode: *mode, why: Unkept::Storage };
            }
            files.push(Named { path, state, stamp });
        }
        Before(Picture::Files(files))
    }

    /// Keeps a whole project before a call that may change anything in it: all that git does
    /// not ignore, and small ignored files beside it, within the limits. Contents that git has
    /// are not copied.
    #[must_use]
    pub fn before_tree(&self, root: &AbsPath, cancel: &Cancel) -> Before {
        Before(Picture::Tree(tree::before(self, root, cancel)))
    }

    /// What changed since. An interrupted call changed files too: `cancel` is for the person
    /// who leaves altogether, and then the list may lack changes.
    #[must_use]
    pub fn after(&self, before: Before, cancel: &Cancel) -> Manifest {
        match before.0 {
            Picture::Tree(tree) => tree::after(self, tree, cancel),
            Picture::Files(files) => self.after_files(files, cancel),
        }
    }

    fn after_files(&self, files: Vec<Named>, cancel: &Cancel) -> Manifest {
        let uncovered = uncovered_files(&files);
        let reading = Reading { keep: None, max_file: self.limits.max_file, cancel };
        let changes = files.into_iter().filter_map(|Named { path, state: before, stamp }| {
            let (after, now) = match look::leads_through_link(&path) {
                true => (State::Absent, None),
                false => look::look(&path, reading),
            };
            let is_same = match before {
                State::Unkept { .. } => stamp == now,
                _ => before == after,
            };
            (!is_same).then_some(FileChange { path: KeptPath(path), before, after })
        });
        Manifest { files: sorted(changes.collect()), uncovered }
    }

    /// The bytes of a state; none for what has none, was not kept, or is gone.
    ///
    /// # Errors
    /// `Storage`.
    pub fn content(&self, state: &State) -> crate::Result<Option<Vec<u8>>> {
        match state {
            State::File { blob, .. } => self.blobs.get(blob),
            _ => Ok(None),
        }
    }

    /// The blobs that it keeps contents in.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// The repository of a folder; `is_current`: as it is now and not as it was when its
    /// objects were named.
    fn repository(&self, folder: &Path, is_current: bool) -> Option<Arc<Repository>> {
        let mut known = self.repository.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fine = |it: &Arc<Repository>| it.holds(folder) && (!is_current || it.is_current());
        if !known.as_ref().is_some_and(is_fine)
            && let Some(opened) = Repository::open(folder)
        {
            *known = Some(Arc::new(opened));
        }
        known.clone().filter(|it| it.holds(folder))
    }

    /// Forgets contents that some process pruned since the last picture.
    fn forget_pruned(&self) {
        let now = self.blobs.pruned_at();
        let mut known = self.pruned_at.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != now {
            *known = now;
            self.cache().retain(|_, cached| match cached.content {
                Content::Kept(blob) => self.blobs.has(&blob),
                Content::Hashed(_) | Content::Git(_) => true,
            });
        }
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<OsString, Cached>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sorted(mut files: Vec<FileChange>) -> Vec<FileChange> {
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    files
}

fn uncovered_files(files: &[Named]) -> Uncovered {
    let mut uncovered = Uncovered::default();
    for named in files {
        uncovered.note(&named.state);
    }
    uncovered
}

impl Uncovered {
    fn note(&mut self, state: &State) {
        if let State::Unkept { size, .. } = state {
            self.files += 1;
            self.bytes += size;
        }
    }
}

/// The paths that a call which names `path` may change: folders that are not there yet, the
/// path itself, and what it leads to if it is a link. Their folders are free of links.
fn concerned(path: &AbsPath) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut next = Some(path.to_path_buf());
    // As many links as the system follows.
    for _ in 0..40 {
        let Some(path) = next.take().map(|path| real(&path, &mut out)) else { break };
        if let Ok(target) = std::fs::read_link(&path) {
            let folder = path.parent().unwrap_or(Path::new("/"));
            next = AbsPath::new(folder.join(target)).ok().map(|path| path.to_path_buf());
        }
        out.push(path);
    }
    out
}

/// The path with the links of its folders resolved; folders that are missing go to `out`.
fn real(path: &Path, out: &mut Vec<PathBuf>) -> PathBuf {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_path_buf();
    };
    match folder.canonicalize() {
        Ok(folder) => folder.join(name),
        Err(_) => {
            let folder = real(folder, out);
            let path = folder.join(name);
            out.push(folder);
            path
        }
    }
}
