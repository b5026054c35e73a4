//! The grammar of rules as a table.

use std::collections::HashMap;

use ostler_stdx::AbsPath;

use super::*;
use crate::{Facts, Resolved};

fn rule(text: &str) -> Rule {
    text::parse(text, RuleSource::User).unwrap()
}

#[test]
fn lists_split_outside_parentheses() {
    for (list, want) in [
        ("Read,Edit", vec!["Read", "Edit"]),
        ("Read Edit", vec!["Read", "Edit"]),
        (" Read , , Edit ", vec!["Read", "Edit"]),
        ("Bash(git *)", vec!["Bash(git *)"]),
        ("Bash(git *),Read", vec!["Bash(git *)", "Read"]),
        ("Bash(a, b) Edit(c d)", vec!["Bash(a, b)", "Edit(c d)"]),
        ("Bash(echo (a) b),Read", vec!["Bash(echo (a) b)", "Read"]),
        ("Bash(open Read", vec!["Bash(open Read"]),
        ("a)b c", vec!["a)b", "c"]),
        ("", vec![]),
        ("mcp__s__t\nRead", vec!["mcp__s__t", "Read"]),
    ] {
        assert_eq!(split_rule_list(list), want, "{list}");
    }
}

#[test]
fn rules_parse_to_tool_and_pattern() {
    for (text, tool, pattern) in [
        ("Read", "Read", None),
        ("Read()", "Read", None),
        ("Read(*)", "Read", None),
        (" read ", "Read", None),
        ("TASK(x)", "Agent", Some("x")),
        ("KillBash", "TaskStop", None),
        ("KillShell", "TaskStop", None),
        ("ListMcpResources", "ListMcpResourcesTool", None),
        ("ReadMcpResource", "ReadMcpResourceTool", None),
        ("ReadMcpResourceDir", "ReadMcpResourceDirTool", None),
        ("Brief", "SendUserMessage", None),
        ("ListPeers", "ListAgents", None),
        ("ProposeGoal", "SetGoal", None),
        ("Bash(git *)", "Bash", Some("git *")),
        ("Bash(echo \\(a\\) \\\\)", "Bash", Some("echo (a) \\")),
        ("Bash(python -c \"print(1)\")", "Bash", Some("python -c \"print(1)\"")),
        ("mcp__srv", "mcp__srv", None),
        ("mcp__srv__*", "mcp__srv", None),
        ("mcp__srv(*)", "mcp__srv", None),
        ("Later", "Later", None),
    ] {
        let rule = rule(text);
        assert_eq!((rule.tool.as_str(), rule.pattern.as_deref()), (tool, pattern), "{text}");
    }
}

#[test]
fn what_is_no_rule_is_an_error_that_helps() {
    for (text, want) in [
        ("", "rule is empty; write `Tool` or `Tool(pattern)`"),
        ("Bash(x", "rule `Bash(x` has no closing parenthesis at its end; write `Tool(pattern)`"),
        (
            "Bash(x) y",
            "rule `Bash(x) y` has no closing parenthesis at its end; write `Tool(pattern)`",
        ),
        ("a b", "rule `a b` starts with no tool name; use letters, digits, `_` and `-`"),
        ("(x)", "rule `(x)` starts with no tool name; use letters, digits, `_` and `-`"),
        ("*", "rule `*` starts with no tool name; use letters, digits, `_` and `-`"),
        (
            "mcp__s__t(x)",
            "rule `mcp__s__t(x)` has a pattern that means nothing: arguments of MCP tools cannot be matched; write the tool alone",
        ),
        (
            "Read(!x)",
            "rule `Read(!x)` has a pattern that means nothing: a pattern cannot be negated; put the path into another list",
        ),
        (
            "WebFetch(domain:)",
            "rule `WebFetch(domain:)` has a pattern that means nothing: name a host after `domain:`",
        ),
    ] {
        let mut rules = Rules::default();
        let error = rules.add(Behavior::Allow, text, RuleSource::User).unwrap_err();
        assert_eq!(error.to_string(), want);
        assert!(rules.is_empty());
    }
}

fn facts() -> Facts {
    let abs = |path: &str| AbsPath::new(path).unwrap();
    let same = |path: &str| (abs(path), Resolved { real: abs(path), exists: true, is_dir: true });
    let mut facts = Facts::new(abs("/p"), abs("/home/u"));
    facts.resolved = HashMap::from([same("/p"), same("/home/u")]);
    facts
}

#[test]
fn path_patterns_match_as_gitignore_does() {
    // (pattern, path, denied, allowed)
    for (pattern, path, denied, allowed) in [
        (".env", "/p/.env", true, true),
        (".env", "/p/a/.env", true, true),
        (".env", "/p/.env.local", false, false),
        (".env", "/o/.env", false, false),
        ("./.env", "/p/.env", true, true),
        ("./.env", "/p/a/.env", false, false),
        ("*.pem", "/p/a/b.pem", true, true),
        ("*.pem", "/p/a.pem/b", true, false),
        ("src", "/p/src/a", true, true),
        ("src/", "/p/src/a", true, true),
        ("src/**", "/p/src/a/b", true, true),
        ("src/**", "/p/src", true, true),
        ("src/**", "/p/srcs/a", false, false),
        ("src/*", "/p/src/a", true, true),
        ("src/*", "/p/src/a/b", true, false),
        ("src/*.rs", "/p/src/a.rs", true, true),
        ("src/*.rs", "/p/src/a/b.rs", false, false),
        ("**/secret/*", "/p/x/secret/y", true, true),
        ("a?c", "/p/abc", true, true),
        ("//etc/**", "/etc/passwd", true, true),
        ("//etc/passwd", "/etc/passwd", true, true),
        ("//**", "/any/thing", true, true),
        ("~/x", "/home/u/x", true, true),
        ("~/x/**", "/home/u/x/y", true, true),
        ("~", "/home/u/x", true, true),
        ("/docs/**", "/p/docs/a", true, true),
        ("../other/**", "/other/a", true, true),
        ("src/../lib", "/p/lib", true, true),
        ("src/**/test", "/p/src/test", true, true),
        ("src/**/test", "/p/src/a/b/test", true, true),
    ] {
        let rule = rule(&format!("Read({pattern})"));
        let Pattern::Path(parsed) = &rule.parsed else { panic!("{pattern}") };
        let path = AbsPath::new(path).unwrap();
        assert_eq!(parsed.catches(&rule, &facts(), &path), denied, "deny {pattern} {path}");
        assert_eq!(parsed.allows(&rule, &facts(), &path), allowed, "allow {pattern} {path}");
    }
}

#[test]
fn a_leading_slash_means_the_root_of_the_settings_file() {
    let mut rules = Rules::default();
    let abs = |path: &str| AbsPath::new(path).unwrap();
    rules
        .add_from_file(
            Behavior::Allow,
            "Read(/docs/**)",
            RuleSource::User,
            abs("/home/u/.ostler/settings.json"),
            abs("/home/u"),
        )
        .unwrap();
    let (_, rule) = rules.iter().next().unwrap();
    let Pattern::Path(pattern) = &rule.parsed else { panic!("not a path") };
    assert!(pattern.allows(rule, &facts(), &abs("/home/u/docs/a")));
    assert!(!pattern.allows(rule, &facts(), &abs("/p/docs/a")));
}

#[test]
fn hosts_match_by_labels() {
    for (pattern, host, want) in [
        ("a.b", "a.b", true),
        ("a.b", "x.a.b", true),
        ("a.b", "xa.b", false),
        ("a.b", "a.b.evil", false),
        ("*.a.b", "x.a.b", true),
        ("*.a.b", "a.b", false),
        ("a.b", "", false),
        ("a.b", ".a.b", false),
    ] {
        assert_eq!(host_matches(pattern, host), want, "{pattern} {host}");
    }
}

#[test]
fn rules_are_removed_by_meaning_from_their_source() {
    let mut rules = Rules::default();
    rules.add(Behavior::Allow, "Task(x)", RuleSource::Session).unwrap();
    rules.add(Behavior::Allow, "Agent(x)", RuleSource::User).unwrap();
    rules.add(Behavior::Deny, "Agent(x)", RuleSource::Session).unwrap();
    assert_eq!(rules.remove(Behavior::Allow, "Agent(x)", RuleSource::Session), 1);
    assert_eq!(rules.iter().count(), 2);
    assert_eq!(rules.remove(Behavior::Allow, "Agent(x)", RuleSource::Session), 0);
    let mut more = Rules::default();
    more.add(Behavior::Ask, "Read", RuleSource::CliArg).unwrap();
    rules.merge(more);
    assert_eq!(rules.of(Behavior::Ask).count(), 1);
    assert_eq!(rules.clear(Behavior::Ask, RuleSource::CliArg), 1);
    assert_eq!(rules.clear_source(RuleSource::User), 1);
    assert_eq!(rules.iter().count(), 1);
}
