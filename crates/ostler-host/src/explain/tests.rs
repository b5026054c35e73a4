//! One call for every stage, and the ways to write a call.

use ostler_test::TempHome;
use serde_json::json;

use super::*;
use crate::{Environment, HostOptions};

const SETTINGS: &str = r#"=== .ostler/settings.json
{
  "permissions": {
    "deny": ["Bash(rm:*)"],
    "ask": [
      "Bash(git push:*)"
    ],
    "allow": ["Bash(make:*)"]
  }
}
"#;

fn host(home: &TempHome) -> Host {
    let vars = home.env().into_iter().map(|(name, value)| (name.into(), value.into_os_string()));
    let env = Environment::new(vars, home.project());
    Host::open(HostOptions::new(env, std::env::current_exe().unwrap()))
}

fn explain(host: &Host, call: &str, mode: Option<Mode>) -> Result<Explained, RpcError> {
    let asking = Asking { call: call.to_owned(), cwd: host.env().cwd.clone(), mode };
    host.explain(&asking)
}

fn decided(explained: &Explained) -> (&'static str, &'static str) {
    let stages: Vec<_> = explained.stages.iter().filter(|stage| stage.decides).collect();
    assert_eq!(stages.len(), 1, "{explained:?}");
    (stages[0].name, explained.verdict)
}

#[test]
fn every_stage_can_decide() {
    let home = TempHome::with_project(SETTINGS).unwrap();
    let host = host(&home);
    let project = host.env().cwd.clone();
    host.store().trust(&project, &host.trust_report(&project).hash).unwrap();
    for (call, mode, name, verdict) in [
        ("Bash(rm x)", Mode::Default, "deny rules", "deny"),
        ("Bash(ls; rm x)", Mode::BypassPermissions, "deny rules", "deny"),
        ("Edit(a.rs)", Mode::Plan, "what the mode denies", "deny"),
        ("Bash(git push)", Mode::BypassPermissions, "ask rules", "ask"),
        ("Bash(git push)", Mode::DontAsk, "ask rules", "deny"),
        ("ExitPlanMode", Mode::Plan, "tools that talk to a person", "ask"),
        ("Bash(touch x)", Mode::BypassPermissions, "mode `bypassPermissions`", "allow"),
        ("Edit(.git/config)", Mode::AcceptEdits, "safety checks", "ask"),
        ("Bash(make all)", Mode::Default, "allow rules", "allow"),
        ("Bash(touch x)", Mode::Default, "the mode's default", "ask"),
        ("Read(a.rs)", Mode::Default, "the mode's default", "allow"),
        ("Edit(a.rs)", Mode::DontAsk, "the mode's default", "deny"),
        ("mcp__db__query", Mode::Default, "the mode's default", "ask"),
        ("WebFetch(https://example.com/a)", Mode::Default, "the mode's default", "ask"),
    ] {
        let explained = explain(&host, call, Some(mode)).unwrap();
        assert_eq!(decided(&explained), (name, verdict), "[{mode:?}] {call}: {explained:?}");
        let at = explained.stages.iter().position(|stage| stage.decides).unwrap();
        let later = &explained.stages[at + 1..];
        assert!(later.iter().all(|stage| stage.outcome == "not reached"), "{explained:?}");
    }
}

#[test]
fn a_rule_is_named_with_its_file_and_line_and_parts_with_their_own() {
    let home = TempHome::with_project(SETTINGS).unwrap();
    let host = host(&home);
    let explained = explain(&host, "Bash(ls && git push origin main)", None).unwrap();
    let stage = explained.stages.iter().find(|stage| stage.decides).unwrap();
    let rule = stage.rule.as_ref().unwrap();
    assert_eq!((rule.rule.as_str(), rule.line), ("Bash(git push:*)", Some(5)));
    assert!(rule.source.ends_with(".ostler/settings.json"), "{rule:?}");
    let parts: Vec<_> =
        explained.parts.iter().map(|part| (part.part.as_str(), part.verdict)).collect();
    assert_eq!(parts, [("ls", "allow"), ("git push origin main", "ask")]);
    assert_eq!(explained.parts[1].rule.as_ref().unwrap().line, Some(5));
    assert_eq!(explained.suggested, None, "a rule that allows would not be reached");
}

#[test]
fn rules_that_wait_for_trust_do_not_count_and_it_is_said() {
    let home = TempHome::with_project(SETTINGS).unwrap();
    let host = host(&home);
    let explained = explain(&host, "Bash(make)", None).unwrap();
    assert_eq!(explained.verdict, "ask");
    assert!(explained.warnings[0].contains("not trusted"), "{explained:?}");
}

#[test]
fn calls_are_written_as_rules_or_as_json() {
    let home = TempHome::with_project("").unwrap();
    let host = host(&home);
    let args = |call: &str| {
        let explained = explain(&host, call, None).unwrap();
        (explained.tool, explained.args)
    };
    let (tool, found) = args("bash(echo (a))");
    assert_eq!((tool.as_str(), &found["command"]), ("Bash", &json!("echo (a)")));
    assert_eq!(args("Read(//etc/hosts)").1["file_path"], "/etc/hosts");
    assert_eq!(args("Read(~/x)").1["file_path"], json!(host.env().home.join("x").to_text()));
    assert_eq!(args("WebFetch(domain:a.b)").1["url"], "https://a.b/");
    let (tool, found) = args(r#"Bash {"command": "ls", "timeout": 5}"#);
    assert_eq!((tool.as_str(), &found["timeout"]), ("Bash", &json!(5)));
}

#[test]
fn what_is_no_call_is_told_with_what_to_write() {
    let home = TempHome::with_project("").unwrap();
    let host = host(&home);
    for (call, says) in [
        ("", "begin with the name of a tool"),
        ("git status", "begin with the name of a tool"),
        ("Git(status)", "there is no tool `Git`"),
        ("Bash(ls", "does not end with `)`"),
        ("Bash(git:*)", "pattern of a rule"),
        ("Bash {command: ls}", "not a JSON object"),
        ("Bash {\"command\": 3}", "expected a string"),
        ("TodoWrite(x)", "has no argument that stands for the call"),
    ] {
        let error = explain(&host, call, None).unwrap_err();
        assert!(error.message.contains(says), "{call}: {error}");
        assert_eq!(error.code, ErrorKind::Usage.code(), "{call}");
    }
}

/// Every tool, with a call that would show a file, if it can; none if it reads no file that
/// a call names.
const READERS: &[(&str, &[&str])] = &[
    (
        "ApplyPatch",
        &[
            r#"{"patch": "*** Begin Patch\n*** Update File: secret.txt\n@@\n-s\n+t\n*** End Patch"}"#,
        ],
    ),
    ("AskUserQuestion", &[]),
    (
        "Bash",
        &[
            r#"{"command": "cat secret.txt"}"#,
            r#"{"command": "cat < secret.txt"}"#,
            r#"{"command": "cp secret.txt x"}"#,
            r#"{"command": "for f in s*.txt; do head \"$f\"; done"}"#,
            r#"{"command": "f=secret.txt; cat \"$f\""}"#,
            r#"{"command": "cat ./sub/../secret.txt"}"#,
            r#"{"command": "grep s link.txt"}"#,
            r#"{"command": "cat SECRET.TXT"}"#,
        ],
    ),
    ("Edit", &[r#"{"file_path": "secret.txt", "old_string": "s", "new_string": "t"}"#]),
    ("EnterPlanMode", &[]),
    ("EnterWorktree", &[]),
    ("ExitPlanMode", &[]),
    ("ExitWorktree", &[]),
    ("Glob", &[]),
    ("Grep", &[r#"{"pattern": "s", "path": "secret.txt"}"#]),
    ("LS", &[]),
    ("LSP", &[r#"{"operation": "hover", "file_path": "secret.txt", "line": 1, "character": 1}"#]),
    ("Monitor", &[r#"{"command": "tail -f secret.txt", "description": "d"}"#]),
    (
        "MultiEdit",
        &[r#"{"file_path": "secret.txt", "edits": [{"old_string": "s", "new_string": "t"}]}"#],
    ),
    ("NotebookEdit", &[r#"{"notebook_path": "secret.ipynb", "new_source": "x", "cell_id": "1"}"#]),
    ("Output", &[]),
    (
        "Read",
        &[
            r#"{"file_path": "secret.txt"}"#,
            r#"{"file_path": "link.txt"}"#,
            r#"{"file_path": "./sub/../secret.txt"}"#,
        ],
    ),
    ("Skill", &[]),
    ("TaskCreate", &[]),
    ("TaskGet", &[]),
    ("TaskList", &[]),
    ("TaskOutput", &[]),
    ("TaskStop", &[]),
    ("TaskUpdate", &[]),
    ("TodoWrite", &[]),
    ("WebFetch", &[]),
    ("WebSearch", &[]),
    ("Write", &[]),
];

#[test]
fn no_tool_reads_what_a_rule_keeps_from_being_read() {
    let home =
        TempHome::with_project("=== secret.txt\ns\n=== secret.ipynb\n{}\n=== sub/x\nx\n").unwrap();
    std::os::unix::fs::symlink("secret.txt", home.project().join("link.txt")).unwrap();
    let settings = r#"{"permissions": {"deny": ["Read(secret.*)"], "allow": ["Bash", "Edit", "Read", "LSP", "Monitor"]}}"#;
    std::fs::create_dir_all(home.ostler_home()).unwrap();
    std::fs::write(home.ostler_home().join("settings.json"), settings).unwrap();
    let host = host(&home);
    let tools = host.builtin_tools().unwrap();
    for tool in tools.iter() {
        let row = READERS.iter().find(|(name, _)| *name == tool.name());
        let (name, calls) = row.unwrap_or_else(|| panic!("say how `{}` reads files", tool.name()));
        for args in *calls {
            let call = format!("{name} {args}");
            let verdict = explain(&host, &call, Some(Mode::BypassPermissions)).unwrap().verdict;
            assert_eq!(verdict, "deny", "{call}");
        }
    }
}
