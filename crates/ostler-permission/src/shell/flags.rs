//! Options of a program, by that program's own grammar.
//!
//! A table row lists every option that is known; one that is not listed, an abbreviation
//! included, is not understood. Items of a row: `-a` and `--all` take no value, `-n:` and
//! `--lines:` take one, `--arg&` takes two, `-f<` and `--file<` take a file that is read,
//! `--color?` may have one after `=`, `-#` is a number after a dash.

use super::word::Word;

/// One argument, understood.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arg<'w> {
    /// An option as the table names it, with the file that it reads.
    Flag { name: &'static str, file: Option<&'w str>, value: Option<&'w str> },
    /// Anything else.
    Plain(&'w Word),
}

/// Reads all words; options may stand anywhere before `--`. Nothing if one is not known.
pub(super) fn all<'w>(table: &'static str, words: &'w [Word]) -> Option<Vec<Arg<'w>>> {
    let mut args = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.is("--") {
            args.extend(words[at + 1..].iter().map(Arg::Plain));
            break;
        }
        at += 1 + one(table, word, &words[at + 1..], &mut args)?;
    }
    Some(args)
}

/// Reads the options before the first other word; answers them and how many words they are.
pub(super) fn leading<'w>(table: &'static str, words: &'w [Word]) -> Option<(Vec<Arg<'w>>, usize)> {
    let mut args = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.is("--") {
            at += 1;
            break;
        }
        match word.text.as_deref() {
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                at += 1 + one(table, word, &words[at + 1..], &mut args)?;
            }
            _ => break,
        }
    }
    Some((args, at))
}

/// Reads one word; answers how many more it took.
fn one<'w>(
    table: &'static str,
    word: &'w Word,
    next: &'w [Word],
    args: &mut Vec<Arg<'w>>,
) -> Option<usize> {
    let Some(text) = word.text.as_deref() else {
        // A word that begins with fixed text other than `-` cannot turn into an option.
        if word.raw.trim_start_matches(['"', '\'', '\\']).starts_with('-') {
            args.push(pattern_value(table, word)?);
            return Some(0);
        }
        args.push(Arg::Plain(word));
        return Some(0);
    };
    if text == "-" || !text.starts_with('-') {
        args.push(Arg::Plain(word));
        return Some(0);
    }
    if let Some(item) = item(table, text) {
        return value(item, None, next, args);
    }
    if text.starts_with("--") {
        let (name, given) = text.split_once('=')?;
        return value(item(table, name)?, Some(given), next, args);
    }
    cluster(table, text, next, args)
}

/// `--include=*.rs`: whatever the pattern matches, it is this option with a value that is data.
fn pattern_value<'w>(table: &'static str, word: &Word) -> Option<Arg<'w>> {
    let (name, _) = word.wild.as_deref()?.split_once('=')?;
    let is_one = name.starts_with("--") && !name.contains(['*', '?', '[']);
    let (name, kind) = item(table, name).filter(|_| is_one)?;
    matches!(kind, ':' | '?').then_some(Arg::Flag { name, value: None, file: None })
}

/// The row's entry for an option: its name and how it takes a value.
fn item(table: &'static str, name: &str) -> Option<(&'static str, char)> {
    table.split(' ').find_map(|item| {
        let kind = item.chars().last().filter(|c| ":<?&".contains(*c)).unwrap_or(' ');
        let bare = item.strip_suffix(kind).unwrap_or(item);
        (bare == name && bare != "-#").then_some((bare, kind))
    })
}

fn value<'w>(
    (name, kind): (&'static str, char),
    given: Option<&'w str>,
    next: &'w [Word],
    args: &mut Vec<Arg<'w>>,
) -> Option<usize> {
    let (value, took) = match (kind, given) {
        (':' | '<', Some(given)) => (Some(given), 0),
        (':', None) => (whole(next, 0)?.text.as_deref(), 1),
        ('<', None) => (Some(whole(next, 0)?.text.as_deref()?), 1),
        ('&', None) => (whole(next, 0).and(whole(next, 1))?.text.as_deref(), 2),
        ('?', given) => (given, 0),
        (_, None) => (None, 0),
        (_, Some(_)) => return None,
    };
    args.push(Arg::Flag { name, value, file: value.filter(|_| kind == '<') });
    Some(took)
}

/// The word at a place, unless it may become several: those bring options of their own along.
fn whole(words: &[Word], at: usize) -> Option<&Word> {
    let number = |word: &Word| matches!(word.raw.as_str(), "$$" | "$?" | "$#" | "$!");
    words.get(at).filter(|word| !word.splits || number(word))
}

/// `-abc`: letters without values, the last one perhaps with one.
fn cluster<'w>(
    table: &'static str,
    text: &'w str,
    next: &'w [Word],
    args: &mut Vec<Arg<'w>>,
) -> Option<usize> {
    let letters = &text[1..];
    let number = letters.bytes().all(|byte| byte.is_ascii_digit());
    if number && table.split(' ').any(|item| item == "-#") {
        args.push(Arg::Flag { name: "-#", file: None, value: Some(letters) });
        return Some(0);
    }
    for (at, letter) in letters.char_indices() {
        let found = item(table, &format!("-{letter}"))?;
        let rest = &letters[at + letter.len_utf8()..];
        match found.1 {
            ' ' => value(found, None, &[], args)?,
            '?' => return None,
            _ if rest.is_empty() => return value(found, None, next, args),
            _ => return value(found, Some(rest), &[], args),
        };
    }
    Some(0)
}
