//! A window of a text's lines within caps, taken from memory or from a stream of any
//! length. Memory does not grow with the file.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, Read as _},
};

use ostler_stdx::Cancel;

use crate::text::{ContentHash, Encoding, Text};

/// Bytes that a stream takes at once.
const CHUNK: usize = 64 * 1024;
/// Bytes up to which a stream goes on behind its window to count the lines and hash
/// the content.
const COUNTED: u64 = 256 << 20;

/// Which lines, and how much of them.
#[derive(Debug)]
pub(crate) struct Window {
    /// From 1.
    pub(crate) first: usize,
    pub(crate) lines: usize,
    pub(crate) line_chars: usize,
    /// Bytes of all lines with their numbers.
    pub(crate) bytes: usize,
}

/// Lines of a file.
#[derive(Debug)]
pub(crate) struct Page {
    /// The number of the first line.
    pub(crate) first: usize,
    /// The lines, long ones cut and marked.
    pub(crate) lines: Vec<String>,
    /// Lines of the whole file, as far as they were counted.
    pub(crate) total: usize,
    /// Whether the file goes on behind what was counted.
    uncounted: bool,
    /// Whether the caps ended the page before its window.
    full: bool,
    /// Hash of the whole content, if all of it was read.
    pub(crate) hash: Option<u64>,
    /// Whether bytes of an unknown encoding are shown as U+FFFD.
    lossy: bool,
    /// The encoding that the file was taken for, if that is a guess.
    guessed: Option<&'static str>,
}

impl Page {
    /// A window of a whole text.
    pub(crate) fn of_text(text: Text, hash: u64, window: &Window) -> Self {
        let (lossy, guessed) = (text.encoding == Encoding::Bytes, text.encoding.guessed_name());
        let text = text.into_shown();
        // Only a file without any LF has CR as its line ending.
        let ending = if text.contains('\n') || !text.contains('\r') { '\n' } else { '\r' };
        let mut taker = Taker::new(window);
        let body = text.strip_suffix(ending).unwrap_or(&text);
        if !text.is_empty() {
            body.split(ending).for_each(|line| taker.line(line.as_bytes()));
        }
        Self { hash: Some(hash), lossy, guessed, ..taker.page() }
    }

    /// A window of a stream that starts with `head`. `None` if it was stopped.
    pub(crate) fn stream(
        head: Vec<u8>,
        mut file: File,
        window: &Window,
        cancel: &Cancel,
    ) -> io::Result<Option<Self>> {
        let mut hash = ContentHash::default();
        let mut taker = Taker::new(window);
        let mut chunk = head;
        let (mut read, mut lossy, mut first) = (0u64, false, true);
        loop {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            if chunk.is_empty() {
                taker.end();
                return Ok(Some(Self {
                    hash: Some(hash.finish()),
                    lossy: lossy || taker.lossy,
                    ..taker.page()
                }));
            }
            hash.update(&chunk);
            read += chunk.len() as u64;
            let mark = if first && chunk.starts_with(Encoding::Utf8Bom.mark()) { 3 } else { 0 };
            taker.bytes(&chunk[mark..]);
            lossy |= taker.lossy;
            if taker.done() && read > COUNTED {
                return Ok(Some(Self { uncounted: true, lossy, ..taker.page() }));
            }
            first = false;
            chunk.resize(CHUNK, 0);
            let got = file.read(&mut chunk)?;
            chunk.truncate(got);
        }
    }

    /// The lines without numbers.
    pub(crate) fn content(&self) -> String {
        self.lines.join("\n")
    }

    /// What the model reads.
    pub(crate) fn told(&self, limited: bool) -> String {
        if self.total == 0 {
            return "[the file exists but is empty]".to_owned();
        }
        if self.lines.is_empty() {
            return format!(
                "[the file has {} lines: line {} is past its end]",
                self.total, self.first
            );
        }
        let mut out = String::new();
        for (at, line) in self.lines.iter().enumerate() {
            let _infallible = writeln!(out, "{:>6}\t{line}", self.first + at);
        }
        out.pop();
        let next = self.first + self.lines.len();
        let more = next <= self.total || self.uncounted;
        if more && (self.full || !limited) {
            let of = if self.uncounted { "more than " } else { "" };
            let _infallible = write!(
                out,
                "\n\n[lines {} to {} of {of}{}: go on with offset {next}]",
                self.first,
                next - 1,
                self.total
            );
        }
        if self.lossy {
            out.push_str(
                "\n\n[the file is not UTF-8: bytes beyond ASCII are shown as \u{fffd}; Edit changes its ASCII parts only]",
            );
        }
        if let Some(name) = self.guessed {
            let _infallible = write!(
                out,
                "\n\n[the file is not UTF-8: it looks like {name} and is shown so; Edit keeps the encoding]"
            );
        }
        out
    }
}

/// Takes lines as they come.
struct Taker<'a> {
    window: &'a Window,
    lines: Vec<String>,
    bytes: usize,
    total: usize,
    full: bool,
    lossy: bool,
    /// The start of the line that is not complete yet, and its full length.
    part: Vec<u8>,
    part_len: usize,
}

impl<'a> Taker<'a> {
    fn new(window: &'a Window) -> Self {
        let part = Vec::new();
        Self {
            window,
            lines: Vec::new(),
            bytes: 0,
            total: 0,
            full: false,
            lossy: false,
            part,
            part_len: 0,
        }
    }

    fn page(&mut self) -> Page {
        Page {
            first: self.window.first,
            lines: std::mem::take(&mut self.lines),
            total: self.total,
            uncounted: false,
            full: self.full,
            hash: None,
            lossy: self.lossy,
            guessed: None,
        }
    }

    fn wants(&self) -> bool {
        self.total + 1 >= self.window.first && !self.done()
    }

    fn done(&self) -> bool {
        self.full || self.lines.len() >= self.window.lines
    }

    fn bytes(&mut self, chunk: &[u8]) {
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.more(&rest[..end]);
            self.complete();
            rest = &rest[end + 1..];
        }
        self.more(rest);
    }

    /// Keeps of a line what can be shown of it, and one character to know of more.
    fn more(&mut self, bytes: &[u8]) {
        self.part_len += bytes.len();
        if self.wants() {
            let room = ((self.window.line_chars + 1) * 4).saturating_sub(self.part.len());
            self.part.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    fn complete(&mut self) {
        let part = std::mem::take(&mut self.part);
        let len = std::mem::take(&mut self.part_len);
        self.take(&part, len);
        self.part = part;
        self.part.clear();
    }

    fn end(&mut self) {
        if self.part_len > 0 {
            self.complete();
        }
    }

    fn line(&mut self, line: &[u8]) {
        self.take(line, line.len());
    }

    /// One complete line: its bytes, or the start of them if `len` says that it is longer.
    fn take(&mut self, line: &[u8], len: usize) {
        let wanted = self.wants();
        self.total += 1;
        if !wanted {
            return;
        }
        let line = line.strip_suffix(b"\r").filter(|_| line.len() == len).unwrap_or(line);
        let text = String::from_utf8_lossy(line);
        self.lossy |= line.len() == len && matches!(text, std::borrow::Cow::Owned(_));
        let shown = match text.char_indices().nth(self.window.line_chars) {
            Some((end, _)) => format!(
                "{}\u{2026} [{} bytes of this line left out]",
                &text[..end],
                len - end.min(len)
            ),
            None => text.into_owned(),
        };
        // Number, tab and line ending come on top.
        let cost = shown.len() + 8;
        if self.bytes + cost > self.window.bytes && !self.lines.is_empty() {
            self.full = true;
            return;
        }
        self.bytes += cost;
        self.lines.push(shown);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use proptest::prelude::*;

    use super::*;
    use crate::text::decode;

    const WINDOW: Window = Window { first: 1, lines: 2000, line_chars: 2000, bytes: 50_000 };

    fn page(text: &str, window: &Window) -> Page {
        Page::of_text(decode(text.as_bytes()).unwrap(), 0, window)
    }

    fn streamed(bytes: &[u8], window: &Window) -> Page {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        let mut head = vec![0; bytes.len().min(7)];
        file.read_exact(&mut head).unwrap();
        Page::stream(head, file, window, &Cancel::new()).unwrap().unwrap()
    }

    #[test]
    fn lines_are_numbered_like_cat() {
        assert_eq!(page("a\nb\r\nc", &WINDOW).told(false), "     1\ta\n     2\tb\n     3\tc");
        assert_eq!(page("a\rb\r", &WINDOW).told(false), "     1\ta\n     2\tb");
        assert!(page("", &WINDOW).told(false).contains("empty"));
        assert!(page("a\n", &Window { first: 5, ..WINDOW }).told(true).contains("has 1 lines"));
    }

    #[test]
    fn what_is_left_out_is_marked() {
        let text = "line\n".repeat(3000);
        assert!(
            page(&text, &WINDOW)
                .told(false)
                .ends_with("[lines 1 to 2000 of 3000: go on with offset 2001]")
        );
        assert!(
            !page(&text, &Window { lines: 3, ..WINDOW }).told(true).contains("go on"),
            "as asked"
        );
        let long = format!("{}\nx", "\u{e9}".repeat(2500));
        let page = page(&long, &WINDOW);
        assert!(page.lines[0].ends_with("[1000 bytes of this line left out]"), "{}", page.lines[0]);
        assert_eq!(page.lines[1], "x");
        let wide = format!("{}\n", "y".repeat(1000)).repeat(100);
        let page = super::tests::page(&wide, &WINDOW);
        assert!(
            page.told(true).len() < 51_000 && page.told(true).contains("go on with offset 50]")
        );
    }

    #[test]
    fn unknown_bytes_are_said() {
        let page = Page::of_text(decode(b"\x01\xe9\n").unwrap(), 0, &WINDOW);
        assert!(page.told(false).contains("\n\n[the file is not UTF-8: bytes"));
        let page = Page::of_text(decode(b"caf\xe9\n").unwrap(), 0, &WINDOW);
        assert!(
            page.told(false)
                .starts_with("     1\tcaf\u{e9}\n\n[the file is not UTF-8: it looks like")
        );
    }

    proptest! {
        #[test]
        fn a_stream_shows_what_memory_shows(text in "[ab\u{e9}\\n]{0,60}", first in 1usize..5, lines in 1usize..5, line_chars in 1usize..5) {
            let window = Window { first, lines, line_chars, bytes: 60 };
            let (a, b) = (page(&text, &window), streamed(text.as_bytes(), &window));
            prop_assert_eq!(a.told(true), b.told(true));
            prop_assert_eq!(a.total, b.total);
            prop_assert_eq!(b.hash, Some(ContentHash::of(text.as_bytes())));
        }
    }
}
