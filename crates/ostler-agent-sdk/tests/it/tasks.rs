//! Background commands: their frames, the turn that follows them, and who waits for whom.

use serde_json::{Value, json};

use crate::pipes::{Pipes, kinds, only};
use ostler_test::TempHome;

const STATES: (&str, &str) = ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");
const BYPASS: &[&str] = &["--permission-mode", "bypassPermissions"];

fn start(env: &[(&str, &str)], command: &str) -> Pipes {
    let replies = json!([
        {"when": {"lastUserText": "task-notification"}, "steps": [{"text": "It ended."}]},
        {"when": {"toolResultFor": "Bash"}, "steps": [{"text": "Started."}]},
        {"steps": [{"toolUse": {"name": "Bash", "input":
            {"command": command, "run_in_background": true, "description": "Build"}}}]}
    ]);
    let env: Vec<_> = env.iter().copied().chain([STATES]).collect();
    Pipes::start_in(TempHome::with_project("=== a\n").unwrap(), BYPASS, &env, replies)
}

fn of<'a>(frames: &'a [Value], subtype: &str) -> Vec<&'a Value> {
    frames.iter().filter(|frame| frame["subtype"] == subtype).collect()
}

#[tokio::test]
async fn a_command_that_ends_is_told_by_a_turn_of_its_own() {
    let mut pipes = start(&[], "until [ -e go ]; do read -t 0.01 < /dev/zero; done; echo built");
    pipes.prompt("build it").await;
    let mut frames = pipes.until("result").await;
    std::fs::write(pipes.home.project().join("go"), "").unwrap();
    let end = pipes.end().await;
    frames.extend(end.frames);
    let wanted = [
        "system/background_tasks_changed",
        "system/task_started",
        "result",
        "system/task_updated",
        "system/task_notification",
        "system/background_tasks_changed",
        "system/init",
        "result",
    ];
    let seen = kinds(&frames);
    let mut rest = seen.iter();
    assert!(wanted.iter().all(|kind| rest.any(|seen| seen == kind)), "{seen:#?}");
    let notification = of(&frames, "task_notification")[0];
    assert_eq!(notification["status"], "completed");
    assert!(notification["summary"].as_str().unwrap().contains("exit code 0"));
    let started = of(&frames, "task_started")[0];
    assert_eq!(
        (&started["task_type"], &started["description"]),
        (&json!("local_bash"), &json!("Build"))
    );
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "result").collect();
    assert_eq!(results.len(), 2);
    assert_eq!(results[1]["result"], "It ended.");
    assert_eq!(results[1]["origin"]["kind"], "task-notification");
    let states: Vec<_> =
        of(&frames, "session_state_changed").iter().map(|frame| frame["state"].clone()).collect();
    assert_eq!(states, ["running", "running", "idle"], "idle comes after the turn that follows");
    assert_eq!(end.status, 0);
}

#[tokio::test]
async fn a_command_that_never_ends_is_stopped_some_time_after_the_input() {
    let mut pipes = start(&[("OSTLER_BACKGROUND_WAIT_MS", "1")], "sleep 1000");
    pipes.prompt("build it").await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["result"], "Started.");
    assert_eq!(of(&end.frames, "task_notification")[0]["status"], "stopped");
    assert_eq!(of(&end.frames, "task_updated")[0]["patch"]["status"], "killed");
    assert_eq!(end.status, 0);
}

#[tokio::test]
async fn a_host_with_open_input_hears_idle_though_a_command_goes_on() {
    let mut pipes = start(&[("OSTLER_BACKGROUND_WAIT_MS", "1")], "sleep 1000");
    pipes.prompt("build it").await;
    pipes.until("result").await;
    let frame = pipes.next().await.unwrap();
    assert_eq!(
        (&frame["subtype"], &frame["state"]),
        (&json!("session_state_changed"), &json!("idle"))
    );
    let output = pipes.asked(json!({"subtype": "get_task_output", "task_id": "bash_1"})).await;
    assert_eq!(output["response"]["truncated"], false);
    pipes.asked(json!({"subtype": "stop_task", "task_id": "bash_1"})).await;
    let end = pipes.end().await;
    assert_eq!(of(&end.frames, "task_notification")[0]["status"], "stopped");
}
