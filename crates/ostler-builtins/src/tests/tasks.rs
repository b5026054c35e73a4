//! What background commands promise (faults.md T18, T22).

use std::sync::{Arc, Mutex};

use ostler_protocol::{BackgroundTask, TaskKind, TaskState, ToolCallId};
use ostler_tool::{Later, Note, ToolError};
use serde_json::{Value, json};

use crate::{
    Tasks,
    tests::bench::{Bench, text},
};

/// A bench whose session keeps the notes that it gets.
fn listening() -> (Bench, Arc<Mutex<Vec<Note>>>) {
    let mut bench = Bench::new();
    let notes = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&notes);
    bench.cx.later = Later::new(move |note| {
        sink.lock().unwrap().push(note);
        Box::pin(std::future::ready(()))
    });
    (bench, notes)
}

async fn start(bench: &Bench, command: &str) -> String {
    let args = json!({"command": command, "run_in_background": true});
    let output = bench.call("Bash", args).await.unwrap();
    output.structured["backgroundTaskId"].as_str().unwrap().to_owned()
}

async fn output(bench: &Bench, args: Value) -> (String, Value) {
    let output = bench.call("TaskOutput", args).await.unwrap();
    (text(&output), output.structured)
}

fn ends(notes: &Mutex<Vec<Note>>) -> Vec<(TaskState, bool)> {
    let notes = notes.lock().unwrap();
    let ended = |note: &Note| match note {
        Note::Task { task, tell } if !task.is_running() => Some((task.state, tell.is_some())),
        _ => None,
    };
    notes.iter().filter_map(ended).collect()
}

#[tokio::test]
async fn a_task_runs_on_and_is_read_at_its_end() {
    let (bench, notes) = listening();
    let id = start(&bench, "mkfifo gate; echo one; read line < gate; echo $line >&2; exit 3").await;
    assert_eq!(id, "bash_1");
    let (mut shown, mut row) = output(&bench, json!({"task_id": id, "block": false})).await;
    while !shown.contains("\none") {
        (shown, row) = output(&bench, json!({"task_id": id, "block": false})).await;
    }
    assert!(shown.starts_with("bash_1 (mkfifo gate; "), "{shown}");
    assert_eq!(row["task"]["status"], "running");
    assert_eq!(row["retrieval_status"], "not_ready");
    // The command ends only when somebody waits for it already.
    let mut waiting = Box::pin(output(&bench, json!({"task_id": id})));
    assert!(futures::poll!(&mut waiting).is_pending());
    let gate = bench.root.join("gate");
    tokio::task::spawn_blocking(move || std::fs::write(gate, "two\n")).await.unwrap().unwrap();
    let (shown, row) = waiting.await;
    assert!(shown.contains("two"), "{shown}");
    assert!(shown.contains("failed with exit code 3") && shown.contains("one"), "{shown}");
    assert_eq!(row["retrieval_status"], "success");
    assert_eq!(row["task"]["exitCode"], 3);
    assert_eq!(ends(&notes), [(TaskState::Failed, false)], "who waited is not told besides");
}

#[tokio::test]
async fn older_names_of_tools_and_of_their_arguments_are_understood() {
    let (bench, _) = listening();
    let id = start(&bench, "echo one; sleep 60").await;
    let output = bench.call("BashOutput", json!({"bash_id": id, "block": false})).await.unwrap();
    assert_eq!(output.structured["task"]["status"], "running");
    let stopped = bench.call("KillShell", json!({"shell_id": id})).await.unwrap();
    assert!(text(&stopped).contains(&id), "{}", text(&stopped));
}

#[tokio::test]
async fn an_end_that_nobody_waits_for_is_told() {
    let (bench, notes) = listening();
    start(&bench, "true").await;
    while ends(&notes).is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(ends(&notes), [(TaskState::Completed, true)]);
}

#[tokio::test]
async fn stopping_ends_the_whole_tree_whatever_it_ignores() {
    let (bench, notes) = listening();
    let id = start(
        &bench,
        "trap '' TERM; (trap '' TERM; setsid sleep 1000 & echo $! >> pids; wait) & \
         sleep 1000 & echo $! >> pids; echo ready > up; wait",
    )
    .await;
    while !bench.root.join("up").exists() || pids(&bench).len() < 2 {
        tokio::task::yield_now().await;
    }
    let said = bench.text("TaskStop", json!({"shell_id": id})).await;
    assert!(said.starts_with("Stopped task bash_1"), "{said}");
    for pid in pids(&bench) {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} still runs");
    }
    assert_eq!(ends(&notes), [(TaskState::Stopped, false)]);
    let again = bench.text("TaskStop", json!({"task_id": id})).await;
    assert!(again.contains("had ended already"), "{again}");
}

#[tokio::test]
async fn old_names_and_their_arguments_are_understood() {
    let (bench, _) = listening();
    let id = start(&bench, "echo one; echo two; sleep 1000").await;
    for (tool, args) in [
        ("BashOutput", json!({"bash_id": id, "filter": "^t", "block": false})),
        ("bashoutput", json!({"shell_id": id, "filter": "w", "block": false})),
    ] {
        let mut shown = String::new();
        // The first line names the command.
        while !shown.ends_with("\ntwo") {
            shown = bench.text(tool, args.clone()).await;
            tokio::task::yield_now().await;
        }
        assert_eq!(shown.lines().count(), 2, "{shown}");
    }
    let wrong = json!({"bash_id": id, "filter": "("});
    let refused = bench.call("BashOutput", wrong).await.unwrap_err();
    assert!(refused.to_string().contains("no regular expression"), "{refused}");
    let said = bench.text("KillShell", json!({"shell_id": id})).await;
    assert!(said.starts_with("Stopped task"), "{said}");
    let said = bench.text("KillBash", json!({"bash_id": id})).await;
    assert!(said.contains("had ended already"), "{said}");
}

fn pids(bench: &Bench) -> Vec<String> {
    let text = std::fs::read_to_string(bench.root.join("pids")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn output_is_bounded_and_no_search_finds_it() {
    let bench = Bench::with(|hands| {
        hands.limits.task_output_bytes = 20_000;
        // Inside the project, where a search would come by.
        hands.tasks = hands.private[0].join("tasks");
    });
    let id = start(&bench, "yes needle | head -c 5000000").await;
    let (shown, _) = output(&bench, json!({"task_id": id})).await;
    assert!(shown.len() < 40_000, "{}", shown.len());
    let kept: u64 = std::fs::read_dir(bench.root.join(".own/tasks"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert!(kept <= 21_000, "{kept}");
    let found = bench.text("Grep", json!({"pattern": "needle"})).await;
    assert!(!found.contains(".own"), "{found}");
}

#[tokio::test]
async fn too_many_and_unknown_tasks_are_refused() {
    let bench = Bench::with(|hands| hands.limits.tasks_running = 1);
    let refused = bench.refused("TaskOutput", json!({"task_id": "bash_9"})).await;
    assert!(refused.contains("this session has none"), "{refused}");
    start(&bench, "sleep 1000").await;
    let args = json!({"command": "true", "run_in_background": true});
    let refused = bench.refused("Bash", args).await;
    assert!(refused.contains("TaskStop"), "{refused}");
    let refused = bench.refused("TaskStop", json!({"task_id": "bash_9"})).await;
    assert!(refused.contains("there are bash_1"), "{refused}");
    bench.cx.state.get::<Tasks>().stop_all().await;
}

#[tokio::test]
async fn a_wait_ends_with_its_time_or_the_call() {
    let bench = Bench::new();
    let id = start(&bench, "sleep 1000").await;
    let (_, row) = output(&bench, json!({"task_id": id, "timeout": 1})).await;
    assert_eq!(row["retrieval_status"], "timeout");
    bench.cx.cancel.cancel();
    let ended = bench.call("TaskOutput", json!({"task_id": id})).await;
    assert!(matches!(ended, Err(ToolError::Cancelled)));
    bench.cx.state.get::<Tasks>().stop_all().await;
}

#[tokio::test]
async fn what_an_earlier_process_left_is_shown_as_stopped_with_its_output() {
    let bench = Bench::new();
    let file = bench.file(".own/tasks/bash_7.output", "half of it");
    bench.cx.state.get::<Tasks>().restore(vec![BackgroundTask {
        id: "bash_7".to_owned(),
        kind: TaskKind::Shell,
        title: "build".to_owned(),
        command: Some("make".to_owned()),
        state: TaskState::Stopped,
        started_at: 0,
        ended_at: Some(1),
        exit_code: None,
        tool_call_id: ToolCallId("call".to_owned()),
        output_file: Some(file.to_text()),
    }]);
    let (shown, row) = output(&bench, json!({"task_id": "bash_7"})).await;
    assert!(shown.contains("stopped") && shown.contains("half of it"), "{shown}");
    assert_eq!(row["task"]["status"], "stopped");
    assert_eq!(start(&bench, "true").await, "bash_8", "no id comes twice");
}

fn words(notes: &Mutex<Vec<Note>>) -> Vec<String> {
    let notes = notes.lock().unwrap();
    let text = |note: &Note| match note {
        Note::Tell { text, .. } => Some(text.clone()),
        Note::Task { tell, .. } => tell.clone(),
    };
    notes.iter().filter_map(text).collect()
}

#[tokio::test]
async fn a_monitor_tells_its_lines_and_its_end() {
    let (bench, notes) = listening();
    let args = json!({"command": "echo one; printf '\\033[31mtwo'; echo no >&2; exit 1", "description": "Watch"});
    let output = bench.call("Monitor", args).await.unwrap();
    assert_eq!(output.structured, json!({"taskId": "bash_1", "timeoutMs": 300_000}));
    while ends(&notes).is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        words(&notes),
        [
            "\"Watch\" wrote:\none\ntwo",
            "\"Watch\" failed with exit code 1. Read its output with TaskOutput."
        ]
    );
    let (shown, _) = self::output(&bench, json!({"task_id": "bash_1"})).await;
    assert!(shown.contains("one\ntwo"), "{shown}");
}

#[tokio::test]
async fn a_monitor_is_bounded_in_words_and_time() {
    let (bench, notes) = listening();
    let args = json!({"command": "yes | head -n 5000; sleep 1000", "description": "Flood", "timeout_ms": 300});
    bench.call("Monitor", args).await.unwrap();
    while ends(&notes).is_empty() {
        tokio::task::yield_now().await;
    }
    let words = words(&notes);
    assert!(words[0].contains("more lines") && words[0].len() < 2_000, "{}", words[0]);
    assert_eq!(words.last().unwrap(), "\"Flood\" was stopped: its time was up.");
    let refused =
        bench.refused("Monitor", json!({"ws": {"url": "ws://x"}, "description": "x"})).await;
    assert!(refused.contains("websocat"), "{refused}");
}

#[tokio::test]
async fn a_monitor_that_is_stopped_by_the_model_says_no_more() {
    let (bench, notes) = listening();
    let args = json!({"command": "sleep 1000", "description": "Wait", "persistent": true});
    bench.call("Monitor", args).await.unwrap();
    bench.text("TaskStop", json!({"task_id": "bash_1"})).await;
    assert_eq!(ends(&notes), [(TaskState::Stopped, false)]);
}
