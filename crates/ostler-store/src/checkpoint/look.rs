//! Looking at one path: what is there, and which content. Links are never followed. A file
//! that is written meanwhile is read again, and then given up, so that no content is ever
//! kept that never was on disk.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use ostler_stdx::{Cancel, Clock as _, SystemClock};

use super::state::{KeptPath, State, Unkept};
use crate::blob::{self, BlobId, BlobWriter, Taken};

/// Files up to here are read into memory at once.
const AT_ONCE: u64 = 1 << 20;
/// How often a file that changes while it is read is tried.
const TRIES: u32 = 3;
/// Two writes within this time may leave the same time stamp (a tick of the kernel, with
/// room for slow ones), so a younger stamp proves nothing.
pub(super) const RACY_NS: i128 = 20_000_000;

/// What tells one content of a file from the next without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) dev: u64,
    pub(super) ino: u64,
    pub(super) size: u64,
    pub(super) mode: u32,
    pub(super) mtime_ns: i128,
    pub(super) ctime_ns: i128,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let ns = |secs: i64, ns: i64| i128::from(secs) * 1_000_000_000 + i128::from(ns);
        Self {
            dev: metadata.dev(),
            ino: metadata.ino(),
            size: metadata.len(),
            mode: metadata.mode() & 0o7777,
            mtime_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether the file may have changed again without changing its stamp.
    pub(super) fn is_racy(&self, now_ns: i128) -> bool {
        self.ctime_ns > now_ns - RACY_NS
    }
}

/// Now, by the clock that stamps files; an injected one would tell nothing about them.
pub(super) fn now_ns() -> i128 {
    i128::from(SystemClock.now_ms()) * 1_000_000
}

/// What kind of thing stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Link,
    Folder,
    Special,
}

impl Kind {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let kind = metadata.file_type();
        if kind.is_file() {
            Self::File
        } else if kind.is_symlink() {
            Self::Link
        } else if kind.is_dir() {
            Self::Folder
        } else {
            Self::Special
        }
    }
}

/// How to read contents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a> {
    /// Where they are kept; none: they are only hashed.
    pub(super) keep: Option<&'a BlobWriter<'a>>,
    /// Bytes of the largest file.
    pub(super) max_file: u64,
    /// When to stop.
    pub(super) cancel: &'a Cancel,
}

/// What stands at a path, with its content and the stamp that belongs to it.
pub(super) fn look(path: &Path, reading: Reading<'_>) -> (State, Option<Stamp>) {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return (State::Absent, None),
        Err(_) => {
            return (State::Unkept { size: 0, mode: 0, why: Unkept::Unreadable }, None);
        }
    };
    let stamp = Stamp::of(&metadata);
    match Kind::of(&metadata) {
        Kind::File => {
            let (state, stamp) = file(path, stamp, reading);
            (state, Some(stamp))
        }
        kind => (other(path, kind, stamp), Some(stamp)),
    }
}

/// Whether an error says that nothing stands at the path.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether a folder of the path is a link now; then nothing stands at the path itself. A
/// missing folder is none.
pub(super) fn leads_through_link(path: &Path) -> bool {
    first_link(path).is_some()
}

/// The folder of a path that is a link, the outermost if there are several.
pub(super) fn first_link(path: &Path) -> Option<&Path> {
    let is_link = |folder: &&Path| folder.symlink_metadata().is_ok_and(|it| it.is_symlink());
    path.ancestors().skip(1).filter(is_link).last()
}

/// The state of what is no regular file.
pub(super) fn other(path: &Path, kind: Kind, stamp: Stamp) -> State {
    let unkept = |why| State::Unkept { size: 0, mode: stamp.mode, why };
    match kind {
        Kind::Link => match fs::read_link(path) {
            Ok(target) => State::Link { target: KeptPath(target) },
            Err(_) => unkept(Unkept::Unreadable),
        },
        Kind::Folder => State::Folder { mode: stamp.mode },
        Kind::File | Kind::Special => unkept(Unkept::Special),
    }
}

/// The state of a regular file, and the stamp that belongs to the content which was read.
pub(super) fn file(path: &Path, stamp: Stamp, reading: Reading<'_>) -> (State, Stamp) {
    let unkept =
        |why, stamp: Stamp| (State::Unkept { size: stamp.size, mode: stamp.mode, why }, stamp);
    if stamp.size > reading.max_file {
        return unkept(Unkept::TooLarge, stamp);
    }
    for _ in 0..TRIES {
        let (before, taken, after) = match read_once(path, reading) {
            Ok(read) => read,
            Err(why) => return unkept(why, stamp),
        };
        match taken {
            Taken::Whole(blob, size) if before == after && size == after.size => {
                return (State::File { blob, size, mode: after.mode }, after);
            }
            Taken::Whole(..) => {}
            Taken::TooLarge => return unkept(Unkept::TooLarge, after),
            Taken::Cancelled => return unkept(Unkept::Cancelled, after),
        }
    }
    unkept(Unkept::Changing, stamp)
}

fn read_once(path: &Path, reading: Reading<'_>) -> Result<(Stamp, Taken, Stamp), Unkept> {
    let unreadable = |_| Unkept::Unreadable;
    if reading.cancel.is_cancelled() {
        return Err(Unkept::Cancelled);
    }
    let mut file = open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Unkept::Special);
    }
    let before = Stamp::of(&metadata);
    if before.size > reading.max_file {
        return Ok((before, Taken::TooLarge, before));
    }
    let taken = if before.size <= AT_ONCE {
        let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or(0) + 1);
        (&mut file).take(before.size + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        let blob = match reading.keep {
            Some(blobs) => blobs.put(&bytes).map_err(|_| Unkept::Storage)?,
            None => BlobId::of(&bytes),
        };
        Taken::Whole(blob, bytes.len() as u64)
    } else {
        let mut source = Source { file: &mut file, failed: false };
        match reading.keep {
            Some(blobs) => blobs
                .put_reader(&mut source, reading.max_file, reading.cancel)
                .map_err(|_| if source.failed { Unkept::Unreadable } else { Unkept::Storage })?,
            None => blob::hash_reader(&mut source, reading.max_file, reading.cancel)
                .map_err(unreadable)?,
        }
    };
    let after = Stamp::of(&file.metadata().map_err(unreadable)?);
    Ok((before, taken, after))
}

/// Opens a file that is no link and never waits for the other end of a pipe.
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK;
    fs::OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}

/// A file that remembers whether reading it failed, to tell that from a full disk.
struct Source<'a> {
    file: &'a mut File,
    failed: bool,
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer);
        self.failed |= read.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        read
    }
}
