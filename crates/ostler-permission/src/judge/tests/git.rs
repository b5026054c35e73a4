//! Git commands that only read, in repositories that bring programs along.

use ostler_protocol::Mode;

use super::{Case, abs, expect_all};
use crate::{Facts, RuleSource, Verdict, Verdict::*};

const EVIL: &str = "[core]\n\tfsmonitor = ./evil\n";

#[test]
fn a_repository_that_brings_programs_is_asked_about() {
    for command in [
        "git status",
        "git diff",
        "git log --show-signature",
        "ls && git status --short | head",
        "git -C /p status",
        "timeout 5 git status",
        "echo $(git rev-parse HEAD)",
        "find . -name x -newer y; git show",
    ] {
        let judgement = Case::bash(command).repository("/p", EVIL).judge();
        assert_eq!(judgement.verdict, Ask, "{command}");
        assert!(judgement.reason.text.contains("`./evil`"), "{}", judgement.reason.text);
        assert!(!judgement.read_only, "{command}");
        let judgement = Case::bash(command).repository("/p", "[core] bare = false").judge();
        assert_eq!(judgement.verdict, Allow, "{command}: {}", judgement.reason.text);
    }
    // Modes that change nothing run nothing.
    let planned = Case::bash("git status").repository("/p", EVIL).mode(Mode::Plan);
    assert_eq!(planned.verdict(), Deny);
}

#[test]
fn the_repository_counts_that_git_finds_from_where_it_runs() {
    let case = |command| Case::bash(command).repository("/p", "").repository("/p/sub", EVIL);
    expect_all([
        ("here".into(), case("git status").judge(), Allow),
        ("cd".into(), case("cd sub && git status").judge(), Ask),
        ("-C".into(), case("git -C sub status").judge(), Ask),
        ("deeper".into(), case("git -C sub/a/b log").judge(), Ask),
        ("other".into(), case("cd other && git status").judge(), Allow),
        ("sh -c".into(), case("sh -c 'cd sub; git diff'").judge(), Ask),
    ]);
}

#[test]
fn nobody_looked_means_ask() {
    let facts = Facts::new(abs("/p"), abs("/home/u"));
    let case = Case::bash("git status");
    let judgement = crate::judge(&case.call(&facts));
    assert_ne!(judgement.verdict, Verdict::Allow);
}

#[test]
fn only_what_was_said_for_this_project_allows_it() {
    let case = |source, rule| {
        Case::bash("git status").repository("/p", EVIL).rule_from(source, rule).verdict()
    };
    for rule in ["Bash(git status:*)", "Bash(git status)", "Bash(git:*)"] {
        assert_eq!(case(RuleSource::User, rule), Ask, "{rule}");
        for source in [RuleSource::Session, RuleSource::Local, RuleSource::Project] {
            assert_eq!(case(source, rule), Allow, "{rule} {source:?}");
        }
    }
    assert_eq!(case(RuleSource::User, "Bash"), Allow);
    let bypass = Case::bash("git status").repository("/p", EVIL).mode(Mode::BypassPermissions);
    assert_eq!(bypass.verdict(), Allow);
}

#[test]
fn a_script_cannot_make_what_git_then_runs() {
    let case = |command: &str| {
        let case = Case::bash(command).repository("/p", "[core] hooksPath = hooks");
        (command.to_owned(), case.mode(Mode::AcceptEdits).judge())
    };
    let asks = [
        "cp x.sh hooks/post-index-change && git status",
        "cd sub; cp a.txt HEAD; mkdir objects refs; git status",
        "mkdir -p sub/objects; cd sub && git status",
        "cp -r seed sub; cd sub; git log",
        "mv seed sub; git -C sub status",
        "echo x > sub/config; git -C sub status",
    ];
    expect_all(asks.map(case).map(|(name, judgement)| (name, judgement, Ask)));
    let runs = [
        "sed -i s/a/b/ src/x.rs && git diff",
        "mv a.rs b.rs; cd src && git status",
        "mkdir -p sub/objects",
        "rm -rf target; git status",
        "cp -r a b && git status",
    ];
    expect_all(runs.map(case).map(|(name, judgement)| (name, judgement, Allow)));
}
