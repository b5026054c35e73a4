//! Runs from the prompt to the end.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{TestHost, shared, types};

const FILES: &str = "=== greet.sh\necho Helo\n";

/// Sends in the background, so that the test can answer what is asked.
fn send(host: &Arc<TestHost>, session: &str, message: &str) -> tokio::task::JoinHandle<Value> {
    let (host, params) = (Arc::clone(host), json!({"sessionId": session, "message": message}));
    tokio::spawn(async move { host.call("session.send", params).await.unwrap() })
}

fn edit_and_answer() -> Value {
    json!([
        {"when": {"toolResultFor": "Read"}, "steps": [{"toolUse": {"name": "Edit", "input":
            {"file_path": "${cwd}/greet.sh", "old_string": "Helo", "new_string": "Hello"}}}]},
        {"when": {"toolResultFor": "Edit"}, "steps": [{"text": "Done."}]},
        {"steps": [{"text": "Looking."}, {"toolUse": {"name": "Read", "input": {"file_path": "${cwd}/greet.sh"}}}]},
        {"repeat": true, "steps": [{"text": "Again."}]}
    ])
}

#[tokio::test]
async fn an_edit_is_asked_answered_and_on_disk() {
    let host = shared(TestHost::new(FILES));
    let session = host.start(edit_and_answer()).await;
    let sent = send(&host, &session, "correct it");
    let asked = host.until("permission_asked").await;
    assert_eq!(
        types(&asked),
        [
            "session.created",
            "user_message",
            "text_delta",
            "text",
            "usage_totals",
            "tool_start",
            "tool_output",
            "tool_complete",
            "usage_totals",
            "permission_asked"
        ]
    );
    let request = asked.last().unwrap();
    assert_eq!(request["diff"][0]["added"], 1, "the change is shown before it is made: {request}");
    assert_eq!(host.file("greet.sh"), "echo Helo\n");
    let pending = host.call("permission.pending", json!({})).await.unwrap();
    assert_eq!(pending[0]["requestId"], request["requestId"]);
    let answer = json!({"requestId": request["requestId"], "decision": "allow-once", "hash": request["hash"]});
    host.call("permission.answer", answer.clone()).await.unwrap();
    let rest = host.until("done").await;
    assert_eq!(
        types(&rest),
        [
            "permission.answered",
            "tool_start",
            "tool_output",
            "tool_complete",
            "session.diff",
            "text_delta",
            "text",
            "usage_totals",
            "session.updated",
            "done"
        ]
    );
    let result = sent.await.unwrap();
    assert_eq!(result["success"], true, "{result}");
    assert_eq!(result["content"], "Done.");
    assert_eq!(host.file("greet.sh"), "echo Hello\n");
    let again = host.call("permission.answer", answer).await.unwrap_err();
    assert_eq!(again.code, -32002);
}

#[tokio::test]
async fn a_denial_with_its_reason_reaches_the_model() {
    let host = shared(TestHost::new(FILES));
    let session = host.start(edit_and_answer()).await;
    let sent = send(&host, &session, "correct it");
    let asked = host.until("permission_asked").await;
    let id = &asked.last().unwrap()["requestId"];
    let answer = json!({"requestId": id, "decision": "deny", "reason": "leave it alone"});
    host.call("permission.answer", answer).await.unwrap();
    let rest = host.until("done").await;
    let complete = rest.iter().find(|event| event["type"] == "tool_complete").unwrap();
    assert_eq!(complete["success"], false);
    assert_eq!(complete["deniedBy"], "user");
    assert!(complete["result"].as_str().unwrap().contains("leave it alone"));
    assert_eq!(sent.await.unwrap()["success"], true);
    assert_eq!(host.file("greet.sh"), "echo Helo\n");
}

#[tokio::test]
async fn a_session_goes_on_in_another_process() {
    let host = TestHost::new(FILES);
    let session = host.start(json!([{"repeat": true, "steps": [{"text": "I am here."}]}])).await;
    host.call("session.send", json!({"sessionId": session, "message": "one"})).await.unwrap();
    host.host.shutdown().await;
    let host = host.reopened();
    let listed = host.call("session.list", json!({})).await.unwrap();
    assert_eq!(listed[0]["id"], session.as_str(), "{listed}");
    let opened = host.call("session.open", json!({"sessionId": session})).await.unwrap();
    assert_eq!(opened["messages"].as_array().unwrap().len(), 2, "{opened}");
    let sent =
        host.call("session.send", json!({"sessionId": session, "message": "two"})).await.unwrap();
    assert_eq!(sent["success"], true, "{sent}");
    let resumed = host.call("session.resume", json!({"sessionId": session})).await.unwrap();
    assert_eq!(resumed["messages"].as_array().unwrap().len(), 4, "{resumed}");
}

#[tokio::test]
async fn stop_ends_a_run_and_the_session_goes_on() {
    let host = shared(TestHost::new(FILES));
    let replies = json!([
        {"steps": [{"text": "I begin"}, {"stall": true}]},
        {"repeat": true, "steps": [{"text": "Still here."}]}
    ]);
    let session = host.start(replies).await;
    let sent = send(&host, &session, "go");
    host.until("text_delta").await;
    host.call("session.stop", json!({"sessionId": session})).await.unwrap();
    let rest = host.until("done").await;
    assert_eq!(rest.last().unwrap()["reason"], "interrupted");
    let result = sent.await.unwrap();
    assert_eq!(
        (result["success"].clone(), result["message"].clone()),
        (json!(true), json!("Interrupted"))
    );
    let next =
        host.call("session.send", json!({"sessionId": session, "message": "and?"})).await.unwrap();
    assert_eq!(next["content"], "Still here.");
}

#[tokio::test]
async fn stop_kills_a_command_that_runs() {
    let host = shared(TestHost::new(FILES));
    let session = host
        .start(json!([{"steps": [{"toolUse": {"name": "Bash", "input": {"command": "sleep 987654"}}}]}]))
        .await;
    host.call("session.set", json!({"sessionId": session, "agentMode": "danger", "confirm": true}))
        .await
        .unwrap();
    let sent = send(&host, &session, "go");
    host.until("tool_start").await;
    host.call("session.stop", json!({"sessionId": session})).await.unwrap();
    host.until("done").await;
    assert_eq!(sent.await.unwrap()["message"], "Interrupted");
    let left = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.windows(6).any(|window| window == b"987654")
    });
    assert!(!left, "no process is left");
}

#[tokio::test]
async fn waiting_messages_become_runs_in_order() {
    let host = shared(TestHost::new(FILES));
    let replies = json!([
        {"when": {"lastUserText": "one"}, "steps": [{"text": "first"}, {"toolUse": {"name": "Bash", "input": {"command": "touch x"}}}]},
        {"when": {"toolResultFor": "Bash"}, "steps": [{"text": "end of first"}]},
        {"when": {"lastUserText": "two"}, "steps": [{"text": "second"}]}
    ]);
    let session = host.start(replies).await;
    let sent = send(&host, &session, "one");
    let asked = host.until("permission_asked").await;
    let queued =
        host.call("session.send", json!({"sessionId": session, "message": "two"})).await.unwrap();
    assert_eq!(queued["queued"], true);
    let id = &asked.last().unwrap()["requestId"];
    host.call("permission.reject", json!({"requestId": id})).await.unwrap();
    let first = host.until("done").await;
    assert!(types(&first).contains(&"message_queued"));
    assert_eq!(sent.await.unwrap()["content"], "end of first");
    let second = host.until("done").await;
    assert_eq!(types(&second)[..2], ["message_started", "session.created"]);
    assert_eq!(second.last().unwrap()["queuedId"], queued["id"]);
}

#[tokio::test]
async fn without_a_model_a_prompt_says_how_to_set_one_up() {
    let host = TestHost::without_model(FILES);
    let started = host.call("session.start", json!({})).await.unwrap();
    assert_eq!(started.get("model"), None, "{started}");
    let params = json!({"sessionId": started["sessionId"], "message": "hi"});
    let error = host.call("session.send", params).await.unwrap_err();
    assert_eq!(error.code, -32003);
    assert!(error.data["hint"].as_str().unwrap().contains("ANTHROPIC_API_KEY"));
}

#[tokio::test]
async fn a_message_that_is_sent_twice_runs_once() {
    let host = TestHost::new(FILES);
    let session = host.start(json!([{"repeat": true, "steps": [{"text": "Once."}]}])).await;
    let params = json!({"sessionId": session, "message": "hi", "clientId": "c1"});
    let first = host.call("session.send", params.clone()).await.unwrap();
    let second = host.call("session.send", params).await.unwrap();
    assert_eq!(first, second);
    assert_eq!(first["turnCount"], 1);
}

#[tokio::test]
async fn a_rule_for_the_session_allows_the_like() {
    let host = shared(TestHost::new(FILES));
    let replies = json!([
        {"when": {"lastUserText": "go", "turn": 1}, "steps": [{"toolUse": {"name": "Bash", "input": {"command": "touch a"}}}]},
        {"when": {"lastUserText": "go", "turn": 2}, "steps": [{"toolUse": {"name": "Bash", "input": {"command": "touch b"}}}]},
        {"repeat": true, "steps": [{"text": "Both are there."}]}
    ]);
    let session = host.start(replies).await;
    let sent = send(&host, &session, "go");
    let asked = host.until("permission_asked").await;
    let request = asked.last().unwrap();
    let answer = json!({"requestId": request["requestId"], "decision": "allow-session", "editedRule": "Bash(touch:*)"});
    host.call("permission.answer", answer).await.unwrap();
    let rest = host.until("done").await;
    assert!(!types(&rest).contains(&"permission_asked"));
    assert_eq!(sent.await.unwrap()["content"], "Both are there.");
    assert!(host.home.project().join("a").exists() && host.home.project().join("b").exists());
}

#[tokio::test]
async fn a_session_whose_model_is_gone_goes_on_with_another() {
    let host = TestHost::new(FILES);
    let session = host.start(json!([{"repeat": true, "steps": [{"text": "I am here."}]}])).await;
    host.call("session.send", json!({"sessionId": session, "message": "one"})).await.unwrap();
    host.host.shutdown().await;
    std::fs::remove_file(host.home.project().join("test.scenario.json")).unwrap();
    let host = host.reopened();
    let resumed = host.call("session.resume", json!({"sessionId": session})).await.unwrap();
    assert_eq!(resumed["messages"].as_array().unwrap().len(), 2, "{resumed}");
    let send = |model: Option<&str>| {
        // The demo writes a file; in this mode it is refused and nobody is asked.
        let params =
            json!({"sessionId": session, "message": "two", "model": model, "agentMode": "explore"});
        host.call("session.send", params)
    };
    let error = send(None).await.unwrap_err();
    assert!(error.message.contains("test.scenario.json"), "{error}");
    let sent = send(Some("scripted:demo")).await.unwrap();
    assert_eq!(sent["success"], true, "{sent}");
}

#[tokio::test]
async fn a_front_end_cannot_name_a_scenario_file() {
    let host = TestHost::new(FILES);
    let session = host.start(json!([{"repeat": true, "steps": [{"text": "I am here."}]}])).await;
    std::fs::copy(
        host.home.project().join("test.scenario.json"),
        host.home.project().join("other.scenario.json"),
    )
    .unwrap();
    for (provider, model) in
        [(None, "scripted:other.scenario.json"), (Some("scripted"), "other.scenario.json")]
    {
        let pair = json!({"provider": provider, "model": model});
        let with = |more: Value| {
            let mut params = pair.clone();
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            params
        };
        for (method, params) in [
            ("session.start", pair.clone()),
            ("session.send", with(json!({"sessionId": session, "message": "go"}))),
            ("session.set", with(json!({"sessionId": session}))),
        ] {
            let error = host.call(method, params).await.unwrap_err();
            assert!(error.message.contains("command line"), "{method}: {error}");
        }
    }
    // The one that the session has already is no new choice.
    let same = json!({"sessionId": session, "provider": "scripted", "model": "test.scenario.json"});
    host.call("session.set", same).await.unwrap();
}
