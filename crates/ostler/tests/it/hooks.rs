//! Hooks that misbehave in every way, through the whole program: the turn goes on within
//! its hook's time, nothing of them is left, and no file.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::World;

const ANSWER: &str = r#"[{"repeat": true, "steps": [{"text": "Done."}]}]"#;

/// A model that makes this call a number of times.
fn calls(command: &str, times: usize) -> String {
    let call = json!({"steps": [{"toolUse": {"name": "Bash", "input": {"command": command}}}]});
    let mut replies = vec![call; times];
    replies.push(json!({"repeat": true, "steps": [{"text": "Done."}]}));
    Value::Array(replies).to_string()
}

fn settings(world: &World, settings: &Value) {
    let home = world.home.ostler_home();
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("settings.json"), settings.to_string()).unwrap();
}

/// Settings with one hook before each command, of at most a second.
fn before_bash(command: &str) -> Value {
    json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": command, "timeout": 1}]}]}})
}

/// Processes whose command line holds this.
fn left(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(mark) && !line.contains("ostler"))
        .collect()
}

/// What the log says of the hook that ran.
fn hook(world: &World) -> Value {
    let log = fs::read_to_string(world.log()).unwrap();
    let mut lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find(|line| line["kind"] == "hook").unwrap()
}

#[test]
fn whatever_a_hook_does_the_turn_goes_on() {
    // Seconds of sleep that nothing else on the machine sleeps.
    let mark = format!("86{}", std::process::id());
    let megabyte = r#"head -c 1000000 /dev/zero | tr '\0' x | sed 's/.*/{"systemMessage":"&"}/'"#;
    for (name, command, outcome, blocked) in [
        ("reads to the end", "cat".to_owned(), "success", false),
        ("reads nothing", "exec <&-; echo '{}'".to_owned(), "success", false),
        ("runs for ever", "while :; do :; done".to_owned(), "error", false),
        ("ignores the end", "trap '' TERM; while :; do :; done".to_owned(), "error", false),
        ("a child holds the output", format!("sleep {mark} & echo '{{}}'"), "success", false),
        ("a child of its own session", format!("setsid sleep {mark} & exit 0"), "success", false),
        ("a reply of a megabyte", megabyte.to_owned(), "success", false),
        ("more than it may say", "head -c 9000000 /dev/zero".to_owned(), "error", false),
        ("no UTF-8", r"printf '\377\376{\200}'".to_owned(), "success", false),
        (
            "broken UTF-8 in JSON",
            r#"printf '{"systemMessage":"\377"}'"#.to_owned(),
            "success",
            false,
        ),
        ("code 0", "exit 0".to_owned(), "success", false),
        ("code 1", "exit 1".to_owned(), "error", false),
        ("code 2", "exit 2".to_owned(), "success", true),
        ("code 77", "exit 77".to_owned(), "error", false),
        ("a signal", "kill -SEGV $$".to_owned(), "error", false),
        ("no such command", "/no/such/command".to_owned(), "error", false),
    ] {
        let world = World::saying(&calls("cat greet.sh", 1));
        settings(&world, &before_bash(&command));
        let started = Instant::now();
        let ran = world.run(&["-p", "go", "--output-format", "stream-json"]).exits(0);
        let took = started.elapsed();
        assert!(took < Duration::from_secs(20), "{name}: {took:?}");
        let frames = ran.lines();
        let result = frames.iter().find(|frame| frame["type"] == "result").unwrap();
        assert_eq!(result["result"], "Done.", "{name}: {result}");
        let user = frames.iter().find(|frame| frame["type"] == "user").unwrap();
        assert_eq!(user["message"]["content"][0]["is_error"], blocked, "{name}: {user}");
        let hook = hook(&world);
        assert_eq!(hook["outcome"], outcome, "{name}: {hook}");
        assert_eq!(hook["blocked"].is_string(), blocked, "{name}: {hook}");
        assert!(left(&mark).is_empty(), "{name}: {:?}", left(&mark));
        world.model.assert_clean();
    }
}

#[test]
fn a_hook_that_hangs_at_any_event_ends_with_its_time() {
    for event in [
        "SessionStart",
        "UserPromptSubmit",
        "TurnStart",
        "PreToolUse",
        "PermissionRequest",
        "PermissionDenied",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Stop",
        "TurnEnd",
        "SessionEnd",
    ] {
        let world = World::saying(&calls("cat greet.sh; touch made", 1));
        let entry = json!({"command": "sleep 600", "timeout": 0.2});
        settings(&world, &json!({"hooks": {event: [entry]}}));
        let ran = world.run(&["-p", "go"]).exits(0);
        assert_eq!(ran.out, "Done.\n", "{event}");
    }
}

/// Everything in a folder and below.
fn files(folder: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        into.push(entry.path().display().to_string());
        if entry.path().is_dir() {
            files(&entry.path(), into);
        }
    }
}

#[test]
fn two_thousand_runs_of_hooks_leave_no_file() {
    const HOOKS: usize = 50;
    const CALLS: usize = 20;
    let world = World::saying(&calls("cat greet.sh", CALLS));
    let temp = world.home.home().join("temp");
    fs::create_dir_all(&temp).unwrap();
    // No two do the same; of those only one would run.
    let hooks: Vec<_> = (0..HOOKS)
        .map(|at| json!({"type": "command", "command": "true", "args": [at.to_string()]}))
        .collect();
    let group = json!([{ "hooks": hooks }]);
    settings(&world, &json!({"hooks": {"PreToolUse": group, "PostToolUse": group}}));
    let mut command = world.ostler(&["-p", "go"]);
    command.env("TMPDIR", &temp);
    let ran = crate::support::Ran::of(command.output().unwrap()).exits(0);
    assert_eq!(ran.out, "Done.\n");
    let log = fs::read_to_string(world.log()).unwrap();
    let runs = log.lines().filter(|line| line.contains(r#""kind":"hook""#)).count();
    assert_eq!(runs, 2 * HOOKS * CALLS);
    let mut found = Vec::new();
    files(&temp, &mut found);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_trace_tells_of_hooks() {
    let world = World::saying(ANSWER);
    settings(&world, &json!({"hooks": {"Stop": [{"name": "check", "command": "exit 1"}]}}));
    world.run(&["-p", "go"]).exits(0);
    let session = world.log().file_stem().unwrap().to_str().unwrap().to_owned();
    let trace = world.run(&["trace", &session]).exits(0).out;
    assert!(trace.contains("hook    check for Stop error"), "{trace}");
}
