//! Text of others (a model, a provider, a repository) as a terminal may show it: what is
//! seen is what there is. Nothing of it may steer the terminal, move what stands beside it
//! or pretend to be a line of ours.

use std::borrow::Cow;

/// Text of several lines: line breaks and tabs stay, other controls become signs.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    shown(text, |c| c != '\n' && c != '\t')
}

/// Text that stands within a line of ours: line breaks and tabs become signs as well.
pub(crate) fn visible_line(text: &str) -> Cow<'_, str> {
    shown(text, |_| true)
}

fn shown(text: &str, takes: impl Fn(char) -> bool) -> Cow<'_, str> {
    let steers = |c: char| sign(c).is_some() && takes(c);
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| sign(c).filter(|_| takes(c)).unwrap_or(c)).collect())
}

/// The sign of a character that steers: for ASCII its Unicode control picture, else the
/// replacement character.
fn sign(c: char) -> Option<char> {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('\u{2421}'),
        // C1 controls; line and paragraph separators; marks that turn the reading direction.
        '\u{80}'..='\u{9f}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => Some('\u{fffd}'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        let cases = [
            ("plain \u{e4}\u{1f600}", "plain \u{e4}\u{1f600}", "plain \u{e4}\u{1f600}"),
            ("a\nb\tc", "a\nb\tc", "a\u{240a}b\u{2409}c"),
            ("\x1b]52;c;x\x07", "\u{241b}]52;c;x\u{2407}", "\u{241b}]52;c;x\u{2407}"),
            ("a\rb\x08", "a\u{240d}b\u{2408}", "a\u{240d}b\u{2408}"),
            ("\u{9b}31m\x7f", "\u{fffd}31m\u{2421}", "\u{fffd}31m\u{2421}"),
            (
                "x\u{202e}y\u{2066}\u{200f}",
                "x\u{fffd}y\u{fffd}\u{fffd}",
                "x\u{fffd}y\u{fffd}\u{fffd}",
            ),
            ("a\u{2028}b", "a\u{fffd}b", "a\u{fffd}b"),
        ];
        for (text, several, one) in cases {
            assert_eq!(visible(text), several, "{text:?}");
            assert_eq!(visible_line(text), one, "{text:?}");
        }
    }
}
