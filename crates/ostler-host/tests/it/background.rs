//! Background commands and checkpoints, from the wire to the log.

use serde_json::{Value, json};

use crate::support::TestHost;

const FILES: &str = "=== greet.sh\necho Helo\n";

/// A session in which everything may run, that plays one call and then a word.
async fn start(host: &TestHost, tool: &str, input: Value) -> String {
    let replies = json!([
        {"when": {"toolResultFor": tool}, "steps": [{"text": "Done."}]},
        {"when": {"lastUserText": "task-notification"}, "repeat": true, "steps": [{"text": "I see."}]},
        {"steps": [{"toolUse": {"name": tool, "input": input}}]},
        {"repeat": true, "steps": [{"text": "Again."}]}
    ]);
    let session = host.start(replies).await;
    let mode = json!({"sessionId": session, "agentMode": "bypassPermissions", "confirm": true});
    host.call("session.set", mode).await.unwrap();
    session
}

async fn send(host: &TestHost, session: &str) -> Value {
    host.call("session.send", json!({"sessionId": session, "message": "go"})).await.unwrap()
}

/// Records of ours of one kind in the log of a session.
fn records(host: &TestHost, kind: &str) -> Vec<Value> {
    let folder = host.home.home().join(".ostler/projects");
    let logs = std::fs::read_dir(folder).unwrap().flat_map(|project| {
        std::fs::read_dir(project.unwrap().path()).unwrap().map(|log| log.unwrap().path())
    });
    let texts = logs.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let text: String = texts.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|record| record["type"] == "ostler" && record["kind"] == kind).collect()
}

#[tokio::test]
async fn a_task_is_listed_read_and_stopped_over_the_wire() {
    let host = TestHost::new(FILES);
    let input = json!({"command": "echo up; sleep 1000", "run_in_background": true, "description": "Serve"});
    let session = start(&host, "Bash", input).await;
    send(&host, &session).await;
    let tasks = host.call("tasks.list", json!({"sessionId": session})).await.unwrap();
    assert_eq!((&tasks[0]["id"], &tasks[0]["state"]), (&json!("bash_1"), &json!("running")));
    let task = json!({"sessionId": session, "taskId": "bash_1"});
    let mut output = host.call("tasks.output", task.clone()).await.unwrap();
    while output["total"] == 0 {
        tokio::task::yield_now().await;
        output = host.call("tasks.output", task.clone()).await.unwrap();
    }
    assert_eq!(output["text"], "up\n");
    let stopped = host.call("tasks.stop", task.clone()).await.unwrap();
    assert_eq!(stopped["stopped"], true);
    let mut events = host.until("task_updated").await;
    assert_eq!(events.pop().unwrap()["task"]["state"], "running");
    let mut events = host.until("task_updated").await;
    assert_eq!(events.pop().unwrap()["task"]["state"], "stopped");
    // The person stopped it, so the model is told.
    let events = host.until("text").await;
    assert_eq!(events.last().unwrap()["content"], "I see.");
    let unknown = json!({"sessionId": session, "taskId": "bash_9"});
    assert_eq!(host.call("tasks.stop", unknown).await.unwrap_err().code, -32004);
}

#[tokio::test]
async fn a_task_is_stopped_with_its_process_and_shown_so_by_the_next() {
    let host = TestHost::new(FILES);
    let input = json!({"command": "echo half; sleep 1000", "run_in_background": true});
    let session = start(&host, "Bash", input).await;
    send(&host, &session).await;
    let task = json!({"sessionId": session, "taskId": "bash_1"});
    while host.call("tasks.output", task.clone()).await.unwrap()["total"] == 0 {
        tokio::task::yield_now().await;
    }
    host.host.shutdown().await;
    assert_eq!(records(&host, "task").last().unwrap()["task"]["state"], "stopped");
    let host = host.reopened();
    host.call("session.resume", json!({"sessionId": session})).await.unwrap();
    let tasks = host.call("tasks.list", json!({"sessionId": session})).await.unwrap();
    assert_eq!(tasks[0]["state"], "stopped");
    assert_eq!(host.call("tasks.output", task).await.unwrap()["text"], "half\n");
    send(&host, &session).await;
    let opened = host.call("session.open", json!({"sessionId": session})).await.unwrap();
    assert_eq!(opened["tasks"][0]["id"], "bash_1", "{opened}");
}

#[tokio::test]
async fn what_an_edit_and_a_command_change_is_kept_before() {
    for (tool, input) in [
        ("Bash", json!({"command": "echo changed > greet.sh; mkdir new; echo x > new/file"})),
        ("Write", json!({"file_path": "new/file", "content": "x\n"})),
    ] {
        let host = TestHost::new(FILES);
        let session = start(&host, tool, input).await;
        send(&host, &session).await;
        let kept = records(&host, "checkpoint");
        assert_eq!(kept.len(), 1, "{tool}: {kept:?}");
        let paths: Vec<_> = kept[0]["files"].as_array().unwrap().iter().collect();
        let of = |name: &str| paths.iter().find(|file| file.to_string().contains(name));
        assert!(of("new/file").is_some(), "{tool}: {paths:?}");
        assert_eq!(of("greet.sh").is_some(), tool == "Bash", "{paths:?}");
    }
}

#[tokio::test]
async fn a_command_that_only_reads_keeps_nothing() {
    let host = TestHost::new(FILES);
    let session = start(&host, "Bash", json!({"command": "cat greet.sh"})).await;
    send(&host, &session).await;
    assert!(records(&host, "checkpoint").is_empty());
    assert!(!host.home.home().join(".ostler/blobs").exists());
}
