//! The picture of a whole project: cheap where nothing changed, since a stamp that was seen
//! before stands for its content; bounded where much did, small files and those that git
//! knows first.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use ostler_stdx::Cancel;

use super::{
    Cached, Checkpoints, Content,
    git::{Oid, Repository},
    look::{self, Kind, Reading, Stamp},
    sorted,
    state::{FileChange, KeptPath, Manifest, State, Uncovered, Unkept},
    walk::{self, Extent, Found, Walked},
};

/// Most threads that read files.
const THREADS: usize = 4;
/// Fewer files than this are read by one thread.
const FEW: usize = 16;
/// A large file that was copied this often in a session changes all the time: a log, a
/// database. It is not copied again.
const LARGE_COPIES: u8 = 3;

/// A tree before a call.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    /// By the text of the path: hashing a path part by part takes three times as long.
    entries: HashMap<OsString, Seen>,
    began_ns: i128,
    repository: Option<Arc<Repository>>,
    pub(super) uncovered: Uncovered,
}

#[derive(Debug)]
struct Seen {
    stamp: Stamp,
    is_racy: bool,
    held: Held,
}

#[derive(Debug)]
enum Held {
    State(State),
    /// A regular file whose content git gives back.
    Git(Oid),
}

/// Takes the picture.
pub(super) fn before(points: &Checkpoints, root: &Path, cancel: &Cancel) -> Tree {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let began_ns = look::now_ns();
    points.forget_pruned();
    let walked = walk_in(points, &root, points.limits.ignored_files, cancel);
    let mut tree = Tree {
        root,
        entries: HashMap::with_capacity(walked.found.len()),
        began_ns,
        repository: None,
        uncovered: Uncovered { more: walked.more, ..Uncovered::default() },
    };
    let mut unknown = Vec::new();
    {
        let cache = points.cache();
        for found in walked.found {
            let held = match found.kind {
                Kind::File => match known(cache.get(found.path.as_os_str()), found.stamp) {
                    Some(held) => held,
                    None => {
                        unknown.push(found);
                        continue;
                    }
                },
                kind => Held::State(look::other(&found.path, kind, found.stamp)),
            };
            let is_racy = found.stamp.is_racy(began_ns);
            tree.entries.insert(found.path.into(), Seen { stamp: found.stamp, is_racy, held });
        }
    }
    tree.repository = points.repository(&tree.root, !unknown.is_empty());
    let unknown = leave_to_git(points, &mut tree, unknown);
    keep(points, &mut tree, unknown, cancel);
    for seen in tree.entries.values() {
        if let Held::State(state) = &seen.held {
            tree.uncovered.note(state);
        }
    }
    tree
}

fn walk_in(points: &Checkpoints, root: &Path, ignored: usize, cancel: &Cancel) -> Walked {
    let max = points.limits.tree_entries;
    walk::walk(Extent { root, skip: &points.skip, max, ignored }, cancel)
}

/// What was kept for exactly this stamp.
fn known(cached: Option<&Cached>, stamp: Stamp) -> Option<Held> {
    let cached = cached.filter(|cached| cached.stamp == stamp && !cached.is_racy)?;
    match cached.content {
        Content::Kept(blob) => {
            Some(Held::State(State::File { blob, size: stamp.size, mode: stamp.mode }))
        }
        Content::Git(oid) => Some(Held::Git(oid)),
        Content::Hashed(_) => None,
    }
}

/// Takes out what git can give back and gives the rest.
fn leave_to_git(points: &Checkpoints, tree: &mut Tree, unknown: Vec<Found>) -> Vec<Found> {
    let Some(repository) = tree.repository.clone() else { return unknown };
    let mut rest = Vec::new();
    let mut cache = points.cache();
    for found in unknown {
        let Found { path, stamp, .. } = &found;
        let Some(oid) = repository.unchanged(path, *stamp) else {
            rest.push(found);
            continue;
        };
        let is_racy = stamp.is_racy(tree.began_ns);
        let copies = cache.get(path.as_os_str()).map_or(0, |cached| cached.copies);
        let cached = Cached { stamp: *stamp, is_racy, content: Content::Git(oid), copies };
        cache.insert(path.as_os_str().to_owned(), cached);
        tree.entries
            .insert(found.path.into(), Seen { stamp: found.stamp, is_racy, held: Held::Git(oid) });
    }
    rest
}

/// What was held, now that it is needed: what git was to give back is kept now.
fn resolved(
    points: &Checkpoints,
    repository: Option<&Repository>,
    seen: Seen,
    cancel: &Cancel,
) -> State {
    let Stamp { size, mode, .. } = seen.stamp;
    let oid = match seen.held {
        Held::State(state) => return state,
        Held::Git(oid) => oid,
    };
    if cancel.is_cancelled() {
        return State::Unkept { size, mode, why: Unkept::Cancelled };
    }
    let content = repository.and_then(|it| it.read(&oid, points.limits.max_file));
    // Another length: git keeps it in another form than the file had.
    match content.filter(|content| content.len() as u64 == size) {
        None => State::Unkept { size, mode, why: Unkept::Git },
        Some(content) => match points.blobs.put(&content) {
            Ok(blob) => State::File { blob, size, mode },
            Err(_) => State::Unkept { size, mode, why: Unkept::Storage },
        },
    }
}

/// Copies what is not known, as far as the limits go.
fn keep(points: &Checkpoints, tree: &mut Tree, mut unknown: Vec<Found>, cancel: &Cancel) {
    let limits = points.limits;
    unknown.sort_unstable_by_key(|found| found.stamp.size);
    let writer = points.blobs.writer().ok();
    let mut left = limits.tree_bytes;
    let (mut chosen, mut unkept) = (Vec::new(), Vec::new());
    {
        let cache = points.cache();
        for found in unknown {
            let size = found.stamp.size;
            let copies = cache.get(found.path.as_os_str()).map_or(0, |cached| cached.copies);
            let why = if size > limits.max_file {
                Unkept::TooLarge
            } else if writer.is_none() {
                Unkept::Storage
            } else if size > left || size > limits.small_file && copies >= LARGE_COPIES {
                Unkept::Limit
            } else {
                left -= size;
                chosen.push(found);
                continue;
            };
            unkept.push((found, why));
        }
    }
    for (Found { path, stamp, .. }, why) in unkept {
        let state = State::Unkept { size: stamp.size, mode: stamp.mode, why };
        tree.entries.insert(path.into(), Seen { stamp, is_racy: false, held: Held::State(state) });
    }
    let reading = Reading { keep: writer.as_ref(), max_file: limits.max_file, cancel };
    for (found, state, stamp) in read_all(chosen, reading) {
        let is_racy = stamp.is_racy(tree.began_ns);
        remember(points, &found.path, &state, stamp, is_racy, Copied::Yes);
        tree.entries.insert(found.path.into(), Seen { stamp, is_racy, held: Held::State(state) });
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Copied {
    Yes,
    No,
}

fn remember(
    points: &Checkpoints,
    path: &Path,
    state: &State,
    stamp: Stamp,
    is_racy: bool,
    copied: Copied,
) {
    let State::File { blob, .. } = *state else { return };
    let mut cache = points.cache();
    // Paths that are gone are not worth a list of their own: everything is read anew once.
    if cache.len() > points.limits.tree_entries.saturating_mul(2) {
        cache.clear();
    }
    let old = cache.get(path.as_os_str());
    let copies = old.map_or(0, |old| old.copies).saturating_add(u8::from(copied == Copied::Yes));
    let is_kept =
        copied == Copied::Yes || old.is_some_and(|old| old.content == Content::Kept(blob));
    let content = if is_kept { Content::Kept(blob) } else { Content::Hashed(blob) };
    cache.insert(path.as_os_str().to_owned(), Cached { stamp, is_racy, content, copies });
}

/// Reads files, several at a time.
fn read_all(files: Vec<Found>, reading: Reading<'_>) -> Vec<(Found, State, Stamp)> {
    let threads = thread::available_parallelism().map_or(1, |n| n.get().min(THREADS));
    let threads = if files.len() < FEW { 1 } else { threads };
    let next = AtomicUsize::new(0);
    let read = Mutex::new(Vec::with_capacity(files.len()));
    let work = || {
        let mut mine = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(found) = files.get(n) else { break };
            let (state, stamp) = look::file(&found.path, found.stamp, reading);
            mine.push((n, state, stamp));
        }
        read.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
    read.sort_unstable_by_key(|(n, ..)| *n);
    files.into_iter().zip(read).map(|(found, (_, state, stamp))| (found, state, stamp)).collect()
}

/// A path that may have changed, and what stood there.
struct Candidate {
    found: Found,
    before: Option<Seen>,
}

/// Compares a tree with its picture.
pub(super) fn after(points: &Checkpoints, mut tree: Tree, cancel: &Cancel) -> Manifest {
    // Ignored files of the picture are looked at one by one below. Others are new, or were
    // left out of it: what a build leaves behind is no change to show or to take back.
    let walked = walk_in(points, &tree.root, 0, cancel);
    let mut uncovered = tree.uncovered;
    uncovered.more |= walked.more;
    let mut candidates = Vec::new();
    for found in walked.found {
        let before = tree.entries.remove(found.path.as_os_str());
        let is_unchanged =
            before.as_ref().is_some_and(|seen| seen.stamp == found.stamp && !seen.is_racy);
        if !is_unchanged {
            candidates.push(Candidate { found, before });
        }
    }
    let mut changes = Vec::new();
    let rules_changed = candidates.iter().any(|candidate| is_rules(&candidate.found.path))
        || tree.entries.keys().any(|path| is_rules(Path::new(path)));
    let mut links = HashMap::new();
    for (path, seen) in std::mem::take(&mut tree.entries) {
        let path = PathBuf::from(path);
        let folder = path.parent().unwrap_or(&tree.root);
        if !links.contains_key(folder) {
            links.insert(folder.to_path_buf(), look::leads_through_link(&path));
        }
        let found = if links[folder] { None } else { still_there(&path) };
        match found {
            None => {
                let before = resolved(points, tree.repository.as_deref(), seen, cancel);
                changes.push(change(path, before, State::Absent));
            }
            // It is ignored now, or the walk did not get there.
            Some(found) if found.stamp != seen.stamp || seen.is_racy => {
                candidates.push(Candidate { found, before: Some(seen) });
            }
            Some(_) => {}
        }
    }
    if tree.uncovered.more || rules_changed {
        // What the picture lacks is new only if something happened to it since.
        let since = tree.began_ns - look::RACY_NS;
        candidates.sort_unstable_by(|a, b| a.found.path.cmp(&b.found.path));
        let mut new_folders = HashSet::new();
        candidates.retain(|Candidate { found, before }| {
            let is_within_new =
                found.path.parent().is_some_and(|folder| new_folders.contains(folder));
            let is_listed = before.is_some() || is_within_new || found.stamp.ctime_ns >= since;
            if is_listed && before.is_none() && found.kind == Kind::Folder {
                new_folders.insert(found.path.clone());
            }
            is_listed
        });
    }
    let candidates = candidates.into_iter().map(|Candidate { found, before }| {
        let resolved = |seen| resolved(points, tree.repository.as_deref(), seen, cancel);
        (found, before.map_or(State::Absent, resolved))
    });
    compare(points, candidates.collect(), &mut changes, cancel);
    Manifest { files: sorted(changes), uncovered }
}

fn change(path: PathBuf, before: State, after: State) -> FileChange {
    FileChange { path: KeptPath(path), before, after }
}

fn is_rules(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitignore")
}

fn still_there(path: &Path) -> Option<Found> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if look::is_absent(&error) => return None,
        Err(_) => {
            let unknown = Stamp { dev: 0, ino: 0, size: 0, mode: 0, mtime_ns: 0, ctime_ns: 0 };
            return Some(Found { path: path.to_path_buf(), kind: Kind::Special, stamp: unknown });
        }
    };
    let (kind, stamp) = (Kind::of(&metadata), Stamp::of(&metadata));
    Some(Found { path: path.to_path_buf(), kind, stamp })
}

/// Reads what may have changed and lists what did.
fn compare(
    points: &Checkpoints,
    candidates: Vec<(Found, State)>,
    changes: &mut Vec<FileChange>,
    cancel: &Cancel,
) {
    let mut befores = HashMap::new();
    let mut files = Vec::new();
    for (found, before) in candidates {
        if found.kind == Kind::File {
            befores.insert(found.path.clone(), before);
            files.push(found);
            continue;
        }
        let after = look::other(&found.path, found.kind, found.stamp);
        if before != after {
            changes.push(change(found.path, before, after));
        }
    }
    let began_ns = look::now_ns();
    // What is known to have been there comes first, then small before large.
    files.sort_unstable_by_key(|found| {
        (befores.get(&found.path) == Some(&State::Absent), found.stamp.size)
    });
    let mut left = points.limits.after_bytes;
    let (chosen, rest): (Vec<_>, Vec<_>) = files.into_iter().partition(|found| {
        let fits = found.stamp.size <= points.limits.max_file && found.stamp.size <= left;
        left -= if fits { found.stamp.size } else { 0 };
        fits
    });
    for Found { path, stamp, .. } in rest {
        let why =
            if stamp.size > points.limits.max_file { Unkept::TooLarge } else { Unkept::Limit };
        let before = befores.remove(&path).unwrap_or(State::Absent);
        let after = State::Unkept { size: stamp.size, mode: stamp.mode, why };
        changes.push(change(path, before, after));
    }
    let reading = Reading { keep: None, max_file: points.limits.max_file, cancel };
    for (found, after, stamp) in read_all(chosen, reading) {
        let is_racy = stamp.is_racy(began_ns);
        remember(points, &found.path, &after, stamp, is_racy, Copied::No);
        let before = befores.remove(&found.path).unwrap_or(State::Absent);
        if before != after {
            changes.push(change(found.path, before, after));
        }
    }
}
