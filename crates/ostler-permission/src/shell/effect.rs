//! What one simple command does, wrappers removed.
//!
//! A program that is not in the tables, an option that is not in its row and an argument
//! that is not fixed text make the effect unknown; nothing is assumed harmless.

use std::iter::once;

use ostler_stdx::AbsPath;

use super::{
    Effect, How, Kind, Touch, awk, code,
    cwd::Cwds,
    filter, find,
    flags::{self, Arg},
    git,
    programs::{self, Args, Program},
    pure, sed, tar,
    values::Choice,
    word::Word,
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
        "LANG",
        "LANGUAGE",
        "LINES",
        "NO_COLOR",
        "NODE_ENV",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TERM",
        "TZ",
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
    NAMES.contains(&name) || name.starts_with("LC_") || local
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
        return match table(program, &args[used..], cwds) {
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
        "test" | "[" => test(name, args).map(|()| (Kind::Read, Vec::new())),
        "printf" => printf(args).map(|()| (Kind::Read, Vec::new())),
        "set" if args.is_empty() => Ok((Kind::Read, Vec::new())),
        "export" | "declare" | "typeset" | "readonly" if shows(args) => {
            Ok((Kind::Read, Vec::new()))
        }
        "export" | "declare" | "typeset" | "local" | "readonly" | "read" | "unset" => {
            names(args).map(|()| (Kind::Read, Vec::new()))
        }
        "set" => set(args).map(|()| (Kind::Read, Vec::new())),
        "command" | "shopt" | "hash" | "history" => Ok((Kind::Read, Vec::new())),
        "xargs" => Ok((Kind::Read, Vec::new())),
        "mkdir" | "touch" | "rm" | "rmdir" | "mv" | "cp" => {
            files(name, args, cwds).map(|touches| (Kind::Files, touches))
        }
        "tee" => tee(args, cwds).map(|touches| (Kind::Read, touches)),
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
        Choice::Text(text) if !tame && text.starts_with('-') => {
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

fn table(program: &Program, words: &[Word], cwds: &Cwds) -> Result<Vec<Touch>, String> {
    if matches!(program.args, Args::Anything) {
        return Ok(Vec::new());
    }
    let args = flags::all(program.options, words).ok_or(OPTIONS)?;
    let options = options_of(&args);
    if !program.needs.is_empty() && !options.iter().any(|option| program.needs.contains(option)) {
        return Err("lacks the option with which it only reads".into());
    }
    let mut touches = Vec::new();
    let mut pattern_given = false;
    let mut recursive = program.name == "rg" || program.name == "ag";
    let mut plain = Vec::new();
    for arg in &args {
        match arg {
            Arg::Flag { name: "-o", value, .. }
                if program.name == "ps" && value.is_none_or(|value| value.contains("env")) =>
            {
                return Err("shows the environment of other programs".into());
            }
            Arg::Flag { name, file, .. } => {
                pattern_given |= matches!(*name, "-e" | "-f" | "--regexp" | "--file" | "--files");
                recursive |= matches!(*name, "-r" | "-R" | "--recursive");
                // Some take a list with colons between.
                for file in file.iter().flat_map(|file| once(*file).chain(file.split(':'))) {
                    cwds.touch(How::Read, file, false, &mut touches);
                }
            }
            Arg::Plain(word) => plain.push(*word),
        }
    }
    let (how, start) = match program.args {
        Args::Anything => return Ok(touches),
        Args::Data if program.tame || !plain.iter().any(|word| may_be_option(word)) => {
            return Ok(touches);
        }
        Args::Data => return Err("gets an argument that may be read as an option".into()),
        Args::Nothing if plain.is_empty() => return Ok(touches),
        Args::Plus if plain.iter().all(|word| starts_with(word, '+')) => return Ok(touches),
        Args::Letters if plain.iter().all(|word| is_letters(word)) => return Ok(touches),
        Args::Nothing | Args::Plus | Args::Letters => {
            return Err("takes no argument that is known to only read".into());
        }
        Args::Look { .. } => (How::Look, 0),
        Args::Read if recursive && program.name == "diff" => (How::Search, 0),
        Args::ReadNotAt if plain.iter().any(|word| may_start_with(word, '@')) => {
            return Err("takes its arguments from a file".into());
        }
        Args::ReadNotPlus if plain.iter().any(|word| may_start_with(word, '+')) => {
            return Err("has a command among its arguments".into());
        }
        Args::Read | Args::ReadOne | Args::ReadNotAt | Args::ReadNotPlus => (How::Read, 0),
        Args::Search => (How::Search, 0),
        Args::Walk => (How::Look, 1),
        Args::Pattern if recursive => (How::Search, usize::from(!pattern_given)),
        Args::Pattern | Args::Filter => (How::Read, usize::from(!pattern_given)),
    };
    if plain.iter().take(start).any(|word| !is_pattern(word)) {
        return Err("gets a pattern that is not fixed text".into());
    }
    if matches!(program.args, Args::Filter) && plain.first().is_some_and(|word| word.text.is_none())
    {
        return Err("has a filter that is not fixed text".into());
    }
    if matches!(program.args, Args::Filter) && plain.first().is_some_and(|word| filter::loads(word))
    {
        return Err("has a filter that loads further files".into());
    }
    // `yq file` shows the file.
    let start = if program.name == "yq" { 0 } else { start };
    let paths = plain.get(start..).unwrap_or(&[]);
    let several = paths.len() > 1 || paths.iter().any(|word| word.splits);
    if matches!(program.args, Args::ReadOne) && several {
        return Err("writes to its second argument".into());
    }
    for word in paths {
        path(word, how, program.tame, cwds, &mut touches)?;
    }
    let here = match program.args {
        Args::Look { here } => here,
        Args::Pattern => recursive,
        Args::Walk => true,
        _ => false,
    };
    if paths.is_empty() && here {
        cwds.touch(how, ".", false, &mut touches);
    }
    follow(program.name, &options, &mut touches);
    Ok(touches)
}

/// The options of a call as its row names them.
fn options_of(args: &[Arg<'_>]) -> Vec<&'static str> {
    let name = |arg: &Arg<'_>| match arg {
        Arg::Flag { name, .. } => Some(*name),
        Arg::Plain(_) => None,
    };
    args.iter().filter_map(name).collect()
}

/// Marks what is walked with links followed.
fn follow(name: &str, options: &[&str], touches: &mut [Touch]) {
    if programs::follows(name, options) {
        touches.iter_mut().for_each(|touch| touch.follows = true);
    }
}

/// Whether a word is certainly a pattern and no option.
fn is_pattern(word: &Word) -> bool {
    let plain = |choice: &Choice| matches!(choice, Choice::Text(text) if !text.starts_with('-'));
    word.text.is_some() || (!word.choices.is_empty() && word.choices.iter().all(plain))
}

fn starts_with(word: &Word, start: char) -> bool {
    word.text.as_deref().is_some_and(|text| text.starts_with(start))
        || (!word.splits && word.raw.trim_start_matches('"').starts_with(start))
}

fn may_start_with(word: &Word, start: char) -> bool {
    let one = |choice: &Choice| match choice {
        Choice::Text(text) | Choice::Match(text) => text.starts_with([start, '*', '?', '[']),
        Choice::Listed(_) | Choice::Number => false,
    };
    let wild = word.wild.as_deref().is_some_and(|wild| wild.starts_with(['*', '?', '[']));
    starts_with(word, start) || wild || word.choices.iter().any(one)
}

/// Whether a word that is not fixed text may turn out to begin with a dash.
fn may_be_option(word: &Word) -> bool {
    let begins = |c: char| c.is_alphanumeric() || "/._:+=@%,".contains(c);
    word.text.is_none() && (word.splits || !word.raw.trim_start_matches('"').starts_with(begins))
}

/// `aux` and the like: `e` would show the environment of other programs.
fn is_letters(word: &Word) -> bool {
    word.text
        .as_deref()
        .is_some_and(|text| text.chars().all(|c| "auxwfljvsmrTH".contains(c) || c.is_ascii_digit()))
}

/// Comparisons whose operator is fixed: otherwise a value could become `-v`, which evaluates.
fn test(name: &str, words: &[Word]) -> Result<(), String> {
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

fn printf(words: &[Word]) -> Result<(), String> {
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
fn names(words: &[Word]) -> Result<(), String> {
    for word in words {
        let text = word.text.as_deref().or_else(|| word.raw.split_once('=').map(|(name, _)| name));
        let name = text.map(|text| text.split_once('=').map_or(text, |(name, _)| name));
        match name {
            Some("-r" | "-x" | "-s") => {}
            Some(name) if is_harmless_name(name) => {}
            _ => return Err(format!("sets `{}`, which may change what a program does", word.raw)),
        }
    }
    Ok(())
}

fn set(words: &[Word]) -> Result<(), String> {
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

/// `mkdir touch rm rmdir mv cp` with the options that keep them what they are.
fn files(name: &str, words: &[Word], cwds: &Cwds) -> Result<Vec<Touch>, String> {
    let options = match name {
        "mkdir" => "-p --parents -v --verbose -m: --mode:",
        "touch" => "-a -c -m -d: -t: -r< --no-create --date: --reference<",
        "rm" => "-r -R -f -i -I -v -d --recursive --force --verbose --dir",
        "rmdir" => "-p --parents -v --verbose",
        "mv" => "-f -n -v -i -u --force --no-clobber --verbose -T",
        _ => {
            "-r -R -a -f -n -v -i -p -u -d -L -P -T --recursive --force --no-clobber --verbose --archive --preserve?"
        }
    };
    let args = flags::all(options, words).ok_or("has an option that is not understood")?;
    let options = options_of(&args);
    let mut touches = Vec::new();
    let mut paths = Vec::new();
    for arg in args {
        match arg {
            Arg::Flag { file: Some(file), .. } => {
                cwds.touch(How::Read, file, false, &mut touches);
            }
            Arg::Flag { .. } => {}
            Arg::Plain(word) => paths.push(word),
        }
    }
    let last = paths.len().saturating_sub(1);
    for (at, word) in paths.iter().enumerate() {
        let source = matches!(name, "cp" | "mv") && at < last;
        // Under its new name it can be read; a folder takes all that is in it along.
        if source {
            path(word, How::Search, false, cwds, &mut touches)?;
        }
        if name != "cp" || at == last {
            path(word, How::Write, false, cwds, &mut touches)?;
        }
        // What lands in a folder has the name of what was copied; judge that path too.
        if matches!(name, "cp" | "mv") && at < last {
            let from = word.text.as_deref().or(word.wild.as_deref()).map(base_name);
            let to = paths[last].text.as_deref();
            if let (Some(from), Some(to)) = (from, to) {
                let landed = format!("{to}/{from}");
                cwds.touch(How::Write, &landed, word.text.is_none(), &mut touches);
            }
        }
    }
    follow(name, &options, &mut touches);
    Ok(touches)
}

fn tee(words: &[Word], cwds: &Cwds) -> Result<Vec<Touch>, String> {
    let args = flags::all("-a --append -i --ignore-interrupts", words).ok_or(OPTIONS)?;
    let mut touches = Vec::new();
    for arg in args {
        if let Arg::Plain(word) = arg {
            path(word, How::Write, false, cwds, &mut touches)?;
        }
    }
    Ok(touches)
}
