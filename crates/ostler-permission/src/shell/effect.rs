//! What one simple command does, wrappers removed.
//!
//! A program that is not in the tables, an option that is not in its row and an argument
//! that is not fixed text make the effect unknown; nothing is assumed harmless.

use ostler_stdx::AbsPath;

use super::{
    Effect, How, Kind, Touch, awk, builtins, code, cwd::Cwds, files, find, git, programs, pure,
    sed, table, tar, values::Choice, word::Word,
};
use crate::rules::base_name;

/// Names that a script may set without changing what later programs do.
pub(super) fn is_harmless_name(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "CI",
        "CLICOLOR",
        "COLORTERM",
        "COLUMNS",
        "DEBUG",
        "FORCE_COLOR",
        "GIT_OPTIONAL_LOCKS",
        "LINES",
        "NO_COLOR",
        "NODE_ENV",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE",
        "CARGO_TERM_COLOR",
    ];
    let local = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !name.ends_with("_proxy")
        // Package managers take settings from these (`npm_config_script_shell`).
        && !["npm_", "pnpm_", "yarn_", "bun_"].iter().any(|tool| name.starts_with(tool))
        && !matches!(name, "histchars" | "auto_resume");
    NAMES.contains(&name) || local
}

/// Whether a name of the language, the terminal or the time zone may have this value: others
/// make every program read a file (`TZ=:/x`).
pub(super) fn is_plain_locale(name: &str, value: Option<&str>) -> bool {
    let known = matches!(name, "LANG" | "LANGUAGE" | "TERM" | "TZ") || name.starts_with("LC_");
    known
        && value.is_some_and(|value| {
            let zone = name == "TZ" && !value.starts_with([':', '/']) && !value.contains("..");
            zone || !value.contains('/')
        })
}

/// Names that scripts use for values of their own; no program of the tables reads one of them
/// should it be in the environment already.
const OWN_NAMES: &[&str] = &[
    "BASE", "BRANCH", "COMMIT", "COUNT", "DAY", "DEST", "DIR", "END", "EXT", "FILE", "FILES",
    "FOUND", "HASH", "HEAD", "ID", "INPUT", "ITEM", "KEY", "LAST", "LINE", "LIST", "MODULE",
    "MONTH", "MSG", "NAME", "NAMES", "NOW", "NUM", "OUT", "OUTPUT", "PACKAGE", "PATTERN", "PKG",
    "PREFIX", "RESULT", "ROOT", "SIZE", "SRC", "START", "STATUS", "SUFFIX", "TAG", "TAGS",
    "TARGET", "TODAY", "TOTAL", "VALUE", "VERSION", "YEAR",
];

/// Whether a script may set this name for itself.
pub(super) fn is_own_name(name: &str) -> bool {
    is_harmless_name(name) || OWN_NAMES.contains(&name)
}

/// Whether a name may have this value for one command: pagers that show all at once.
pub(super) fn is_plain_pager(name: &str, value: Option<&str>) -> bool {
    matches!(name, "PAGER" | "GIT_PAGER" | "MANPAGER") && matches!(value, Some("cat" | ""))
}

/// The folder that a `cd` enters, if that is fixed.
pub(super) fn cd_target(words: &[Word], home: &AbsPath) -> Option<String> {
    let mut args =
        words[1..].iter().filter(|word| !word.is("-P") && !word.is("-L") && !word.is("--"));
    let Some(to) = args.next() else { return Some(home.to_text()) };
    let text = to.text.as_deref()?;
    (args.next().is_none() && !text.starts_with('-') && !text.is_empty()).then(|| text.to_owned())
}

/// Whether arguments begin with the option to show names, and so set none.
fn shows(args: &[Word]) -> bool {
    let name = |word: &Word| {
        word.text
            .as_deref()
            .is_some_and(|text| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
    };
    matches!(args, [first, rest @ ..] if first.is("-p") && rest.iter().all(name))
}

/// Builtins after which later commands may mean something else.
pub(super) fn changes_the_shell(name: &str, words: &[Word]) -> Option<String> {
    let changes = match name {
        "alias" | "unalias" => words.len() > 1,
        // A pattern that matches nothing vanishes then.
        "shopt" => !matches!(words, [_, set, what] if set.is("-s") && what.is("nullglob")),
        "hash" => !matches!(words.get(1), Some(shows) if shows.is("-t") || shows.is("-l")),
        "history" => {
            !matches!(words, [_] | [_, _])
                || words.get(1).is_some_and(|word| {
                    word.text.as_deref().is_none_or(|t| !t.bytes().all(|b| b.is_ascii_digit()))
                })
        }
        "source" | "." | "exec" | "enable" | "bind" | "complete" | "let" | "pushd" | "popd"
        | "mapfile" | "readarray" | "getopts" | "fc" | "emulate" | "zmodload" | "autoload"
        | "noglob" | "nocorrect" | "-" => true,
        _ => false,
    };
    changes.then(|| format!("`{name}` may change what later commands do"))
}

/// The effect of a command whose first word is fixed text.
pub(super) fn of(words: &[Word], cwds: &Cwds) -> Effect {
    let mut effect = of_program(words, cwds);
    if effect.kind != Kind::Other {
        if let Some(word) = words.iter().find(|word| word.loose) {
            let why = format!("`{}` names files of a folder that is not known", word.raw);
            return unknown(words, cwds, why);
        }
        looks(words, cwds, &mut effect.touches);
    }
    effect
}

/// Whatever a pattern of file names is for, the shell looks into folders to expand it.
pub(super) fn looks<'w>(
    words: impl IntoIterator<Item = &'w Word>,
    cwds: &Cwds,
    touches: &mut Vec<Touch>,
) {
    for word in words {
        let choices = word.choices.iter().filter(|_| word.splits);
        let matches = choices.filter_map(|choice| match choice {
            Choice::Match(wild) => Some(wild),
            _ => None,
        });
        for wild in word.wild.iter().chain(matches) {
            let mut found = Vec::new();
            cwds.touch(How::Look, wild, true, &mut found);
            let known = |new: &Touch| {
                touches.iter().any(|touch| touch.path == new.path && touch.glob == new.glob)
            };
            found.retain(|new| !known(new));
            touches.extend(found);
        }
    }
}

fn of_program(words: &[Word], cwds: &Cwds) -> Effect {
    let Some(spelled) = words[0].text.as_deref() else {
        return Effect::other("its program is not known", Vec::new());
    };
    let name = base_name(spelled);
    let trusted = ["", "/bin/", "/usr/bin/"].iter().any(|dir| spelled == format!("{dir}{name}"));
    if !trusted {
        return unknown(words, cwds, format!("`{spelled}` is a program at a path of its own"));
    }
    let args = &words[1..];
    let unless = || cwds.above(programs::switched_by(name));
    if programs::tells_version(name, args) {
        return Effect { unless: unless(), ..Effect::reads(Vec::new()) };
    }
    if let Some(touches) = pure::read(name, args, cwds) {
        return Effect::reads(touches);
    }
    if let Some((program, used)) = programs::find(name, args) {
        return match table::read(program, &args[used..], cwds) {
            Ok(touches) => Effect { unless: unless(), ..Effect::reads(touches) },
            Err(why) => unknown(words, cwds, format!("`{name}` {why}")),
        };
    }
    let known = match name {
        "git" => git::read(args, cwds).map(|touches| (Kind::Read, touches)),
        "awk" | "gawk" | "mawk" | "nawk" => {
            awk::read(args, cwds).map(|touches| (Kind::Read, touches))
        }
        "find" => find::read(args, cwds).map(|touches| (Kind::Read, touches)),
        "sed" => sed::effect(args, cwds),
        "tar" => tar::read(args, cwds).map(|touches| (Kind::Read, touches)),
        "test" | "[" => builtins::test(name, args).map(|()| (Kind::Read, Vec::new())),
        "printf" => builtins::printf(args).map(|()| (Kind::Read, Vec::new())),
        "set" if args.is_empty() => Ok((Kind::Read, Vec::new())),
        "export" | "declare" | "typeset" | "readonly" if shows(args) => {
            Ok((Kind::Read, Vec::new()))
        }
        "export" | "declare" | "typeset" | "local" | "readonly" | "read" | "unset" => {
            builtins::names(args).map(|()| (Kind::Read, Vec::new()))
        }
        "set" => builtins::set(args).map(|()| (Kind::Read, Vec::new())),
        "command" | "shopt" | "hash" | "history" => Ok((Kind::Read, Vec::new())),
        "xargs" => Ok((Kind::Read, Vec::new())),
        "mkdir" | "touch" | "rm" | "rmdir" | "mv" | "cp" => {
            files::change(name, args, cwds).map(|touches| (Kind::Files, touches))
        }
        "tee" => files::tee(args, cwds).map(|touches| (Kind::Read, touches)),
        _ => Err("is not known to only read".to_owned()),
    };
    match known {
        Ok((kind, touches)) => Effect { kind, ..Effect::reads(touches) },
        Err(why) => unknown(words, cwds, format!("`{name}` {why}")),
    }
}

/// Words of a program that is not known that are looked at.
const MOST_WORDS: usize = 64;

/// Every argument may be a path for all that is known.
fn unknown(words: &[Word], cwds: &Cwds, why: String) -> Effect {
    let mut touches: Vec<Touch> = Vec::new();
    for word in words.iter().take(MOST_WORDS).skip(1) {
        for choice in &word.choices {
            match choice {
                Choice::Text(path) => cwds.touch(How::Maybe, path, false, &mut touches),
                Choice::Match(path) => cwds.touch(How::Maybe, path, true, &mut touches),
                Choice::Listed(_) | Choice::Number => {}
            }
        }
        let Some(text) = word.text.as_deref().or(word.wild.as_deref()) else { continue };
        let wild = word.text.is_none();
        // `--file=x`, `-fx`, `-d@x`, `x:/there`, `a,b`
        let value = text.split_once('=').map(|(_, value)| value);
        let at = text.rsplit_once('@').map(|(_, value)| value);
        let short = text.strip_prefix('-').and_then(|rest| rest.get(1..));
        let parts = text.split([':', ',']).take(8).filter(|part| part.len() < text.len());
        for path in [Some(text), value, at, short].into_iter().flatten().chain(parts) {
            if !path.is_empty() && !path.starts_with('-') && path.len() < 4096 {
                cwds.touch(How::Maybe, path, wild, &mut touches);
            }
        }
    }
    let opens = match words.len() {
        0..=MOST_WORDS => code::opens(words),
        _ => Some("it has more arguments than are looked at".to_owned()),
    };
    let runs = code::runs(words);
    let spelled = words[0].text.as_deref().filter(|spelled| spelled.contains('/'));
    let programs = spelled.map(|spelled| cwds.each(spelled)).unwrap_or_default();
    Effect { programs, runs, opens, ..Effect::other(why, touches) }
}

/// Notes what a path argument touches; an error if it is not known.
pub(super) fn path(
    word: &Word,
    how: How,
    tame: bool,
    cwds: &Cwds,
    touches: &mut Vec<Touch>,
) -> Result<(), String> {
    let fixed = match (&word.text, &word.wild) {
        (Some(text), _) => {
            // Options were taken out before: a text with a dash is a file here.
            if text != "-" {
                cwds.touch(how, text, false, touches);
            }
            return Ok(());
        }
        (None, Some(wild)) => Choice::Match(wild.clone()),
        (None, None) if word.choices.is_empty() => {
            return Err(format!("gets the argument `{}`, which is not fixed text", word.raw));
        }
        (None, None) => {
            let mut each = word.choices.iter();
            return each.try_for_each(|choice| chosen(word, choice, how, tame, cwds, touches));
        }
    };
    chosen(word, &fixed, how, tame, cwds, touches)
}

/// Notes what is touched if a word is this.
fn chosen(
    word: &Word,
    choice: &Choice,
    how: How,
    tame: bool,
    cwds: &Cwds,
    touches: &mut Vec<Touch>,
) -> Result<(), String> {
    match choice {
        Choice::Text(text) | Choice::Match(text) if !tame && text.starts_with('-') => {
            Err(format!("gets the argument `{}`, which may be an option", word.raw))
        }
        Choice::Text(text) => {
            cwds.touch(how, text, false, touches);
            Ok(())
        }
        Choice::Match(wild) if tame || !wild.starts_with(['*', '?', '[']) => {
            cwds.touch(how, wild, true, touches);
            Ok(())
        }
        Choice::Match(wild) => {
            let from = touches.len();
            cwds.touch(how, wild, true, touches);
            touches[from..].iter_mut().for_each(|touch| touch.dashless = true);
            Ok(())
        }
        // That no name is an option is seen to together with their being one word.
        Choice::Listed(listing) if how != How::Write => {
            let how = if how == How::Read { How::Search } else { how };
            let from = touches.len();
            for (root, wild) in &listing.roots {
                cwds.touch(how, root, *wild, touches);
            }
            for touch in &mut touches[from..] {
                (touch.follows, touch.worded) = (true, true);
            }
            Ok(())
        }
        Choice::Listed(_) | Choice::Number => {
            Err(format!("gets the argument `{}`, which is not fixed text", word.raw))
        }
    }
}

/// Why options were not understood.
pub(super) const OPTIONS: &str = "has an option that is not known to only read";
