//! The bytes of one file as a searcher reads them: UTF-8 whatever the file is in, ended
//! when the search is, never longer than the file was, and with very long lines broken
//! into pieces, so that a line of any length takes no more memory than a short one.

use std::{
    cell::RefCell,
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

use encoding_rs::{Decoder, UTF_16BE, UTF_16LE};
use nix::fcntl::OFlag;

use crate::{
    search::{Search, Time},
    text::{Order, unmarked},
};

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// Bytes of a line from which on it is broken.
const PIECE: usize = 128 << 10;
/// Bytes that a piece repeats of the one before it, so that a match across both is found.
const OVERLAP: usize = 8 << 10;
/// Bytes of a line at which it is broken even where little can be repeated.
const PIECE_MAX: usize = 512 << 10;

/// What a thread keeps for the next file.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) breaks: Breaks,
    first: Vec<u8>,
}

/// Where lines were broken, shared by who reads and who shows.
#[derive(Debug, Default)]
pub(crate) struct Breaks(RefCell<Vec<Break>>);

#[derive(Debug, Clone, Copy)]
struct Break {
    /// Where the line end stands that the file does not have.
    at: u64,
    /// Which of the broken lines it is.
    line: u64,
    /// Bytes before it that stand behind it again.
    repeats: usize,
}

/// What a line that the searcher found is of a line of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Piece {
    /// It goes on what an earlier piece began: so many of its first bytes repeat that.
    pub(crate) continued: Option<usize>,
    /// It is not the end of the line: so many of its last bytes are repeated.
    pub(crate) open: Option<usize>,
    /// Which of the broken lines it is a part of.
    pub(crate) line: Option<u64>,
    /// Line ends before it that the file does not have.
    pub(crate) extra: u64,
}

impl Breaks {
    /// About the line at this offset of what was read, its ending included.
    pub(crate) fn piece(&self, offset: u64, bytes: usize) -> Piece {
        let breaks = self.0.borrow();
        if breaks.is_empty() {
            return Piece::default();
        }
        let extra = breaks.partition_point(|one| one.at < offset);
        let before = extra.checked_sub(1).map(|at| breaks[at]).filter(|one| one.at + 1 == offset);
        let last = (offset + bytes as u64).saturating_sub(1);
        let behind = breaks.get(extra).filter(|one| one.at == last);
        Piece {
            continued: before.map(|one| one.repeats),
            open: behind.map(|one| one.repeats),
            line: before.as_ref().or(behind).map(|one| one.line),
            extra: extra as u64,
        }
    }
}

/// Opens a file that a walk found; a link or a pipe that took its place since is neither
/// followed nor waited for.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}

/// Reads one file.
pub(crate) struct Input<'a> {
    source: Source<'a>,
    /// Whether lines are broken: not where a match may go over their ends anyway.
    breaking: Option<&'a Breaks>,
    /// Bytes given since the last line end, and in all.
    since: usize,
    given: u64,
    broken: u64,
    /// Whether `since` belongs to a line that was broken already.
    again: bool,
    pending: Vec<u8>,
    pending_at: usize,
}

impl<'a> Input<'a> {
    pub(crate) fn new(
        file: File,
        search: &'a Search,
        scratch: &'a mut Scratch,
        breaking: bool,
    ) -> (Self, &'a Breaks) {
        let Scratch { breaks, first } = scratch;
        breaks.0.borrow_mut().clear();
        let breaks = &*breaks;
        let input = Self {
            source: Source::new(file, search, first),
            breaking: breaking.then_some(breaks),
            since: 0,
            given: 0,
            broken: 0,
            again: false,
            pending: Vec::new(),
            pending_at: 0,
        };
        (input, breaks)
    }

    /// When the file was changed last; asked of the open file, which costs less than its
    /// path.
    pub(crate) fn modified(&self) -> Time {
        let meta = self.source.file.metadata();
        meta.map(|meta| (meta.mtime(), meta.mtime_nsec())).unwrap_or_default()
    }

    fn give_pending(&mut self, buffer: &mut [u8]) -> usize {
        let rest = &self.pending[self.pending_at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.pending_at += count;
        self.given += count as u64;
        count
    }

    /// Notes what was given; breaks the line if it is long.
    fn measure(&mut self, given: &[u8], breaks: &Breaks) {
        match given.iter().rposition(|&byte| byte == b'\n') {
            Some(at) => {
                self.since = given.len() - at - 1;
                self.again = false;
            }
            None => self.since += given.len(),
        }
        let enough = given.len() >= 2 * OVERLAP && self.since >= given.len();
        if self.since < PIECE || !enough && self.since < PIECE_MAX {
            return;
        }
        if !self.again {
            self.broken += 1;
            self.again = true;
        }
        let tail = &given[given.len().saturating_sub(OVERLAP.min(self.since))..];
        // Not in the middle of a character.
        let start = tail.iter().take(3).take_while(|byte| (**byte & 0xc0) == 0x80).count();
        let tail = &tail[start..];
        let one = Break { at: self.given, line: self.broken, repeats: tail.len() };
        breaks.0.borrow_mut().push(one);
        self.pending.clear();
        self.pending.push(b'\n');
        self.pending.extend_from_slice(tail);
        self.pending_at = 0;
        self.since = tail.len();
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.pending_at < self.pending.len() {
            return Ok(self.give_pending(buffer));
        }
        let room = buffer.len().min(CHUNK);
        let count = self.source.read(&mut buffer[..room])?;
        self.given += count as u64;
        if let Some(breaks) = self.breaking
            && count > 0
        {
            self.measure(&buffer[..count], breaks);
        }
        Ok(count)
    }
}

/// The file's text as UTF-8, without a byte order mark.
struct Source<'a> {
    file: File,
    search: &'a Search,
    read: u64,
    /// The length of the file, looked up once it is not short: a file that grows while
    /// it is searched, maybe by this very output, has an end all the same.
    end: Option<u64>,
    /// The first bytes, which tell the encoding, and how many of them were given.
    first: &'a mut Vec<u8>,
    first_at: usize,
    begun: bool,
    wide: Option<Box<Wide>>,
}

/// UTF-16 on its way to UTF-8.
struct Wide {
    decoder: Decoder,
    text: Vec<u8>,
    at: usize,
    ended: bool,
}

impl<'a> Source<'a> {
    fn new(file: File, search: &'a Search, first: &'a mut Vec<u8>) -> Self {
        Self { file, search, read: 0, end: None, first, first_at: 0, begun: false, wide: None }
    }

    fn read_raw(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.search.stop.now() {
            return Err(io::Error::other("stopped"));
        }
        if self.read >= CHUNK as u64 && self.end.is_none() {
            self.end = Some(self.file.metadata()?.len().max(self.read));
        }
        let left = self.end.map_or(u64::MAX, |end| end - self.read);
        let room = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let count = self.file.read(&mut buffer[..room])?;
        let before = self.read >> 20;
        self.read += count as u64;
        self.search.pulse.read(count);
        if self.read >> 20 != before {
            self.search.pulse.saw(0);
        }
        Ok(count)
    }

    /// Reads the first bytes: searchers ask for very few of them first.
    fn begin(&mut self) -> io::Result<()> {
        self.begun = true;
        let mut first = std::mem::take(self.first);
        first.resize(CHUNK, 0);
        let count = self.read_raw(&mut first);
        first.truncate(*count.as_ref().unwrap_or(&0));
        let (encoding, mark) = match first.as_slice() {
            // UTF-32 starts like UTF-16 and is not text for us.
            [0xff, 0xfe, 0, 0, ..] => (None, 0),
            [0xff, 0xfe, ..] => (Some(UTF_16LE), 2),
            [0xfe, 0xff, ..] => (Some(UTF_16BE), 2),
            [0xef, 0xbb, 0xbf, ..] => (None, 3),
            head => match unmarked(head) {
                Some(Order::Little) => (Some(UTF_16LE), 0),
                Some(Order::Big) => (Some(UTF_16BE), 0),
                None => (None, 0),
            },
        };
        self.first_at = mark;
        if let Some(encoding) = encoding {
            let decoder = encoding.new_decoder_without_bom_handling();
            let mut wide = Box::new(Wide { decoder, text: Vec::new(), at: 0, ended: false });
            wide.decode(&first[mark..]);
            self.wide = Some(wide);
        }
        *self.first = first;
        count.map(drop)
    }

    fn read_plain(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.first[self.first_at..];
        if rest.is_empty() {
            return self.read_raw(buffer);
        }
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.first_at += count;
        Ok(count)
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.begun {
            self.begin()?;
        }
        let Some(mut wide) = self.wide.take() else { return self.read_plain(buffer) };
        while wide.at == wide.text.len() && !wide.ended {
            let mut raw = vec![0; CHUNK];
            let count = self.read_raw(&mut raw)?;
            wide.decode(&raw[..count]);
        }
        let rest = &wide.text[wide.at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        wide.at += count;
        self.wide = Some(wide);
        Ok(count)
    }
}

impl Wide {
    /// No bytes are the end.
    fn decode(&mut self, raw: &[u8]) {
        self.ended = raw.is_empty();
        self.at = 0;
        // At most three bytes for a unit of two, and a few for what was left over.
        self.text.resize(raw.len() * 3 / 2 + 16, 0);
        let (_, _, written, _) = self.decoder.decode_to_utf8(raw, &mut self.text, self.ended);
        self.text.truncate(written);
    }
}
