//! Turns a region of a file into its new text line by line, so that all bytes which the
//! edit does not change stay: endings of mixed files, trailing blanks, quotes.

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use crate::{
    edit::view::Fold,
    text::{Line, split_lines},
};

/// How long the search for the smallest difference may take; then more lines count as
/// changed, which the endings survive.
const PATIENCE: Duration = Duration::from_millis(500);

/// A change from `old` to `new`, worked out once for all the places it is made in.
///
/// Both end their lines by `\n` alone.
#[derive(Debug)]
pub(crate) struct Rewriter<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    /// For each new line the old line that it comes from.
    paired: Vec<Option<usize>>,
}

impl<'a> Rewriter<'a> {
    pub(crate) fn new(old: &'a str, new: &'a str) -> Self {
        let old: Vec<&str> = old.split('\n').collect();
        let new: Vec<&str> = new.split('\n').collect();
        let paired = pair(&old, &new);
        Self { old, new, paired }
    }

    /// The new form of `region`, which `old` describes and which has as many endings.
    ///
    /// An ending that has no line to take it from is `neighbour`. `around` is what will
    /// stand before and after the result.
    pub(crate) fn rewrite(&self, region: &str, neighbour: &str, around: (&str, &str)) -> String {
        let (before, after) = around;
        let file: Vec<Line<'_>> = split_lines(region);
        let mut out = String::with_capacity(region.len());
        let mut last_ending = neighbour;
        for (at, line) in self.new.iter().enumerate() {
            let partner = self.paired[at].and_then(|from| Some((file.get(from)?, self.old[from])));
            match partner {
                Some(((content, _), given)) => out.push_str(&merge(content, given, line)),
                None => out.push_str(line),
            }
            if at + 1 < self.new.len() {
                let own = partner.map_or("", |((_, ending), _)| ending);
                last_ending = if own.is_empty() { last_ending } else { own };
                // A CR and an LF that were two endings must not meet and become one.
                let meets = last_ending == "\n"
                    && (out.ends_with('\r') || out.is_empty() && before.ends_with('\r'));
                out.push_str(if meets { "\r" } else { last_ending });
            }
        }
        if out.ends_with('\r') && after.starts_with('\n') {
            out.push('\n');
        }
        out
    }
}

/// For each new line the old line that it comes from.
fn pair(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let mut paired = vec![None; new.len()];
    let deadline = Some(Instant::now() + PATIENCE);
    for op in capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline) {
        if !matches!(op, DiffOp::Delete { .. } | DiffOp::Insert { .. }) {
            op.new_range().zip(op.old_range()).for_each(|(new, old)| paired[new] = Some(old));
        }
    }
    paired
}

/// The new form of one line: `content` is what the file has, `given` what the caller
/// took it for, which may differ in trailing blanks, signs and normal forms.
fn merge<'a>(content: &'a str, given: &str, new: &'a str) -> Cow<'a, str> {
    if given == new {
        return Cow::Borrowed(content);
    }
    if content == given {
        return Cow::Borrowed(new);
    }
    let (body, tail) = split_tail(content);
    let (given_body, given_tail) = split_tail(given);
    let (new_body, new_tail) = split_tail(new);
    let (head, foot) = common_ends(given_body, new_body);
    let (mut head_kept, mut foot_kept) = (head, foot);
    let cut = loop {
        // Less is kept until the cut falls between characters of the file.
        let from = counterpart(body, given_body, head_kept);
        let to = counterpart(body, given_body, given_body.len() - foot_kept);
        match (from, to) {
            (Some(from), Some(to)) if from <= to => break Some((from, to)),
            (None, _) if head_kept > 0 => head_kept = before(given_body, head_kept),
            _ if foot_kept > 0 => {
                foot_kept = given_body.len() - after(given_body, given_body.len() - foot_kept);
            }
            _ => break None,
        }
    };
    let Some((from, to)) = cut else { return Cow::Borrowed(new) };
    let middle = &new_body[head_kept..new_body.len() - foot_kept];
    let tail = if given_tail == new_tail { tail } else { new_tail };
    Cow::Owned([&body[..from], middle, &body[to..], tail].concat())
}

/// Bytes that two texts have in common at the start, and at the end behind that.
fn common_ends(a: &str, b: &str) -> (usize, usize) {
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let head = a.chars().zip(b.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (a, b): (&str, &str) = (&a[head..], &b[head..]);
    let foot =
        a.chars().rev().zip(b.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    (head, foot)
}

/// Where in `body` stands what is at `at` in `given`; both are equal when folded. `None`
/// if that is inside of a character.
fn counterpart(body: &str, given: &str, at: usize) -> Option<usize> {
    let mut wanted = Fold::NormalForm.folded_len(&given[..at]);
    let mut reached = 0;
    for character in body.chars() {
        if wanted == 0 {
            break;
        }
        wanted =
            wanted.checked_sub(Fold::NormalForm.folded_len(character.encode_utf8(&mut [0; 4])))?;
        reached += character.len_utf8();
    }
    (wanted == 0).then_some(reached)
}

fn before(text: &str, at: usize) -> usize {
    text[..at].char_indices().next_back().map_or(0, |(at, _)| at)
}

fn after(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(text.len(), |c| at + c.len_utf8())
}

fn split_tail(line: &str) -> (&str, &str) {
    line.split_at(line.trim_end_matches([' ', '\t']).len())
}
