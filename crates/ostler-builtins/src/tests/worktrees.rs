//! EnterWorktree and ExitWorktree on real repositories.

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Change, ToolError, ToolOutput};
use serde_json::{Value, json};

use crate::tests::bench::{Bench, object, snapshot};

const GIT: &str = "git -c user.name=a -c user.email=a@a.test -c commit.gpgsign=false";

/// A project that is a repository with one commit.
async fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("sub/file", "one\n");
    run(&bench, &format!("git init -q -b main && git add . && {GIT} commit -qm first")).await;
    bench
}

async fn run(bench: &Bench, command: &str) -> String {
    let output = bench.call("Bash", json!({ "command": command })).await.unwrap();
    let text = output.structured["stdout"].as_str().unwrap().to_owned();
    assert!(!crate::tests::bench::text(&output).starts_with("Exit code"), "{output:?}");
    text
}

fn folder(output: &ToolOutput) -> Option<AbsPath> {
    match output.changes.as_slice() {
        [Change::Folder(folder)] => folder.clone(),
        other => panic!("{other:?}"),
    }
}

/// Enters, and stands where the call says.
async fn enter(bench: &mut Bench, args: Value) -> ToolOutput {
    let output = bench.call("EnterWorktree", args).await.unwrap();
    bench.cx.cwd = folder(&output).unwrap();
    output
}

async fn exit(bench: &mut Bench, args: Value) -> Result<ToolOutput, ToolError> {
    let output = bench.call("ExitWorktree", args).await?;
    assert_eq!(folder(&output), None);
    bench.cx.cwd = bench.root.clone();
    Ok(output)
}

#[tokio::test]
async fn a_worktree_is_entered_kept_entered_again_and_removed() {
    let mut bench = bench().await;
    let path = bench.root.join(".ostler/worktrees/fix");
    let output = enter(&mut bench, json!({ "name": "fix" })).await;
    assert_eq!(output.structured["worktreePath"], path.to_text());
    assert_eq!(output.structured["worktreeBranch"], "worktree-fix");
    assert_eq!(bench.cx.cwd, path);
    assert_eq!(fs::read_to_string(path.join("sub/file")).unwrap(), "one\n");
    let said = bench.refused("EnterWorktree", json!({ "name": "two" })).await;
    assert!(said.contains("leave it with ExitWorktree"), "{said}");

    let output = exit(&mut bench, json!({ "action": "keep" })).await.unwrap();
    assert_eq!(output.structured["action"], "keep");
    assert_eq!(output.structured["originalCwd"], bench.root.to_text());
    assert!(path.as_path().exists());
    assert_eq!(run(&bench, "git status --porcelain").await, "", "git leaves worktrees out");

    enter(&mut bench, json!({ "name": "fix" })).await;
    assert_eq!(bench.cx.cwd, path);
    exit(&mut bench, json!({ "action": "remove" })).await.unwrap();
    assert!(!path.as_path().exists());
    assert_eq!(run(&bench, "git branch --format='%(refname:short)'").await, "main");
    let said = bench.refused("ExitWorktree", json!({ "action": "remove" })).await;
    assert!(said.contains("in no worktree"), "{said}");
    let said = bench.refused("ExitWorktree", json!({ "action": "keep" })).await;
    assert!(said.contains("in no worktree"), "{said}");
}

#[tokio::test]
async fn work_that_would_be_lost_keeps_a_worktree() {
    let mut bench = bench().await;
    enter(&mut bench, json!({ "name": "fix" })).await;
    let path = bench.cx.cwd.clone();
    let refused = |said: String, why: &str| {
        assert!(said.contains("was not removed") && said.contains(why), "{said}")
    };
    fs::write(path.join("new"), "x").unwrap();
    refused(bench.refused("ExitWorktree", json!({ "action": "remove" })).await, "`new`");
    run(&bench, &format!("git add new && {GIT} commit -qm new")).await;
    refused(bench.refused("ExitWorktree", json!({ "action": "remove" })).await, "1 commits");
    // On another branch it is not lost.
    run(&bench, "git branch safe").await;
    exit(&mut bench, json!({ "action": "remove" })).await.unwrap();
    assert!(!path.as_path().exists());

    enter(&mut bench, json!({ "name": "fix" })).await;
    run(&bench, &format!("{GIT} commit -q --allow-empty -m gone; git checkout -q --detach")).await;
    fs::write(path.join("sub/file"), "two\n").unwrap();
    let said = bench.refused("ExitWorktree", json!({ "action": "remove" })).await;
    refused(said.clone(), "`sub/file`");
    refused(said, "1 commits");
    let args = json!({ "action": "remove", "discard_changes": true });
    exit(&mut bench, args).await.unwrap();
    assert!(!path.as_path().exists());
    assert_eq!(run(&bench, "git branch --format='%(refname:short)'").await, "main\nsafe");
}

#[tokio::test]
async fn a_worktree_that_was_there_is_entered_and_never_removed() {
    let mut bench = bench().await;
    run(&bench, "git worktree add -q -b own ../outside/own").await;
    let path = bench.root.parent().unwrap().join("outside/own");
    let output = enter(&mut bench, json!({ "path": "../outside/own" })).await;
    assert_eq!(output.structured["worktreeBranch"], "own");
    assert_eq!(bench.cx.cwd, path);
    let args = json!({ "action": "remove", "discard_changes": true });
    let said = bench.refused("ExitWorktree", args).await;
    assert!(said.contains("was there before"), "{said}");
    // As after a resume, when nothing but the folder is known.
    bench.cx.state = ostler_tool::SessionState::default();
    exit(&mut bench, json!({ "action": "keep" })).await.unwrap();
    assert!(path.as_path().exists());
    for other in ["sub", "../outside", "missing"] {
        let said = bench.refused("EnterWorktree", json!({ "path": other })).await;
        assert!(said.contains("no worktree of this repository"), "{other}: {said}");
    }
}

#[tokio::test]
async fn a_resumed_session_leaves_its_worktree() {
    let mut bench = bench().await;
    enter(&mut bench, json!({ "name": "fix" })).await;
    let path = bench.cx.cwd.clone();
    bench.cx.state = ostler_tool::SessionState::default();
    exit(&mut bench, json!({ "action": "remove" })).await.unwrap();
    assert!(!path.as_path().exists());
}

#[tokio::test]
async fn a_folder_of_the_repository_stays_that_folder() {
    let mut bench = bench().await;
    bench.cx.cwd = bench.root.join("sub");
    let output = enter(&mut bench, json!({ "name": "fix" })).await;
    let path = bench.root.join("sub/.ostler/worktrees/fix");
    assert_eq!(output.structured["worktreePath"], path.to_text());
    assert_eq!(bench.cx.cwd, path.join("sub"));
}

#[tokio::test]
async fn nothing_of_the_repository_runs() {
    let mut bench = bench().await;
    let mark = bench.root.parent().unwrap().join("outside/ran");
    let script = format!("#!/bin/sh\ntouch {mark}.$(basename $0)\ncat\n");
    bench.file("evil", script);
    let hook = "mkdir -p .git/hooks && cp evil .git/hooks/post-checkout && chmod +x evil .git/hooks/post-checkout";
    let filter = "git config filter.evil.smudge $PWD/evil && git config filter.evil.clean $PWD/evil \
                  && git config filter.evil.required true && git config core.fsmonitor $PWD/evil \
                  && echo '* filter=evil' > .gitattributes";
    run(&bench, hook).await;
    run(&bench, &format!("git add .gitattributes; {GIT} commit -qm attributes; true")).await;
    run(&bench, filter).await;
    run(&bench, &format!("git -c core.fsmonitor=false add .gitattributes && {GIT} -c core.fsmonitor=false commit -qm attributes")).await;
    for entry in fs::read_dir(mark.parent().unwrap()).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    enter(&mut bench, json!({ "name": "fix" })).await;
    fs::write(bench.cx.cwd.join("sub/file"), "two\n").unwrap();
    bench.refused("ExitWorktree", json!({ "action": "remove" })).await;
    exit(&mut bench, json!({ "action": "remove", "discard_changes": true })).await.unwrap();
    let ran: Vec<_> = fs::read_dir(mark.parent().unwrap()).unwrap().collect();
    assert!(ran.is_empty(), "{ran:?}");
}

#[tokio::test]
async fn a_link_does_not_lead_a_worktree_out_of_the_project() {
    let bench = bench().await;
    let outside = bench.root.parent().unwrap().join("outside");
    std::os::unix::fs::symlink(&outside, bench.root.join(".ostler")).unwrap();
    let said = bench.refused("EnterWorktree", json!({ "name": "fix" })).await;
    assert!(said.contains("leads elsewhere"), "{said}");
    assert!(snapshot(&outside).is_empty());
}

#[tokio::test]
async fn calls_that_cannot_be_are_told_why() {
    let bench = Bench::new();
    let said = bench.refused("EnterWorktree", json!({ "name": "fix" })).await;
    assert!(said.contains("not a git repository"), "{said}");
    assert!(snapshot(&bench.root).is_empty());
    for args in [json!({}), json!({ "name": "a", "path": "b" }), json!({ "name": "../x" })] {
        bench.refused("EnterWorktree", args).await;
    }
    let bench = self::bench().await;
    bench.file(".ostler/worktrees/taken/file", "");
    let said = bench.refused("EnterWorktree", json!({ "name": "taken" })).await;
    assert!(said.contains("no worktree of this repository"), "{said}");
}

#[tokio::test]
async fn what_they_write_and_run_is_declared() {
    let mut bench = bench().await;
    let access = |bench: &Bench, tool: &str, args| {
        let tool = Arc::clone(bench.registry.get(tool).unwrap());
        tool.access(&object(args), &bench.cx.cwd).unwrap()
    };
    let declared = access(&bench, "EnterWorktree", json!({ "name": "fix" }));
    let before = snapshot(&bench.root);
    enter(&mut bench, json!({ "name": "fix" })).await;
    let git = bench.root.join(".git").to_text();
    for path in snapshot(&bench.root).keys().filter(|path| !before.contains_key(*path)) {
        let is_declared = |access: &Access| matches!(access, Access::Write { path: own } if path.starts_with(&own.to_text()));
        assert!(path.starts_with(&git) || declared.iter().any(is_declared), "{path}");
    }
    assert!(matches!(declared.last(), Some(Access::Shell { .. })));
    assert_eq!(access(&bench, "ExitWorktree", json!({ "action": "keep" })), [Access::Nothing]);
    let removes =
        access(&bench, "ExitWorktree", json!({ "action": "remove", "discard_changes": "true" }));
    let command = "git worktree remove --force .ostler/worktrees/fix && git branch -D worktree-fix";
    let (path, cwd) = (bench.cx.cwd.clone(), bench.root.clone());
    assert_eq!(
        removes,
        [Access::Write { path }, Access::Shell { command: command.to_owned(), cwd }]
    );
    let there = access(&bench, "EnterWorktree", json!({ "path": "/x" }));
    assert_eq!(there, [Access::Search { root: AbsPath::new("/x").unwrap() }]);
}

#[tokio::test]
async fn a_call_that_is_stopped_before_it_begins_does_nothing() {
    let mut bench = bench().await;
    enter(&mut bench, json!({ "name": "fix" })).await;
    let before = snapshot(&bench.root);
    bench.cx.cancel.cancel();
    let begin = Instant::now();
    let remove = json!({ "action": "remove", "discard_changes": true });
    for (tool, args) in [("ExitWorktree", remove), ("EnterWorktree", json!({ "name": "b" }))] {
        assert!(matches!(bench.call(tool, args).await, Err(ToolError::Cancelled)), "{tool}");
    }
    assert!(begin.elapsed() < Duration::from_secs(1));
    assert_eq!(before, snapshot(&bench.root));
}
