//! Why a pattern cannot be searched: what is wrong, where, and what to write instead.

use std::fmt::Write as _;

use ostler_tool::ToolError;

/// What the model reads about a pattern that was refused.
pub(crate) fn explain(pattern: &str, error: &grep_regex::Error, multiline: bool) -> ToolError {
    // What searches has wrapped the pattern, so that its own marks are beside the place.
    let parsed = regex_syntax::ast::parse::Parser::new().parse(pattern).err();
    let cause = match &parsed {
        Some(error) => error.kind().to_string(),
        None => {
            let error = error.to_string();
            let cause = error.lines().rev().find_map(|line| line.strip_prefix("error: "));
            cause.unwrap_or(&error).to_owned()
        }
    };
    let mut text = format!("pattern `{}` cannot be searched: {cause}", short(pattern));
    if let Some(error) = &parsed {
        let at = error.span().start.offset;
        let shown = match pattern[at..].chars().next() {
            Some(character) => format!("`{character}`"),
            None => "the end".to_owned(),
        };
        let number = pattern[..at].chars().count() + 1;
        let _infallible = write!(text, ", at character {number}, {shown}");
    }
    let escaped = escape(pattern);
    let _infallible = match () {
        () if !multiline && parsed.is_none() && pattern.contains("\\n") => {
            write!(text, ". Set multiline to search over line ends")
        }
        () if cause.contains("look-around") => {
            write!(text, ". Search for the part without it, and read the lines that are found")
        }
        () if cause.contains("backreference") => {
            write!(text, ". Write out what the group matches, once for each possible text")
        }
        () if cause.contains("size limit") => {
            write!(text, ". Use smaller numbers of repetitions")
        }
        () if parsed.is_some() && escaped != pattern => {
            write!(text, ". If the text itself is meant, escape it: `{}`", short(&escaped))
        }
        () => Ok(()),
    };
    ToolError::Tell(text)
}

/// The regular expression for a text.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if "\\.+*?()|[]{}^$".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

fn short(pattern: &str) -> &str {
    &pattern[..ostler_stdx::floor_char_boundary(pattern, 300)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_escaped_text_finds_itself(text in "[ -~é]{1,20}") {
            let matcher = grep_regex::RegexMatcher::new_line_matcher(&escape(&text)).unwrap();
            let found = grep_matcher::Matcher::find(&matcher, text.as_bytes()).unwrap().unwrap();
            prop_assert_eq!((found.start(), found.end()), (0, text.len()));
        }
    }
}
