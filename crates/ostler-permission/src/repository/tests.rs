//! Which settings of a repository make git run programs, and how its configuration is read.

use super::*;

fn setting(key: &str, value: &str) -> GitSetting {
    GitSetting { key: key.into(), value: Some(value.into()) }
}

fn runs(text: &str) -> Option<String> {
    let settings = git_settings(text).unwrap();
    Repository { settings, ..Repository::default() }.runs()
}

#[test]
fn files_are_read_as_git_reads_them() {
    let text = "\u{feff}# c\n[core]\n\tbare = false ; c\n  FileMode\n[Remote \"a\\\"b.C\"] Url = x # y\r\n[old.Sub]\nk = \"a # b\" c  \n[x]k=a\\\n  b\\tc\\\\\n";
    let want = [
        setting("core.bare", "false"),
        GitSetting { key: "core.filemode".into(), value: None },
        setting("remote.a\"b.C.url", "x"),
        setting("old.sub.k", "a # b c"),
        setting("x.k", "a  b\tc\\"),
    ];
    assert_eq!(git_settings(text).unwrap(), want);
    assert_eq!(want[2].parts(), ("remote", "a\"b.C", "url"));
}

#[test]
fn what_is_not_understood_is_an_error() {
    for text in [
        "key = value",
        "[core",
        "[core\nbare",
        "[]",
        "[a_b]",
        "[core \"x]",
        "[core x]",
        "[core]\nbare false",
        "[core]\n_x = 1",
        "[core]\nx = \"open",
        "[core]\nx = a\\q",
        "[core]\nx = a\0b",
        "[core]\nx = a\rb",
        "[core]\n<<<<<<< ours",
    ] {
        assert!(git_settings(text).is_err(), "{text:?}");
    }
}

#[test]
fn what_runs_on_a_command_that_only_reads_is_named() {
    for (text, want) in [
        ("[core]\nfsmonitor = ./evil", "`./evil` on this command (`core.fsmonitor`)"),
        ("[CORE]\nFSMonitor = evil", "`evil`"),
        ("[core] pager = evil", "`evil`"),
        ("[core] pager = less -o x", "`less -o x`"),
        ("[pager] log = evil", "`evil`"),
        ("[diff] external = evil", "`evil`"),
        ("[diff \"x\"] command = evil", "`diff.x.command`"),
        ("[diff \"x.y\"] textconv = evil", "`diff.x.y.textconv`"),
        ("[filter \"x\"] clean = evil", "`evil`"),
        ("[filter \"x\"] smudge = evil", "`evil`"),
        ("[filter \"x\"] process = evil", "`evil`"),
        ("[filter.x] clean = evil", "`evil`"),
        ("[gpg] program = evil", "`evil`"),
        ("[gpg \"ssh\"] program = evil", "`evil`"),
        ("[merge \"x\"] driver = evil", "`evil`"),
        ("[interactive] diffFilter = evil", "`evil`"),
        ("[core] alternateRefsCommand = evil", "`evil`"),
        ("[hook \"x\"] command = evil", "`evil`"),
        ("[trailer \"x\"] cmd = evil", "`evil`"),
        ("[lfs \"extension.x\"] clean = evil", "`evil`"),
        ("[unheard] of = !evil", "`!evil`"),
        ("[unheard] credentialHelper = evil", "`evil`"),
        ("[include] path = ../x", "settings from `../x`"),
        ("[includeIf \"gitdir:~/\"] path = ../x", "settings from `../x`"),
        ("[core] worktree = /home/me", "files of `/home/me`"),
        ("[remote \"o\"] promisor = true", "from the network"),
        ("[remote \"o\"] promisor", "from the network"),
        ("[extensions] partialClone = o", "from the network"),
        ("[core] sshCommand = evil\n[remote \"o\"] promisor = true", "`evil`"),
        ("[credential] helper = evil\n[remote \"o\"] promisor = true", "`evil`"),
    ] {
        let found = runs(text);
        assert!(found.as_ref().is_some_and(|found| found.contains(want)), "{text}: {found:?}");
    }
}

#[test]
fn ordinary_settings_run_nothing() {
    for text in [
        "",
        "[core]\nrepositoryformatversion = 0\nfilemode = true\nbare = false\nlogallrefupdates = true\nignorecase = true\nprecomposeunicode = true",
        "[core] fsmonitor = true\n[core] untrackedCache",
        "[core] fsmonitor",
        "[core] pager = less -FRX",
        "[pager] branch = false",
        "[core] hooksPath = .husky/_",
        "[core] editor = code --wait",
        "[alias] st = !evil",
        "[remote \"origin\"] url = git@host:x/y.git\nfetch = +refs/heads/*:refs/remotes/origin/*",
        "[branch \"main\"] remote = origin\nmerge = refs/heads/main\nrebase = true",
        "[core] sshCommand = ssh -i key\n[credential] helper = store",
        "[submodule \"x\"] active = true\nurl = ../x\nupdate = !evil",
        "[user] name = A\nemail = a@b\nsigningkey = X",
        "[commit] gpgsign = true\n[filter \"x\"] required = true",
        "[gitflow \"branch\"] master = main\n[gitflow \"path\"] hooks = /p/.git/hooks",
        "[remote \"o\"] promisor = false",
    ] {
        assert_eq!(runs(text), None, "{text}");
    }
}

#[test]
fn a_doubt_and_a_hook_speak_first() {
    let doubt = Repository { doubt: Some("why".into()), ..Repository::default() };
    assert!(doubt.runs().unwrap().ends_with("runs: why"));
    let hook = Repository { hook: Some(AbsPath::root().join("h")), ..Repository::default() };
    assert!(hook.runs().unwrap().ends_with("runs `/h`"));
}
