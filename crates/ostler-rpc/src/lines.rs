//! Lines of a byte stream, each of bounded length (ipc.md R-1).
//!
//! An over-long line costs itself alone: it is passed over without being held in memory.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// The longest line that is read, in bytes, unless a reader is told otherwise.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// Room that is kept between lines; a larger buffer is given back.
const KEPT_BYTES: usize = 1 << 20;

/// The byte order mark of UTF-8, which some shells and editors put before what they send.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Its bytes; never blank.
    Bytes(&'a [u8]),
    /// A line of so many bytes was passed over.
    TooLong(u64),
}

/// Reads lines that end with `\n` or `\r\n`; the last one may lack its end.
#[derive(Debug)]
pub struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    max: usize,
    /// Bytes of the current line that were thrown away.
    dropped: u64,
    /// Whether `line` was given out, so that the next one begins anew.
    given: bool,
    /// Whether nothing was read yet: a byte order mark there is no part of the first line.
    at_start: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of at most [`MAX_LINE_BYTES`].
    pub fn new(input: R) -> Self {
        Self::with_max(input, MAX_LINE_BYTES)
    }

    /// Reads lines of at most `max` bytes.
    pub fn with_max(input: R, max: usize) -> Self {
        let input = BufReader::with_capacity(64 << 10, input);
        Self { input, line: Vec::new(), max, dropped: 0, given: false, at_start: true }
    }

    /// The next line that is not blank; `None` at the end of the input. Dropping the future
    /// loses nothing.
    ///
    /// # Errors
    /// What the input says.
    pub async fn next(&mut self) -> std::io::Result<Option<Line<'_>>> {
        if std::mem::take(&mut self.given) {
            self.line.clear();
            self.line.shrink_to(KEPT_BYTES);
        }
        loop {
            let ended = !self.fill_line().await?;
            if self.dropped > 0 {
                let bytes = self.dropped + self.line.len() as u64;
                self.dropped = 0;
                self.line.clear();
                return Ok(Some(Line::TooLong(bytes)));
            }
            if std::mem::take(&mut self.at_start) && self.line.starts_with(MARK) {
                self.line.drain(..MARK.len());
            }
            while self.line.last().is_some_and(|last| matches!(last, b'\n' | b'\r')) {
                self.line.pop();
            }
            if !self.line.trim_ascii().is_empty() {
                self.given = true;
                return Ok(Some(Line::Bytes(&self.line)));
            }
            if ended {
                return Ok(None);
            }
            self.line.clear();
        }
    }

    /// Reads up to the end of a line; false at the end of the input.
    async fn fill_line(&mut self) -> std::io::Result<bool> {
        loop {
            let piece = self.input.fill_buf().await?;
            if piece.is_empty() {
                return Ok(false);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(piece.len(), |at| at + 1);
            let piece = &piece[..taken];
            // Two more for the line's end, which does not count.
            if self.dropped > 0 || self.line.len() + piece.len() > self.max.saturating_add(2) {
                self.dropped += (self.line.len() + piece.len()) as u64;
                self.line.clear();
            } else {
                self.line.extend_from_slice(piece);
            }
            self.input.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(input: &[u8], max: usize) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut reader = LineReader::with_max(input, max);
            let mut lines = Vec::new();
            while let Some(line) = reader.next().await.unwrap() {
                lines.push(match line {
                    Line::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    Line::TooLong(bytes) => format!("<{bytes}>"),
                });
            }
            lines
        })
    }

    #[test]
    fn a_byte_order_mark_before_the_first_line_costs_nothing() {
        assert_eq!(read(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo", 100), ["one", "\u{feff}two"]);
        assert_eq!(read(b"\xef\xbb\xbf", 100), [""; 0]);
    }

    #[test]
    fn both_ends_blank_lines_and_an_unended_last_line() {
        assert_eq!(read(b"one\r\n\n  \r\ntwo\nthree", 100), ["one", "two", "three"]);
        assert_eq!(read(b"", 100), [""; 0]);
        assert_eq!(read(b"\n\n", 100), [""; 0]);
    }

    #[test]
    fn an_over_long_line_costs_itself_alone() {
        let input = [b"a\n", &*vec![b'x'; 200_000], b"\nb\n", &*vec![b'y'; 9]].concat();
        assert_eq!(read(&input, 5), ["a", "<200001>", "b", "<9>"]);
        assert_eq!(read(b"12345\r\n", 5), ["12345"]);
    }

    #[tokio::test]
    async fn giving_up_in_the_middle_of_a_line_loses_nothing() {
        use tokio::io::AsyncWriteExt as _;
        let (mut far, near) = tokio::io::duplex(64);
        let mut reader = LineReader::new(near);
        far.write_all(b"first ha").await.unwrap();
        {
            let next = reader.next();
            tokio::pin!(next);
            let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(next.as_mut().poll(cx)));
            assert!(polled.await.is_pending());
        }
        far.write_all(b"lf\n").await.unwrap();
        assert_eq!(reader.next().await.unwrap(), Some(Line::Bytes(b"first half")));
    }

    proptest! {
        #[test]
        fn lines_are_those_that_were_written(lines in proptest::collection::vec("[a-z]{1,40}", 0..20)) {
            prop_assert_eq!(read(lines.join("\n").as_bytes(), 40), lines);
        }
    }
}
