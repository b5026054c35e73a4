//! Builtins of the shell that compare, print and set names.

use super::{
    effect::{is_harmless_name, is_plain_locale},
    word::Word,
};

/// Comparisons whose operator is fixed: otherwise a value could become `-v`, which evaluates.
pub(super) fn test(name: &str, words: &[Word]) -> Result<(), String> {
    const UNARY: &[&str] = &[
        "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-n", "-z", "-b", "-c", "-p", "-S",
        "-t", "-O", "-G", "-N", "-g", "-u", "-k",
    ];
    const BINARY: &[&str] =
        &["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "<", ">"];
    let words = match (name, words) {
        ("[", [inner @ .., last]) if last.is("]") => inner,
        ("[", _) => return Err("is not closed".into()),
        (_, words) => words,
    };
    let words = match words {
        [first, rest @ ..] if first.is("!") => rest,
        words => words,
    };
    let fixed = |word: &Word, of: &[&str]| word.text.as_deref().is_some_and(|t| of.contains(&t));
    let single = |word: &Word| !word.splits;
    let known = match words {
        [] => true,
        [word] => single(word),
        [operator, word] => fixed(operator, UNARY) && single(word),
        [a, operator, b] => fixed(operator, BINARY) && single(a) && single(b),
        _ => words.iter().all(|word| word.text.is_some() && !word.is("-v") && !word.is("-R")),
    };
    if known { Ok(()) } else { Err("compares something that is not fixed text".into()) }
}

pub(super) fn printf(words: &[Word]) -> Result<(), String> {
    let format = words.iter().find(|word| !word.is("--")).and_then(|word| word.text.as_deref());
    match format {
        Some(format) if !format.starts_with('-') && !stores_a_count(format) => Ok(()),
        _ => Err("has a format that is not fixed text, or sets a variable".into()),
    }
}

/// Whether a conversion of a format is `n`, which sets the variable that its argument names;
/// flags, a width and the like may stand before the letter.
fn stores_a_count(format: &str) -> bool {
    let modifier = |c: char| c.is_ascii_digit() || "-+ #0'*.$hlLjtzqI".contains(c);
    let mut rest = format;
    while let Some((_, conversion)) = rest.split_once('%') {
        let letter = conversion.trim_start_matches(modifier);
        if letter.starts_with('n') {
            return true;
        }
        // The second of `%%` begins no conversion.
        rest = letter.strip_prefix('%').unwrap_or(letter);
    }
    false
}

/// Builtins that set names.
pub(super) fn names(words: &[Word]) -> Result<(), String> {
    for word in words {
        let text = word.text.as_deref().or_else(|| word.raw.split_once('=').map(|(name, _)| name));
        let name = text.map(|text| text.split_once('=').map_or(text, |(name, _)| name));
        let value = word.text.as_deref().and_then(|text| Some(text.split_once('=')?.1));
        match name {
            Some("-r" | "-x" | "-s") => {}
            Some(name) if is_harmless_name(name) || is_plain_locale(name, value) => {}
            _ => return Err(format!("sets `{}`, which may change what a program does", word.raw)),
        }
    }
    Ok(())
}

pub(super) fn set(words: &[Word]) -> Result<(), String> {
    let known = words.iter().all(|word| {
        word.text.as_deref().is_some_and(|text| {
            matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace")
                || text.strip_prefix(['-', '+']).is_some_and(|letters| {
                    !letters.is_empty() && letters.chars().all(|c| "euxof".contains(c))
                })
        })
    });
    if known && !words.is_empty() { Ok(()) } else { Err("changes how the shell reads".into()) }
}
