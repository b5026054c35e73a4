//! Content by its hash: `$OSTLER_HOME/blobs/<2 hex>/<62 hex>`, named by BLAKE3. Written to a
//! temporary file and renamed, so that a killed process leaves no half of one; bounded by
//! [`Blobs::prune`]. Never trusted when read: bytes that are not what the name says are a
//! blob that is not there.
//!
//! Blobs survive the process, not a power cut: they are not synced, since a snapshot stands
//! between a person and every tool call.

mod prune;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    fs::{self, File},
    io::{self, Read, Write as _},
    path::{Path, PathBuf},
    str::FromStr,
};

use nix::sys::{
    stat::{UtimensatFlags, utimensat},
    time::TimeSpec,
};
use ostler_stdx::{AbsPath, Cancel};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tempfile::NamedTempFile;

use crate::{
    atomic,
    error::{Error, Result},
};
pub use prune::Pruned;

/// Bytes that are read at a time; a cancelled copy stops after one such piece.
const PIECE: usize = 256 * 1024;

/// The BLAKE3 hash of a content, which names it. Shown and stored as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId([u8; 32]);

impl BlobId {
    /// The id of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BlobId {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        blake3::Hash::from_hex(text).map(|hash| Self(*hash.as_bytes())).map_err(|_| {
            let what = format!("`{text}` is no blob id; it has 64 hex digits");
            Error::Invalid { what, path: PathBuf::new() }
        })
    }
}

impl Serialize for BlobId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BlobId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What became of a content that was read piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is kept, or known: its id and how many bytes it has.
    Whole(BlobId, u64),
    /// It has more bytes than the cap; nothing is kept.
    TooLarge,
    /// The work was cancelled; nothing is kept.
    Cancelled,
}

/// The blobs of a home, shared by every process that uses it.
#[derive(Debug, Clone)]
pub struct Blobs {
    dir: PathBuf,
}

impl Blobs {
    /// How many bytes [`Blobs::prune`] should leave where nobody chose a number.
    pub const CAP_BYTES: u64 = 2 << 30;

    /// The blobs under `$OSTLER_HOME`; touches no disk.
    #[must_use]
    pub fn at(home: &AbsPath) -> Self {
        Self { dir: home.join("blobs").to_path_buf() }
    }

    /// The folder that holds them.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Keeps a content. One that is there already counts as used now.
    ///
    /// # Errors
    /// `Storage`.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId> {
        self.writer()?.put(bytes)
    }

    /// Keeps what a reader gives, if it has at most `cap` bytes; memory stays flat.
    ///
    /// # Errors
    /// `Storage`, for the reader's failures too.
    pub fn put_reader(&self, reader: &mut dyn Read, cap: u64, cancel: &Cancel) -> Result<Taken> {
        self.writer()?.put_reader(reader, cap, cancel)
    }

    /// A whole content; none if it is not there or is damaged. A damaged one is removed, so
    /// that the next [`Blobs::put`] mends it.
    ///
    /// # Errors
    /// `Storage` if the disk refuses.
    pub fn get(&self, id: &BlobId) -> Result<Option<Vec<u8>>> {
        let path = self.path(id);
        let Some(bytes) = atomic::read(&path)? else { return Ok(None) };
        if BlobId::of(&bytes) == *id {
            touch(&path);
            return Ok(Some(bytes));
        }
        drop(fs::remove_file(&path));
        Ok(None)
    }

    /// Whether a content is there; its bytes are not checked.
    #[must_use]
    pub fn has(&self, id: &BlobId) -> bool {
        self.path(id).is_file()
    }

    /// Leave to write: nothing is pruned while it is held.
    pub(crate) fn writer(&self) -> Result<BlobWriter<'_>> {
        let lock = self.lock_file().map_err(Error::storage("lock", &self.dir))?;
        lock.lock_shared().map_err(Error::storage("lock", &self.dir))?;
        Ok(BlobWriter { blobs: self, _lock: lock })
    }

    fn path(&self, id: &BlobId) -> PathBuf {
        let name = blake3::Hash::from_bytes(id.0).to_hex();
        let (folder, file) = name.split_at(2);
        self.dir.join(folder).join(file)
    }

    fn temp_dir(&self) -> PathBuf {
        self.dir.join("tmp")
    }

    fn lock_file(&self) -> io::Result<File> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let open = || {
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600);
            options.open(self.dir.join(".lock"))
        };
        match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                atomic::private_dir(&self.dir).map_err(io::Error::other)?;
                open()
            }
            other => other,
        }
    }
}

/// Leave to write blobs: whoever prunes waits until it is dropped, so a content that was
/// found to be there stays there until the writer is done with it.
#[derive(Debug)]
pub(crate) struct BlobWriter<'a> {
    blobs: &'a Blobs,
    _lock: File,
}

impl BlobWriter<'_> {
    /// Keeps a content.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<BlobId> {
        let id = BlobId::of(bytes);
        let path = self.blobs.path(&id);
        if is_there(&path, bytes.len() as u64) {
            return Ok(id);
        }
        let write = || -> io::Result<()> {
            let mut temp = self.temp()?;
            temp.write_all(bytes)?;
            settle(temp, &path)
        };
        write().map_err(Error::storage("write", &path))?;
        Ok(id)
    }

    /// Keeps what a reader gives.
    pub(crate) fn put_reader(
        &self,
        reader: &mut dyn Read,
        cap: u64,
        cancel: &Cancel,
    ) -> Result<Taken> {
        let failed = |error| Error::storage("write", &self.blobs.dir)(error);
        let mut temp = self.temp().map_err(failed)?;
        let taken = each_piece(reader, cap, cancel, |piece| temp.write_all(piece));
        let taken = taken.map_err(failed)?;
        if let Taken::Whole(id, len) = taken {
            let path = self.blobs.path(&id);
            if !is_there(&path, len) {
                settle(temp, &path).map_err(Error::storage("write", &path))?;
            }
        }
        Ok(taken)
    }

    fn temp(&self) -> io::Result<NamedTempFile> {
        let dir = self.blobs.temp_dir();
        match NamedTempFile::new_in(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                atomic::private_dir(&dir).map_err(io::Error::other)?;
                NamedTempFile::new_in(&dir)
            }
            other => other,
        }
    }
}

/// The id of what a reader gives; nothing is kept.
pub(crate) fn hash_reader(reader: &mut dyn Read, cap: u64, cancel: &Cancel) -> io::Result<Taken> {
    each_piece(reader, cap, cancel, |_| Ok(()))
}

fn each_piece(
    reader: &mut dyn Read,
    cap: u64,
    cancel: &Cancel,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Taken> {
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; PIECE.min(usize::try_from(cap).unwrap_or(PIECE).saturating_add(1))];
    let mut len = 0;
    loop {
        if cancel.is_cancelled() {
            return Ok(Taken::Cancelled);
        }
        let read = match reader.read(&mut piece) {
            Ok(0) => return Ok(Taken::Whole(BlobId(*hasher.finalize().as_bytes()), len)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        len += read as u64;
        if len > cap {
            return Ok(Taken::TooLarge);
        }
        hasher.update(&piece[..read]);
        take(&piece[..read])?;
    }
}

/// Whether a blob of that length is there; if so it counts as used now.
fn is_there(path: &Path, len: u64) -> bool {
    // The length tells a file that a power cut emptied from one that is whole.
    let there = fs::metadata(path).is_ok_and(|metadata| metadata.len() == len);
    if there {
        touch(path);
    }
    there
}

/// A blob was used; one that cannot be touched is only pruned earlier.
fn touch(path: &Path) {
    let now = TimeSpec::UTIME_NOW;
    let _ = utimensat(nix::fcntl::AT_FDCWD, path, &now, &now, UtimensatFlags::FollowSymlink);
}

fn settle(temp: NamedTempFile, path: &Path) -> io::Result<()> {
    match temp.persist(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::NotFound => {
            if let Some(dir) = path.parent() {
                atomic::private_dir(dir).map_err(io::Error::other)?;
            }
            error.file.persist(path).map(drop).map_err(|error| error.error)
        }
        Err(error) => Err(error.error),
    }
}
