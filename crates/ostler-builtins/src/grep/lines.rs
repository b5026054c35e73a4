//! What a searcher finds in one file, as lines of text within caps.

use std::{borrow::Cow, io};

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

use crate::grep::collect::Hit;

/// Characters of a line that are shown.
const LINE: usize = 500;

/// Counts matching lines.
#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) matches: u64,
    pub(crate) binary: bool,
    all: bool,
}

impl Counter {
    /// Ends at the first match.
    pub(crate) fn first() -> Self {
        Self { matches: 0, binary: false, all: false }
    }

    pub(crate) fn all() -> Self {
        Self { matches: 0, binary: false, all: true }
    }
}

impl Sink for Counter {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += found.lines().count() as u64;
        Ok(self.all)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.binary = end.binary_byte_offset().is_some();
        Ok(())
    }
}

/// How lines are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) numbers: bool,
    pub(crate) only_matching: bool,
}

/// Collects lines to show, up to a number.
pub(crate) struct Shower<'a> {
    matcher: &'a RegexMatcher,
    shape: Shape,
    room: usize,
    lines: Vec<Shown>,
    matches: u64,
    binary: bool,
}

/// One line to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Lines were left out here.
    Gap,
    /// Number (0 if none), whether it matched, text.
    Line(u64, bool, String),
}

impl<'a> Shower<'a> {
    pub(crate) fn new(matcher: &'a RegexMatcher, shape: Shape, room: usize) -> Self {
        Self { matcher, shape, room, lines: Vec::new(), matches: 0, binary: false }
    }

    pub(crate) fn into_hit(self) -> Option<Hit> {
        (self.matches > 0 && !self.binary).then_some(Hit::Lines(self.lines))
    }

    fn push(&mut self, number: Option<u64>, matched: bool, line: &[u8]) {
        let number = number.filter(|_| self.shape.numbers).unwrap_or(0);
        self.lines.push(Shown::Line(number, matched, cut(line)));
    }

    /// The parts of one line that match.
    fn push_parts(&mut self, number: Option<u64>, line: &[u8]) {
        let mut parts = Vec::new();
        let room = self.room.saturating_sub(self.lines.len());
        let _infallible = self.matcher.find_iter(line, |part| {
            if part.start() < part.end() {
                parts.push((part.start(), part.end()));
            }
            parts.len() < room
        });
        for (start, end) in parts {
            self.push(number, true, &line[start..end]);
        }
    }
}

impl Sink for Shower<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        let first = found.line_number();
        if self.shape.only_matching && searcher.multi_line_with_matcher(self.matcher) {
            // A part may go over line ends, so it is not looked for line by line.
            self.push_parts(first, found.bytes());
            return Ok(self.lines.len() < self.room);
        }
        for (at, line) in found.lines().enumerate() {
            if self.lines.len() >= self.room {
                break;
            }
            let number = first.map(|first| first + at as u64);
            let line = trim_ending(line);
            if self.shape.only_matching {
                self.push_parts(number, line)
            } else {
                self.push(number, true, line)
            }
        }
        Ok(self.lines.len() < self.room)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if !self.shape.only_matching && *context.kind() != SinkContextKind::Other {
            self.push(context.line_number(), false, trim_ending(context.bytes()));
        }
        Ok(self.lines.len() < self.room)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if !self.shape.only_matching {
            self.lines.push(Shown::Gap);
        }
        Ok(self.lines.len() < self.room)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.binary = end.binary_byte_offset().is_some();
        Ok(())
    }
}

fn trim_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn cut(line: &[u8]) -> String {
    // Four bytes a character at most, so that a line of megabytes is not decoded.
    let text = String::from_utf8_lossy(&line[..line.len().min(LINE * 4 + 4)]);
    match text.char_indices().nth(LINE) {
        Some((end, _)) => format!(
            "{}\u{2026} [{} bytes left out]",
            &text[..end],
            line.len() - end.min(line.len())
        ),
        None => match text {
            Cow::Borrowed(text) => text.to_owned(),
            Cow::Owned(text) => text,
        },
    }
}
