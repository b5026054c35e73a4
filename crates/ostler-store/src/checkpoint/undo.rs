//! Taking changes back. Every path is looked at first: what is not exactly as the call left
//! it stays as it is and is named as a conflict. What is there now is kept before it is
//! replaced, so that an undo can be taken back too. Nothing is written through a link.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, Permissions},
    io::{self, Write as _},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use ostler_stdx::{AbsPath, Cancel};

use super::{
    Checkpoints,
    look::{self, Reading},
    sorted,
    state::{FileChange, KeptPath, Manifest, State, Unkept},
};
use crate::blob::BlobId;

/// What should stand at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// What stood there at some time.
    State(State),
    /// A regular file with these bytes, for the undo of a part of a file. Its mode stays, or
    /// is `0o644` if there is none.
    Bytes(Vec<u8>),
}

/// One path that is to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The path.
    pub path: KeptPath,
    /// What must stand there now; anything else is a conflict.
    pub expect: State,
    /// What is to stand there.
    pub want: Want,
}

/// Why a path was left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is not what the call left: somebody changed it since.
    ChangedSince,
    /// Somebody changed it between two of the calls.
    ChangedBetween,
    /// What stood there before was not kept.
    NotKept(Unkept),
    /// What the call left is not known, so nobody can tell whether it changed since.
    LeftUnknown(Unkept),
    /// What stands there now cannot be kept, so this could not be taken back.
    CannotKeep(Unkept),
    /// The kept content was pruned or is damaged.
    Missing,
    /// One of its folders is a link now.
    ThroughLink,
    /// The folder holds something that no call made.
    NotEmpty,
    /// The record is of a later version.
    Unknown,
    /// The work was cancelled.
    Cancelled,
    /// The disk refused; in the system's words.
    Refused(String),
}

/// A path that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path.
    pub path: KeptPath,
    /// Why.
    pub reason: Reason,
}

/// What an undo did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undone {
    /// Paths that are now as wanted, sorted; those that were so already among them.
    pub done: Vec<KeptPath>,
    /// Paths that were left as they are, sorted.
    pub conflicts: Vec<Conflict>,
    /// What the undo itself changed. Undoing this takes the undo back.
    pub reverse: Manifest,
}

impl Checkpoints {
    /// Takes changes back: of the given manifests, in the order of their calls, every path
    /// goes to what the first of them found. `targets` narrows it to paths and what lies
    /// below them; none means everything.
    pub fn undo(
        &self,
        manifests: &[Manifest],
        targets: Option<&[AbsPath]>,
        cancel: &Cancel,
    ) -> Undone {
        let (steps, conflicts) = steps(manifests, targets);
        let mut undone = self.apply(steps, cancel);
        undone.conflicts.extend(conflicts);
        undone.conflicts.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        undone
    }

    /// Which paths an undo would touch, and which it would not; changes nothing. Conflicts
    /// that show only while writing are not among them.
    #[must_use]
    pub fn preview(
        &self,
        manifests: &[Manifest],
        targets: Option<&[AbsPath]>,
        cancel: &Cancel,
    ) -> (Vec<Step>, Vec<Conflict>) {
        let (steps, mut conflicts) = steps(manifests, targets);
        let mut fine = Vec::new();
        let mut links = HashSet::new();
        for step in steps {
            match self.check(&step, &mut links, cancel) {
                Ok(_) => fine.push(step),
                Err(reason) => conflicts.push(Conflict { path: step.path, reason }),
            }
        }
        conflicts.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        (fine, conflicts)
    }

    /// Changes paths, each on its own: those that cannot be changed do not keep the others.
    pub fn apply(&self, mut steps: Vec<Step>, cancel: &Cancel) -> Undone {
        steps.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut links = HashSet::new();
        let mut work = Work { points: self, cancel, undone: Undone::default() };
        let mut todo = Vec::new();
        for step in steps {
            match self.check(&step, &mut links, cancel) {
                Ok(None) => work.undone.done.push(step.path),
                Ok(Some(now)) => todo.push((step, now)),
                Err(reason) => work.conflict(step.path, reason),
            }
        }
        work.run(todo);
        let Work { mut undone, .. } = work;
        undone.done.sort_unstable();
        undone.conflicts.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        undone.reverse.files = sorted(undone.reverse.files);
        undone
    }

    /// What stands at the path of a step, kept so that it can come back; none if nothing is
    /// to be done. Steps come with folders before what is in them; `links` are those that
    /// have a step of their own.
    fn check(
        &self,
        step: &Step,
        links: &mut HashSet<PathBuf>,
        cancel: &Cancel,
    ) -> Result<Option<State>, Reason> {
        if cancel.is_cancelled() {
            return Err(Reason::Cancelled);
        }
        let path = step.path.as_path();
        let Some(link) = look::first_link(path) else {
            let now = self.look_and_keep(path, cancel)?;
            let checked = self.compare(step, now)?;
            let is_link = match &checked {
                Some(now) => matches!(now, State::Link { .. }),
                None => matches!(step.want, Want::State(State::Link { .. })),
            };
            if is_link {
                links.insert(step.path.0.clone());
            }
            return Ok(checked);
        };
        // Nothing stands at the path itself, and that may be what the calls left.
        if links.contains(link) || step.expect == State::Absent {
            self.compare(step, State::Absent)
        } else {
            Err(Reason::ThroughLink)
        }
    }

    /// What stands at a path, kept so that it can come back.
    fn look_and_keep(&self, path: &Path, cancel: &Cancel) -> Result<State, Reason> {
        let writer = self.blobs.writer().map_err(|_| Reason::CannotKeep(Unkept::Storage))?;
        let keep = Some(&writer);
        let reading = Reading { keep, max_file: self.limits.max_file, cancel };
        Ok(look::look(path, reading).0)
    }

    /// Whether a step may be done where `now` stands.
    fn compare(&self, step: &Step, now: State) -> Result<Option<State>, Reason> {
        match (&step.want, &now) {
            (Want::State(want), now) if want.is_same(now) => return Ok(None),
            (Want::Bytes(bytes), State::File { blob, .. }) if *blob == BlobId::of(bytes) => {
                return Ok(None);
            }
            _ => {}
        }
        match (&step.expect, &now) {
            (State::Unknown, _) => return Err(Reason::Unknown),
            (State::Unkept { why, .. }, _) => return Err(Reason::LeftUnknown(*why)),
            (expect, State::Unkept { why, .. }) if !matches!(expect, State::Absent) => {
                return Err(Reason::CannotKeep(*why));
            }
            (expect, now) if !expect.is_same(now) => return Err(Reason::ChangedSince),
            _ => {}
        }
        match &step.want {
            Want::State(State::Unknown) => Err(Reason::Unknown),
            Want::State(State::Unkept { why, .. }) => Err(Reason::NotKept(*why)),
            Want::State(State::File { blob, .. }) if !self.blobs.has(blob) => Err(Reason::Missing),
            Want::State(_) | Want::Bytes(_) => Ok(Some(now)),
        }
    }
}

/// The steps that take manifests back, and the paths that nobody can take back.
fn steps(manifests: &[Manifest], targets: Option<&[AbsPath]>) -> (Vec<Step>, Vec<Conflict>) {
    let is_target = |path: &Path| {
        targets.is_none_or(|targets| targets.iter().any(|target| path.starts_with(target)))
    };
    let mut paths: BTreeMap<&KeptPath, Vec<&FileChange>> = BTreeMap::new();
    for change in manifests.iter().flat_map(|manifest| &manifest.files) {
        if is_target(change.path.as_path()) {
            paths.entry(&change.path).or_default().push(change);
        }
    }
    let (mut steps, mut conflicts) = (Vec::new(), Vec::new());
    for (path, changes) in paths {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else { continue };
        // A change that no call made lies between two calls: going back would lose it.
        if changes.windows(2).any(|pair| !pair[0].after.is_same(&pair[1].before)) {
            conflicts.push(Conflict { path: path.clone(), reason: Reason::ChangedBetween });
            continue;
        }
        steps.push(Step {
            path: path.clone(),
            expect: last.after.clone(),
            want: Want::State(first.before.clone()),
        });
    }
    (steps, conflicts)
}

/// Steps at work. Order: first everything that must go, the deepest first; then folders, the
/// highest first; then files and links; then the modes of folders, the deepest first, since
/// a folder may end up read-only.
struct Work<'a> {
    points: &'a Checkpoints,
    cancel: &'a Cancel,
    undone: Undone,
}

impl Work<'_> {
    fn conflict(&mut self, path: KeptPath, reason: Reason) {
        self.undone.conflicts.push(Conflict { path, reason });
    }

    /// A path could not be brought to where it should be; what it is now is looked up, since
    /// it may have been removed already.
    fn failed(&mut self, path: KeptPath, before: State, reason: Reason) {
        let cancel = &Cancel::new();
        let reading = Reading { keep: None, max_file: self.points.limits.max_file, cancel };
        let (after, _) = look::look(path.as_path(), reading);
        if after != before {
            self.undone.reverse.files.push(FileChange { path: path.clone(), before, after });
        }
        self.conflict(path, reason);
    }

    fn run(&mut self, mut todo: Vec<(Step, State)>) {
        todo.sort_unstable_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        let mut left = Vec::new();
        for (step, now) in todo.into_iter().rev() {
            match self.clear(&step, &now) {
                Ok(()) if step.want == Want::State(State::Absent) => {
                    self.finish(step.path, now, State::Absent);
                }
                Ok(()) => left.push((step, now)),
                Err(reason) => self.failed(step.path, now, reason),
            }
        }
        left.reverse();
        let (folders, files): (Vec<_>, Vec<_>) = left
            .into_iter()
            .partition(|(step, _)| matches!(step.want, Want::State(State::Folder { .. })));
        let mut made = Vec::new();
        for (step, now) in folders {
            match make_folder(step.path.as_path(), &now) {
                Ok(()) => made.push((step, now)),
                Err(reason) => self.failed(step.path, now, reason),
            }
        }
        for (step, now) in files {
            match self.write(&step, &now) {
                Ok(after) => self.finish(step.path, now, after),
                Err(reason) => self.failed(step.path, now, reason),
            }
        }
        for (step, now) in made.into_iter().rev() {
            let Want::State(State::Folder { mode }) = step.want else { continue };
            match fs::set_permissions(step.path.as_path(), Permissions::from_mode(mode)) {
                Ok(()) => self.finish(step.path, now, State::Folder { mode }),
                Err(error) => self.failed(step.path, now, refused(&error)),
            }
        }
    }

    fn finish(&mut self, path: KeptPath, before: State, after: State) {
        self.undone.reverse.files.push(FileChange { path: path.clone(), before, after });
        self.undone.done.push(path);
    }

    /// Makes way: removes what is not to stay, but for a file that another replaces.
    fn clear(&self, step: &Step, now: &State) -> Result<(), Reason> {
        if self.cancel.is_cancelled() {
            return Err(Reason::Cancelled);
        }
        let path = step.path.as_path();
        if look::leads_through_link(path) {
            // Nothing stands there; the link goes in its own step.
            return Ok(());
        }
        let becomes_folder = matches!(step.want, Want::State(State::Folder { .. }));
        let goes = step.want == Want::State(State::Absent);
        let removed = match now {
            State::Folder { .. } if !becomes_folder => fs::remove_dir(path),
            State::File { .. } | State::Link { .. } if becomes_folder || goes => {
                fs::remove_file(path)
            }
            _ => Ok(()),
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Err(Reason::NotEmpty),
            Err(error) if !look::is_absent(&error) => Err(refused(&error)),
            _ => Ok(()),
        }
    }

    /// Puts a file or a link in place and says what stands there then.
    fn write(&self, step: &Step, now: &State) -> Result<State, Reason> {
        if self.cancel.is_cancelled() {
            return Err(Reason::Cancelled);
        }
        let path = step.path.as_path();
        let (bytes, blob, mode) = match &step.want {
            Want::State(State::Link { target }) => {
                replace_link(path, target.as_path()).map_err(|error| refused(&error))?;
                return Ok(State::Link { target: target.clone() });
            }
            Want::State(State::File { blob, mode, .. }) => {
                let bytes = self.points.blobs.get(blob).map_err(|_| Reason::Missing)?;
                (bytes.ok_or(Reason::Missing)?, *blob, *mode)
            }
            Want::Bytes(bytes) => {
                let mode = if let State::File { mode, .. } = now { *mode } else { 0o644 };
                (bytes.clone(), BlobId::of(bytes), mode)
            }
            Want::State(_) => return Err(Reason::Unknown),
        };
        replace_file(path, &bytes, mode).map_err(|error| refused(&error))?;
        Ok(State::File { blob, size: bytes.len() as u64, mode })
    }
}

fn refused(error: &io::Error) -> Reason {
    Reason::Refused(error.to_string())
}

fn make_folder(path: &Path, now: &State) -> Result<(), Reason> {
    if matches!(now, State::Folder { .. }) {
        return Ok(());
    }
    if look::leads_through_link(path) {
        return Err(Reason::ThroughLink);
    }
    // Its own mode comes last; until then things can be put into it.
    match fs::create_dir_all(path) {
        Err(error) => Err(refused(&error)),
        Ok(()) => Ok(()),
    }
}

fn folder_of(path: &Path) -> io::Result<&Path> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    if look::leads_through_link(path) {
        return Err(io::Error::other("a folder of it is a link"));
    }
    fs::create_dir_all(folder)?;
    Ok(folder)
}

fn replace_file(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".ostler-").tempfile_in(folder_of(path)?)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(Permissions::from_mode(mode))?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn replace_link(path: &Path, target: &Path) -> io::Result<()> {
    let folder = folder_of(path)?;
    let temp: PathBuf = {
        let name = tempfile::Builder::new().prefix(".ostler-").tempfile_in(folder)?;
        name.path().to_path_buf()
    };
    symlink(target, &temp)?;
    fs::rename(&temp, path).inspect_err(|_| drop(fs::remove_file(&temp)))
}
