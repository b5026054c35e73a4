//! A call of a program that has a row: its options are read, and its arguments become what it
//! touches.

use std::iter::once;

use super::{
    How, Touch,
    cwd::Cwds,
    effect::{OPTIONS, path},
    filter,
    flags::{self, Arg},
    programs::{self, Args, Program},
    values::Choice,
    word::Word,
};

/// What a call touches, if it only reads.
pub(super) fn read(program: &Program, words: &[Word], cwds: &Cwds) -> Result<Vec<Touch>, String> {
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
pub(super) fn options_of(args: &[Arg<'_>]) -> Vec<&'static str> {
    let name = |arg: &Arg<'_>| match arg {
        Arg::Flag { name, .. } => Some(*name),
        Arg::Plain(_) => None,
    };
    args.iter().filter_map(name).collect()
}

/// Marks what is walked with links followed.
pub(super) fn follow(name: &str, options: &[&str], touches: &mut [Touch]) {
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
