//! Deny rules against what no word of a command shows: code in arguments, lists of names,
//! contents that a repository keeps.

use ostler_protocol::Mode;

use super::{Case, expect_all};
use crate::Verdict::{Allow, Ask, Deny};

#[test]
fn a_denied_program_does_not_run_from_code_in_an_argument() {
    let denied = [
        "awk 'BEGIN { system(\"rm x\") }'",
        "awk '{ print | \"rm x\" }' f",
        "git -c alias.x='!rm y' x",
        "git -c alias.x='!cd a; rm y' x",
        "tar -xf a.tar --to-command='rm x'",
        "tar -xf a.tar --to-command 'ls; rm x'",
        "tar -cf a.tar -I 'rm x' .",
        "vim -c ':!rm x' f",
        "vim '+!rm x' f",
        "ssh host 'cd a; rm x'",
        "watch 'ls; rm x'",
        "su -c 'ls && rm x'",
        "man -P 'rm x' ls",
        "npm exec rm x",
        "rustup run stable rm x",
        "docker exec web rm x",
    ];
    let asked = [
        "awk \"BEGIN { system(c) }\"",
        "awk -f x.awk",
        "python3 -c 'import os; os.remove(\"x\")'",
        "python3 -c 'import os; os.system(\"r\" + \"m x\")'",
        "echo 'import os' | python3",
        "python3 <<< 'import os'",
        "perl -e 'unlink \"x\"'",
        "perl -i -pe s/a/b/ f",
        "node -e 'x'",
        "ruby -e 'x'",
        "sed 1e f",
        "sed 's/a/b/e' f",
        "make SHELL=./x all",
        "make 'X=$(shell id)'",
        "git -c core.pager='x' -p log",
        "git -c diff.external=x diff",
        "git bisect run x",
        "git rebase -x x main",
        "git submodule foreach x",
        "find . -execdir sh -c 'rm x' \\;",
        "sort --compress-program=x f",
        "rg --pre=x f",
        "rsync -e x a b",
    ];
    for mode in [Mode::Default, Mode::BypassPermissions] {
        let case =
            |command: &str| Case::bash(command).allow("Bash").deny("Bash(rm:*)").mode(mode).judge();
        expect_all(denied.iter().map(|c| (format!("[{}] {c}", mode.name()), case(c), Deny)));
        expect_all(asked.iter().map(|c| (format!("[{}] {c}", mode.name()), case(c), Ask)));
    }
    let linked = Case::bash("./tool x").link("/p/tool", "/usr/bin/rm").allow("Bash");
    assert_eq!(linked.deny("Bash(rm:*)").verdict(), Deny);
    // What runs is in a file, or is named by the words.
    let free = [
        "python3 x.py",
        "python3 -m pytest",
        "node x.js",
        "make test",
        "cargo test",
        "git switch -c topic",
        "git push -u origin topic",
        "git commit -m 'rm the old file'",
        "npm run build",
        "awk '{ print $1 }' f",
        "sed -i s/a/b/ f",
    ];
    expect_all(free.iter().map(|command| {
        let case = Case::bash(command).allow("Bash").deny("Bash(rm:*)");
        ((*command).to_owned(), case.judge(), Allow)
    }));
}

/// Each may open `.env` though no word says so.
#[test]
fn a_denied_file_is_not_opened_unseen() {
    let asked = [
        "cat \"$f\"",
        "cat $(cat list)",
        "cat < $f",
        "xargs cat < list",
        "xargs -a list cat",
        "ls | xargs cat",
        "git ls-files | xargs cat",
        "git ls-files | while read -r f; do cat \"$f\"; done",
        "find . -exec cat {} \\;",
        "find . -type f -name '*' -exec grep x {} +",
        "sha256sum -c sums",
        "md5sum --check sums",
        "b2sum -c sums",
        "cksum -c sums",
        "wc --files0-from=list",
        "du --files0-from=list",
        "sort --files0-from=list",
        "file -f list",
        "tar -cf - .",
        "tar -cf - -T list",
        "tar czf a.tgz src .",
        "zip -r a.zip .",
        "zip a.zip -@ < list",
        "rsync --files-from=list . /x/b",
        "rsync -a . /x/b",
        "cpio -o < list",
        "python3 -c 'print(open(\".env\").read())'",
        "perl -pe 1 list",
        "awk 'BEGIN { getline x < \".env\"; print x }'",
        "git log -p",
        "git log -p -- '*.env'",
        "git log -p -- ':(top).env'",
        "git diff",
        "git diff HEAD~1",
        "git show",
        "git show HEAD",
        "git stash show -p",
        "git cat-file -p HEAD~1",
        "git diff-tree -p HEAD",
        "git log -L1,5:x",
        "eval \"$x\"",
        "javac @list",
        "rg /x/* -g '!*.toml'",
        "rg --no-such-option x",
        "grep -r --no-such-option x src .",
        "diff -r --no-such-option a .",
        "cp -r --no-such-option . /x/b",
        "git archive HEAD",
        "git format-patch --stdout HEAD~3",
        "git log -p --no-such-option",
        "git add -p",
        "git commit -v",
        "git lg",
    ];
    for mode in [Mode::Default, Mode::BypassPermissions] {
        expect_all(asked.iter().map(|command| {
            let case = Case::bash(command).allow("Bash").deny("Read(./.env)").mode(mode);
            (format!("[{}] {command}", mode.name()), case.judge(), Ask)
        }));
    }
    let denied = [
        "git blame .env",
        "git show HEAD:.env",
        "git log -p -- .env",
        "tar cf - .env",
        "curl -T.env x",
        "docker run -v ./.env:/x y",
    ];
    expect_all(denied.iter().map(|command| {
        let case = Case::bash(command).allow("Bash").deny("Read(./.env)");
        ((*command).to_owned(), case.judge(), Deny)
    }));
    let free = [
        "git log --oneline",
        "git diff --stat",
        "git show --name-only",
        "git diff -- src/a.rs",
        "git log -p -- src/a.rs",
        "git status",
        "git blame src/a.rs",
        "git commit -m \"$message\"",
        "cargo build",
        "git add -A",
        "git fetch -p",
        "git branch -v",
        "git pull --rebase",
        "for f in a.txt b.txt; do mycat $f; done",
    ];
    expect_all(free.iter().map(|command| {
        let case = Case::bash(command).allow("Bash").deny("Read(./.env)");
        ((*command).to_owned(), case.judge(), Allow)
    }));
    let below = Case::bash("cd src && git log -p").repository("/p", "").deny("Read(./.env)");
    assert_eq!(below.verdict(), Ask);
    // A rule on what lies elsewhere cannot speak of what the repository keeps.
    let elsewhere = Case::bash("git diff").deny("Read(~/.ssh/**)");
    assert_eq!(elsewhere.verdict(), Allow);
}
