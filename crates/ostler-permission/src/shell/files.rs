//! Programs that change files and nothing else.

use super::{
    How, Touch,
    cwd::Cwds,
    effect::{OPTIONS, path},
    flags::{self, Arg},
    table::{follow, options_of},
    word::Word,
};
use crate::rules::base_name;

/// `mkdir touch rm rmdir mv cp` with the options that keep them what they are.
pub(super) fn change(name: &str, words: &[Word], cwds: &Cwds) -> Result<Vec<Touch>, String> {
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

pub(super) fn tee(words: &[Word], cwds: &Cwds) -> Result<Vec<Touch>, String> {
    let args = flags::all("-a --append -i --ignore-interrupts", words).ok_or(OPTIONS)?;
    let mut touches = Vec::new();
    for arg in args {
        if let Arg::Plain(word) = arg {
            path(word, How::Write, false, cwds, &mut touches)?;
        }
    }
    Ok(touches)
}
