//! Facts gathered from a real disk, and the verdicts that come of them; nothing is judged here
//! that the judge's own tests can show without a disk.

use std::{
    os::unix::fs::symlink,
    process::{Command, Stdio},
    time::Instant,
};

use ostler_permission::{Behavior, Call, Judgement, RuleSource, Rules, Verdict, judge};
use ostler_protocol::Mode;

use super::*;

/// A project in a folder of its own, beside it a folder that is outside, and a home.
struct Place {
    dir: tempfile::TempDir,
    disk: Disk,
    mode: Mode,
    rules: Rules,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["project", "outside", "home"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let (disk, rules) = (Disk::default(), Rules::default());
        Self { dir, disk, mode: Mode::Default, rules }
    }

    fn at(&self, path: &str) -> AbsPath {
        AbsPath::new(self.dir.path().canonicalize().unwrap().join(path)).unwrap()
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.as_path().parent().unwrap()).unwrap();
        std::fs::write(path.as_path(), text).unwrap();
    }

    fn deny(mut self, rule: &str) -> Self {
        self.rules.add(Behavior::Deny, rule, RuleSource::User).unwrap();
        self
    }

    fn link(&self, from: &str, to: &str) {
        let from = self.at(from);
        std::fs::create_dir_all(from.as_path().parent().unwrap()).unwrap();
        symlink(to, from.as_path()).unwrap();
    }

    fn judge(&self, command: &str) -> Judgement {
        let project = self.at("project");
        let accesses = [Access::Shell { command: command.into(), cwd: project.clone() }];
        let facts = self.disk.gather(&accesses, Facts::new(project, self.at("home")));
        judge(&Call {
            tool: "Bash",
            args: &serde_json::Map::new(),
            accesses: &accesses,
            mode: self.mode,
            rules: &self.rules,
            facts: &facts,
            can_ask: true,
        })
    }

    #[track_caller]
    fn expect(&self, command: &str, verdict: Verdict) {
        let judgement = self.judge(command);
        assert_eq!(judgement.verdict, verdict, "{command}: {}", judgement.reason.text);
    }

    #[expect(clippy::disallowed_methods, reason = "git makes the repositories of these tests")]
    fn git(&self, folder: &str, args: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(self.at(folder).as_path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env_remove("GIT_DIR")
            .env_remove("GIT_INDEX_FILE")
            .env_remove("GIT_WORK_TREE")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(done.success(), "{args:?}");
    }

    fn repository(&self, folder: &str) {
        std::fs::create_dir_all(self.at(folder).as_path()).unwrap();
        self.git(folder, &["init", "-q"]);
        self.file(&format!("{folder}/a.txt"), "a");
        self.git(folder, &["add", "."]);
        self.git(folder, &["commit", "-q", "-m", "x"]);
    }
}

#[test]
fn dangling_links_lead_from_where_they_lie_and_circles_lead_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let at = |path: &str| AbsPath::new(base.join(path)).unwrap();
    std::fs::create_dir_all(base.join("project/x/y")).unwrap();
    symlink(base.join("project"), base.join("project/x/y/z")).unwrap();
    symlink("../evil", base.join("project/f")).unwrap();
    assert_eq!(resolve(&at("project/x/y/z/f")).real, at("evil"));
    assert_eq!(resolve(&at("project/f/below")).real, at("evil/below"));
    symlink("loop", base.join("project/loop")).unwrap();
    symlink("b", base.join("project/a")).unwrap();
    symlink("a", base.join("project/b")).unwrap();
    for circle in ["project/loop", "project/a", "project/a/below"] {
        let real = resolve(&at(circle)).real;
        assert!(!real.is_within(&at("project")), "{circle}: {real}");
    }
    assert_eq!(resolve(&at("project/new/file")).real, at("project/new/file"));
}

#[test]
fn git_runs_unasked_in_an_ordinary_repository() {
    let place = Place::new();
    place.repository("project");
    std::fs::create_dir(place.at("project/sub").as_path()).unwrap();
    for command in [
        "git status",
        "git diff",
        "git log --show-signature",
        "git -C sub status",
        "cd sub && git log",
        "git show HEAD:a.txt",
    ] {
        place.expect(command, Verdict::Allow);
    }
    place.git("project", &["config", "core.hooksPath", ".husky/_"]);
    place.git("project", &["remote", "add", "origin", "https://a.b/c"]);
    place.expect("git status", Verdict::Allow);
}

#[test]
fn git_asks_where_the_repository_brings_a_program() {
    for (key, value) in [
        ("core.fsmonitor", "./evil"),
        ("core.pager", "./evil"),
        ("diff.external", "./evil"),
        ("diff.x.textconv", "./evil"),
        ("filter.x.clean", "./evil"),
        ("gpg.program", "./evil"),
        ("core.worktree", "/"),
        ("include.path", "../cfg"),
        ("remote.o.promisor", "true"),
    ] {
        let place = Place::new();
        place.repository("project");
        place.git("project", &["config", key, value]);
        for command in ["git status", "git diff", "git log --show-signature"] {
            place.expect(command, Verdict::Ask);
        }
    }
}

#[test]
fn a_configuration_that_cannot_be_understood_asks() {
    let place = Place::new();
    place.repository("project");
    for text in ["[core", "[core]\nx = \"open", "key = value", "[core]\nx = a\0b"] {
        place.file("project/.git/config", text);
        place.expect("git status", Verdict::Ask);
    }
    std::fs::remove_file(place.at("project/.git/config").as_path()).unwrap();
    place.expect("git status", Verdict::Allow);
    symlink("nowhere", place.at("project/.git/config").as_path()).unwrap();
    place.expect("git status", Verdict::Ask);
}

#[test]
fn a_hook_that_reading_commands_run_asks() {
    let place = Place::new();
    place.repository("project");
    place.file("project/.git/hooks/pre-commit", "x");
    place.expect("git status", Verdict::Allow);
    place.file("project/hooks/post-index-change", "x");
    place.expect("git status", Verdict::Allow);
    place.git("project", &["config", "core.hooksPath", "hooks"]);
    place.expect("git status", Verdict::Ask);
    place.git("project", &["config", "core.hooksPath", "elsewhere"]);
    place.expect("git status", Verdict::Allow);
    place.file("project/.git/hooks/post-index-change", "x");
    place.expect("git status", Verdict::Ask);
}

#[test]
fn a_folder_made_to_look_like_a_repository_counts_as_one() {
    let place = Place::new();
    place.repository("project");
    place.git("project", &["init", "-q", "--bare", "docs/example"]);
    place.expect("git -C docs/example log", Verdict::Allow);
    place.git("project/docs/example", &["config", "core.fsmonitor", "./evil"]);
    place.git("project/docs/example", &["config", "core.bare", "false"]);
    for command in ["cd docs/example && git status", "git -C docs/example/refs/heads status"] {
        place.expect(command, Verdict::Ask);
    }
    place.expect("git status", Verdict::Allow);
    // A `.git` file that points to it.
    place.file("project/other/.git", "gitdir: ../docs/example\n");
    place.expect("git -C other status", Verdict::Ask);
    place.file("project/other/.git", "what is this");
    place.expect("git -C other status", Verdict::Ask);
    // Parts of one, which git passes over.
    place.file("project/half/HEAD", "");
    std::fs::create_dir(place.at("project/half/refs").as_path()).unwrap();
    place.file("project/half/config", "[core]\nfsmonitor = ./evil");
    place.expect("git -C half status", Verdict::Ask);
}

#[test]
fn linked_work_trees_read_the_settings_of_both_folders() {
    let place = Place::new();
    place.repository("outside");
    place.git("outside", &["worktree", "add", "-q", "../project/tree"]);
    place.expect("git -C tree status", Verdict::Allow);
    place.git("outside", &["config", "extensions.worktreeConfig", "true"]);
    place.git("project/tree", &["config", "--worktree", "core.fsmonitor", "./evil"]);
    place.expect("git -C tree status", Verdict::Ask);
    place.git("project/tree", &["config", "--worktree", "--unset", "core.fsmonitor"]);
    place.expect("git -C tree status", Verdict::Allow);
    place.git("outside", &["config", "core.fsmonitor", "./evil"]);
    place.expect("git -C tree status", Verdict::Ask);
}

#[test]
fn submodules_that_git_enters_count() {
    for version in ["2", "3", "4"] {
        let place = Place::new();
        place.repository("outside");
        place.repository("project");
        place.git("project", &["submodule", "--quiet", "add", "../outside", "deep/er/sub"]);
        place.git("project", &["update-index", "--index-version", version]);
        place.expect("git status", Verdict::Allow);
        place.expect("git -C deep/er/sub status", Verdict::Allow);
        place.git("project/deep/er/sub", &["config", "core.fsmonitor", "./evil"]);
        place.expect("git status", Verdict::Ask);
        place.git("project", &["update-index", "--split-index"]);
        place.expect("git status", Verdict::Ask);
        place.file("project/.git/index", "what is this");
        place.git("project/deep/er/sub", &["config", "--unset", "core.fsmonitor"]);
        place.expect("git status", Verdict::Ask);
    }
}

#[test]
fn links_that_globs_and_walks_meet_are_followed() {
    let place = Place::new();
    place.file("outside/secret", "s");
    place.file("project/a/x.rs", "x");
    place.file("project/b/y.rs", "y");
    place.link("project/out", "../outside");
    place.link("project/c/deep/link.rs", "../../../outside/secret");
    place.link("project/d/to-c", "../c");
    place.link("project/b/in", "../a");
    for command in [
        "cat */secret",
        "cat out*/secret",
        "cat */*/*.rs",
        "head c/*/link.rs",
        "grep -R x .",
        "grep -R x c",
        "grep -R x d*",
        "find -L d -name x",
        "rg -L x c",
        "tree -l c",
        "diff -r a c",
        "ls -RL d",
    ] {
        place.expect(command, Verdict::Ask);
    }
    for command in [
        "cat */*.rs",
        "cat a/* b/*.rs",
        "cat [ab]/?.rs",
        "grep -R x a b",
        "grep -r x .",
        "find . -name x",
        "find -L b",
        "rg x",
        "tree",
        "diff -r a b",
    ] {
        place.expect(command, Verdict::Allow);
    }
}

#[test]
fn rules_that_deny_reading_hold_for_what_globs_and_walks_meet() {
    let place = Place::new().deny("Read(.env)");
    place.file("project/.env", "s");
    place.link("project/a/innocent", "../.env");
    place.file("project/b/x", "x");
    for command in ["cat .e*", "cat a/*", "cat */innocent", "grep -R x a", "python3 a/i*"] {
        place.expect(command, Verdict::Deny);
    }
    place.expect("grep -r x .", Verdict::Ask);
    place.expect("cat b/*", Verdict::Allow);
}

#[test]
fn names_that_a_listing_prints_lead_where_the_files_lead() {
    let readers = [
        "find src -type f | xargs cat",
        "find src -exec cat {} +",
        "grep -rl x src | xargs head -1",
        "for f in $(find src -type f); do cat $f; done",
        "find src | while read -r f; do wc -l < \"$f\"; done",
        "git ls-files | xargs wc -l",
    ];
    let place = Place::new();
    place.repository("project");
    place.file("project/src/a.rs", "x\n");
    for command in readers {
        place.expect(command, Verdict::Allow);
    }
    // A name that is taken apart would name another file.
    place.file("project/src/a /etc/hosts", "x\n");
    for command in readers {
        place.expect(command, Verdict::Ask);
    }
    let place = Place::new();
    place.repository("project");
    place.file("outside/secret", "x\n");
    place.link("project/src/b.rs", "../../outside/secret");
    for command in readers {
        place.expect(command, Verdict::Ask);
    }
}

#[test]
fn a_file_that_chooses_the_compiler_asks() {
    let place = Place::new();
    place.expect("cargo --version", Verdict::Allow);
    place.expect("rustc -vV", Verdict::Allow);
    place.file("project/rust-toolchain.toml", "[toolchain]\npath = \"./evil\"\n");
    place.expect("cargo --version", Verdict::Ask);
    place.expect("cd sub && rustc -vV", Verdict::Ask);
}

#[test]
fn more_entries_than_are_looked_at_ask() {
    let place = Place::new();
    for at in 0..entries::MAX_ENTRIES {
        place.file(&format!("project/many/{at}"), "");
    }
    place.expect("ls many/*", Verdict::Allow);
    place.file("project/many/one-more", "");
    place.expect("ls many/*", Verdict::Ask);
    place.expect("grep -R x many", Verdict::Ask);
    place.expect("ls many", Verdict::Allow);
    place.expect("grep -r x many", Verdict::Allow);
}

#[test]
fn facts_of_a_plain_command_are_gathered_quickly() {
    let place = Place::new();
    place.repository("project");
    place.judge("git status");
    let accesses = [Access::Shell { command: "git status".into(), cwd: place.at("project") }];
    let gather = || {
        let facts = Facts::new(place.at("project"), place.at("home"));
        let start = Instant::now();
        place.disk.gather(&accesses, facts);
        start.elapsed()
    };
    // The quickest of many: a busy machine slows single ones.
    let best = (0..50).map(|_| gather()).min().unwrap();
    println!("facts of `git status`: {best:?}");
    assert!(best.as_micros() < 1000, "{best:?}");
}
