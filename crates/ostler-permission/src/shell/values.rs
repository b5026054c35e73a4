//! What is known of a script's variables: every value that it may give each of them.
//!
//! The script is walked twice. The first time all values of a name are gathered, wherever it
//! is set; the second time they stand for the name wherever it has certainly been set before.
//! A name that was not, or that is set in a way that is not modelled, has no known values.

use std::{collections::HashMap, sync::Arc};

use super::{listing::Listing, word::Word};

/// What a word or a variable may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This text.
    Text(String),
    /// The name of one file that a pattern matches.
    Match(String),
    /// A name that a listing prints.
    Listed(Arc<Listing>),
    /// A whole number that was computed.
    Number,
}

/// More values than these are not followed.
pub(super) const MOST: usize = 16;

/// The values of a script's variables.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// All values of each name; nothing if there is one that is not known.
    all: HashMap<String, Option<Vec<Choice>>>,
    /// Names that have been set for certain, each as often as it was.
    set: Vec<String>,
    /// Whether `all` is complete.
    gathered: bool,
}

impl Values {
    /// The same values for the second walk.
    pub(super) fn complete(self) -> Self {
        Self { all: self.all, set: Vec::new(), gathered: true }
    }

    /// Whether the second walk could know more than the first.
    pub(super) fn any_known(&self) -> bool {
        self.all.values().any(Option::is_some)
    }

    /// A name is set to one of these; it counts as set from here on.
    pub(super) fn give(&mut self, name: &str, choices: Option<Vec<Choice>>) {
        self.may_be(name, choices);
        self.set.push(name.to_owned());
    }

    /// A name may be set to one of these.
    pub(super) fn may_be(&mut self, name: &str, choices: Option<Vec<Choice>>) {
        if self.gathered {
            return;
        }
        let all = self.all.entry(name.to_owned()).or_insert_with(|| Some(Vec::new()));
        let Some(known) = all else { return };
        match choices {
            Some(choices) if known.len() + choices.len() <= MOST => known.extend(choices),
            Some(_) | None => *all = None,
        }
    }

    /// The values of a name at this place.
    pub(super) fn of(&self, name: &str) -> Option<&[Choice]> {
        let is_set = self.gathered && self.set.iter().any(|set| set == name);
        self.all.get(name).filter(|_| is_set)?.as_deref()
    }

    /// Whether a name may hold a pattern of file names, wherever it was set.
    pub(super) fn may_be_pattern(&self, name: &str) -> bool {
        let pattern = |choice: &Choice| match choice {
            Choice::Text(text) => text.contains(['*', '?', '[']),
            Choice::Match(_) | Choice::Listed(_) | Choice::Number => false,
        };
        let known = self.all.get(name).and_then(Option::as_deref);
        self.gathered && known.is_some_and(|choices| choices.iter().any(pattern))
    }

    /// Whether a name is a whole number at this place.
    pub(super) fn is_number(&self, name: &str) -> bool {
        let number = |choice: &Choice| match choice {
            Choice::Number => true,
            Choice::Text(text) => {
                (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
            }
            Choice::Match(_) | Choice::Listed(_) => false,
        };
        self.of(name).is_some_and(|choices| !choices.is_empty() && choices.iter().all(number))
    }

    /// Marks a place; what is set from here on is forgotten by [`Self::forget`].
    pub(super) fn mark(&self) -> usize {
        self.set.len()
    }

    /// What was set since the mark may not have been.
    pub(super) fn forget(&mut self, mark: usize) {
        self.set.truncate(mark);
    }
}

/// What a variable is that is set to this word.
pub(super) fn assigned(word: &Word) -> Option<Vec<Choice>> {
    match &word.text {
        Some(text) => Some(vec![Choice::Text(text.clone())]),
        None => (!word.splits && !word.choices.is_empty()).then(|| word.choices.clone()),
    }
}

/// What a loop's variable is for this word of its list.
pub(super) fn looped(word: &Word) -> Option<Vec<Choice>> {
    match (&word.text, &word.wild) {
        (Some(text), _) => Some(vec![Choice::Text(text.clone())]),
        (None, Some(wild)) => Some(vec![Choice::Match(wild.clone())]),
        (None, None) => (!word.choices.is_empty()).then(|| word.choices.clone()),
    }
}
