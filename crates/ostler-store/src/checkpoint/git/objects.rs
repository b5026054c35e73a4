//! Git's objects: loose ones and packs of version 2, deltas included, as gitformat-pack
//! describes them. Every length is checked against a cap before anything is inflated.

use std::{
    fs::{self, File},
    io::Read as _,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
};

use flate2::read::ZlibDecoder;

use super::Oid;

/// Deltas on one base; git itself makes at most 4095.
const DELTAS: usize = 4096;
/// How far borrowed object folders are followed.
const ALTERNATES: u32 = 5;
/// Bytes of the list of an index of a pack: 256 numbers after a header of 8 bytes.
const FANOUT_AT: u64 = 8;
const NAMES_AT: u64 = FANOUT_AT + 256 * 4;

/// The content of a blob; its name is not checked here.
pub(super) fn read(objects: &Path, oid: &Oid, max: u64) -> Option<Vec<u8>> {
    read_in(objects, oid, max, ALTERNATES)
}

fn read_in(objects: &Path, oid: &Oid, max: u64, depth: u32) -> Option<Vec<u8>> {
    loose(objects, oid, max).or_else(|| packed(objects, oid, max)).or_else(|| {
        let depth = depth.checked_sub(1)?;
        let list = fs::read_to_string(objects.join("info/alternates")).ok()?;
        let folders = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        folders.map(|line| objects.join(line)).find_map(|other| read_in(&other, oid, max, depth))
    })
}

fn loose(objects: &Path, oid: &Oid, max: u64) -> Option<Vec<u8>> {
    let name: String = oid.iter().map(|byte| format!("{byte:02x}")).collect();
    let (folder, file) = name.split_at(2);
    let file = File::open(objects.join(folder).join(file)).ok()?;
    let mut bytes = Vec::new();
    // The header is short: a word, a number and a zero.
    ZlibDecoder::new(file).take(max + 64).read_to_end(&mut bytes).ok()?;
    let end = memchr::memchr(0, &bytes)?;
    let len: usize =
        std::str::from_utf8(&bytes[..end]).ok()?.strip_prefix("blob ")?.parse().ok()?;
    bytes.drain(..=end);
    (bytes.len() == len && len as u64 <= max).then_some(bytes)
}

fn packed(objects: &Path, oid: &Oid, max: u64) -> Option<Vec<u8>> {
    let packs = fs::read_dir(objects.join("pack")).ok()?.flatten();
    let indexes =
        packs.map(|entry| entry.path()).filter(|path| path.extension() == Some("idx".as_ref()));
    indexes.filter_map(Pack::open).find_map(|pack| pack.content(pack.find(oid)?, max))
}

struct Pack {
    index: File,
    data: File,
    count: u32,
}

/// Where the bytes of a packed object come from.
enum Source {
    Plain,
    Delta(u64),
}

impl Pack {
    fn open(path: PathBuf) -> Option<Self> {
        let index = File::open(&path).ok()?;
        let data = File::open(path.with_extension("pack")).ok()?;
        if bytes_at::<8>(&index, 0)? != *b"\xfftOc\0\0\0\x02" {
            return None;
        }
        let count = u32_at(&index, NAMES_AT - 4)?;
        Some(Self { index, data, count })
    }

    /// Where in the pack an object lies.
    fn find(&self, oid: &Oid) -> Option<u64> {
        let first = u64::from(oid[0]);
        let mut low = match first {
            0 => 0,
            first => u32_at(&self.index, FANOUT_AT + (first - 1) * 4)?,
        };
        let mut high = u32_at(&self.index, FANOUT_AT + first * 4)?.min(self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let name: Oid = bytes_at(&self.index, NAMES_AT + u64::from(middle) * 20)?;
            match name.cmp(oid) {
                std::cmp::Ordering::Equal => return self.offset(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn offset(&self, n: u32) -> Option<u64> {
        // Behind the names come checksums of 4 bytes, offsets of 4, and the large ones of 8.
        let count = u64::from(self.count);
        let offsets = NAMES_AT + count * 24;
        let short = u32_at(&self.index, offsets + u64::from(n) * 4)?;
        if short & 0x8000_0000 == 0 {
            return Some(u64::from(short));
        }
        let long = u64::from(short & 0x7fff_ffff);
        Some(u64::from_be_bytes(bytes_at(&self.index, offsets + count * 4 + long * 8)?))
    }

    /// The content of the object at `at`: its base, and the deltas on it from the oldest.
    fn content(&self, mut at: u64, max: u64) -> Option<Vec<u8>> {
        let mut deltas = Vec::new();
        let mut bytes = loop {
            let (source, bytes) = self.object(at, max)?;
            match source {
                Source::Plain => break bytes,
                Source::Delta(base) => at = base,
            }
            deltas.push(bytes);
            if deltas.len() > DELTAS {
                return None;
            }
        };
        for delta in deltas.iter().rev() {
            bytes = apply(&bytes, delta, max)?;
        }
        Some(bytes)
    }

    fn object(&self, at: u64, max: u64) -> Option<(Source, Vec<u8>)> {
        // A header of at most 10 bytes, an offset or a name, and the beginning of the data.
        let mut head = [0; 64];
        let read = self.data.read_at(&mut head, at).ok()?;
        let mut head = head[..read].iter();
        let first = *head.next()?;
        let (mut len, mut shift, mut more) = (u64::from(first & 15), 4, first & 0x80 != 0);
        while more {
            let byte = *head.next()?;
            len |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            more = byte & 0x80 != 0;
        }
        let source = match first >> 4 & 7 {
            3 => Source::Plain,
            6 => Source::Delta(at.checked_sub(back(&mut head)?)?),
            7 => {
                let name: Vec<u8> = head.by_ref().take(20).copied().collect();
                Source::Delta(self.find(&name.try_into().ok()?)?)
            }
            _ => return None,
        };
        if len > max {
            return None;
        }
        let data = Section { file: &self.data, at: at + (read - head.len()) as u64 };
        let mut bytes = Vec::new();
        ZlibDecoder::new(data).take(len + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == len).then_some((source, bytes))
    }
}

/// How far back the base of a delta lies.
fn back(head: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let mut value = 0_u64;
    loop {
        let byte = *head.next()?;
        value = value.checked_mul(128)?.checked_add(u64::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

/// Applies a delta to its base.
fn apply(base: &[u8], delta: &[u8], max: u64) -> Option<Vec<u8>> {
    let mut delta = delta.iter();
    let (base_len, len) = (delta_len(&mut delta)?, delta_len(&mut delta)?);
    if base_len != base.len() as u64 || len > max {
        return None;
    }
    let len = usize::try_from(len).ok()?;
    let mut out = Vec::with_capacity(len);
    while let Some(&code) = delta.next() {
        if code & 0x80 != 0 {
            let mut number = |bits: std::ops::Range<u32>| {
                let from = bits.start;
                bits.filter(|bit| code >> bit & 1 == 1).try_fold(0_usize, |sum, bit| {
                    Some(sum | usize::from(*delta.next()?) << ((bit - from) * 8))
                })
            };
            let (from, size) = (number(0..4)?, number(4..7)?);
            let size = if size == 0 { 0x10000 } else { size };
            out.extend_from_slice(base.get(from..from.checked_add(size)?)?);
        } else if code != 0 {
            let (new, rest) = delta.as_slice().split_at_checked(usize::from(code))?;
            out.extend_from_slice(new);
            delta = rest.iter();
        } else {
            return None;
        }
        if out.len() > len {
            return None;
        }
    }
    (out.len() == len).then_some(out)
}

fn delta_len(delta: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let (mut len, mut shift) = (0_u64, 0);
    loop {
        let byte = *delta.next()?;
        len |= u64::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some(len);
        }
    }
}

/// A file read from a place on.
struct Section<'a> {
    file: &'a File,
    at: u64,
}

impl std::io::Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

fn bytes_at<const N: usize>(file: &File, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

fn u32_at(file: &File, at: u64) -> Option<u32> {
    bytes_at(file, at).map(u32::from_be_bytes)
}
