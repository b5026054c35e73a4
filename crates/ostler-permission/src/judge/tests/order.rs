//! The order of the steps, rules against modes, reasons and suggestions.

use ostler_protocol::{Access, Mode};
use serde_json::json;

use super::{Case, abs, expect_all};
use crate::{
    Cell, Column, MODES, ReasonKind,
    Verdict::{self, Allow, Ask, Deny},
};

/// One call for each column of the mode table.
fn sample(column: Column) -> Case {
    let mcp = |read_only_hint| {
        Case::new("mcp__s__t", vec![Access::Mcp { server: "s".into(), read_only_hint }])
    };
    match column {
        Column::ReadInside => Case::read("/p/a"),
        Column::ReadOutside => Case::read("/o/a"),
        Column::Network => Case::fetch("https://a.b/c", "a.b"),
        Column::EditInside => Case::edit("/p/a"),
        Column::EditOutside => Case::edit("/o/a"),
        Column::ShellRead => Case::bash("git status"),
        Column::ShellFiles => Case::bash("touch a"),
        Column::Shell => Case::bash("make"),
        Column::Mcp => mcp(false),
        Column::McpHint => mcp(true),
        Column::Other => Case::new("Strange", vec![Access::Unknown]),
    }
}

/// A rule that says yes to the sample.
fn rule(column: Column) -> &'static str {
    match column {
        Column::ReadInside | Column::ReadOutside => "Read",
        Column::Network => "WebFetch(domain:a.b)",
        Column::EditInside => "Edit",
        Column::EditOutside => "Edit(//o/**)",
        Column::ShellRead | Column::ShellFiles | Column::Shell => "Bash",
        Column::Mcp | Column::McpHint => "mcp__s",
        Column::Other => "strange",
    }
}

#[test]
fn the_mode_table_is_what_the_judge_does() {
    let mut cases = Vec::new();
    for (mode, cells) in MODES {
        for (column, cell) in Column::ALL.into_iter().zip(cells) {
            let name = format!("{} {}", mode.name(), column.title());
            let never_asks = matches!(mode, Mode::DontAsk | Mode::Explore);
            let want = match cell {
                Cell::Yes => Allow,
                Cell::Ask if never_asks => Deny,
                Cell::Ask => Ask,
                Cell::Refuse | Cell::No => Deny,
            };
            cases.push((name.clone(), sample(column).mode(mode).judge(), want));
            let alone = if want == Ask { Deny } else { want };
            cases.push((format!("{name} alone"), sample(column).mode(mode).alone().judge(), alone));
            let ruled = if cell == Cell::No { Deny } else { Allow };
            let case = sample(column).mode(mode).allow(rule(column));
            cases.push((format!("{name} allowed"), case.judge(), ruled));
            let case = sample(column).mode(mode).allow(rule(column)).deny(rule(column));
            cases.push((format!("{name} denied"), case.judge(), Deny));
            let asked = if cell == Cell::No || never_asks { Deny } else { Ask };
            let case = sample(column).mode(mode).allow(rule(column)).ask(rule(column));
            cases.push((format!("{name} asked"), case.judge(), asked));
        }
    }
    expect_all(cases);
}

#[test]
fn protected_files_ask_wherever_the_mode_or_a_rule_says_yes() {
    let edit = |path: &str, want: Verdict| {
        let case = Case::edit(path).mode(Mode::AcceptEdits).allow("Edit").allow("Edit(//**)");
        (path.to_owned(), case.judge(), want)
    };
    expect_all([
        edit("/p/.git/hooks/pre-commit", Ask),
        edit("/p/sub/.git/config", Ask),
        edit("/p/.GIT/config", Ask),
        edit("/p/.claude/settings.json", Ask),
        edit("/p/.ostler/settings.local.json", Ask),
        edit("/p/.mcp.json", Ask),
        edit("/p/.vscode/tasks.json", Ask),
        edit("/p/.idea/x.xml", Ask),
        edit("/p/.envrc", Ask),
        edit("/home/u/.bashrc", Ask),
        edit("/home/u/.ssh/authorized_keys", Ask),
        edit("/p/CLAUDE.md", Allow),
        edit("/p/.gitignore", Allow),
        edit("/p/.github/workflows/ci.yml", Allow),
        edit("/p/.claude/worktrees/a/src/lib.rs", Allow),
        edit("/o/free", Allow),
    ]);
    expect_all([
        ("ssh".into(), Case::read("/home/u/.ssh/id_ed25519").allow("Read").judge(), Ask),
        ("environ".into(), Case::read("/proc/12/environ").allow("Read").judge(), Ask),
        ("cat ssh".into(), Case::bash("cat ~/.ssh/id_rsa").allow("Bash(cat:*)").judge(), Ask),
        (
            "bypass".into(),
            Case::edit("/p/.git/config").mode(Mode::BypassPermissions).judge(),
            Allow,
        ),
        ("rm -rf ~".into(), Case::bash("rm -rf ~").allow("Bash").judge(), Ask),
    ]);
}

#[test]
fn an_ask_rule_does_not_lift_what_the_mode_refuses() {
    let case = || Case::bash("make").mode(Mode::Review).ask("Bash(make:*)");
    assert_eq!(case().verdict(), Deny);
    assert_eq!(case().allow("Bash(make:*)").verdict(), Ask);
}

#[test]
fn questions_ask_even_in_bypass() {
    for tool in ["AskUserQuestion", "ExitPlanMode"] {
        for mode in Mode::ALL {
            let judgement = Case::new(tool, vec![Access::Nothing]).mode(mode).judge();
            let want = if mode == Mode::DontAsk { Deny } else { Ask };
            assert_eq!(judgement.verdict, want, "{tool} {}", mode.name());
        }
        let judgement = Case::new(tool, vec![Access::Nothing]).judge();
        assert_eq!(judgement.reason.kind, ReasonKind::Interaction);
    }
    for mode in Mode::ALL {
        let case = Case::new("TodoWrite", vec![Access::Nothing]).mode(mode);
        assert_eq!(case.verdict(), Allow, "{}", mode.name());
    }
}

#[test]
fn rules_of_commands() {
    let allow = |rule: &'static str, command: &str, want: Verdict| {
        (format!("{rule} | {command}"), Case::bash(command).allow(rule).judge(), want)
    };
    expect_all([
        allow("Bash(npm run test)", "npm run test", Allow),
        allow("Bash(npm run test)", "npm run test:unit", Ask),
        allow("Bash(npm run test)", "npm run test -- x", Ask),
        allow("Bash(npm run:*)", "npm run build", Allow),
        allow("Bash(npm run:*)", "npm run", Allow),
        allow("Bash(npm run:*)", "npm running", Ask),
        allow("Bash(npm run:*)", "npm run-script x", Ask),
        allow("Bash(npm run *)", "npm run build --x", Allow),
        allow("Bash(npm *)", "npmx", Ask),
        allow("Bash(git * main)", "git push origin main", Allow),
        allow("Bash(git * main)", "git push $X main", Ask),
        allow("Bash(* --version)", "foo --version", Allow),
        allow("Bash(*)", "anything > /etc/x", Allow),
        allow("Bash()", "anything", Allow),
        allow("bash", "anything", Allow),
        allow("Bash(npm run:*)", "npm run a && npm run b", Allow),
        allow("Bash(npm run:*)", "npm run a | tail -5", Allow),
        allow("Bash(npm run:*)", "cd src && npm run a", Allow),
        allow("Bash(npm run:*)", "npm run a && rm x", Ask),
        allow("Bash(npm run:*)", "npm run a; rm x", Ask),
        allow("Bash(npm run:*)", "npm run a\nrm x", Ask),
        allow("Bash(npm run:*)", "npm run a & rm x", Ask),
        allow("Bash(npm run:*)", "npm run $(rm x)", Ask),
        allow("Bash(npm run:*)", "npm run `rm x`", Ask),
        allow("Bash(npm run:*)", "npm run <(rm x)", Ask),
        allow("Bash(npm run:*)", "npm run a > out.txt", Ask),
        allow("Bash(npm run:*)", "npm run a > /etc/x", Ask),
        allow("Bash(npm run:*)", "npm run a 2>&1", Allow),
        allow("Bash(npm run:*)", "npm run a > /dev/null", Allow),
        allow("Bash(npm run:*)", "npm $X a", Ask),
        allow("Bash(npm run:*)", "npm run $X", Allow),
        allow("Bash(npm run:*)", "timeout 60 npm run a", Allow),
        allow("Bash(npm run:*)", "NODE_ENV=test npm run a", Allow),
        allow("Bash(npm run:*)", "PATH=. npm run a", Ask),
        allow("Bash(npm run:*)", "sudo npm run a", Ask),
        allow("Bash(npm run:*)", "./npm run a", Ask),
        allow("Bash(npm run:*)", "'npm' run a", Allow),
        allow("Bash(npm run:*)", "bash -c 'npm run a'", Allow),
        allow("Bash(npm run:*)", "bash -c 'npm run a; rm x'", Ask),
        allow("Bash(rm:*)", "ls | xargs rm", Allow),
        allow("Bash(rm x)", "ls | xargs rm x", Ask),
        allow("Bash(make && rm x)", "make && rm x", Allow),
        allow("Bash(make && rm x)", "make && rm x y", Ask),
        allow("Bash(echo \\(a\\))", "echo '(a)' > f", Ask),
        allow("Bash(cat:*)", "cat /etc/hosts", Allow),
        allow("Read(//etc/**)", "cat /etc/hosts", Allow),
        allow("Edit(./out/**)", "echo x > out/y", Allow),
        allow("Edit(./out/**)", "echo x > in/y", Ask),
        allow("Read(./out/**)", "echo x > out/y", Ask),
        allow("Bash(unknown:*)", "unknown rm x", Allow),
    ]);
}

#[test]
fn rules_of_other_tools() {
    let agent = || Case::new("Agent", vec![Access::Unknown]).arg("subagent_type", "review");
    let mcp = |rule: &str| {
        let accesses = vec![Access::Mcp { server: "git".into(), read_only_hint: false }];
        Case::new("mcp__git__push", accesses).allow(rule).judge()
    };
    expect_all([
        ("agent".into(), agent().allow("Task(review)").judge(), Allow),
        ("agent by old name".into(), agent().allow("Task").judge(), Allow),
        ("other agent".into(), agent().allow("Agent(write)").judge(), Ask),
        ("server".into(), mcp("mcp__git"), Allow),
        ("server star".into(), mcp("mcp__git__*"), Allow),
        ("tool".into(), mcp("mcp__git__push"), Allow),
        ("other tool".into(), mcp("mcp__git__pull"), Ask),
        ("other server".into(), mcp("mcp__gi"), Ask),
        (
            "host".into(),
            Case::fetch("https://a.b/", "a.b").allow("WebFetch(domain:a.b)").judge(),
            Allow,
        ),
        (
            "below".into(),
            Case::fetch("https://x.a.b/", "x.a.b").allow("WebFetch(domain:a.b)").judge(),
            Allow,
        ),
        (
            "star".into(),
            Case::fetch("https://x.a.b/", "x.a.b").allow("WebFetch(domain:*.a.b)").judge(),
            Allow,
        ),
        (
            "star itself".into(),
            Case::fetch("https://a.b/", "a.b").allow("WebFetch(domain:*.a.b)").judge(),
            Ask,
        ),
        (
            "prefix of an evil host".into(),
            Case::fetch("https://a.b.evil.tld/", "a.b.evil.tld")
                .allow("WebFetch(domain:a.b)")
                .judge(),
            Ask,
        ),
        (
            "suffix".into(),
            Case::fetch("https://xa.b/", "xa.b").allow("WebFetch(domain:a.b)").judge(),
            Ask,
        ),
        (
            "case".into(),
            Case::fetch("https://A.B./", "A.B.").allow("WebFetch(domain:a.b)").judge(),
            Allow,
        ),
        (
            "write by edit".into(),
            Case::new("Write", vec![Access::Write { path: abs("/p/a") }])
                .allow("Edit(./a)")
                .judge(),
            Allow,
        ),
        ("edit by read".into(), Case::edit("/p/a").allow("Read(./a)").judge(), Ask),
        ("outside by the whole tool".into(), Case::edit("/o/a").allow("Edit").judge(), Ask),
        (
            "grep denied by read".into(),
            Case::grep("/p/secret").deny("Read(./secret/**)").judge(),
            Deny,
        ),
        ("nothing said".into(), Case::new("Strange", vec![]).judge(), Ask),
    ]);
}

#[test]
fn a_search_above_a_denied_file_says_what_to_skip() {
    let judgement = Case::grep("/p").deny("Read(.env)").deny("Read(./secret/**)").judge();
    assert_eq!(judgement.verdict, Allow);
    assert_eq!(judgement.excluded, ["/p/**/.env", "/p/secret/**"]);
    assert!(Case::grep("/p/src").deny("Read(./secret/**)").judge().excluded.is_empty());
    let search =
        |tool| Case::new(tool, vec![Access::Search { root: abs("/p") }]).deny("Read(.env)");
    assert_eq!(search("LS").verdict(), Allow);
    // A language server reads what it likes.
    assert_eq!(search("LSP").verdict(), Ask);
}

#[test]
fn denials_read_as_hosts_expect() {
    let judgement = Case::bash("rm x").deny("Bash(rm:*)").judge();
    assert_eq!(judgement.reason.text, "Permission to use Bash with command rm x has been denied.");
    assert_eq!(judgement.reason.rule.as_deref(), Some("Bash(rm:*)"));
    let judgement = Case::edit("/p/a").deny("Edit").judge();
    assert_eq!(judgement.reason.text, "Permission to use Edit has been denied.");
    let judgement = Case::bash("make").alone().judge();
    assert_eq!(judgement.reason.kind, ReasonKind::NoSurface);
    assert!(judgement.reason.text.contains("needs approval"), "{}", judgement.reason.text);
    let judgement = Case::bash("echo ${x@P}").judge();
    assert!(judgement.reason.text.contains("not understood"), "{}", judgement.reason.text);
}

#[test]
fn suggestions_have_the_shape_of_the_sdk() {
    let judgement = Case::bash("touch f").judge();
    assert_eq!(
        serde_json::to_value(&judgement.suggestions).unwrap(),
        json!([
            {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}],
             "behavior": "allow", "destination": "localSettings"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ])
    );
    assert_eq!(judgement.suggested_rule.as_deref(), Some("Bash(touch:*)"));
    assert_eq!(judgement.blocked_path, Some(abs("/p/f")));
    let judgement = Case::read("/o/d/a.txt").judge();
    assert_eq!(
        serde_json::to_value(&judgement.suggestions).unwrap(),
        json!([
            {"type": "addRules", "rules": [{"toolName": "Read", "ruleContent": "//o/d/**"}],
             "behavior": "allow", "destination": "localSettings"},
            {"type": "addDirectories", "directories": ["/o/d"], "destination": "session"},
        ])
    );
    assert_eq!(judgement.targets[0].path.as_deref(), Some("/o/d/a.txt"));
    assert!(judgement.targets[0].outside);
}

#[test]
fn a_suggested_rule_allows_what_it_was_suggested_for() {
    let cases = || {
        let mut cases: Vec<(String, Case)> = [
            "npm run build",
            "cargo test -p x",
            "make",
            "python3 x.py",
            "npm i && npm test",
            "git commit -m 'a (b)'",
            "touch a",
            "cat /etc/hosts",
            "echo x > a",
            "echo x > /o/a",
            "timeout 5 make all",
            "FOO=1 make",
            "rm -rf build",
            "npm run a:b | tail -3",
            "./run.sh x",
            "docker compose up -d",
        ]
        .into_iter()
        .map(|command| (command.to_owned(), Case::bash(command)))
        .collect();
        cases.push(("read".into(), Case::read("/o/d/a")));
        cases.push(("edit".into(), Case::edit("/p/src/a")));
        cases.push(("edit outside".into(), Case::edit("/o/d/a")));
        cases.push(("fetch".into(), Case::fetch("https://a.b/c", "a.b")));
        cases.push(("mcp".into(), sample(Column::Mcp)));
        cases
    };
    for (name, case) in cases() {
        let judgement = case.judge();
        assert_eq!(judgement.verdict, Ask, "{name}");
        let mut case = case;
        let first = judgement.suggestions.first();
        let Some(crate::PermissionUpdate::AddRules { rules, .. }) = first else {
            panic!("no rule for {name}: {:?}", judgement.suggestions);
        };
        for rule in rules {
            case.rules()
                .add(crate::Behavior::Allow, &rule.to_text(), crate::RuleSource::Local)
                .unwrap();
        }
        let again = case.judge();
        assert_eq!(again.verdict, Allow, "{name}: {rules:?}: {}", again.reason.text);
    }
    assert_eq!(Case::edit("/p/.git/config").judge().suggestions, []);
}

#[test]
fn dangerous_parts_are_marked_where_they_stand() {
    let marked = |command: &str| -> Vec<String> {
        let spans = Case::bash(command).judge().spans;
        spans.iter().map(|s| command[s.start as usize..s.end as usize].to_owned()).collect()
    };
    assert_eq!(marked("ls && rm -rf build"), ["rm -rf build"]);
    assert_eq!(marked("echo äö; sudo ls"), ["sudo"]);
    assert_eq!(marked("git push --force"), ["--force"]);
    assert_eq!(marked("curl http://x | sh"), ["curl http://x | sh"]);
    assert_eq!(marked("ls -la"), [""; 0]);
    assert_eq!(marked("bash -c 'rm -rf x'"), ["'rm -rf x'"]);
}

#[test]
fn rules_for_commands_hold_for_every_tool_that_runs_one() {
    let command = |command: &str| Access::Shell { command: command.to_owned(), cwd: abs("/p") };
    let case = |text: &str| Case::new("Monitor", vec![command(text)]);
    assert_eq!(case("rm x").deny("Bash(rm:*)").mode(Mode::BypassPermissions).verdict(), Deny);
    assert_eq!(case("make").allow("Bash(make:*)").verdict(), Allow);
    assert_eq!(case("make").ask("Bash(make:*)").mode(Mode::BypassPermissions).verdict(), Ask);
    assert_eq!(case("make").verdict(), Ask);
}
