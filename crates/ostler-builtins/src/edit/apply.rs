//! The edit itself, as a pure function from text to text.
//!
//! Finds the one place that is meant, or says why there is none; never guesses between
//! two, and never changes a byte outside of that place.

use std::ops::Range;

use crate::{
    edit::{
        lines::{self, Blanks},
        rewrite::Rewriter,
        view::{Fold, View},
    },
    text::{Encoding, Text, ending_at, unify},
};

/// What to replace by what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) count: Count,
}

/// How many places are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    One,
    All,
}

/// The result of an edit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) text: String,
    /// The changed places in the text as it was, in order.
    pub(crate) places: Vec<Range<usize>>,
    /// The line of the first place, from 1.
    pub(crate) line: usize,
    pub(crate) matcher: Matcher,
}

/// Why nothing was changed. The texts are for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(
        "old_string is empty: give the text to replace, or use Write to replace the whole file"
    )]
    Empty,
    #[error("old_string and new_string are the same: nothing to change")]
    Same,
    #[error("old_string was not found in the file{0}. Read the place again and copy it exactly")]
    NotFound(String),
    #[error(
        "old_string was found {found} times (lines {lines}): add lines around it until it names one place, or set replace_all to change all"
    )]
    Ambiguous { found: String, lines: String },
    #[error(
        "this edit is already applied: new_string stands at line {line} of the file, nothing was written"
    )]
    Applied { line: usize },
    #[error(
        "the file is in an unknown 8-bit encoding, and {0}. Nothing was written. Change ASCII text only, or convert the file to UTF-8 first"
    )]
    UnknownEncoding(&'static str),
}

/// Places that are counted and named before it is just "more than".
const NAMED: usize = 20;

/// How the place was found. The texts are for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matcher {
    /// Letter by letter.
    Exact,
    /// But for blanks at line ends, quotes, dashes.
    Looks,
    /// But for composed and decomposed characters.
    NormalForm,
    /// But for the indentation of its lines.
    Indentation,
    /// But for blanks between words.
    Inner,
    /// With its escapes read.
    Escapes,
}

impl Matcher {
    /// What differed, for the model; nothing if the find was exact.
    pub(crate) fn note(self) -> Option<&'static str> {
        Some(match self {
            Self::Exact => return None,
            Self::Looks => "differed from the file in trailing blanks, quotes or dashes",
            Self::NormalForm => {
                "differed from the file in how accented characters are composed (Unicode normal form)"
            }
            Self::Indentation => {
                "differed from the file in indentation; new_string was indented as the file is"
            }
            Self::Inner => {
                "differed from the file in blanks inside of lines; new_string was indented as the file is"
            }
            Self::Escapes => {
                "and new_string were taken with their escapes (such as \\n) read as characters"
            }
        })
    }
}

/// Applies one edit.
pub(crate) fn apply(text: &Text, change: Change<'_>) -> Result<Applied, Refusal> {
    let old = unify(change.old);
    let new = unify(change.new);
    match () {
        () if old.is_empty() => return Err(Refusal::Empty),
        () if old == new => return Err(Refusal::Same),
        () => {}
    }
    let bytes_only = text.encoding == Encoding::Bytes;
    if bytes_only && !(old.is_ascii() && new.is_ascii()) {
        return Err(Refusal::UnknownEncoding(
            "old_string or new_string has characters beyond ASCII",
        ));
    }
    let source = text.text.as_str();
    let located = locate(source, old, new, change.count, bytes_only)?;
    let Located { view, found, old, new, matcher } = &located;
    if change.count == Count::One {
        refuse_ambiguous(&view.text, found)?;
        if let [place] = found.as_slice() {
            refuse_grown(&view.text, place, old, new)?;
        }
    }
    let places: Vec<_> = found.iter().map(|place| view.original(place.clone())).collect();
    if bytes_only && places.iter().any(|place| may_split_character(source, place)) {
        return Err(Refusal::UnknownEncoding(
            "the place starts right behind a byte beyond ASCII, perhaps inside of a character",
        ));
    }
    let line = line_at(&view.text, found[0].start);
    Ok(Applied { text: replace(source, &places, old, new), places, line, matcher: *matcher })
}

/// Where an edit is meant, and what it says in the words of the file.
struct Located<'a> {
    view: View<'a>,
    /// In `view`; never empty.
    found: Vec<Range<usize>>,
    old: String,
    new: String,
    matcher: Matcher,
}

/// Tries the matchers, the strictest first.
fn locate(
    source: &str,
    old: String,
    new: String,
    count: Count,
    bytes_only: bool,
) -> Result<Located<'_>, Refusal> {
    let view = View::new(source, Fold::Exact);
    let found = find(&view.text, &old, count);
    if !found.is_empty() {
        return Ok(Located { view, found, old, new, matcher: Matcher::Exact });
    }
    refuse_applied(&view, &new, Fold::Exact)?;
    if bytes_only || old.trim().is_empty() {
        return Err(not_found(&view.text, &old));
    }
    for (fold, matcher) in [(Fold::Looks, Matcher::Looks), (Fold::NormalForm, Matcher::NormalForm)]
    {
        let loose_old = fold.apply(&old);
        let view = View::new(source, fold);
        let mut found = find(&view.text, &loose_old, count);
        found.retain(|place| view.is_whole(place));
        if !found.is_empty() {
            return Ok(Located { view, found, old, new, matcher });
        }
        refuse_applied(&view, &new, fold)?;
    }
    if count == Count::One {
        for (blanks, matcher) in
            [(Blanks::Indentation, Matcher::Indentation), (Blanks::Inner, Matcher::Inner)]
        {
            let blocks = lines::find(&view.text, &old, &new, blanks, NAMED + 1);
            let Some(first) = blocks.first() else { continue };
            let (old, new) = (view.text[first.place.clone()].to_owned(), first.new.clone());
            if old == new {
                return Err(Refusal::Applied { line: line_at(&view.text, first.place.start) });
            }
            let found = blocks.into_iter().map(|block| block.place).collect();
            return Ok(Located { view, found, old, new, matcher });
        }
    }
    if let Some((read_old, read_new)) = unescape(&old).zip(unescape(&new)) {
        let found = find(&view.text, &read_old, count);
        if !found.is_empty() && read_old != read_new {
            let matcher = Matcher::Escapes;
            return Ok(Located { view, found, old: read_old, new: read_new, matcher });
        }
    }
    Err(not_found(&view.text, &old))
}

/// A text that was escaped once too often, with its escapes read. `None` if it has line
/// breaks of its own, so was not escaped, or escapes that are none.
fn unescape(text: &str) -> Option<String> {
    if text.contains(['\n', '\t']) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(character) = chars.next() {
        out.push(match character {
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                same @ ('\\' | '"' | '\'' | '`' | '$') => same,
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

fn replace(source: &str, places: &[Range<usize>], old: &str, new: &str) -> String {
    let mut out = String::with_capacity(source.len() + new.len());
    let mut done = 0;
    let mut neighbours = Neighbours::of(source);
    let rewriter = Rewriter::new(old, new);
    for place in places {
        out.push_str(&source[done..place.start]);
        let neighbour = neighbours.ending(place.end);
        let around = (out.as_str(), &source[place.end..]);
        let part = rewriter.rewrite(&source[place.clone()], neighbour, around);
        out.push_str(&part);
        done = place.end;
    }
    out.push_str(&source[done..]);
    out
}

/// The endings that new lines take, for places in order: each ending is looked for once,
/// so that many places on one line cost no more than one.
#[derive(Debug)]
pub(crate) struct Neighbours<'a> {
    source: &'a str,
    /// Where the next ending starts, looked for from `from`; `None` if there is none.
    next: Option<usize>,
    from: usize,
    before: &'a str,
}

impl<'a> Neighbours<'a> {
    pub(crate) fn of(source: &'a str) -> Self {
        Self { source, next: source.find(['\r', '\n']), from: 0, before: "\n" }
    }

    /// The ending of the line at `at`, else that of the line before, else LF.
    pub(crate) fn ending(&mut self, at: usize) -> &'a str {
        while let Some(next) = self.next
            && next < at
        {
            self.before = ending_at(self.source, next);
            self.from = next + self.before.len();
            self.next =
                self.source[self.from..].find(['\r', '\n']).map(|offset| self.from + offset);
        }
        self.next.map_or(self.before, |next| ending_at(self.source, next))
    }
}

/// Where `old` stands. For one place, overlapping finds count, as each may be meant.
fn find(text: &str, old: &str, count: Count) -> Vec<Range<usize>> {
    if count == Count::All {
        return text.match_indices(old).map(|(at, _)| at..at + old.len()).collect();
    }
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(old) {
        let start = from + at;
        places.push(start..start + old.len());
        if places.len() > NAMED {
            break;
        }
        from = start + step;
    }
    places
}

fn refuse_ambiguous(text: &str, found: &[Range<usize>]) -> Result<(), Refusal> {
    if found.len() < 2 {
        return Ok(());
    }
    let lines: Vec<_> =
        found.iter().take(NAMED).map(|place| line_at(text, place.start).to_string()).collect();
    let more = found.len() > NAMED;
    let mark = if more { ", ..." } else { "" };
    let found = if more { format!("more than {NAMED}") } else { found.len().to_string() };
    Err(Refusal::Ambiguous { found, lines: format!("{}{mark}", lines.join(", ")) })
}

/// An edit that adds to its place finds that place again when it is applied already.
fn refuse_grown(text: &str, place: &Range<usize>, old: &str, new: &str) -> Result<(), Refusal> {
    for (offset, _) in new.match_indices(old).take(NAMED) {
        let Some(start) = place.start.checked_sub(offset) else { continue };
        if text.get(start..start + new.len()) == Some(new) {
            return Err(Refusal::Applied { line: line_at(text, start) });
        }
    }
    Ok(())
}

/// `old` is nowhere: is `new` there, once, and long enough to be no chance find?
fn refuse_applied(view: &View<'_>, new: &str, fold: Fold) -> Result<(), Refusal> {
    const TELLING: usize = 8;
    if new.trim().len() < TELLING {
        return Ok(());
    }
    match find(&view.text, &fold.apply(new), Count::One).as_slice() {
        [place] => Err(Refusal::Applied { line: line_at(&view.text, place.start) }),
        _ => Ok(()),
    }
}

/// Says where the first line of `old` is, which is where the model went wrong.
fn not_found(text: &str, old: &str) -> Refusal {
    let first = old.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if first.is_empty() || !old.trim().contains('\n') {
        return Refusal::NotFound(String::new());
    }
    let lines: Vec<_> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.trim() == first)
        .take(5)
        .map(|(at, _)| (at + 1).to_string())
        .collect();
    Refusal::NotFound(match lines.as_slice() {
        [] => String::new(),
        lines => {
            format!("; its first line is at line {}, but what follows differs", lines.join(", "))
        }
    })
}

fn line_at(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// Whether the first character of the place may be the second byte of a double-byte
/// character (GBK, Big5, Shift-JIS, GB18030), which an edit must not tear apart.
fn may_split_character(source: &str, place: &Range<usize>) -> bool {
    let lead =
        source[..place.start].chars().next_back().is_some_and(|before| u32::from(before) >= 0x81);
    let trail = source[place.start..]
        .chars()
        .next()
        .is_some_and(|first| matches!(first, '0'..='9' | '@'..='~'));
    lead && trail
}
