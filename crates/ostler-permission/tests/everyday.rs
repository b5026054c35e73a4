//! How often the judge asks about commands that change nothing: `everyday.jsonl`, line by line.
//!
//! The list was chosen before the judge was tuned with it; lines are never taken out of it. A
//! line that is not as harmless as it looks is marked, says why, and is counted apart.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use ostler_permission::{Call, Facts, Repository, Resolved, Rules, Verdict, judge, look_ups};
use ostler_protocol::{Access, Mode};
use ostler_stdx::AbsPath;
use serde_json::Value;

/// The most questions per thousand harmless commands. It only ever goes down.
const CEILING_PER_THOUSAND: usize = 25;

/// How many of the marked commands run unasked. It only ever goes down.
const MARKED_UNASKED: usize = 1;

/// The fewest harmless commands that make a rate worth stating.
const FEWEST: usize = 500;

/// Files that have no dot in their names; every other name without one is a folder.
const FILES: &[&str] = &["README", "LICENSE", "Makefile", "Dockerfile", "Gemfile", "VERSION"];

/// Files that choose which compiler or interpreter runs, or what it loads first; this project
/// leaves that to the user.
const ABSENT: &[&str] = &[
    "rust-toolchain",
    "rust-toolchain.toml",
    "config",
    "config.toml",
    "go.mod",
    "go.work",
    "Gemfile.lock",
    "gems.locked",
    ".bundle",
    "ansible.cfg",
    ".erlang",
];

struct Line {
    command: String,
    harmless: bool,
}

fn lines() -> Vec<Line> {
    include_str!("everyday.jsonl")
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            for key in ["source", "ecosystem"] {
                assert!(value[key].as_str().is_some_and(|text| !text.is_empty()), "{line}");
            }
            let harmless = value["harmless"].as_bool().unwrap_or(true);
            assert_eq!(value["why"].is_string(), !harmless, "a marked line says why: {line}");
            Line { command: value["command"].as_str().unwrap().to_owned(), harmless }
        })
        .collect()
}

/// Judges a script in a project at `/srv/app` where every path leads to itself.
fn verdict(command: &str) -> (Verdict, String) {
    let project = AbsPath::new("/srv/app").unwrap();
    let home = AbsPath::new("/home/me").unwrap();
    let mut facts = Facts::new(project.clone(), home.clone());
    let accesses = [Access::Shell { command: command.to_owned(), cwd: project.clone() }];
    let found = look_ups(&accesses, &home);
    for folder in found.repositories {
        facts.repositories.insert(folder, Repository::default());
    }
    facts.globs.extend(found.globs.into_iter().map(|glob| (glob, Some(Vec::new()))));
    facts.walks.extend(found.walks.into_iter().map(|path| (path, Some(Vec::new()))));
    let mut paths = found.paths;
    paths.extend([project, home]);
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_dir = !FILES.contains(&name.as_str()) && !name.contains('.');
        let exists = !ABSENT.contains(&name.as_str());
        facts.resolved.insert(path.clone(), Resolved { real: path, exists, is_dir });
    }
    let judgement = judge(&Call {
        tool: "Bash",
        args: &serde_json::Map::new(),
        accesses: &accesses,
        mode: Mode::Default,
        rules: &Rules::default(),
        facts: &facts,
        can_ask: true,
    });
    (judgement.verdict, judgement.reason.text)
}

#[test]
fn few_everyday_commands_ask() {
    let lines = lines();
    let harmless: Vec<&Line> = lines.iter().filter(|line| line.harmless).collect();
    assert!(harmless.len() >= FEWEST, "{} commands", harmless.len());
    let mut asked = 0;
    for line in &harmless {
        let (verdict, reason) = verdict(&line.command);
        assert_ne!(verdict, Verdict::Deny, "no rule denies anything here: {}", line.command);
        if verdict == Verdict::Ask {
            asked += 1;
            println!("asks: {:?}\n      {}", line.command, reason.trim());
        }
    }
    let marked = lines.len() - harmless.len();
    let of = harmless.len();
    println!("false asks: {asked} of {of} ({:.1} %)", 100.0 * asked as f64 / of as f64);
    println!("counted apart: {marked} commands that can do more than they seem to");
    assert!(asked * 1000 <= CEILING_PER_THOUSAND * of, "{asked} of {of} harmless commands ask");
}

#[test]
fn what_only_looks_harmless_asks() {
    let allowed: Vec<String> = lines()
        .into_iter()
        .filter(|line| !line.harmless && verdict(&line.command).0 == Verdict::Allow)
        .map(|line| line.command)
        .collect();
    assert!(allowed.len() <= MARKED_UNASKED, "these run unasked: {allowed:#?}");
}

#[test]
fn no_command_is_in_the_list_twice() {
    let mut commands: Vec<String> = lines().into_iter().map(|line| line.command).collect();
    let all = commands.len();
    commands.sort();
    commands.dedup();
    assert_eq!(commands.len(), all);
}
