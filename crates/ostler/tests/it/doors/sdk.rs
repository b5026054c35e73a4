//! The official Agent SDKs drive the program in place of `claude`.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{PROMPT, expected};
use crate::support::{World, full_set_up};

/// The trace of frames of the Agent SDK's protocol.
pub(super) fn trace_of_frames(frames: &[Value]) -> Vec<String> {
    let mut tools = HashMap::new();
    let mut trace = Vec::new();
    for frame in frames {
        match frame["type"].as_str() {
            Some("assistant") => {
                for block in frame["message"]["content"].as_array().unwrap() {
                    match block["type"].as_str() {
                        Some("text") => {
                            trace.push(format!("text {}", block["text"].as_str().unwrap()))
                        }
                        Some("thinking") => {
                            trace.push(format!("thinking {}", block["thinking"].as_str().unwrap()))
                        }
                        Some("tool_use") => {
                            tools.insert(
                                block["id"].as_str().unwrap(),
                                block["name"].as_str().unwrap(),
                            );
                        }
                        _ => {}
                    }
                }
            }
            Some("user") => {
                for block in frame["message"]["content"].as_array().into_iter().flatten() {
                    if let Some(id) = block["tool_use_id"].as_str() {
                        let ok = block["is_error"] != true;
                        trace.push(format!("result {} {ok}", tools[id]));
                    }
                }
            }
            Some("result") => trace.push("end".to_owned()),
            _ => {}
        }
    }
    trace
}

fn sdk_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

/// Runs a program of an SDK in this world and takes its lines as the trace.
fn trace_of_program(world: &World, mut program: Command) -> Vec<String> {
    let ours = world.ostler(&[]);
    program.current_dir(world.home.project());
    program.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = program.output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    said.lines().map(str::to_owned).collect()
}

/// What an SDK shows: the prompt is its own.
fn without_prompt(trace: Vec<String>) -> Vec<String> {
    trace.into_iter().filter(|line| !line.starts_with("user ")).collect()
}

#[test]
fn the_python_sdk_asks_and_the_change_is_on_disk() {
    if !full_set_up("the Python Agent SDK", python().exists()) {
        return;
    }
    let world = World::playing("edit.scenario.json");
    let mut program = Command::new(python());
    program.arg(sdk_folder("sdk-py").join("edit.py")).args([env!("CARGO_BIN_EXE_ostler"), PROMPT]);
    let trace = trace_of_program(&world, program);
    assert_eq!(trace, without_prompt(expected(&world)));
    world.model.assert_clean();
}

#[test]
fn the_typescript_sdk_asks_and_the_change_is_on_disk() {
    if !full_set_up("the TypeScript Agent SDK", typescript_is_there()) {
        return;
    }
    let world = World::playing("edit.scenario.json");
    let mut program = Command::new("node");
    program.arg(sdk_folder("sdk-ts").join("edit.mjs")).args([env!("CARGO_BIN_EXE_ostler"), PROMPT]);
    let trace = trace_of_program(&world, program);
    assert_eq!(trace, without_prompt(expected(&world)));
    world.model.assert_clean();
}

/// The private environment of the Python SDK lies in the target folder of this build.
fn python() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_ostler")).ancestors().nth(2).unwrap().join("sdk-py/bin/python")
}

fn typescript_is_there() -> bool {
    sdk_folder("sdk-ts").join("node_modules/@anthropic-ai/claude-agent-sdk").is_dir()
}

/// Runs a case of `tests/README.md` through one SDK, in a world of its own.
fn case(name: &str, mut program: Command) -> Vec<String> {
    let world = World::playing_file(&sdk_folder("sdk.scenario.json"));
    // Two prompts, a changed model: each case says itself what its requests begin with.
    world.model.ignore_prefixes();
    program.args(["--cli", env!("CARGO_BIN_EXE_ostler"), "--case", name]);
    program.env("ANTHROPIC_MODEL", "scripted-1");
    let trace = trace_of_program(&world, program);
    world.model.assert_clean();
    trace
}

#[test]
fn both_sdks_see_the_same_in_every_case() {
    if !full_set_up("both Agent SDKs", python().exists() && typescript_is_there()) {
        return;
    }
    let names = [
        "plain",
        "fail",
        "edit",
        "refuse",
        "turns",
        "interrupt",
        "switch",
        "sessions",
        "hooks",
        "blocked",
    ];
    let cases: Vec<_> = names
        .into_iter()
        .map(|name| {
            std::thread::spawn(move || {
                let mut by_python = Command::new(python());
                by_python.arg(sdk_folder("sdk-py").join("run.py"));
                let mut by_node = Command::new("node");
                by_node.arg(sdk_folder("sdk-ts").join("run.mjs"));
                (name, case(name, by_python), case(name, by_node))
            })
        })
        .collect();
    for thread in cases {
        let (name, by_python, by_node) = thread.join().unwrap();
        // Python's exception names the exit code, TypeScript's does not.
        let lines = |lines: &[String]| -> Vec<Value> {
            let alike = lines.iter().map(|line| line.replace(" (exit code: 1)", ""));
            alike.map(|line| serde_json::from_str(&line).unwrap()).collect()
        };
        // An SDK hands callbacks and messages to its user on two ways that wait for each
        // other nowhere, so each keeps its order by itself.
        let (told, called) = parted(lines(&by_python));
        assert_eq!(
            (&told, &called),
            (&parted(lines(&by_node)).0, &parted(lines(&by_node)).1),
            "case {name}"
        );
        assert!(by_python.len() >= 3, "case {name}: {by_python:?}");
        assert!(
            !by_python.iter().any(|line| line.contains("\"stderr\"")),
            "case {name}: {by_python:?}"
        );
        if name == "hooks" {
            hooks_were_heard(&told, &called);
        }
    }
}

/// Messages and callbacks, each in order.
fn parted(lines: Vec<Value>) -> (Vec<Value>, Vec<Value>) {
    lines.into_iter().partition(|line| line["saw"] != "hook")
}

/// The callbacks of the case `hooks`, and what became of the calls.
fn hooks_were_heard(told: &[Value], called: &[Value]) {
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let called: Vec<_> = called
        .iter()
        .map(|line| format!("{} {}", text(line, "event"), text(line, "tool")))
        .collect();
    let expected =
        ["UserPromptSubmit ", "PreToolUse Edit", "PostToolUse Edit", "PreToolUse Bash", "Stop "];
    assert_eq!(called, expected);
    let done = told.iter().filter(|line| line["saw"] == "done");
    let done: Vec<_> = done.map(|line| (text(line, "tool"), line["error"] == true)).collect();
    let expected = [("Read", false), ("Edit", false), ("Bash", true)];
    assert_eq!(done, expected.map(|(tool, failed)| (tool.to_owned(), failed)));
}
