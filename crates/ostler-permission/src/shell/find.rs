//! `find`: its tests, and what it prints.
//!
//! Whatever writes, deletes or runs a program is in no list; `exec` takes out what is understood
//! of that before.

use super::{How, Touch, cwd::Cwds, effect, word::Word};

/// Tests with a value.
const TESTS: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-type",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-maxdepth",
    "-mindepth",
    "-perm",
    "-user",
    "-group",
    "-links",
    "-printf",
    "-regextype",
    "-inum",
    "-xtype",
    "-uid",
    "-gid",
    "-fstype",
    "-iwholename",
    "-lname",
    "-ilname",
    "-newermt",
    "-newerct",
    "-anewer",
    "-cnewer",
    "-samefile",
    "-used",
];

/// Tests, actions and operators without one.
const ALONE: &[&str] = &[
    "-print",
    "-print0",
    "-ls",
    "-empty",
    "-prune",
    "-not",
    "!",
    "(",
    ")",
    "-o",
    "-or",
    "-a",
    "-and",
    "-depth",
    "-mount",
    "-xdev",
    "-readable",
    "-writable",
    "-executable",
    "-quit",
    "-true",
    "-false",
    "-follow",
    "-H",
    "-L",
    "-P",
    "-daystart",
    "-noleaf",
    ",",
    "-nouser",
    "-nogroup",
    "-nowarn",
    "-d",
    "-ignore_readdir_race",
];

/// What a call of `find` touches.
pub(super) fn read(words: &[Word], cwds: &Cwds) -> Result<Vec<Touch>, String> {
    let mut touches = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !matches!(word.text.as_deref(), Some("-H" | "-L" | "-P")) {
            if is_expression(word) {
                break;
            }
            effect::path(word, How::Look, false, cwds, &mut touches)?;
        }
        at += 1;
    }
    if touches.is_empty() {
        cwds.touch(How::Look, ".", false, &mut touches);
    }
    let expression = &words[at..];
    at = 0;
    while let Some(word) = expression.get(at) {
        match word.text.as_deref() {
            Some(text) if TESTS.contains(&text) => {
                if expression.get(at + 1).is_none_or(|value| value.splits) {
                    return Err(format!("gets an argument of `{text}` that is not one word"));
                }
                at += 1;
            }
            Some(text) if ALONE.contains(&text) => {}
            _ => return Err(format!("has `{}`, which is not known to only read", word.raw)),
        }
        at += 1;
    }
    if follows_links(words) {
        touches.iter_mut().for_each(|touch| touch.follows = true);
    }
    Ok(touches)
}

fn is_expression(word: &Word) -> bool {
    word.text
        .as_deref()
        .is_some_and(|text| text.starts_with('-') || matches!(text, "!" | "(" | ")" | ","))
}

fn follows_links(words: &[Word]) -> bool {
    words.iter().any(|word| word.is("-L") || word.is("-follow"))
}
