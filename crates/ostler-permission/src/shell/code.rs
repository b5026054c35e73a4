//! What the words of a command do not show: code in its arguments, and files that it opens
//! without naming them. Only deny and ask rules care: they hold for the effect, however it is
//! spelled, so where one may apply and it cannot be seen, the judge asks.
//!
//! Code in a file of the project is not looked for; the sandbox is what holds there.

use super::{
    flags::{self, Arg},
    word::Word,
};

/// Interpreters, with the letters of the options that take code.
const LANGUAGES: &[(&str, &str)] = &[
    ("python", "c"),
    ("python2", "c"),
    ("python3", "c"),
    ("pypy", "c"),
    ("pypy3", "c"),
    ("perl", "eEMmnp"),
    ("ruby", "enpr"),
    ("node", "epr"),
    ("nodejs", "epr"),
    ("deno", "e"),
    ("bun", "ep"),
    ("php", "rRBEF"),
    ("lua", "el"),
    ("luajit", "el"),
    ("Rscript", "e"),
    ("R", "ef"),
    ("julia", "eEL"),
    ("elixir", "er"),
    ("erl", "es"),
    ("ghc", "e"),
    ("tclsh", ""),
    ("expect", "c"),
    ("osascript", "e"),
    ("groovy", "e"),
    ("scala", "e"),
    ("psql", "cf"),
    ("mysql", "e"),
    ("sqlite3", ""),
    ("gdb", "ex"),
    ("lldb", "oO"),
    ("awk", ""),
    ("gawk", ""),
    ("mawk", ""),
    ("nawk", ""),
    ("dc", "e"),
    ("m4", ""),
    ("sed", ""),
    ("ed", ""),
    ("ex", ""),
    ("vi", "cSs"),
    ("vim", "cSs"),
    ("nvim", "cSs"),
    ("view", "cSs"),
    ("emacs", "ef"),
];

/// Of these any call may be told what to run by an argument or by its input.
const ALWAYS: &[&str] =
    &["awk", "gawk", "mawk", "nawk", "sed", "m4", "ed", "ex", "sqlite3", "tclsh", "dc"];

/// Other programs, with how an argument begins that makes them run something.
const RUNNERS: &[(&str, &[&str])] = &[
    (
        "tar",
        &["--to", "--use", "--check", "--rsh", "--info", "--new", "-I", "-F", "--one-top-level="],
    ),
    ("make", &["SHELL=", "MAKE", "--eval", "-E"]),
    ("gmake", &["SHELL=", "MAKE", "--eval", "-E"]),
    ("find", &["-exec", "-ok"]),
    ("fd", &["-x", "-X", "--exec"]),
    ("fdfind", &["-x", "-X", "--exec"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-S", "-o", "-D"]),
    ("sftp", &["-S", "-o", "-D", "-b"]),
    ("sort", &["--compress"]),
    ("split", &["--filter"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("man", &["-P", "--pager", "-H"]),
    ("less", &["+"]),
    ("more", &["+"]),
    ("zip", &["-T", "--unzip-command", "-TT"]),
    ("tcpdump", &["-z"]),
    ("script", &["-c", "--command"]),
    ("su", &["-c", "--command"]),
    ("runuser", &["-c", "--command"]),
    ("sg", &["-c"]),
    ("flock", &["-c", "--command"]),
    ("nodemon", &["-x", "--exec"]),
    ("npx", &["-c", "--call"]),
    ("npm", &["-c", "--call"]),
    ("pnpm", &["-c", "--shell-mode"]),
    ("yarn", &["-c"]),
    ("docker", &["--entrypoint", "-c"]),
    ("screen", &["-X"]),
    ("tmux", &["new", "send", "run", "if", "respawn", "pipe"]),
    ("curl", &["-K", "--config"]),
    ("wget", &["--use-askpass", "-e", "--execute"]),
    ("gcc", &["-wrapper", "-B", "-fplugin", "@"]),
    ("cargo", &["--config"]),
    ("go", &["-exec", "-toolexec", "-vettool"]),
    ("coreutils", &[]),
    ("ssh", &["-o", "-F"]),
    ("xterm", &["-e"]),
    ("systemd-run", &[]),
    ("entr", &[]),
    ("watch", &[]),
    ("at", &[]),
    ("batch", &[]),
    ("crontab", &[]),
    ("parallel", &[]),
];

/// Programs that take along whatever lies below a folder, or that follow lists of names.
const CARRIERS: &[&str] = &[
    "tar", "bsdtar", "zip", "7z", "7za", "7zr", "cpio", "pax", "ar", "rsync", "scp", "sftp",
    "rclone", "ditto", "docker", "podman",
];

/// How an argument begins that names a list of names, or of further arguments.
const LISTS: &[&str] = &[
    "--files-from",
    "--files0-from",
    "--file-list",
    "--pathspec-from",
    "--arg-file",
    "--include-from",
    "--check",
    "--config",
    "@",
];

/// Why a command may run a program that no word of it names; `None` where it cannot.
pub(super) fn runs(words: &[Word]) -> Option<String> {
    let (name, args) = named(words)?;
    let why = |what: &str| Some(format!("`{name}` {what}"));
    if ALWAYS.contains(&name) {
        return why("is given a program of its own");
    }
    if let Some((_, letters)) = LANGUAGES.iter().find(|(language, _)| *language == name) {
        return is_code(letters, args).then(|| format!("`{name}` is given code"));
    }
    if name == "git" {
        return super::git::runs(args).then(|| "`git` runs what an argument says".to_owned());
    }
    let (_, starts) = RUNNERS.iter().find(|(runner, _)| *runner == name)?;
    let begins = |word: &Word| match word.text.as_deref() {
        Some(text) => starts.iter().any(|start| text.starts_with(start)),
        None => false,
    };
    // `make` expands what it is told: `x=$(shell ...)`.
    let expands = name.ends_with("make")
        && args.iter().any(|word| word.text.as_deref().is_none_or(|text| text.contains('$')));
    (starts.is_empty() || expands || args.iter().any(begins))
        .then(|| format!("`{name}` runs what an argument says"))
}

/// Why a command may open files that no word of it names; `None` where it does not.
pub(super) fn opens(words: &[Word]) -> Option<String> {
    let (name, args) = named(words)?;
    if name == "git" && super::git::may_show_contents(args) {
        return Some("`git` may show contents that the repository keeps".to_owned());
    }
    if searches(name, args) {
        return Some(format!("`{name}` reads below folders"));
    }
    if CARRIERS.contains(&name) {
        return Some(format!("`{name}` takes along what lies below a folder"));
    }
    let sums = name.ends_with("sum") || name == "file" || name == "xargs";
    let lists = |word: &Word| {
        word.text.as_deref().is_some_and(|text| {
            LISTS.iter().any(|start| text.starts_with(start))
                || (sums && (text.starts_with("-c") || text.starts_with("-f") || text == "-a"))
        })
    };
    if args.iter().any(lists) {
        return Some(format!("`{name}` reads a list of names"));
    }
    let message = |at: usize| {
        name == "git" && at > 0 && ["-m", "--message", "-am"].iter().any(|m| args[at - 1].is(m))
    };
    let unknown = args.iter().enumerate().find(|(at, word)| {
        let known = word.text.is_some() || word.wild.is_some() || is_spread(word);
        !known && !message(*at)
    });
    unknown.map(|(_, word)| format!("the argument `{}` is not fixed text", word.raw))
}

/// Whether a program reads everything below a folder, or below the one it runs in.
fn searches(name: &str, args: &[Word]) -> bool {
    let letters: &[char] = match name {
        "rg" | "ag" | "ack" | "ugrep" | "ug" => return true,
        "grep" | "egrep" | "fgrep" | "zgrep" | "diff" => &['r', 'R', 'd'],
        "cp" | "mv" => &['r', 'R', 'a'],
        _ => return false,
    };
    args.iter().filter_map(|word| word.text.as_deref()).any(|text| match text.strip_prefix("--") {
        Some(long) => ["rec", "deref", "dir", "arch"].iter().any(|start| long.starts_with(start)),
        None => text.starts_with('-') && text.contains(letters),
    })
}

/// Whether all that a word may be is known as text.
fn is_spread(word: &Word) -> bool {
    use super::values::Choice;
    !word.choices.is_empty()
        && word.choices.iter().all(|choice| matches!(choice, Choice::Text(_) | Choice::Match(_)))
}

/// Scripts that stand in arguments, as the shell would read them.
pub(super) fn scripts(words: &[Word]) -> Vec<String> {
    let Some((name, args)) = named(words) else { return Vec::new() };
    let texts: Vec<&str> = args.iter().filter_map(|word| word.text.as_deref()).collect();
    let after = |options: &[&str]| -> Vec<String> {
        let with = |(at, text): (usize, &&str)| {
            options.iter().find_map(|option| match text.strip_prefix(option)? {
                "" => texts.get(at + 1).map(|text| (*text).to_owned()),
                rest => rest.strip_prefix('=').map(str::to_owned),
            })
        };
        texts.iter().enumerate().filter_map(with).collect()
    };
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => texts.iter().flat_map(|text| calls(text)).collect(),
        "git" => aliases(args),
        "tar" => after(&["--to-command", "--use-compress-program", "-I", "--info-script", "-F"]),
        "script" | "su" | "runuser" | "flock" | "npx" | "npm" => {
            after(&["-c", "--command", "--call"])
        }
        "vi" | "vim" | "nvim" | "view" | "ex" => texts
            .iter()
            .filter_map(|text| text.split_once('!'))
            .map(|(_, script)| script.to_owned())
            .collect(),
        "watch" | "entr" | "parallel" => vec![texts.join(" ")],
        "ssh" => texts.get(1..).map(|rest| rest.join(" ")).into_iter().collect(),
        "sort" => after(&["--compress-program"]),
        "split" => after(&["--filter"]),
        "rsync" => after(&["-e", "--rsh", "--rsync-path"]),
        "man" => after(&["-P", "--pager"]),
        _ => Vec::new(),
    }
}

/// Texts that a program in `awk` hands to a shell.
fn calls(program: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in program.match_indices("system") {
        let rest = program[at + "system".len()..].trim_start();
        let text = rest.strip_prefix('(').map(str::trim_start).and_then(|r| r.strip_prefix('"'));
        found.extend(text.and_then(|text| text.split_once('"')).map(|(text, _)| text.to_owned()));
    }
    for (at, _) in program.match_indices('|') {
        let (before, rest) = (program[..at].trim_end(), program[at + 1..].trim_start());
        let text = rest.strip_prefix('"').and_then(|text| text.split_once('"'));
        found.extend(text.map(|(text, _)| text.to_owned()));
        let text = before.strip_suffix('"').and_then(|text| text.rsplit_once('"'));
        found.extend(text.map(|(_, text)| text.to_owned()));
    }
    found
}

/// What the aliases run that a call of git brings along.
fn aliases(args: &[Word]) -> Vec<String> {
    let leading = flags::leading(super::git::GLOBAL, args);
    let settings = leading.into_iter().flat_map(|(options, _)| options);
    let value = |arg: Arg<'_>| match arg {
        Arg::Flag { name: "-c", value: Some(setting), .. } => {
            let (name, value) = setting.split_once('=')?;
            let runs = name.to_ascii_lowercase().starts_with("alias.");
            let script = if runs { value.strip_prefix('!')? } else { value };
            Some(script.to_owned())
        }
        _ => None,
    };
    settings.filter_map(value).collect()
}

/// Whether an interpreter is given code by its options or, with no file to run, by its input.
fn is_code(letters: &str, args: &[Word]) -> bool {
    for word in args {
        let Some(text) = word.text.as_deref() else {
            // Names of files, as long as they cannot be options.
            return word.wild.as_deref().is_none_or(|wild| wild.starts_with(['*', '?', '[', '-']));
        };
        if text == "-" || text.starts_with('+') {
            return true;
        }
        let Some(option) = text.strip_prefix('-') else { return false };
        let long =
            ["-eval", "-print", "-exec", "-run", "-cmd", "-expression", "-command", "-require"];
        let asks = ["-version", "-help", "V", "v", "h", "VV", "-check", "c"];
        if asks.contains(&option) && !(option == "c" && letters.contains('c')) {
            return false;
        }
        if long.iter().any(|long| option.starts_with(long))
            || (!option.starts_with('-') && option.contains(|c| letters.contains(c)))
        {
            return true;
        }
        // A module by its name is no code in the arguments.
        if option == "m" {
            return false;
        }
    }
    true
}

/// The name of the program, and what follows it.
fn named(words: &[Word]) -> Option<(&str, &[Word])> {
    let (first, args) = words.split_first()?;
    Some((crate::rules::base_name(first.text.as_deref()?), args))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<Word> {
        line.iter().map(|word| Word::fixed(word, word)).collect()
    }

    #[test]
    fn code_in_arguments_is_told_from_files_that_hold_it() {
        for line in [
            &["python3", "-c", "print(1)"][..],
            &["python3", "-uc", "x"],
            &["python3"],
            &["python3", "-"],
            &["perl", "-ne", "x"],
            &["node", "--eval=x"],
            &["ruby", "-e", "x"],
            &["vim", "-c", ":!id"],
            &["vim", "+!id"],
            &["make", "SHELL=./x"],
            &["make", "x=$(shell id)"],
            &["git", "-c", "alias.x=!id", "x"],
            &["git", "bisect", "run", "x"],
            &["sed", "1e"],
        ] {
            assert!(runs(&words(line)).is_some(), "{line:?}");
        }
        for line in [
            &["python3", "x.py"][..],
            &["python3", "-m", "pytest"],
            &["python3", "--version"],
            &["node", "x.js", "-e"],
            &["make", "-j2", "test"],
            &["git", "commit", "-m", "x"],
            &["cargo", "test"],
        ] {
            assert_eq!(runs(&words(line)), None, "{line:?}");
        }
    }

    #[test]
    fn scripts_in_arguments_are_found() {
        for (line, want) in [
            (&["awk", "BEGIN { system(\"rm x\") }"][..], "rm x"),
            (&["awk", "{ print | \"sh -s\" }"], "sh -s"),
            (&["git", "-c", "alias.x=!rm y", "x"], "rm y"),
            (&["tar", "-xf", "a.tar", "--to-command=rm x"], "rm x"),
            (&["tar", "-xf", "a.tar", "--to-command", "rm x"], "rm x"),
            (&["vim", "-c", ":!rm x"], "rm x"),
            (&["ssh", "host", "cd a;", "rm x"], "cd a; rm x"),
        ] {
            assert!(scripts(&words(line)).iter().any(|script| script == want), "{line:?}");
        }
    }
}
