//! `sed`: its scripts are programs, so only a subset is read.
//!
//! Addresses, `p d q = s y`; a substitution that runs (`e`) or writes (`w`) is not in it.

use super::{
    How, Kind, Touch,
    cwd::Cwds,
    effect,
    flags::{self, Arg},
    word::Word,
};

const OPTIONS: &str = "-n -E -r -s -u -z -i? -e: --expression: --quiet --silent --regexp-extended --in-place? --null-data";

/// What a call of `sed` touches.
pub(super) fn effect(words: &[Word], cwds: &Cwds) -> Result<(Kind, Vec<Touch>), String> {
    // `-i.bak` is an option with its value attached; a cluster never holds `i` with one.
    let in_place = |word: &Word| word.text.as_deref().is_some_and(|text| text.starts_with("-i"));
    let kept: Vec<Word> = words.iter().filter(|word| !in_place(word)).cloned().collect();
    if words
        .iter()
        .any(|word| in_place(word) && word.text.as_deref().is_some_and(|t| t.contains('/')))
    {
        return Err("keeps its backup at another path".into());
    }
    let args = flags::all(OPTIONS, &kept).ok_or("has an option that is not understood")?;
    let mut writes = kept.len() < words.len();
    let mut scripts = Vec::new();
    let mut paths = Vec::new();
    for arg in &args {
        match arg {
            Arg::Flag { name: "-e" | "--expression", value, .. } => {
                scripts.push(value.ok_or("has a script that is not fixed text")?);
            }
            Arg::Flag { name: "-i" | "--in-place", value, .. } => {
                writes = true;
                if value.is_some_and(|value| value.contains('/')) {
                    return Err("keeps its backup at another path".into());
                }
            }
            Arg::Flag { .. } => {}
            Arg::Plain(word) => paths.push(*word),
        }
    }
    if scripts.is_empty() {
        if paths.is_empty() {
            return Err("has no script".into());
        }
        scripts.push(paths.remove(0).text.as_deref().ok_or("has a script that is not fixed text")?);
    }
    if !scripts.iter().all(|script| is_plain(script)) {
        return Err("has a script with commands that may write or run something".into());
    }
    let mut touches = Vec::new();
    for word in paths {
        effect::path(word, How::Read, false, cwds, &mut touches)?;
        if writes {
            effect::path(word, How::Write, false, cwds, &mut touches)?;
        }
    }
    Ok((if writes { Kind::Files } else { Kind::Read }, touches))
}

/// Whether a script only prints, deletes and substitutes.
pub(super) fn is_plain(script: &str) -> bool {
    list(script, 0) == Some("")
}

/// Blocks within blocks that are read.
const DEEPEST: usize = 8;

/// Reads commands up to the end of the script or of the block; answers what follows.
fn list(script: &str, depth: usize) -> Option<&str> {
    let mut rest = script.trim_start_matches([' ', '\t', ';', '\n']);
    while !rest.is_empty() {
        if depth > 0
            && let Some(after) = rest.strip_prefix('}')
        {
            return Some(after);
        }
        let block = rest.len();
        let after = command(rest, depth)?;
        let closed = rest[..block - after.len()].ends_with('}');
        let after = after.trim_start_matches([' ', '\t']);
        rest = match after.strip_prefix([';', '\n']) {
            Some(next) => next.trim_start_matches([' ', '\t', ';', '\n']),
            None if after.is_empty() || (depth > 0 && after.starts_with('}')) || closed => after,
            None => return None,
        };
    }
    (depth == 0).then_some("")
}

/// Reads one command with its addresses; answers what follows.
fn command(text: &str, depth: usize) -> Option<&str> {
    let mut rest = text;
    if let Some(after) = address(rest) {
        rest = after;
        if let Some(second) = rest.strip_prefix(',') {
            rest = address(second)?;
        }
    }
    rest = rest.trim_start_matches([' ', '!']);
    let mut chars = rest.chars();
    let name = chars.next()?;
    let after = chars.as_str();
    match name {
        'p' | 'd' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'D' | 'P' | 'z' | 'F' => {
            Some(after)
        }
        '{' if depth < DEEPEST => list(after, depth + 1),
        'q' => Some(after.trim_start_matches(|c: char| c.is_ascii_digit())),
        's' | 'y' => {
            let mark = after
                .chars()
                .next()
                .filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
            let body = &after[mark.len_utf8()..];
            let body = section(section(body, mark)?, mark)?;
            let flags = body.trim_start_matches(|c: char| "gpiI".contains(c) || c.is_ascii_digit());
            (name == 's' || flags.len() == body.len()).then_some(flags)
        }
        _ => None,
    }
}

fn address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest);
    }
    if let Some(rest) = text.strip_prefix('/') {
        return section(rest, '/').map(|rest| rest.strip_prefix('I').unwrap_or(rest));
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~' || c == '+');
    (rest.len() < text.len()).then_some(rest)
}

/// Skips to after the next unescaped mark.
fn section(text: &str, mark: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == mark {
            return Some(&text[at + c.len_utf8()..]);
        } else if c == '[' || c == '\n' {
            // A bracket expression may hold the mark; versions differ, so it is not read.
            let set = text[at..].strip_prefix('[')?;
            let set = set.strip_prefix('^').unwrap_or(set);
            // Nor is one whose end is not the next `]`: a first `]` stands for itself, and
            // `[:` and its like have ends of their own.
            let (set, _) = set.split_once(']')?;
            if set.is_empty() || set.contains([mark, '[', '\n']) {
                return None;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_scripts_that_print_or_substitute_are_plain() {
        for script in [
            "1,10p",
            "$p",
            "$!{$!p}",
            "/a/{s/x/y/;p}",
            "1{/b/{p;d}};2p",
            "{p}",
            "{p;}",
            "/a/p",
            "s/a/b/",
            "s|a|b|g;2d",
            "5q",
            "10,20 p",
            "/x/,/y/p",
            "y/a/b/",
        ] {
            assert!(is_plain(script), "{script}");
        }
        for script in [
            "w out",
            "1e",
            "e id",
            "s/a/b/e",
            "s/a/b/w f",
            "s/a/b/ge",
            "r f",
            "a text",
            "{p;w f}",
            "{p",
            "{p}w f",
            "p}",
            "1{s/a/b/e}",
            "{{p}",
            "W f",
            "s/a/b",
            "b x",
            "s/[/]w f/x/",
            "s/[]/]x/;/w f/p",
            "s/[^]/]x/;/w f/p",
            "s/[[.].]/]x/;/w f/p",
            "/[]/]p;/w f/p",
            "1,2w f",
            "p;e",
        ] {
            assert!(!is_plain(script), "{script}");
        }
    }
}
