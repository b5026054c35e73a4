//! What holds for every tool, whatever it does.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ostler_protocol::{Access, PlannedTask};
use ostler_tool::{Concurrency, PlanList, ToolError};
use serde_json::{Value, json};

use crate::tests::{
    bench::{Bench, object, snapshot, text},
    kept::outputs,
    site::Site,
};

/// For each tool a call that works on [`hostile`] and gives much.
fn calls(site: &Site) -> Vec<(&'static str, Value)> {
    vec![
        (
            "ApplyPatch",
            json!({"patch": format!(
                "*** Begin Patch\n*** Update File: many\n@@\n{}*** End Patch",
                "+x\n".repeat(50_000)
            )}),
        ),
        (
            "AskUserQuestion",
            json!({
                "questions": [{
                    "question": "q".repeat(1000),
                    "header": "h",
                    "options": [{"label": "a"}, {"label": "b"}],
                }],
                "answers": {"q".repeat(1000): "a".repeat(100_000)},
            }),
        ),
        ("Bash", json!({"command": "yes | head -c 2000000"})),
        (
            "Edit",
            json!({"file_path": "wide", "old_string": "w", "new_string": "x\n", "replace_all": true}),
        ),
        ("EnterPlanMode", json!({})),
        ("ExitPlanMode", json!({"plan": "p".repeat(100_000)})),
        ("Glob", json!({"pattern": "**"})),
        ("Grep", json!({"pattern": "w", "output_mode": "content", "head_limit": 0, "-C": 900})),
        ("LS", json!({"ignore": ["zzz"]})),
        ("LSP", json!({"operation": "documentSymbol", "filePath": "code.rs"})),
        ("Monitor", json!({"command": "yes | head -c 2000000", "description": "Much"})),
        (
            "MultiEdit",
            json!({
                "file_path": "wide",
                "edits": vec![json!({"old_string": "w", "new_string": "w\n", "replace_all": true}); 1],
            }),
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "big.ipynb", "cell_id": "cell-0", "new_source": "y\n".repeat(50_000)}),
        ),
        ("Output", json!({"id": "kept", "limit": 2000})),
        ("Read", json!({"file_path": "many"})),
        ("Skill", json!({"skill": "big", "args": "a".repeat(100_000)})),
        ("TaskCreate", json!({"subject": "s", "description": "d".repeat(4000)})),
        ("TaskGet", json!({"taskId": "1"})),
        ("TaskList", json!({})),
        ("TaskOutput", json!({"task_id": "bash_1"})),
        ("TaskStop", json!({"task_id": "bash_1"})),
        ("TaskUpdate", json!({"taskId": "1", "status": "completed"})),
        (
            "TodoWrite",
            json!({"todos": vec![json!({"content": "t".repeat(500), "status": "pending"}); 100]}),
        ),
        ("WebFetch", json!({"url": site.url("/page")})),
        ("WebSearch", json!({"query": "w", "count": 20})),
        ("Write", json!({"file_path": "many", "content": "x\n".repeat(100_000)})),
    ]
}

/// Tools that need a repository: `worktrees` holds the same for them.
const APART: &[&str] = &["EnterWorktree", "ExitWorktree"];

/// Arguments whose names are not ours to choose (agent-sdk.md section 6).
const AS_THE_SDK_HAS_THEM: &[&str] =
    &["activeForm", "addBlockedBy", "addBlocks", "allowedPrompts", "filePath", "taskId"];

async fn hostile(site: &Site) -> Bench {
    let mut bench = Bench::with(|hands| {
        hands.web = site.settings();
        crate::tests::lsp::use_fake(hands, "good");
    });
    bench.file("code.rs", "fn function_of_this_name() {}\n".repeat(5000));
    bench.cx.outputs = outputs("kept", "w\u{1b}[31m\n".repeat(100_000).as_bytes());
    bench.file(".claude/skills/big/SKILL.md", "$ARGUMENTS w\n".repeat(100_000));
    bench.file("wide", "w".repeat(300_000));
    bench.file("many", "w\u{1b}[31m\u{200b}\n".repeat(50_000));
    let cell = json!({"cell_type": "raw", "metadata": {}, "source": vec!["x\n"; 1000]});
    let notebook = json!({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4});
    bench.file("big.ipynb", format!("{notebook:#}"));
    bench.text("Read", json!({"file_path": "big.ipynb"})).await;
    for at in 0..300 {
        bench.file(&format!("{}/{at}", "n".repeat(200)), "w");
    }
    bench.text("Read", json!({"file_path": "wide"})).await;
    bench.text("Read", json!({"file_path": "many"})).await;
    let task = |at: u32| PlannedTask {
        id: at.to_string(),
        subject: "s".repeat(200),
        description: "d".repeat(4000),
        ..PlannedTask::default()
    };
    bench.cx.state.get::<PlanList>().change(|tasks| tasks.extend((1..200).map(task)));
    let loud = json!({"command": "yes | head -c 2000000", "run_in_background": true});
    bench.text("Bash", loud).await;
    bench.text("TaskOutput", json!({"task_id": "bash_1"})).await;
    bench
}

#[tokio::test]
async fn every_argument_is_described() {
    let site = Site::hostile().await;
    let bench = Bench::new();
    let names: Vec<_> = bench.registry.iter().map(|tool| tool.name().to_owned()).collect();
    let called: Vec<_> = calls(&site).into_iter().map(|(name, _)| name).collect();
    let apart = |name: &String| APART.contains(&name.as_str());
    assert_eq!(names.iter().filter(|name| !apart(name)).collect::<Vec<_>>(), called);
    for tool in bench.registry.iter() {
        let schema = tool.schema();
        let properties = schema["properties"].as_object().unwrap();
        for (name, property) in properties {
            let said = property["description"].as_str().is_some_and(|text| !text.is_empty());
            assert!(
                said || tool.description().contains(&format!("`{name}`")),
                "{}: {name}",
                tool.name()
            );
            assert!(
                !name.chars().any(char::is_uppercase)
                    || name.starts_with('-')
                    || AS_THE_SDK_HAS_THEM.contains(&name.as_str()),
                "{}: {name}",
                tool.name()
            );
        }
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(properties.contains_key(required.as_str().unwrap()));
        }
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name());
        assert!((100..2500).contains(&tool.description().len()), "{}", tool.name());
    }
}

#[tokio::test]
async fn output_is_bounded_whatever_the_input() {
    let site = Site::hostile().await;
    for (name, args) in calls(&site) {
        let bench = hostile(&site).await;
        let output = bench.call(name, args).await.unwrap();
        let text = text(&output);
        assert!(text.len() < 52_000, "{name}: {} bytes", text.len());
        for diff in &output.diffs {
            let lines: usize = diff
                .hunks
                .iter()
                .flat_map(|hunk| &hunk.lines)
                .map(|line| line.text.len() + 1)
                .sum();
            assert!(lines < 100_000 && diff.truncated, "{name}: {lines}");
        }
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_ends_at_once_and_writes_nothing() {
    let site = Site::hostile().await;
    for (name, args) in calls(&site) {
        let bench = hostile(&site).await;
        let before = snapshot(&bench.root);
        bench.cx.cancel.cancel();
        let begin = Instant::now();
        let result = bench.call(name, args.clone()).await;
        assert!(begin.elapsed() < Duration::from_secs(1), "{name}: {:?}", begin.elapsed());
        // A reader may have been done already; what changes files may not go on.
        let tool = bench.registry.get(name).unwrap();
        let writes = changes_files(&tool.access(&object(args), &bench.root).unwrap());
        assert!(!writes || matches!(result, Err(ToolError::Cancelled)), "{name}");
        assert_eq!(before, snapshot(&bench.root), "{name}");
    }
}

fn changes_files(access: &[Access]) -> bool {
    access.iter().any(|access| matches!(access, Access::Write { .. } | Access::Shell { .. }))
}

#[tokio::test]
async fn effects_are_declared() {
    let site = Site::hostile().await;
    for (name, args) in calls(&site) {
        let bench = hostile(&site).await;
        let tool = Arc::clone(bench.registry.get(name).unwrap());
        let access = tool.access(&object(args.clone()), &bench.root).unwrap();
        assert!(!changes_files(&access) || tool.concurrency() == Concurrency::Writer, "{name}");

        let before = snapshot(&bench.root);
        bench.preview(name, args.clone()).await;
        assert_eq!(before, snapshot(&bench.root), "{name}: a preview reads only");
        bench.call(name, args).await.unwrap();
        let after = snapshot(&bench.root);
        let changed: Vec<_> = after
            .iter()
            .filter(|(path, bytes)| before.get(*path) != Some(*bytes))
            .map(|(path, _)| path)
            .collect();
        let declared = |path: &str| {
            access.iter().any(
                |access| matches!(access, Access::Write { path: own } if own.to_text() == path),
            )
        };
        assert!(changed.iter().all(|path| declared(path)), "{name}: {changed:?}");
        assert_eq!(before.len(), after.len(), "{name}: no file is left over");
    }
}
