//! The submodules that git's index names (gitformat-index(5), mode 160000), remembered by the
//! index file's stamp.
//!
//! Reads the index alone. An index that is not understood is an error, never an empty list.

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// Bytes of an index that is read.
const MAX_BYTES: u64 = 256 << 20;
/// Repositories that are remembered.
const MAX_KEPT: usize = 64;
/// A submodule's mode as the index writes it.
const GITLINK: u32 = 0o160_000;
/// Bits of an entry's flags: extended flags follow.
const EXTENDED: u16 = 0x4000;

type Links = Arc<[PathBuf]>;
/// Size, time in nanoseconds and inode.
type Stamp = (u64, i64, i64, u64);

/// What indexes said, by their path.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<HashMap<PathBuf, (Stamp, Links)>>);

impl Cache {
    /// The submodules of the index in a git folder, as paths in the work tree.
    ///
    /// # Errors
    /// Why the index could not be read, as part of a sentence.
    pub(super) fn of(&self, git: &Path) -> Result<Links, String> {
        let mut all = self.file(&git.join("index"))?;
        if all.is_empty() && !git.join("index").exists() {
            return Ok(all);
        }
        // A split index keeps most of its entries in another file.
        let entries = fs::read_dir(git).map_err(|e| format!("`{}`: {e}", git.display()))?;
        for entry in entries.flatten() {
            if entry.file_name().as_bytes().starts_with(b"sharedindex.") {
                let more = self.file(&entry.path())?;
                all = all.iter().chain(more.iter()).cloned().collect();
            }
        }
        Ok(all)
    }

    fn file(&self, index: &Path) -> Result<Links, String> {
        let said = |why: &str| format!("`{}` {why}", index.display());
        let Ok(found) = index.metadata() else { return Ok(Arc::default()) };
        if found.len() > MAX_BYTES {
            return Err(said("is too large"));
        }
        let stamp = (found.len(), found.mtime(), found.mtime_nsec(), found.ino());
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, links)) = kept.get(index)
            && *at == stamp
        {
            return Ok(Arc::clone(links));
        }
        let bytes = fs::read(index).map_err(|error| said(&format!("cannot be read: {error}")))?;
        let links: Links = gitlinks(&bytes).ok_or_else(|| said("is not understood"))?.into();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(index.to_path_buf(), (stamp, Arc::clone(&links)));
        Ok(links)
    }
}

/// The paths of submodules in an index of version 2 to 4.
fn gitlinks(bytes: &[u8]) -> Option<Vec<PathBuf>> {
    // Most have none, and then the four bytes of the mode are nowhere.
    if memchr::memmem::find(bytes, &GITLINK.to_be_bytes()).is_none() {
        return bytes.starts_with(b"DIRC").then(Vec::new);
    }
    // The length of an object's name is not written in the index: only the right one fits.
    entries(bytes, 20).or_else(|| entries(bytes, 32))
}

fn entries(bytes: &[u8], oid_len: usize) -> Option<Vec<PathBuf>> {
    let mut rest = bytes.strip_prefix(b"DIRC")?;
    let version = number(&mut rest).filter(|version| (2..=4).contains(version))?;
    let count = number(&mut rest)?;
    let mut links = Vec::new();
    let mut path = Vec::new();
    for _ in 0..count {
        let before = rest.len();
        take(&mut rest, 24)?;
        let mode = number(&mut rest)?;
        if !matches!(mode >> 12, 0o4 | 0o10 | 0o12 | 0o16) {
            return None;
        }
        take(&mut rest, 12 + oid_len)?;
        let flags = u16::from_be_bytes(take(&mut rest, 2)?.try_into().ok()?);
        if flags & EXTENDED != 0 {
            take(&mut rest, 2)?;
        }
        if version == 4 {
            let strip = varint(&mut rest)?;
            path.truncate(path.len().checked_sub(strip)?);
        } else {
            path.clear();
        }
        let end = memchr::memchr(0, rest)?;
        path.extend_from_slice(take(&mut rest, end)?);
        take(&mut rest, 1)?;
        if version < 4 {
            // Padded with zeros to a multiple of eight.
            let len = before - rest.len();
            let padding = take(&mut rest, len.next_multiple_of(8) - len)?;
            if padding.iter().any(|byte| *byte != 0) {
                return None;
            }
        }
        if mode == GITLINK {
            links.push(PathBuf::from(OsStr::from_bytes(&path)));
        }
    }
    Some(links)
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (now, later) = rest.split_at_checked(len)?;
    *rest = later;
    Some(now)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(take(rest, 4)?.try_into().ok()?))
}

/// A number in git's variable length, as in the offsets of packs.
fn varint(rest: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *take(rest, 1)?.first()?;
        value = value.checked_shl(7)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}
