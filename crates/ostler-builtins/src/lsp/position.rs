//! Places in a text: the protocol counts lines from 0 and UTF-16 units, we count lines
//! and characters from 1. Every place is clamped to the text; none is refused.

/// A text by lines, ended as the protocol ends them: by LF, CRLF or CR.
#[derive(Debug)]
pub(crate) struct Lines<'a>(Vec<&'a str>);

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self(crate::text::split_lines(text).into_iter().map(|(line, _)| line).collect())
    }

    /// The line of this number from 0.
    pub(crate) fn get(&self, line: u64) -> Option<&'a str> {
        self.0.get(usize::try_from(line).ok()?).copied()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

/// The UTF-16 units before the character of this number from 1.
pub(crate) fn units(line: &str, character: u64) -> u64 {
    let before = usize::try_from(character.saturating_sub(1)).unwrap_or(usize::MAX);
    line.chars().take(before).map(|c| c.len_utf16() as u64).sum()
}

/// The number from 1 of the character at this UTF-16 unit.
pub(crate) fn character(line: &str, units: u64) -> u64 {
    let mut seen = 0;
    let mut number = 1;
    for c in line.chars() {
        seen += c.len_utf16() as u64;
        if seen > units {
            break;
        }
        number += 1;
    }
    number
}

/// The number from 1 of the character where a name stands on a line: as a whole word if
/// it is there as one.
pub(crate) fn find(line: &str, name: &str) -> Option<u64> {
    if name.is_empty() {
        return None;
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |at: &usize| {
        let (before, rest) = line.split_at(*at);
        !before.ends_with(is_part) && !rest[name.len()..].starts_with(is_part)
    };
    let places: Vec<usize> = line.match_indices(name).map(|(at, _)| at).collect();
    let at = places.iter().copied().find(|at| whole(at)).or(places.first().copied())?;
    Some(line[..at].chars().count() as u64 + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_characters_count_once_for_us_and_twice_for_the_protocol() {
        assert_eq!((units("a\u{1f600}b", 3), units("\u{e9}b", 2), units("ab", 9)), (3, 1, 2));
        let places: Vec<_> = (0..5).map(|at| character("a\u{1f600}b", at)).collect();
        assert_eq!(places, [1, 2, 2, 3, 4]);
        assert_eq!(find("let foobar = foo;", "foo"), Some(14));
        assert_eq!(find("\u{1f600}foox", "foo"), Some(2));
        assert_eq!((find("x", "foo"), find("x", "")), (None, None));
        let lines = Lines::new("a\r\nb\rc\n");
        assert_eq!(
            (lines.count(), lines.get(1), lines.get(3), lines.get(4)),
            (4, Some("b"), Some(""), None)
        );
    }

    proptest! {
        #[test]
        fn a_place_comes_back(line in "[a-z\u{e9}\u{1f600}]{0,9}", at in 1u64..12) {
            let at = at.min(line.chars().count() as u64 + 1);
            prop_assert_eq!(character(&line, units(&line, at)), at);
        }
    }
}
