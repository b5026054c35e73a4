//! Output of a process with a cap: the head and the tail are kept, what lies between
//! is counted. Never grows beyond the cap, whatever the process writes.

use std::collections::VecDeque;

use crate::OutputCap;

/// Which pipe of a process some output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Output that was kept of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    cap: OutputCap,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Captured {
    pub(crate) fn new(cap: OutputCap) -> Self {
        Self { cap, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.cap.head.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.cap.tail)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.cap.tail);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// Bytes that the process wrote, kept or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that were left out between head and tail; zero if the output is whole.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// The kept bytes, head and tail joined without a mark; unchanged bytes of the
    /// process, which need not be UTF-8.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        bytes.extend(&self.tail);
        bytes
    }

    /// The kept output as text: what is not UTF-8 becomes U+FFFD, and a mark says how
    /// many bytes are missing where.
    #[must_use]
    pub fn to_text(&self) -> String {
        let omitted = self.omitted();
        if omitted == 0 {
            return String::from_utf8_lossy(&self.bytes()).into_owned();
        }
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        format!(
            "{}\n[... {omitted} bytes left out ...]\n{}",
            String::from_utf8_lossy(&self.head),
            String::from_utf8_lossy(&tail)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(cap: OutputCap, pieces: &[&str]) -> Captured {
        let mut captured = Captured::new(cap);
        pieces.iter().for_each(|piece| captured.push(piece.as_bytes()));
        captured
    }

    #[test]
    fn head_and_tail_are_kept_and_the_rest_is_counted() {
        let cap = OutputCap { head: 3, tail: 4 };
        let table: [(&[&str], &str, u64); 6] = [
            (&["ab"], "ab", 0),
            (&["abc", "defg"], "abcdefg", 0),
            (&["abcdefg"], "abcdefg", 0),
            (&["abcdefgh"], "abcefgh", 1),
            (&["abcd", "efgh", "ij"], "abcghij", 3),
            (&["ab", "cdefghijklmnop", "q"], "abcnopq", 10),
        ];
        for (pieces, kept, omitted) in table {
            let captured = captured(cap, pieces);
            assert_eq!(captured.bytes(), kept.as_bytes(), "{pieces:?}");
            assert_eq!(captured.omitted(), omitted, "{pieces:?}");
            assert_eq!(captured.total(), pieces.concat().len() as u64);
        }
    }

    #[test]
    fn text_says_what_is_missing() {
        let captured = captured(OutputCap { head: 1, tail: 1 }, &["a--z"]);
        assert_eq!(captured.to_text(), "a\n[... 2 bytes left out ...]\nz");
    }

    #[test]
    fn a_cap_of_nothing_keeps_nothing() {
        let captured = captured(OutputCap { head: 0, tail: 0 }, &["abc", "d"]);
        assert_eq!((captured.bytes(), captured.omitted()), (Vec::new(), 4));
    }
}
