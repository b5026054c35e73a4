//! Writing an output: the first half of the cap as it comes, then a ring of the newest. The
//! file is written beside its place and renamed when it is finished, its head last, so that
//! a file with a name is whole.

use std::{
    fs::{File, TryLockError},
    io::{self, Write},
    os::unix::fs::FileExt as _,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::{OutputFiles, tidy};
use crate::{
    atomic,
    error::{Error, Result},
};

/// Bytes before the output, for [`Head`].
pub(super) const HEAD_BYTES: u64 = 512;
/// Bytes that are gathered for one write.
const BUFFER: usize = 64 * 1024;

/// What was kept of an output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Saved {
    /// Bytes of the whole output.
    pub bytes: u64,
    /// Lines of the whole output; an unfinished last one counts.
    pub lines: u64,
    /// Whether its middle was left out.
    pub truncated: bool,
}

/// The first bytes of a file, as JSON: where its parts lie and what it is a part of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    pub(super) bytes: u64,
    pub(super) lines: u64,
    /// Bytes that are kept from the start.
    pub(super) first: u64,
    /// Bytes that are kept from the end, in a ring behind the first ones.
    pub(super) last: u64,
    /// Where in the ring the oldest of them lies.
    pub(super) ring_start: u64,
    /// The line that the oldest of them belongs to, from 1.
    pub(super) last_line: u64,
}

/// An output that is being written.
#[derive(Debug)]
pub struct OutputFile {
    files: OutputFiles,
    path: PathBuf,
    temp: NamedTempFile,
    buffer: Vec<u8>,
    /// Bytes that came, those in the buffer left out.
    bytes: u64,
    newlines: u64,
    ends_line: bool,
}

impl OutputFile {
    pub(super) fn begin(files: OutputFiles, path: PathBuf) -> Result<Self> {
        let dir = files.dir();
        let temp = temp_in(&dir).map_err(Error::storage("create", &dir))?;
        let buffer = Vec::new();
        Ok(Self { files, path, temp, buffer, bytes: 0, newlines: 0, ends_line: true })
    }

    /// Keeps what was written.
    ///
    /// # Errors
    /// `Storage`.
    pub fn finish(mut self) -> Result<Saved> {
        let head = self.seal().map_err(Error::storage("write", &self.path))?;
        let Self { files, path, temp, .. } = self;
        temp.persist(&path).map_err(|error| Error::storage("write", &path)(error.error))?;
        tidy::outputs(&files.dir(), files.limits.session_bytes, &path);
        let truncated = head.first + head.last < head.bytes;
        Ok(Saved { bytes: head.bytes, lines: head.lines, truncated })
    }

    fn seal(&mut self) -> io::Result<Head> {
        self.spill()?;
        let (first_cap, ring) = self.halves();
        let first = self.bytes.min(first_cap);
        let beyond = self.bytes - first;
        let mut head = Head {
            bytes: self.bytes,
            lines: self.newlines + u64::from(!self.ends_line),
            first,
            last: beyond.min(ring),
            ring_start: if beyond > ring { beyond % ring } else { 0 },
            last_line: 0,
        };
        head.last_line = 1 + self.newlines - self.newlines_in_ring(&head)?;
        let mut text = serde_json::to_vec(&head)?;
        text.resize(HEAD_BYTES as usize - 1, b' ');
        text.push(b'\n');
        self.temp.as_file().write_all_at(&text, 0)?;
        Ok(head)
    }

    fn newlines_in_ring(&self, head: &Head) -> io::Result<u64> {
        let mut piece = vec![0; BUFFER];
        let (mut at, mut count) = (0, 0);
        while at < head.last {
            let want = piece.len().min(usize::try_from(head.last - at).unwrap_or(usize::MAX));
            let offset = HEAD_BYTES + head.first + at;
            self.temp.as_file().read_exact_at(&mut piece[..want], offset)?;
            count += newlines(&piece[..want]);
            at += want as u64;
        }
        Ok(count)
    }

    /// How many bytes are kept from the start, and how many at most from the end.
    fn halves(&self) -> (u64, u64) {
        let ring = (self.files.limits.output_bytes / 2).max(1);
        (self.files.limits.output_bytes - self.files.limits.output_bytes / 2, ring)
    }

    /// Writes the buffer to where it belongs.
    fn spill(&mut self) -> io::Result<()> {
        let (first_cap, ring) = self.halves();
        let mut rest = self.buffer.as_slice();
        while !rest.is_empty() {
            let (place, room) = if self.bytes < first_cap {
                (self.bytes, first_cap - self.bytes)
            } else {
                let at = (self.bytes - first_cap) % ring;
                (first_cap + at, ring - at)
            };
            let take = rest.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            let (piece, next) = rest.split_at(take);
            self.temp.as_file().write_all_at(piece, HEAD_BYTES + place)?;
            self.bytes += take as u64;
            rest = next;
        }
        self.buffer.clear();
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Cut into pieces, so that the buffer stays small whatever comes at once.
        let bytes = &bytes[..bytes.len().min(BUFFER)];
        if self.buffer.len() + bytes.len() > BUFFER {
            self.spill()?;
        }
        self.buffer.extend_from_slice(bytes);
        self.newlines += newlines(bytes);
        self.ends_line = bytes.last().map_or(self.ends_line, |&byte| byte == b'\n');
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.spill()
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// A file for an output in the making. It is locked while it is written, which tells it from
/// what a killed process left.
fn temp_in(dir: &std::path::Path) -> io::Result<NamedTempFile> {
    loop {
        let make = || tempfile::Builder::new().prefix(tidy::TEMP).tempfile_in(dir);
        let temp = match make() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                atomic::private_dir(dir).map_err(io::Error::other)?;
                make()?
            }
            other => other?,
        };
        match File::try_lock(temp.as_file()) {
            Ok(()) if atomic::is_still_there(temp.as_file(), temp.path()) => return Ok(temp),
            // Whoever tidies took it for a leftover.
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}
