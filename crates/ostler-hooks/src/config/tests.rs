//! Both shapes of a hooks file, each hook type, and the mistakes that are told instead of obeyed.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::{Action, CommandAction, HttpAction, Shell};

fn source(file: &str, hooks: Value) -> Source {
    Source { file: file.to_owned(), is_managed: false, hooks }
}

fn one(hooks: Value) -> Parsed {
    parse(&[source("s.json", hooks)], Only::All)
}

fn commands(parsed: &Parsed) -> Vec<&str> {
    let command = |hook: &'_ Hook| match &hook.action {
        Action::Command(action) => Some(action.command.clone()),
        _ => None,
    };
    let all: Vec<_> = parsed.hooks.iter().filter_map(command).collect();
    all.into_iter().map(|text| &*text.leak()).collect()
}

#[test]
fn both_shapes_give_the_same_hooks() {
    let nested = one(json!({"PreToolUse": [
        {"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "a", "timeout": 5}, {"type": "command", "command": "b"}]},
        {"hooks": [{"type": "command", "command": "c"}]},
    ]}));
    let flat = one(json!({"PreToolUse": [
        {"matcher": "Bash|Edit", "command": "a", "timeout": 5},
        {"matcher": "Bash|Edit", "command": "b"},
        {"command": "c", "matcher": null},
    ]}));
    assert!(nested.warnings.is_empty() && flat.warnings.is_empty());
    for parsed in [nested, flat] {
        assert_eq!(commands(&parsed), ["a", "b", "c"]);
        let names: Vec<_> = parsed.hooks.iter().map(|hook| hook.name.as_str()).collect();
        assert_eq!(names, ["PreToolUse-0", "PreToolUse-1", "PreToolUse-2"]);
        assert_eq!(parsed.hooks[0].timeout, Some(Duration::from_secs(5)));
        assert!(!parsed.hooks[1].matcher.matches(Some("Read")));
        assert!(parsed.hooks[2].matcher.matches(Some("Read")));
    }
}

#[test]
fn every_field_arrives() {
    let parsed = one(json!({"PreToolUse": [{"hooks": [
        {"type": "command", "command": "p", "args": ["x", "y"], "shell": "powershell", "timeout": 0.5, "if": "Bash(git *)",
         "once": true, "async": true, "onFailure": "block", "statusMessage": "wait", "env": {"A": "1"}, "name": "n"},
        {"type": "http", "url": "http://localhost:1/x", "headers": {"X": "$T"}, "allowedEnvVars": ["T"]},
        {"type": "prompt", "prompt": "ok? $ARGUMENTS", "model": "m"},
        {"type": "agent", "prompt": "look"},
        {"type": "mcp_tool", "server": "s", "tool": "t"},
        {"command": "w", "asyncRewake": true},
    ]}]}));
    assert_eq!(parsed.warnings, Vec::<String>::new());
    let first = &parsed.hooks[0];
    assert_eq!(
        first.action,
        Action::Command(CommandAction {
            command: "p".to_owned(),
            args: Some(vec!["x".to_owned(), "y".to_owned()]),
            shell: Shell::PowerShell,
            env: vec![("A".to_owned(), "1".to_owned())],
        })
    );
    assert_eq!((first.name.as_str(), first.filter.as_deref()), ("n", Some("Bash(git *)")));
    assert!(first.once && first.in_background && first.blocks_on_failure && !first.wakes);
    assert_eq!(
        (first.status.as_deref(), first.timeout),
        (Some("wait"), Some(Duration::from_millis(500)))
    );
    assert_eq!(
        parsed.hooks[1].action,
        Action::Http(HttpAction {
            url: "http://localhost:1/x".to_owned(),
            headers: vec![("X".to_owned(), "$T".to_owned())],
            variables: vec!["T".to_owned()],
        })
    );
    let model = Some("m".to_owned());
    assert_eq!(
        parsed.hooks[2].action,
        Action::Prompt { prompt: "ok? $ARGUMENTS".to_owned(), model }
    );
    assert_eq!(parsed.hooks[3].action, Action::Unavailable { kind: "agent".to_owned() });
    assert_eq!(parsed.hooks[4].action, Action::Unavailable { kind: "mcp_tool".to_owned() });
    assert!(parsed.hooks[5].wakes && parsed.hooks[5].in_background);
}

#[test]
fn a_broken_entry_is_named_and_takes_no_other_down() {
    let table = [
        (json!({"Sometime": []}), "`hooks.Sometime`: there is no such event"),
        (json!({"Stop": {}}), "`hooks.Stop`: it must be a list"),
        (json!({"Stop": [1]}), "`hooks.Stop[0]`: it must be an object"),
        (json!({"Stop": [{"hooks": {}}]}), "`hooks.Stop[0].hooks`: it must be a list"),
        (json!({"Stop": [{"hooks": ["x"]}]}), "`hooks.Stop[0].hooks[0]`: it must be an object"),
        (
            json!({"Stop": [{"hooks": [{"type": "command"}]}]}),
            "`hooks.Stop[0].hooks[0]`: it has no `command`",
        ),
        (json!({"Stop": [{"command": "  "}]}), "it has no `command`"),
        (json!({"Stop": [{"command": 1}]}), "`command` must be a string"),
        (json!({"Stop": [{"type": "magic", "command": "x"}]}), "there is no hook type `magic`"),
        (json!({"Stop": [{"matcher": "(", "command": "x"}]}), "`matcher` `(`"),
        (json!({"Stop": [{"matcher": 1, "command": "x"}]}), "`matcher` must be a string"),
        (json!({"Stop": [{"type": "http"}]}), "it has no `url`"),
        (
            json!({"Stop": [{"type": "http", "url": "file:///etc/passwd"}]}),
            "must begin with `http://`",
        ),
        (json!({"Stop": [{"type": "http", "url": "nowhere"}]}), "is no address"),
        (json!({"Stop": [{"type": "prompt"}]}), "it has no `prompt`"),
        (json!({"Stop": [{"command": "x", "args": "y"}]}), "`args` must be a list"),
        (json!({"Stop": [{"command": "x", "args": [1]}]}), "`args` must be a list"),
        (json!({"Stop": [{"command": "x", "async": "yes"}]}), "`async` must be true or false"),
        (json!({"Stop": [{"command": "x", "onFailure": "explode"}]}), "`onFailure` `explode`"),
        (json!({"Stop": [{"command": "x", "shell": "fish"}]}), "there is no shell `fish`"),
        (json!({"Stop": [{"command": "x", "env": {"A": 1}}]}), "`env.A` must be a string"),
        (json!({"Stop": [{"command": "x", "if": 1}]}), "`if` must be a string"),
    ];
    for (mut hooks, warning) in table {
        hooks["PreToolUse"] = json!([{"command": "good"}]);
        let parsed = one(hooks.clone());
        assert_eq!(commands(&parsed), ["good"], "{hooks}");
        assert_eq!(parsed.warnings.len(), 1, "{hooks}");
        let said = &parsed.warnings[0];
        assert!(said.starts_with("`s.json`: `hooks.") && said.contains(warning), "{said}");
    }
    assert!(one(json!([])).warnings[0].contains("must be an object"));
}

#[test]
fn a_time_that_is_none_leaves_the_hook_in_force() {
    for timeout in [json!(-1), json!(0), json!("5"), json!(1e300)] {
        let parsed = one(json!({"Stop": [{"command": "x", "timeout": timeout}]}));
        assert_eq!((commands(&parsed).len(), parsed.hooks[0].timeout), (1, None));
        assert!(parsed.warnings[0].contains("usual one holds"), "{:?}", parsed.warnings);
    }
    let long = one(json!({"Stop": [{"command": "x", "timeout": 100_000}]}));
    assert_eq!(long.hooks[0].timeout_or(crate::DEFAULT_TIMEOUT), crate::MAX_TIMEOUT);
    assert!(long.warnings[0].contains("an hour holds"));
}

#[test]
fn the_stronger_file_replaces_an_entry_of_the_same_name() {
    let strong = source("strong", json!({"Stop": [{"name": "n", "command": "strong"}]}));
    let weak =
        source("weak", json!({"Stop": [{"name": "n", "command": "weak"}, {"command": "other"}]}));
    let parsed = parse(&[strong, weak], Only::All);
    assert_eq!(commands(&parsed), ["strong", "other"]);
}

#[test]
fn only_the_policys_hooks_or_none_count_where_settings_say_so() {
    let user = source("user", json!({"Stop": [{"command": "user"}]}));
    let managed =
        Source { is_managed: true, ..source("managed", json!({"Stop": [{"command": "managed"}]})) };
    let sources = [managed, user];
    for (only, expected) in [
        (Only::All, vec!["managed", "user"]),
        (Only::Managed, vec!["managed"]),
        (Only::Nothing, vec![]),
    ] {
        assert_eq!(commands(&parse(&sources, only)), expected);
    }
}
