//! `tar`: listing an archive, in both ways to write its options.
//!
//! Nothing else of it is let through: it unpacks, runs compressors and follows lists of names.

use super::{
    How, Touch,
    cwd::Cwds,
    effect,
    flags::{self, Arg},
    word::Word,
};

const OPTIONS: &str = "-t --list -v --verbose -z --gzip --gunzip -j --bzip2 -J --xz --zstd -a --auto-compress -f< --file< --numeric-owner --full-time --utc --quoting-style: --wildcards --no-wildcards --strip-components: -R --block-number --show-transformed-names --occurrence? --exclude:";

/// What listing an archive touches.
pub(super) fn read(words: &[Word], cwds: &Cwds) -> Result<Vec<Touch>, String> {
    let (file, members) = match words.first().and_then(|word| word.text.as_deref()) {
        Some(letters) if !letters.starts_with('-') => bundled(letters, &words[1..])?,
        _ => dashed(words)?,
    };
    // `host:file` is fetched from there.
    if file.contains(':') {
        return Err("has an archive on another machine".into());
    }
    let mut touches = Vec::new();
    if file != "-" {
        cwds.touch(How::Read, file, false, &mut touches);
    }
    // Names within the archive: none may turn out to be an option.
    let fixed = |word: &&Word| word.text.as_deref().is_some_and(|text| !text.starts_with('-'));
    match members.iter().all(fixed) {
        true => Ok(touches),
        false => Err(effect::OPTIONS.into()),
    }
}

/// `tvf file`: letters without a dash, their values after them.
fn bundled<'w>(letters: &str, rest: &'w [Word]) -> Result<(&'w str, Vec<&'w Word>), String> {
    let known = letters.contains('t')
        && letters.chars().all(|c| "tvzjJa".contains(c) || c == 'f')
        && letters.matches('f').count() == 1;
    match rest {
        [file, members @ ..] if known => {
            let file = file.text.as_deref().ok_or("has an archive that is not fixed text")?;
            Ok((file, members.iter().collect()))
        }
        _ => Err(effect::OPTIONS.into()),
    }
}

fn dashed(words: &[Word]) -> Result<(&str, Vec<&Word>), String> {
    let args = flags::all(OPTIONS, words).ok_or(effect::OPTIONS)?;
    let lists = |arg: &Arg<'_>| matches!(arg, Arg::Flag { name: "-t" | "--list", .. });
    if !args.iter().any(lists) {
        return Err("does more than listing an archive".into());
    }
    let mut files = args.iter().filter_map(|arg| match arg {
        Arg::Flag { name: "-f" | "--file", value, .. } => *value,
        _ => None,
    });
    let (Some(file), None) = (files.next(), files.next()) else {
        return Err("does not list one archive".into());
    };
    let members = args.iter().filter_map(|arg| match arg {
        Arg::Plain(word) => Some(*word),
        Arg::Flag { .. } => None,
    });
    Ok((file, members.collect()))
}
