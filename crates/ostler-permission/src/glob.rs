//! Wildcards: one matcher for path components and one for whole paths.
//!
//! Written out instead of compiled, because rules are few, paths short, and a judgement
//! must not pay for building an automaton. Never decides anything; it only compares text.

/// Whether `text` matches `pattern`, where `*` is any run of characters, `?` one character
/// and `[..]` one of a set. There is no separator here: the caller splits paths.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(p) {
            Some('*') => {
                back = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some(_) if t < text.len() => one(&pattern, p, text[t]),
            None if t == text.len() => return true,
            _ => None,
        };
        match (step, back) {
            (Some(next), _) => {
                p = next;
                t += 1;
            }
            (None, Some((after_star, from))) if from < text.len() => {
                back = Some((after_star, from + 1));
                p = after_star;
                t = from + 1;
            }
            _ => return false,
        }
    }
}

/// Matches one character at `p`; answers where the pattern goes on.
fn one(pattern: &[char], p: usize, c: char) -> Option<usize> {
    match pattern[p] {
        '?' => Some(p + 1),
        '\\' if p + 1 < pattern.len() => (pattern[p + 1] == c).then_some(p + 2),
        '[' => match set(pattern, p, c) {
            Some((hit, next)) => hit.then_some(next),
            None => (c == '[').then_some(p + 1),
        },
        literal => (literal == c).then_some(p + 1),
    }
}

/// A `[..]` set: whether `c` is in it and where it ends; nothing if it never closes.
fn set(pattern: &[char], p: usize, c: char) -> Option<(bool, usize)> {
    let mut i = p + 1;
    let negated = matches!(pattern.get(i), Some('!' | '^'));
    if negated {
        i += 1;
    }
    let first = i;
    let mut hit = false;
    loop {
        let low = *pattern.get(i)?;
        if low == ']' && i > first {
            return Some((hit != negated, i + 1));
        }
        match (pattern.get(i + 1), pattern.get(i + 2)) {
            (Some('-'), Some(high)) if *high != ']' => {
                hit |= low <= c && c <= *high;
                i += 3;
            }
            _ => {
                hit |= low == c;
                i += 1;
            }
        }
    }
}

/// Whether a shell may take a name of a folder for one component of a pattern. Where that
/// depends on the locale it does; a leading dot is never matched by a wildcard.
#[must_use]
pub fn glob_fits(part: &str, name: &str) -> bool {
    if name.starts_with('.') && !part.starts_with(['.', '[']) {
        return false;
    }
    if matches(part, name) {
        return true;
    }
    // Sets may name classes and ranges of the locale, and `?` may be one byte of a letter.
    let wide = part.contains('[') || (part.contains('?') && !name.is_ascii());
    wide && {
        let head = part.split_once('[').map_or(part, |(head, _)| head);
        let tail = part.rsplit_once(']').map_or("", |(_, tail)| tail);
        let tail = if part.contains('[') { format!("*{tail}") } else { String::new() };
        matches(&format!("{head}{tail}").replace('?', "*"), name)
    }
}

/// Whether the text holds a wildcard.
pub(crate) fn is_wild(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether path components match pattern components; `**` crosses any number of them.
pub(crate) fn matches_path(pattern: &[String], path: &[&str]) -> bool {
    // The usual two-pointer walk, so that many `**` cannot cost exponential time.
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        match pattern.get(p) {
            Some(part) if part == "**" => {
                back = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some(part) if t < path.len() && matches(part, path[t]) => {
                p += 1;
                t += 1;
                continue;
            }
            None if t == path.len() => return true,
            _ => {}
        }
        match back {
            Some((after, from)) if from < path.len() => {
                back = Some((after, from + 1));
                p = after;
                t = from + 1;
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_of_one_component() {
        for (pattern, text, want) in [
            ("*", "", true),
            ("*.rs", "a.rs", true),
            ("*.rs", "a.rsx", false),
            ("a*b*c", "a-b-b-c", true),
            ("?", "é", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[", "[", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
        ] {
            assert_eq!(matches(pattern, text), want, "{pattern} {text}");
        }
    }

    #[test]
    fn names_that_a_shell_may_take() {
        for (part, name, want) in [
            ("*", "a", true),
            ("*", ".env", false),
            (".*", ".env", true),
            ("?env", ".env", false),
            ("[.]env", ".env", true),
            ("a[[:digit:]].x", "a1.x", true),
            ("a[[:digit:]].x", "a1.y", false),
            ("a[b", "a[b", true),
            ("??", "é", true),
            ("??", "e", false),
        ] {
            assert_eq!(glob_fits(part, name), want, "{part} {name}");
        }
    }

    #[test]
    fn two_stars_cross_folders_and_one_does_not() {
        let split = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        for (pattern, path, want) in [
            ("src/**", "src/a/b", true),
            ("src/**", "src", true),
            ("src/*", "src/a/b", false),
            ("**/x", "a/b/x", true),
            ("**/x", "x", true),
            ("a/**/b", "a/b", true),
            ("a/**/b/**/c", "a/x/b/y/z/c", true),
            ("a/**/b", "a/c", false),
        ] {
            let path: Vec<&str> = path.split('/').collect();
            assert_eq!(matches_path(&split(pattern), &path), want, "{pattern} {path:?}");
        }
    }
}
