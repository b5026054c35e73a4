//! Git's index, versions 2 to 4, as gitformat-index describes it: of each file its stamp and
//! the object that holds its content. A split or otherwise unknown index is none.

use std::collections::HashMap;

use super::{Oid, Stamp};

/// Bits of the flags of an entry.
const STAGE: u16 = 0x3000;
const EXTENDED: u16 = 0x4000;
/// Bits of the extended flags: not checked out; added without content.
const ABSENT: u16 = 0x4000 | 0x2000;

/// A file of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) mtime_ns: i128,
    pub(super) ctime_ns: i128,
    pub(super) ino: u32,
    pub(super) size: u32,
    pub(super) oid: Oid,
}

impl Entry {
    /// Whether the file is as git last saw it. The index keeps the low 32 bits of numbers.
    pub(super) fn describes(&self, stamp: Stamp) -> bool {
        stamp.mtime_ns == self.mtime_ns
            && stamp.ctime_ns == self.ctime_ns
            && stamp.ino as u32 == self.ino
            && u64::from(self.size) == stamp.size
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (now, later) = self.0.split_at_checked(len)?;
        self.0 = later;
        Some(now)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.array()?))
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.array()?))
    }

    fn time_ns(&mut self) -> Option<i128> {
        Some(i128::from(self.u32()?) * 1_000_000_000 + i128::from(self.u32()?))
    }

    fn until_nul(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(0, self.0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// A number in git's variable length, as in the offsets of packs.
    fn varint(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let [byte] = self.array()?;
            value = value.checked_shl(7)?.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }
}

/// Reads an index: its regular files that are checked out and not in conflict, by path.
pub(super) fn parse(bytes: &[u8]) -> Option<HashMap<Box<[u8]>, Entry>> {
    let mut reader = Reader(bytes);
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let version = reader.u32().filter(|version| (2..=4).contains(version))?;
    let count = reader.u32()? as usize;
    // An entry has at least 62 bytes.
    let mut entries = HashMap::with_capacity(count.min(bytes.len() / 62));
    let mut path = Vec::new();
    for _ in 0..count {
        if let Some(entry) = entry(&mut reader, version, &mut path)? {
            entries.insert(path.as_slice().into(), entry);
        }
    }
    is_whole(reader).then_some(entries)
}

/// Reads an entry and its path; the inner option is none for what is no file on disk.
fn entry(reader: &mut Reader<'_>, version: u32, path: &mut Vec<u8>) -> Option<Option<Entry>> {
    let begin = reader.0.len();
    let (ctime_ns, mtime_ns) = (reader.time_ns()?, reader.time_ns()?);
    let _dev = reader.u32()?;
    let ino = reader.u32()?;
    let mode = reader.u32()?;
    let _uid_and_gid = reader.take(8)?;
    let size = reader.u32()?;
    let oid = reader.array()?;
    let flags = reader.u16()?;
    let extended = if flags & EXTENDED != 0 { reader.u16()? } else { 0 };
    if version == 4 {
        let strip = reader.varint()?;
        path.truncate(path.len().checked_sub(strip)?);
        path.extend_from_slice(reader.until_nul()?);
    } else {
        path.clear();
        path.extend_from_slice(reader.until_nul()?);
        // Padded to a multiple of 8, the final zero included.
        let len = begin - reader.0.len();
        reader.take(len.next_multiple_of(8) - len)?;
    }
    let is_file = mode & 0o170_000 == 0o100_000;
    let is_there = is_file && flags & STAGE == 0 && extended & ABSENT == 0;
    Some(is_there.then_some(Entry { mtime_ns, ctime_ns, ino, size, oid }))
}

/// Whether what follows the entries is known not to change their meaning. Extensions in
/// capitals are optional; `sdir` only allows entries that stand for folders.
fn is_whole(mut reader: Reader<'_>) -> bool {
    while reader.0.len() > 20 {
        let (Some(name), Some(len)) = (reader.take(4), reader.u32()) else { return false };
        let is_known = name[0].is_ascii_uppercase() || name == b"sdir";
        if !is_known || reader.take(len as usize).is_none() {
            return false;
        }
    }
    true
}
