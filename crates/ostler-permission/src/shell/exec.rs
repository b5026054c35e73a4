//! What `find -exec` runs: each command with the names that `find` meets in place of `{}`.

use std::sync::Arc;

use super::{listing, values::Choice, word::Word};

/// A call of `find` taken apart.
pub(super) struct Split {
    /// The call without its `-exec`s.
    pub(super) find: Vec<Word>,
    /// What these run.
    pub(super) commands: Vec<Vec<Word>>,
}

/// Takes a call of `find` apart; nothing if it has no `-exec`, or one that has no end.
/// `-execdir` is left where it is, and is not understood there.
pub(super) fn split(words: &[Word]) -> Option<Split> {
    if !words.first()?.is("find") {
        return None;
    }
    let met = listing::find_roots(&words[1..]).map(Arc::new);
    let mut split = Split { find: Vec::new(), commands: Vec::new() };
    let mut rest = words;
    while let Some(at) = rest.iter().position(|word| word.is("-exec")) {
        split.find.extend_from_slice(&rest[..at]);
        let command = &rest[at + 1..];
        let ends = |(at, word): (usize, &Word)| {
            word.is(";") || (word.is("+") && at > 0 && command[at - 1].is("{}"))
        };
        let end = command.iter().enumerate().position(ends).filter(|end| *end > 0)?;
        let put = |word: &Word| match (&word.text, &met) {
            (Some(text), Some(met)) if text == "{}" => {
                Word { choices: vec![Choice::Listed(Arc::clone(met))], ..Word::unknown("{}") }
            }
            (Some(text), _) if !text.contains("{}") => word.clone(),
            _ => Word::unknown(&word.raw),
        };
        split.commands.push(command[..end].iter().map(put).collect());
        rest = &command[end + 1..];
    }
    split.find.extend_from_slice(rest);
    (!split.commands.is_empty()).then_some(split)
}
