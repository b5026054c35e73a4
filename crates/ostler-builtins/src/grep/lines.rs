//! What a searcher finds in one file, as lines of text within caps.

use std::{borrow::Cow, io};

use grep_matcher::{Match, Matcher as _};
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

use crate::grep::{
    collect::{Hit, Room},
    input::{Breaks, Piece},
    segments::Positioned,
};

/// Characters of a line that are shown.
const LINE: usize = 500;
/// Bytes that are shown before the first match of a line that is cut.
const BEFORE: usize = 100;

/// What tells matches of a file from what only the pieces of a long line have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge<'a> {
    pub(crate) matcher: &'a RegexMatcher,
    pub(crate) breaks: &'a Breaks,
}

impl Judge<'_> {
    fn piece(&self, found: &SinkMatch<'_>) -> Piece {
        self.breaks.piece(found.absolute_byte_offset(), found.bytes().len())
    }

    /// Calls `take` with the matches in a line without its ending, until it says false.
    fn matches(&self, piece: Piece, line: &[u8], mut take: impl FnMut(Match) -> bool) {
        // Where a piece starts no line does: looked at from behind its first byte, that
        // byte is seen to stand before.
        let start = usize::from(piece.continued.is_some() && !line.is_empty());
        let _infallible = self.matcher.find_iter_at(line, start, |part| {
            // The end of a piece is no end of a line; the next piece has the match whole.
            let repeated = piece.open.is_some_and(|bytes| part.start() + bytes > line.len());
            repeated && part.end() == line.len() || take(part)
        });
    }

    /// The first match of a line.
    fn first(&self, piece: Piece, line: &[u8]) -> Option<usize> {
        let mut first = None;
        self.matches(piece, line, |part| {
            first = Some(part.start());
            false
        });
        first
    }

    fn is_match(&self, piece: Piece, line: &[u8]) -> bool {
        piece.line.is_none() || self.first(piece, line).is_some()
    }
}

/// Counts matching lines.
#[derive(Debug)]
pub(crate) struct Counter<'a> {
    judge: Judge<'a>,
    pub(crate) matches: u64,
    pub(crate) binary: bool,
    all: bool,
    /// The broken line that was counted last.
    counted: Option<u64>,
}

impl<'a> Counter<'a> {
    /// Ends at the first match.
    pub(crate) fn first(judge: Judge<'a>) -> Self {
        Self { judge, matches: 0, binary: false, all: false, counted: None }
    }

    pub(crate) fn all(judge: Judge<'a>) -> Self {
        Self { all: true, ..Self::first(judge) }
    }
}

impl Sink for Counter<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let piece = self.judge.piece(found);
        if piece.line.is_none() {
            self.matches += found.lines().count() as u64;
        } else if self.counted != piece.line
            && self.judge.is_match(piece, trim_ending(found.bytes()))
        {
            self.counted = piece.line;
            self.matches += 1;
        }
        Ok(self.all || self.matches == 0)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}

impl Positioned for Counter<'_> {
    fn at_line(&mut self, _: u64) {}
}

/// How lines are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) numbers: bool,
    pub(crate) only_matching: bool,
}

/// Collects lines to show, up to a number.
pub(crate) struct Shower<'a> {
    judge: Judge<'a>,
    shape: Shape,
    room: Room,
    lines: Vec<Shown>,
    bytes: usize,
    matches: u64,
    pub(crate) binary: bool,
    /// The broken line that was shown last.
    shown: Option<u64>,
    /// Lines before the segment that is searched.
    before: u64,
}

impl Positioned for Shower<'_> {
    fn at_line(&mut self, lines: u64) {
        self.before = lines;
    }
}

/// One line to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Lines were left out here.
    Gap,
    /// Number (0 if none), whether it matched, text.
    Line(u64, bool, String),
}

impl Shown {
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Gap => 3,
            Self::Line(_, _, text) => text.len() + 1,
        }
    }
}

impl<'a> Shower<'a> {
    pub(crate) fn new(judge: Judge<'a>, shape: Shape, room: Room) -> Self {
        let lines = Vec::new();
        Self {
            judge,
            shape,
            room,
            lines,
            bytes: 0,
            matches: 0,
            binary: false,
            shown: None,
            before: 0,
        }
    }

    pub(crate) fn into_hit(self) -> Option<Hit> {
        (self.matches > 0).then_some(Hit::Lines(self.lines))
    }

    fn has_room(&self) -> bool {
        self.room.has(self.lines.len(), self.bytes)
    }

    fn add(&mut self, line: Shown) {
        self.bytes += line.bytes();
        self.lines.push(line);
    }

    fn push(&mut self, number: Option<u64>, matched: bool, text: String) {
        let number = number.filter(|_| self.shape.numbers).map_or(0, |number| number + self.before);
        self.add(Shown::Line(number, matched, text));
    }

    /// The parts of one line that match.
    fn push_parts(&mut self, number: Option<u64>, piece: Piece, line: &[u8]) {
        let (judge, mut parts) = (self.judge, Vec::new());
        let room = self.room.lines.saturating_sub(self.lines.len());
        // What the piece before had whole is not shown twice.
        let seen = piece.continued.unwrap_or(0);
        judge.matches(piece, line, |part| {
            if part.start() < part.end() && part.end() >= seen {
                parts.push((part.start(), part.end()));
            }
            parts.len() < room
        });
        for (start, end) in parts {
            self.matches += 1;
            self.push(number, true, cut(&line[start..end], 0, false));
            if !self.has_room() {
                break;
            }
        }
    }

    /// A match in a piece of a line that was broken, of which one piece is shown.
    fn push_piece(&mut self, number: Option<u64>, piece: Piece, line: &[u8]) {
        if self.shape.only_matching {
            self.push_parts(number, piece, line);
        } else if self.shown != piece.line
            && let Some(at) = self.judge.first(piece, line)
        {
            self.shown = piece.line;
            self.matches += 1;
            self.push(number, true, cut(line, at, true));
        }
    }
}

impl Sink for Shower<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let piece = self.judge.piece(found);
        let first = found.line_number().map(|number| number - piece.extra);
        if piece.line.is_some() {
            self.push_piece(first, piece, trim_ending(found.bytes()));
            return Ok(self.has_room());
        }
        if self.shape.only_matching && searcher.multi_line_with_matcher(self.judge.matcher) {
            // A part may go over line ends, so it is not looked for line by line.
            self.push_parts(first, piece, found.bytes());
            return Ok(self.has_room());
        }
        self.matches += 1;
        for (at, line) in found.lines().enumerate() {
            if !self.has_room() {
                break;
            }
            let number = first.map(|first| first + at as u64);
            let line = trim_ending(line);
            if self.shape.only_matching {
                self.push_parts(number, piece, line);
            } else {
                let long = line.len() > LINE;
                let start = if long { self.judge.first(piece, line).unwrap_or(0) } else { 0 };
                self.push(number, true, cut(line, start, false));
            }
        }
        Ok(self.has_room())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if !self.shape.only_matching && *context.kind() != SinkContextKind::Other {
            let bytes = context.bytes();
            let piece = self.judge.breaks.piece(context.absolute_byte_offset(), bytes.len());
            // A piece of a broken line may be one of the line that matches.
            if piece.line.is_none() {
                let number = context.line_number().map(|number| number - piece.extra);
                self.push(number, false, cut(trim_ending(bytes), 0, false));
            }
        }
        Ok(self.has_room())
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if !self.shape.only_matching {
            self.add(Shown::Gap);
        }
        Ok(self.has_room())
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}

fn trim_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// At most so many characters of a line, from a little before the first match on.
/// `part`: the line is a piece of a longer one, so that what is left out has no number.
fn cut(line: &[u8], at: usize, part: bool) -> String {
    if line.len() <= LINE && !part {
        return lossy(line);
    }
    // From the start as long as that shows the match with something behind it.
    let from = if at + BEFORE < LINE { 0 } else { at - BEFORE };
    let from =
        from + line[from..].iter().take(3).take_while(|byte| (**byte & 0xc0) == 0x80).count();
    // Four bytes a character at most, so that a line of megabytes is not decoded.
    let mut to = line.len().min(from + LINE * 4);
    while to > from && line.len() > to && (line[to] & 0xc0) == 0x80 {
        to -= 1;
    }
    let text = lossy(&line[from..to]);
    let mut shown = text.as_str();
    if let Some((end, _)) = text.char_indices().nth(LINE) {
        shown = &text[..end];
        to = (from + end).min(line.len());
    }
    let left_out = |bytes: usize| match (part, bytes) {
        (true, _) => "[of a very long line]".to_owned(),
        (false, bytes) => format!("[{bytes} bytes left out]"),
    };
    let head = if from > 0 { format!("{} \u{2026}", left_out(from)) } else { String::new() };
    let tail = match line.len() - to {
        0 if !part => String::new(),
        bytes => format!("\u{2026} {}", left_out(bytes)),
    };
    format!("{head}{shown}{tail}")
}

fn lossy(bytes: &[u8]) -> String {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    }
}
