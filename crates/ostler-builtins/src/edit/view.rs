//! A text as it is compared: line endings made equal, in the forgiving form also
//! trailing blanks and typographic quotes; with the way back to the original bytes.

use std::{borrow::Cow, ops::Range};

use crate::text::ending_at;

/// A text made comparable.
#[derive(Debug)]
pub(crate) struct View<'a> {
    source: &'a str,
    /// What is searched; its only line ending is `\n`.
    pub(crate) text: Cow<'a, str>,
    /// Where in `source` the unit begins that each byte of `text` stands for; `None` if
    /// `text` is `source`.
    starts: Option<Vec<u32>>,
}

impl<'a> View<'a> {
    /// Line endings made equal.
    pub(crate) fn exact(source: &'a str) -> Self {
        if !source.contains('\r') {
            return Self { source, text: Cow::Borrowed(source), starts: None };
        }
        Self::build(source, |_| false, |character| character)
    }

    /// Besides, blanks before a line ending left out and quotes made straight.
    pub(crate) fn forgiving(source: &'a str) -> Self {
        // Blanks at the very end stay: there the given text may go on in the file.
        Self::build(source, |rest| rest.starts_with(['\r', '\n']), straight)
    }

    /// `left_out` judges a run of blanks by what comes behind it.
    fn build(
        source: &'a str,
        left_out: impl Fn(&str) -> bool,
        fold: impl Fn(char) -> char,
    ) -> Self {
        let mut text = String::with_capacity(source.len());
        let mut starts = Vec::with_capacity(source.len());
        let (mut at, mut judged) = (0, 0);
        while let Some(character) = source[at..].chars().next() {
            if at >= judged && matches!(character, ' ' | '\t') {
                judged = source.len() - source[at..].trim_start_matches([' ', '\t']).len();
                if left_out(&source[judged..]) {
                    at = judged;
                    continue;
                }
            }
            text.push(if character == '\r' { '\n' } else { fold(character) });
            starts.resize(text.len(), u32::try_from(at).unwrap_or(u32::MAX));
            at += unit_len(source, at);
        }
        Self { source, text: Cow::Owned(text), starts: Some(starts) }
    }

    /// The part of the original that a part of `text` stands for.
    pub(crate) fn original(&self, range: Range<usize>) -> Range<usize> {
        let Some(starts) = &self.starts else { return range };
        let start = |at: usize| starts.get(at).map_or(self.source.len(), |&start| start as usize);
        if range.is_empty() {
            return start(range.start)..start(range.start);
        }
        let last = start(range.end - 1);
        start(range.start)..last + unit_len(self.source, last)
    }
}

/// Bytes of the character or line ending at `at`.
fn unit_len(source: &str, at: usize) -> usize {
    let ending = ending_at(source, at).len();
    if ending > 0 { ending } else { source[at..].chars().next().map_or(0, char::len_utf8) }
}

fn straight(character: char) -> char {
    match character {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => '"',
        '\u{a0}' => ' ',
        other => other,
    }
}
