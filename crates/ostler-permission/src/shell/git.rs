//! `git`: the subcommands and options that only read.
//!
//! Options that run a program (`-c`, `--ext-diff`, `--upload-pack`), write (`--output`) or
//! read another tree (`--git-dir`, `--no-index`) are in no row.

use super::{
    How, Touch,
    cwd::Cwds,
    effect,
    flags::{self, Arg},
    word::Word,
};

/// Options before the subcommand, for finding it.
pub(super) const GLOBAL: &str = "--no-pager -P -p --paginate --no-optional-locks --literal-pathspecs --bare -C: -c: --git-dir: --work-tree: --namespace: --exec-path: --config-env: --no-replace-objects --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-advice --no-lazy-fetch --attr-source: --super-prefix: --list-cmds: --html-path --man-path --info-path";

/// Those of them that only choose how to show.
const SHOWN: &[&str] = &["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"];

/// Options of everything that shows differences.
macro_rules! diff_options {
    ($more:literal) => {
        concat!(
            "-p -u -s --patch --no-patch --stat? --shortstat --numstat --dirstat? --summary --name-only --name-status --color? --no-color --word-diff? --color-words? -U: --unified: -w -b --ignore-all-space --ignore-space-change --ignore-blank-lines --diff-filter: -M -C --find-renames? --find-copies? --no-renames -S: -G: --pickaxe-regex --raw --full-index --abbrev? --no-abbrev --check -R -a --text -z --no-ext-diff --no-textconv --relative? --exit-code --quiet --histogram --patience --minimal --diff-algorithm: --function-context -W --compact-summary --cc -c -m --no-prefix --inter-hunk-context: ",
            $more
        )
    };
}

const LOG: &str = diff_options!(
    "-n: -# --oneline --graph --all --decorate? --no-decorate --pretty? --format: --abbrev-commit --no-abbrev-commit --since: --until: --after: --before: --author: --committer: --grep: -i -E -F --all-match --invert-grep --follow --merges --no-merges --first-parent --reverse --date: --max-count: --skip: --branches? --tags? --remotes? --topo-order --date-order --left-right --cherry-pick --cherry -L: --simplify-by-decoration --full-history --show-signature --not --count --parents --children --boundary --left-only --right-only --no-walk? --stdin --objects --show-pulls --ancestry-path --source --notes? --no-notes"
);

/// What plain arguments of a subcommand are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Revisions or paths.
    Paths,
    /// At most one name; a second would be written to the first.
    One,
    /// Nothing.
    Nothing,
}

/// Subcommands that only read with these options.
const ROWS: &[(&str, &str, Takes)] = &[
    (
        "status",
        "-s --short -b --branch --porcelain? -z -u? --untracked-files? --ignored? -v --verbose --long --show-stash --ahead-behind --no-ahead-behind --column? --no-column --renames --no-renames -uno -uall -unormal",
        Takes::Paths,
    ),
    ("diff", diff_options!("--cached --staged --merge-base"), Takes::Paths),
    (
        "diff-tree",
        diff_options!("-r -t --root --no-commit-id --pretty? --merge-base --max-depth: --always"),
        Takes::Paths,
    ),
    ("diff-index", diff_options!("--cached --merge-base"), Takes::Paths),
    ("log", LOG, Takes::Paths),
    ("show", LOG, Takes::Paths),
    ("whatchanged", LOG, Takes::Paths),
    ("rev-list", LOG, Takes::Paths),
    (
        "shortlog",
        "-s -n -e -c -# --summary --numbered --email --all --since: --until: --no-merges --group: --format:",
        Takes::Paths,
    ),
    ("reflog", "-n: -# --all --date: --oneline --format: --pretty?", Takes::Paths),
    (
        "rev-parse",
        "--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-bare-repository --is-inside-git-dir --abbrev-ref? --short? --verify -q --quiet --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --git-path: --show-superproject-working-tree --is-shallow-repository --show-object-format?",
        Takes::Paths,
    ),
    (
        "ls-files",
        "-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u --unmerged -z -t -v --exclude-standard --full-name --error-unmatch --directory --no-empty-directory -x: --exclude: --abbrev? --deduplicate --eol",
        Takes::Paths,
    ),
    (
        "ls-tree",
        "-r -t -d -l -z --long --name-only --name-status --full-name --full-tree --abbrev? --object-only",
        Takes::Paths,
    ),
    ("cat-file", "-t -s -p -e --batch-check?", Takes::Paths),
    (
        "blame",
        "-L: -l -t -s -e -f -n -w -M -C -b --show-email --show-name --show-number --porcelain -p --line-porcelain --root --date: --since: --abbrev: --color-lines --color-by-age --incremental --ignore-rev:",
        Takes::Paths,
    ),
    (
        "describe",
        "--all --tags --always --dirty? --broken? --long --abbrev: --match: --exclude: --contains --exact-match --first-parent --candidates:",
        Takes::Paths,
    ),
    ("merge-base", "-a --all --is-ancestor --octopus --independent --fork-point", Takes::Paths),
    ("name-rev", "--tags --all --name-only --refs: --no-undefined --always", Takes::Paths),
    (
        "show-ref",
        "--head --heads --tags --branches -d --dereference -s --hash? --verify -q --quiet --abbrev? --exists",
        Takes::Paths,
    ),
    (
        "for-each-ref",
        "--count: --sort: --format: --points-at: --merged? --no-merged? --contains? --no-contains? --color?",
        Takes::Paths,
    ),
    ("check-ignore", "-v --verbose -n --non-matching -q --quiet --no-index", Takes::Paths),
    ("symbolic-ref", "-q --quiet --short --recurse --no-recurse", Takes::One),
    ("var", "-l", Takes::One),
    ("count-objects", "-v -H --verbose --human-readable", Takes::Nothing),
    ("cherry", "-v --abbrev?", Takes::Paths),
    (
        "grep",
        "-n -i -l -L -c -w -h -H -E -F -P -G -v -e: -A: -B: -C: -p --line-number --ignore-case --files-with-matches --count --word-regexp --extended-regexp --fixed-strings --perl-regexp --heading --break --cached --color? --show-function --max-depth: --and --or --not --all-match -q --no-color --untracked -#",
        Takes::Paths,
    ),
    ("version", "--build-options", Takes::Nothing),
    ("help", "-a -g", Takes::Nothing),
    (
        "branch",
        "-a -r -l -v -vv -i --all --remotes --list --verbose --show-current --contains? --no-contains? --merged? --no-merged? --sort: --format: --color? --no-color --column? --points-at: --ignore-case --abbrev?",
        Takes::Nothing,
    ),
    (
        "tag",
        "-l -n -n? -# -i --list --sort: --format: --contains? --no-contains? --merged? --no-merged? --points-at: --column? --color? --ignore-case",
        Takes::Nothing,
    ),
    ("remote", "-v --verbose", Takes::Nothing),
];

/// What a call of git touches, if it only reads.
pub(super) fn read(words: &[Word], cwds: &Cwds) -> Result<Vec<Touch>, String> {
    let (global, at) =
        flags::leading(GLOBAL, words).ok_or("has an option that is not understood")?;
    let mut cwds = cwds.clone();
    for arg in &global {
        match arg {
            Arg::Flag { name: "-C", value: Some(to), .. } => cwds = cwds.enter(to),
            Arg::Flag { name: "-c", value: Some(setting), .. } if only_shows(setting) => {}
            Arg::Flag { name, .. } if SHOWN.contains(name) => {}
            Arg::Flag { name, .. } => {
                return Err(format!("has the option `{name}`, which may run something"));
            }
            Arg::Plain(_) => {}
        }
    }
    let mut touches = Vec::new();
    // Git runs what the configuration of the repository names; that of another place counts
    // as reading there, and so asks.
    cwds.touch(How::Repository, ".", false, &mut touches);
    let Some(name) = words.get(at) else {
        return if words.is_empty() { Ok(touches) } else { Err("has no subcommand".into()) };
    };
    let args = &words[at + 1..];
    let name = name.text.as_deref().ok_or("has a subcommand that is not fixed text")?;
    match (name, args) {
        ("--version" | "--help" | "-h", []) => return Ok(touches),
        ("stash", [what, rest @ ..]) if what.is("list") || what.is("show") => {
            return row("stash", LOG, Takes::Paths, rest, &cwds, touches);
        }
        ("worktree", [what]) if what.is("list") => return Ok(touches),
        ("remote", [what, rest @ ..]) if what.is("get-url") && rest.len() == 1 => {
            return row("", "", Takes::Paths, rest, &cwds, touches);
        }
        ("config", rest) => return config(rest, touches),
        ("submodule", [what, rest @ ..]) if what.is("status") => {
            return row("", "--cached --recursive -q --quiet", Takes::Paths, rest, &cwds, touches);
        }
        ("reflog", [what, ..]) if what.is("expire") || what.is("delete") || what.is("drop") => {
            return Err("`reflog` changes the log".into());
        }
        _ => {}
    }
    if name == "grep" {
        cwds.touch(How::Search, ".", false, &mut touches);
    }
    let row_of = ROWS.iter().find(|(row, ..)| *row == name);
    let Some((_, options, takes)) = row_of else {
        return Err(format!("`{name}` is not known to only read"));
    };
    let lists = ["-l", "--list", "--contains", "--merged", "--no-merged", "--points-at"];
    // Only an option itself counts, not a value that looks like one (`--format -l`).
    let listed = flags::all(options, args)
        .ok_or(effect::OPTIONS)?
        .iter()
        .any(|arg| matches!(arg, Arg::Flag { name, .. } if lists.contains(name)));
    let takes = if matches!(name, "branch" | "tag") && listed { Takes::Paths } else { *takes };
    row(name, options, takes, args, &cwds, touches)
}

fn row(
    name: &str,
    options: &'static str,
    takes: Takes,
    words: &[Word],
    cwds: &Cwds,
    mut touches: Vec<Touch>,
) -> Result<Vec<Touch>, String> {
    let args = flags::all(options, words).ok_or(effect::OPTIONS)?;
    let shows = shows_contents(name, &args);
    let named = shows && names_paths(words);
    if shows && !named {
        cwds.touch(How::History, ".", false, &mut touches);
    }
    let how = if named { How::Search } else { How::Read };
    let plain = args.iter().filter(|arg| matches!(arg, Arg::Plain(_))).count();
    let spreads = args.iter().any(|arg| matches!(arg, Arg::Plain(word) if word.splits));
    if takes == Takes::One && (plain > 1 || spreads) {
        return Err("writes its second argument to its first".into());
    }
    for arg in args {
        let Arg::Plain(word) = arg else { continue };
        if takes == Takes::Nothing {
            return Err(format!("may create `{}`", word.raw));
        }
        // `HEAD:path` and `:path` show the content of a file.
        if let Some((_, path)) = word.text.as_deref().and_then(|text| text.split_once(':'))
            && !path.is_empty()
        {
            cwds.touch(How::Read, path, false, &mut touches);
        }
        effect::path(word, how, false, cwds, &mut touches)?;
    }
    Ok(touches)
}

/// Options that show differences, and those that show something else in their place.
const PATCH: &[&str] = &[
    "-p",
    "-u",
    "--patch",
    "-U",
    "--unified",
    "--word-diff",
    "--color-words",
    "-W",
    "--function-context",
    "--cc",
    "-c",
    "-L",
    "--check",
];
const BRIEF: &[&str] = &[
    "--stat",
    "--shortstat",
    "--numstat",
    "--dirstat",
    "--summary",
    "--name-only",
    "--name-status",
    "--raw",
    "-s",
    "--no-patch",
    "--quiet",
    "--compact-summary",
];

/// Whether a sub-command shows contents of files that its words need not name.
fn shows_contents(name: &str, args: &[Arg<'_>]) -> bool {
    let has = |names: &[&str]| {
        args.iter().any(|arg| matches!(arg, Arg::Flag { name, .. } if names.contains(name)))
    };
    match name {
        "show" | "diff" => has(PATCH) || !has(BRIEF),
        "log" | "whatchanged" | "stash" | "reflog" | "diff-tree" | "diff-index" | "rev-list" => {
            has(PATCH)
        }
        "cat-file" => has(&["-p"]),
        _ => false,
    }
}

/// Sub-commands that show no contents, unless they are asked for parts to choose from.
const SHOW_NONE: &[&str] = &[
    "add",
    "am",
    "apply",
    "bisect",
    "branch",
    "checkout",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "config",
    "describe",
    "fetch",
    "fsck",
    "gc",
    "init",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "prune",
    "pull",
    "push",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "restore",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "sparse-checkout",
    "status",
    "submodule",
    "switch",
    "tag",
    "update-index",
    "update-ref",
    "version",
    "worktree",
    "help",
];

/// Whether a call that is not known to only read may show contents that no word of it names.
pub(super) fn may_show_contents(words: &[Word]) -> bool {
    let Some((_, at)) = flags::leading(GLOBAL, words) else { return true };
    let Some((name, args)) = words.get(at..).and_then(<[Word]>::split_first) else { return false };
    let parts = |word: &Word| {
        word.text.as_deref().is_some_and(|text| matches!(text, "-p" | "--patch" | "-v" | "-vv"))
    };
    let first = args.first();
    match name.text.as_deref() {
        Some("push" | "remote" | "branch" | "fetch" | "worktree" | "submodule" | "add" | "tag") => {
            args.iter().any(|word| word.is("-p") || word.is("--patch")) && !name.is("fetch")
        }
        Some("stash") => first.is_some_and(|first| {
            first.is("show") || first.is("list") || first.is("-p") || first.is("--patch")
        }),
        Some(name) => !SHOW_NONE.contains(&name) || args.iter().any(parts),
        None => true,
    }
}

/// Whether words after `--` say below which paths contents are shown: plain names, relative
/// to where the command runs.
fn names_paths(words: &[Word]) -> bool {
    let Some(at) = words.iter().position(|word| word.is("--")) else { return false };
    let plain = |word: &Word| {
        word.text.as_deref().is_some_and(|text| !text.contains(['*', '?', '[', ':', '\\']))
    };
    words.len() > at + 1 && words[at + 1..].iter().all(plain)
}

/// Whether a call is told by its arguments what to run.
pub(super) fn runs(words: &[Word]) -> bool {
    let Some((global, at)) = flags::leading(GLOBAL, words) else { return true };
    let tells = |arg: &Arg<'_>| match arg {
        Arg::Flag { name: "-c", value, .. } => !value.is_some_and(only_shows),
        Arg::Flag { name, .. } => matches!(*name, "--config-env" | "--exec-path"),
        Arg::Plain(_) => false,
    };
    if global.iter().any(tells) {
        return true;
    }
    let Some((name, args)) = words.get(at..).and_then(<[Word]>::split_first) else { return false };
    let begins = |starts: &[&str]| {
        args.iter().any(|word| {
            word.text.as_deref().is_some_and(|text| starts.iter().any(|s| text.starts_with(s)))
        })
    };
    let own: &[&str] = match name.text.as_deref().unwrap_or_default() {
        "bisect" => &["run"],
        "submodule" => &["foreach"],
        "rebase" => &["-x", "--exec", "-i", "--interactive"],
        "clone" => &["-c", "--config", "-u"],
        "grep" => &["-O", "--open"],
        "filter-branch" | "difftool" | "mergetool" => &[""],
        _ => &[],
    };
    begins(own) || begins(&["--ext-diff", "--upload-pack", "--receive-pack", "--exec"])
}

/// Whether a setting given with `-c` only changes how something looks.
fn only_shows(setting: &str) -> bool {
    let name = setting.split_once('=').map_or(setting, |(name, _)| name).to_ascii_lowercase();
    ["color.", "advice.", "column."].iter().any(|section| name.starts_with(section))
        || matches!(
            name.as_str(),
            "core.quotepath"
                | "core.abbrev"
                | "log.date"
                | "log.decorate"
                | "log.abbrevcommit"
                | "status.short"
                | "status.branch"
                | "diff.renames"
                | "diff.noprefix"
                | "diff.algorithm"
        )
}

fn config(words: &[Word], touches: Vec<Touch>) -> Result<Vec<Touch>, String> {
    let reads = |word: &Word| {
        ["--get", "--get-all", "--list", "-l", "--get-regexp", "get", "list"]
            .iter()
            .any(|flag| word.is(flag))
    };
    let scope = |word: &Word| {
        ["--global", "--local", "--show-origin", "--show-scope", "--name-only", "-z", "--null"]
            .iter()
            .any(|flag| word.is(flag))
    };
    let mut words = words.iter().filter(|word| !scope(word));
    let plain = |word: &Word| word.text.as_deref().is_some_and(|text| !text.starts_with('-'));
    // A name alone is shown; `edit` and its like have no dot.
    let names = |word: &Word| plain(word) && word.text.as_deref().is_some_and(|t| t.contains('.'));
    match words.next() {
        Some(first) if reads(first) && words.all(plain) => Ok(touches),
        Some(first) if names(first) && words.next().is_none() => Ok(touches),
        _ => Err("`config` may change the configuration".into()),
    }
}

#[cfg(test)]
mod tests {
    use ostler_stdx::AbsPath;

    use crate::shell::{Kind, analyse};

    fn only_reads(script: &str) -> bool {
        let script = analyse(script, &AbsPath::root().join("p"), &AbsPath::root().join("home/u"));
        script.opaque.is_empty()
            && script.commands.iter().all(|c| matches!(c.effect.kind, Kind::Read))
    }

    #[test]
    fn a_value_that_looks_like_the_option_to_list_does_not_list() {
        for script in ["git branch -l topic", "git tag --list v1", "git branch --merged main"] {
            assert!(only_reads(script), "{script}");
        }
        for script in [
            "git branch topic",
            "git branch --format -l topic",
            "git tag --format --list v1",
            "git branch -- -l topic",
        ] {
            assert!(!only_reads(script), "{script}");
        }
    }
}
