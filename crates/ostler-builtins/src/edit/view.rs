//! A text as it is compared: line endings made equal, in forgiving forms also trailing
//! blanks, typographic signs and Unicode normal forms; with the way back to the original
//! bytes.

use std::{borrow::Cow, ops::Range};

use unicode_normalization::char::{canonical_combining_class, decompose_canonical};

use crate::text::ending_at;

/// What counts as equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Line endings only.
    Exact,
    /// Besides blanks before line endings, and quotes, dashes and the like.
    Looks,
    /// Besides composed and decomposed characters.
    NormalForm,
}

impl Fold {
    /// The character as it is compared.
    pub(crate) fn character(self, character: char, out: &mut String) {
        match self {
            Self::Exact => out.push(character),
            Self::Looks => looks(character, |part| out.push(part)),
            Self::NormalForm => {
                looks(character, |part| decompose_canonical(part, |part| out.push(part)));
            }
        }
    }

    /// Bytes of a text, line endings aside, as it is compared.
    pub(crate) fn folded_len(self, text: &str) -> usize {
        let mut folded = String::new();
        text.chars().for_each(|character| self.character(character, &mut folded));
        folded.len()
    }

    /// A given text as it is compared; its line endings are `\n`.
    pub(crate) fn apply(self, text: &str) -> String {
        View::new(text, self).text.into_owned()
    }
}

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
    pub(crate) fn new(source: &'a str, fold: Fold) -> Self {
        if fold == Fold::Exact && !source.contains('\r') {
            return Self { source, text: Cow::Borrowed(source), starts: None };
        }
        let mut text = String::with_capacity(source.len());
        let mut starts = Vec::with_capacity(source.len());
        let (mut at, mut judged) = (0, 0);
        while let Some(character) = source[at..].chars().next() {
            if fold != Fold::Exact && at >= judged && matches!(character, ' ' | '\t') {
                judged = source.len() - source[at..].trim_start_matches([' ', '\t']).len();
                // Blanks at the very end stay: there the given text may go on in the file.
                if source[judged..].starts_with(['\r', '\n']) {
                    at = judged;
                    continue;
                }
            }
            match character {
                '\r' => text.push('\n'),
                other => fold.character(other, &mut text),
            }
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

    /// Whether a place stands for whole characters of the original, with all the marks
    /// that are put on the last one.
    pub(crate) fn is_whole(&self, range: &Range<usize>) -> bool {
        let Some(starts) = &self.starts else { return true };
        let cuts = |at: usize| at > 0 && at < starts.len() && starts[at - 1] == starts[at];
        let marked = self.text[range.end..]
            .chars()
            .next()
            .is_some_and(|next| canonical_combining_class(next) != 0);
        !cuts(range.start) && !cuts(range.end) && !marked
    }
}

/// Bytes of the character or line ending at `at`.
fn unit_len(source: &str, at: usize) -> usize {
    let ending = ending_at(source, at).len();
    if ending > 0 { ending } else { source[at..].chars().next().map_or(0, char::len_utf8) }
}

/// Signs that models and word processors set for others.
fn looks(character: char, mut out: impl FnMut(char)) {
    match character {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => out('\''),
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => out('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => out('-'),
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => out(' '),
        '\u{2026}' => "...".chars().for_each(out),
        other => out(other),
    }
}
