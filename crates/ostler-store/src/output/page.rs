//! Reading a page of an output in flat memory: however long a line is, only its beginning is
//! held, or the place that matches.

use std::{
    collections::VecDeque, fs::File, io, ops::ControlFlow, os::unix::fs::FileExt as _, path::Path,
};

use ostler_stdx::Cancel;
use regex::bytes::{Regex, RegexBuilder};

use super::write::{HEAD_BYTES, Head};
use crate::error::{Error, Result};

/// Bytes that are read at a time; a cancelled page stops after one such piece.
const PIECE: usize = 64 * 1024;
/// Bytes of a line that are shown.
const SHOWN: usize = 2000;
/// Bytes of a line before the place that matches.
const BEFORE: usize = 200;
/// Bytes of a line that a pattern sees at once; longer lines are searched in such windows.
const WINDOW: usize = 1 << 20;
/// Bytes that two windows share, so that a match is not cut by their border.
const OVERLAP: usize = 64 * 1024;
/// Most lines around a match.
const CONTEXT: u64 = 100;
/// Bytes of a compiled pattern.
const PATTERN_BYTES: usize = 4 << 20;

/// Which part of an output to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageQuery {
    /// The first line, from 1.
    pub offset: u64,
    /// Most lines; at least one is given.
    pub limit: u64,
    /// Only lines that match this regular expression.
    pub pattern: Option<String>,
    /// Lines to show around each match, at most 100.
    pub context: u64,
    /// Most bytes of text; at least one line is given.
    pub max_bytes: usize,
}

/// A line of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLine {
    /// Its number in the whole output, from 1. Where the middle of an output was left out,
    /// the line that says so and the parts of a line around it share a number.
    pub number: u64,
    /// Its text without its ending, bounded; what is not UTF-8 becomes U+FFFD.
    pub text: String,
    /// Whether it matches the pattern; false for lines around a match.
    pub is_match: bool,
}

/// A part of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Its lines.
    pub lines: Vec<PageLine>,
    /// Lines of the whole output.
    pub total_lines: u64,
    /// Bytes of the whole output.
    pub total_bytes: u64,
    /// Bytes of its middle that were not kept.
    pub left_out_bytes: u64,
    /// Where the next page starts, if there may be more.
    pub next: Option<u64>,
}

/// Reads a page; none if the file is no output.
pub(super) fn read(
    file: &File,
    path: &Path,
    query: &PageQuery,
    cancel: &Cancel,
) -> Result<Option<Page>> {
    let pattern = query.pattern.as_deref().map(|pattern| compile(pattern, path)).transpose()?;
    let failed = |error| Error::storage("read", path)(error);
    let Some(head) = read_head(file).map_err(failed)? else { return Ok(None) };
    let mut scan = Scan::new(query, pattern, &head);
    match scan.whole(file, &head, cancel) {
        Ok(_) => Ok(Some(scan.page)),
        Err(error) => Err(failed(error)),
    }
}

fn compile(pattern: &str, path: &Path) -> Result<Regex> {
    RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build().map_err(|error| {
        let what = format!("pattern `{pattern}` makes no sense: {error}; correct it");
        Error::Invalid { what, path: path.to_path_buf() }
    })
}

fn read_head(file: &File) -> io::Result<Option<Head>> {
    let mut head = [0; HEAD_BYTES as usize];
    match file.read_exact_at(&mut head, 0) {
        Ok(()) => Ok(serde_json::from_slice(&head).ok()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// A reading in progress.
struct Scan<'a> {
    query: &'a PageQuery,
    pattern: Option<Regex>,
    page: Page,
    bytes: usize,
    /// The line that is being read.
    number: u64,
    /// Its beginning, or the window of it that is searched.
    line: Vec<u8>,
    /// Its beginning, once the window has left it.
    start: Vec<u8>,
    /// All its bytes so far.
    len: u64,
    /// What is shown of it instead of its beginning.
    hit: Option<String>,
    /// Lines before a match that are not shown yet.
    around: VecDeque<PageLine>,
    /// Lines after a match that are still to be shown.
    owed: u64,
}

impl<'a> Scan<'a> {
    fn new(query: &'a PageQuery, pattern: Option<Regex>, head: &Head) -> Self {
        let page = Page {
            total_lines: head.lines,
            total_bytes: head.bytes,
            left_out_bytes: head.bytes - (head.first + head.last).min(head.bytes),
            ..Page::default()
        };
        Self {
            query,
            pattern,
            page,
            bytes: 0,
            number: 1,
            line: Vec::new(),
            start: Vec::new(),
            len: 0,
            hit: None,
            around: VecDeque::new(),
            owed: 0,
        }
    }

    fn whole(&mut self, file: &File, head: &Head, cancel: &Cancel) -> io::Result<ControlFlow<()>> {
        let first = [(HEAD_BYTES, head.first)];
        if self.parts(file, &first, cancel)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if self.page.left_out_bytes > 0 && self.left_out(head).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let ring = HEAD_BYTES + head.first;
        let last = [(ring + head.ring_start, head.last - head.ring_start), (ring, head.ring_start)];
        if self.parts(file, &last, cancel)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        // A last line without an ending; an output that ends with one has no line after it.
        Ok(if self.len > 0 { self.end() } else { ControlFlow::Continue(()) })
    }

    fn parts(
        &mut self,
        file: &File,
        parts: &[(u64, u64)],
        cancel: &Cancel,
    ) -> io::Result<ControlFlow<()>> {
        let mut piece = vec![0; PIECE];
        for &(from, len) in parts {
            let mut at = 0;
            while at < len {
                if cancel.is_cancelled() {
                    return Err(io::Error::other("the reading was cancelled"));
                }
                let want = PIECE.min(usize::try_from(len - at).unwrap_or(PIECE));
                file.read_exact_at(&mut piece[..want], from + at)?;
                at += want as u64;
                if self.take(&piece[..want]).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn take(&mut self, mut bytes: &[u8]) -> ControlFlow<()> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.push(&bytes[..end]);
            self.end()?;
            bytes = &bytes[end + 1..];
        }
        self.push(bytes);
        ControlFlow::Continue(())
    }

    /// More bytes of the line.
    fn push(&mut self, mut bytes: &[u8]) {
        self.len += bytes.len() as u64;
        if self.number < self.query.offset || self.hit.is_some() {
            return;
        }
        if self.pattern.is_none() {
            // Some more than is shown, so that the cut is seen and falls between letters.
            let room = (SHOWN + 4).saturating_sub(self.line.len());
            self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
            return;
        }
        while !bytes.is_empty() && self.hit.is_none() {
            let (now, later) = bytes.split_at(bytes.len().min(WINDOW - self.line.len()));
            self.line.extend_from_slice(now);
            bytes = later;
            if self.line.len() == WINDOW {
                self.search(later.len() as u64);
                if self.start.is_empty() {
                    self.start.extend_from_slice(&self.line[..SHOWN + 4]);
                }
                self.line.drain(..WINDOW - OVERLAP);
            }
        }
    }

    /// Looks for the pattern in the window of a line; `unread` bytes of it follow.
    fn search(&mut self, unread: u64) -> bool {
        let Some(found) = self.pattern.as_ref().and_then(|pattern| pattern.find(&self.line)) else {
            return false;
        };
        let start = self.len - unread - self.line.len() as u64;
        if start == 0 && found.end() <= SHOWN {
            // The beginning shows it.
            self.hit = Some(shown(&self.line, 0));
        } else {
            let from = found.start().saturating_sub(BEFORE);
            let text = shown(&self.line[from..], 0);
            let at = start + from as u64;
            self.hit = Some(if at == 0 { text } else { format!("[from byte {at}] {text}") });
        }
        true
    }

    /// The line is complete.
    fn end(&mut self) -> ControlFlow<()> {
        let number = self.number;
        let is_at_end = self.pattern.is_some() || self.line.len() as u64 == self.len;
        if is_at_end && self.line.pop_if(|last| *last == b'\r').is_some() {
            self.len -= 1;
        }
        let done = if number < self.query.offset {
            ControlFlow::Continue(())
        } else if self.pattern.is_none() {
            let text = shown(&self.line, self.len);
            self.show(PageLine { number, text, is_match: false })
        } else {
            let is_match = self.hit.is_some() || self.search(0);
            let text = self.hit.take().unwrap_or_else(|| {
                let start = if self.start.is_empty() { &self.line } else { &self.start };
                shown(start, self.len)
            });
            self.matched(PageLine { number, text, is_match })
        };
        self.line.clear();
        self.start.clear();
        self.len = 0;
        self.hit = None;
        self.number += 1;
        done
    }

    /// A line of a search: shown if it matches or is near a match.
    fn matched(&mut self, line: PageLine) -> ControlFlow<()> {
        let context = self.query.context.min(CONTEXT);
        if line.is_match {
            while let Some(before) = self.around.pop_front() {
                self.show(before)?;
            }
            self.owed = context;
            return self.show(line);
        }
        if self.owed > 0 {
            self.owed -= 1;
            return self.show(line);
        }
        self.around.push_back(line);
        if self.around.len() as u64 > context {
            self.around.pop_front();
        }
        ControlFlow::Continue(())
    }

    /// Adds a line to the page, or ends the page before it.
    fn show(&mut self, line: PageLine) -> ControlFlow<()> {
        // Lines that share a number stay together, or the next page would begin with them.
        let shares = self.page.lines.last().is_some_and(|last| last.number == line.number);
        let is_full = self.page.lines.len() as u64 >= self.query.limit.max(1)
            || self.bytes + line.text.len() > self.query.max_bytes;
        if is_full && !shares && !self.page.lines.is_empty() {
            self.page.next = Some(line.number);
            return ControlFlow::Break(());
        }
        self.bytes += line.text.len();
        self.page.lines.push(line);
        ControlFlow::Continue(())
    }

    /// The place where the middle is missing.
    fn left_out(&mut self, head: &Head) -> ControlFlow<()> {
        if self.len > 0 {
            self.end()?;
            self.number -= 1;
        }
        // A page that begins within the gap begins with it.
        let offset = self.query.offset;
        let number =
            if self.number < offset && offset < head.last_line { offset } else { self.number };
        if number >= offset && self.pattern.is_none() {
            let bytes = self.page.left_out_bytes;
            let text = format!("[{bytes} bytes were left out here]");
            self.show(PageLine { number, text, is_match: false })?;
        }
        self.around.clear();
        self.owed = 0;
        self.number = head.last_line;
        ControlFlow::Continue(())
    }
}

/// The beginning of a line for showing; `len` is how long it is in all, if that is to be said.
fn shown(line: &[u8], len: u64) -> String {
    let end = if line.len() <= SHOWN { line.len() } else { letter_end(line) };
    let text = String::from_utf8_lossy(&line[..end]);
    match len.saturating_sub(end as u64) {
        0 if end == line.len() => text.into_owned(),
        0 => format!("{text} [cut]"),
        more => format!("{text} [{more} more bytes]"),
    }
}

/// Where to cut a long line so that no letter is cut.
fn letter_end(line: &[u8]) -> usize {
    let is_inside = |&at: &usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (SHOWN - 3..=SHOWN).rev().find(|at| !is_inside(at)).unwrap_or(SHOWN)
}
