//! Requests for permission: a test per promise of the protocol.

use std::sync::Arc;

use ostler_host::outlet::Slow;
use ostler_protocol::methods::{Caller, TransportKind, dispatch};
use serde_json::{Value, json};

use crate::support::{TestHost, shared, types};

const FILES: &str = "=== a.txt\none\n";

fn call(tool: &str, input: Value) -> Value {
    json!({"toolUse": {"name": tool, "input": input}})
}

fn bash(command: &str) -> Value {
    call("Bash", json!({"command": command}))
}

/// A session whose model makes one call and then ends.
fn one(call: Value) -> Value {
    json!([{"steps": [call]}, {"repeat": true, "steps": [{"text": "End."}]}])
}

/// A run that goes on beside the test.
struct Run {
    host: Arc<TestHost>,
    session: String,
    sent: tokio::task::JoinHandle<Value>,
}

impl Run {
    async fn start(host: &Arc<TestHost>, replies: Value) -> Self {
        let session = host.start(replies).await;
        Self::send(host, session, json!({}))
    }

    fn send(host: &Arc<TestHost>, session: String, extra: Value) -> Self {
        let mut params = json!({"sessionId": session, "message": "go"});
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let (host, background) = (Arc::clone(host), Arc::clone(host));
        let sent =
            tokio::spawn(async move { background.call("session.send", params).await.unwrap() });
        Self { host, session, sent }
    }

    /// The request that is made next.
    async fn asked(&self) -> Value {
        self.host.until("permission_asked").await.pop().unwrap()
    }

    async fn answer(&self, params: Value) -> Result<Value, ostler_protocol::RpcError> {
        self.host.call("permission.answer", params).await
    }

    /// All that follows, to the end.
    async fn end(self) -> Vec<Value> {
        let events = self.host.until("done").await;
        self.sent.await.unwrap();
        events
    }

    async fn pending(&self) -> usize {
        let pending = self.host.call("permission.pending", json!({})).await.unwrap();
        pending.as_array().unwrap().len()
    }

    fn exists(&self, name: &str) -> bool {
        self.host.home.project().join(name).exists()
    }

    /// The session's own records of a kind.
    fn records(&self, kind: &str) -> Vec<Value> {
        records(&self.host, &self.session, kind)
    }
}

fn records(host: &TestHost, session: &str, kind: &str) -> Vec<Value> {
    let mut folders = vec![host.home.ostler_home().join("projects")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with(format!("{session}.jsonl")) {
                let text = std::fs::read_to_string(path).unwrap();
                let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
                found.extend(lines.filter(|line| line["type"] == "ostler" && line["kind"] == kind));
            }
        }
    }
    found
}

fn find<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    events.iter().find(|event| event["type"] == kind).unwrap()
}

#[tokio::test]
async fn the_first_wrong_field_in_documented_order_is_told() {
    let host = shared(TestHost::new(FILES));
    let run = Run::start(&host, one(bash("touch new"))).await;
    let id = run.asked().await["requestId"].clone();
    let long = "x".repeat(2001);
    for (params, code, word) in [
        (json!({}), -32602, "requestId"),
        (json!({"decision": "maybe"}), -32602, "requestId"),
        (json!({"requestId": id}), -32602, "decision"),
        (json!({"requestId": id, "decision": "maybe", "editedRule": 3}), -32602, "decision"),
        (json!({"requestId": "none", "decision": "deny", "reason": long}), -32002, "unknown"),
        (
            json!({"requestId": id, "decision": "allow-once", "editedRule": "Ba sh(", "reason": long}),
            -32602,
            "editedRule",
        ),
        (
            json!({"requestId": id, "decision": "allow-session", "editedRule": ""}),
            -32602,
            "editedRule",
        ),
        (json!({"requestId": id, "decision": "deny", "reason": long}), -32602, "reason"),
        (
            json!({"requestId": id, "decision": "deny", "editedArgs": {"command": "ls"}}),
            -32602,
            "editedArgs",
        ),
        (
            json!({"requestId": id, "decision": "allow-once", "editedArgs": {"command": 3}}),
            -32602,
            "editedArgs",
        ),
        (json!({"requestId": id, "decision": "allow-once", "hash": "other"}), -32011, "hash"),
    ] {
        let error = run.answer(params.clone()).await.unwrap_err();
        assert_eq!(error.code, code, "{params}: {error}");
        let named = error.data.get("field") == Some(&json!(word))
            || error.data.get("reason") == Some(&json!(word))
            || word == "hash";
        assert!(named, "{params}: {error:?}");
    }
    assert_eq!(run.pending().await, 1, "a wrong answer is no answer");
    assert!(!run.exists("new"));
    run.answer(json!({"requestId": id, "decision": "deny"})).await.unwrap();
    run.end().await;
}

#[tokio::test]
async fn of_two_answers_one_counts_and_every_front_end_sees_the_outcome() {
    let host = shared(TestHost::new(FILES));
    let second = host.host.attach("second", Slow::Wait, true);
    let run = Run::start(&host, one(bash("touch new"))).await;
    let id = run.asked().await["requestId"].clone();
    let caller = Caller { client: "second".to_owned(), transport: TransportKind::InProcess };
    let mine = json!({"requestId": id, "decision": "allow-once"});
    let theirs = json!({"requestId": id, "decision": "deny"});
    let (one, other) = tokio::join!(
        run.answer(mine),
        dispatch(&host.host, &caller, "permission.answer", Some(theirs))
    );
    assert_eq!(one.unwrap(), Value::Null);
    let error = other.unwrap_err();
    assert_eq!((error.code, &error.data["reason"]), (-32002, &json!("resolved")));
    let (exists, project) = (host.home.project().join("new"), run.end().await);
    assert!(exists.exists());
    assert_eq!(find(&project, "permission.answered")["answer"]["decision"], "allow-once");
    let mut seen = Vec::new();
    while let Some(published) = second.events.try_next() {
        seen.push(serde_json::from_str::<Value>(&published.json).unwrap());
    }
    assert_eq!(find(&seen, "permission.answered")["requestId"], id);
}

#[tokio::test]
async fn each_decision_stores_its_rule_where_it_says() {
    let user = "home";
    for (decision, file) in [
        ("allow-once", None),
        ("allow-session", None),
        ("allow-project", Some("project")),
        ("allow-always", Some(user)),
    ] {
        let host = shared(TestHost::new(FILES));
        let run = Run::start(&host, one(bash("touch new"))).await;
        let asked = run.asked().await;
        assert_eq!(asked["suggestedRule"], "Bash(touch:*)", "{asked}");
        let offered: Vec<_> = asked["suggestions"].as_array().unwrap().iter().collect();
        assert_eq!(offered.len(), 3, "{asked}");
        assert_eq!(offered[0]["covers"], "every command that begins with `touch`");
        run.answer(json!({"requestId": asked["requestId"], "decision": decision})).await.unwrap();
        assert!(host.until("done").await.len() > 1);
        let holds = |path: std::path::PathBuf| {
            std::fs::read_to_string(path).unwrap_or_default().contains("Bash(touch:*)")
        };
        let project = holds(host.home.project().join(".ostler/settings.json"));
        let home = holds(host.home.ostler_home().join("settings.json"));
        assert_eq!((project, home), (file == Some("project"), file == Some(user)), "{decision}");
    }
}

#[tokio::test]
async fn a_rule_that_cannot_be_kept_leaves_the_request_open() {
    let host = shared(TestHost::new("=== a.txt\none\n=== .ostler/settings.json\n{broken\n"));
    let run = Run::start(&host, one(bash("touch new"))).await;
    let id = run.asked().await["requestId"].clone();
    let kept = run.answer(json!({"requestId": id, "decision": "allow-project"})).await;
    assert!(kept.unwrap_err().message.contains("settings.json"));
    assert_eq!((run.pending().await, run.exists("new")), (1, false));
    run.answer(json!({"requestId": id, "decision": "allow-once"})).await.unwrap();
    let exists = host.home.project().join("new");
    run.end().await;
    assert!(exists.exists());
}

#[tokio::test]
async fn a_compound_command_is_covered_by_a_rule_for_each_part() {
    let host = shared(TestHost::new(FILES));
    let again = json!([
        {"steps": [bash("touch x && mkdir y")]},
        {"when": {"turn": 2}, "steps": [bash("mkdir z; touch z/x")]},
        {"repeat": true, "steps": [{"text": "End."}]}
    ]);
    let run = Run::start(&host, again).await;
    let asked = run.asked().await;
    assert_eq!(asked["suggestedRule"], "Bash(touch:*), Bash(mkdir:*)", "{asked}");
    run.answer(json!({"requestId": asked["requestId"], "decision": "allow-session"}))
        .await
        .unwrap();
    let events = run.end().await;
    assert!(!types(&events).contains(&"permission_asked"), "{events:?}");
    assert!(host.home.project().join("z/x").exists());
}

#[tokio::test]
async fn edited_arguments_are_judged_from_the_start() {
    let files = "=== a.txt\none\n=== .ostler/settings.json\n{\"permissions\": {\"deny\": [\"Bash(rm:*)\"]}}\n";
    for (edited, runs) in [("touch other", true), ("rm a.txt", false)] {
        let host = shared(TestHost::new(files));
        let run = Run::start(&host, one(bash("touch new"))).await;
        let id = run.asked().await["requestId"].clone();
        let answer =
            json!({"requestId": id, "decision": "allow-once", "editedArgs": {"command": edited}});
        run.answer(answer).await.unwrap();
        let verdict = |run: &Run| run.records("verdict").pop().unwrap();
        let events = host.until("done").await;
        let done = find(&events, "tool_complete");
        assert_eq!((run.exists("other"), run.exists("a.txt")), (runs, true), "{edited}");
        assert!(!run.exists("new"), "what was asked about first did not run");
        if !runs {
            assert_eq!(done["deniedBy"], "rule", "{done}");
            assert_eq!(verdict(&run)["rule"], "Bash(rm:*)");
        }
    }
}

#[tokio::test]
async fn the_two_ways_to_refuse_are_told_apart_and_both_reach_the_model() {
    for (method, event) in
        [("permission.answer", "permission.answered"), ("permission.reject", "permission.rejected")]
    {
        let host = shared(TestHost::new(FILES));
        let run = Run::start(&host, one(bash("touch new"))).await;
        let id = run.asked().await["requestId"].clone();
        let params = json!({"requestId": id, "decision": "deny", "reason": "use the other one"});
        host.call(method, params).await.unwrap();
        let events = host.until("done").await;
        let told = find(&events, event);
        let reason =
            if event.ends_with("answered") { &told["answer"]["reason"] } else { &told["reason"] };
        assert_eq!(*reason, "use the other one", "{told}");
        let result = find(&events, "tool_complete")["result"].as_str().unwrap();
        assert!(result.contains("use the other one"), "{result}");
        assert!(!run.exists("new"));
        let verdicts = run.records("verdict");
        assert_eq!(verdicts.last().unwrap()["by"], "person");
    }
}

#[tokio::test]
async fn a_refusal_without_a_reason_tells_the_model_that_it_may_go_on() {
    let host = shared(TestHost::new(FILES));
    let run = Run::start(&host, one(bash("touch new"))).await;
    let id = run.asked().await["requestId"].clone();
    host.call("permission.reject", json!({"requestId": id})).await.unwrap();
    let events = run.end().await;
    let result = find(&events, "tool_complete")["result"].as_str().unwrap();
    assert!(result.contains("Go on without it"), "{result}");
}

#[tokio::test]
async fn nobody_there_is_a_no_at_once() {
    let host = TestHost::new(FILES);
    host.host.detach("test", &host.window);
    let session = host.start(one(bash("touch new"))).await;
    let sent = host.call("session.send", json!({"sessionId": session, "message": "go"})).await;
    assert_eq!(sent.unwrap()["success"], true);
    assert!(!host.home.project().join("new").exists());
    let verdicts = records(&host, &session, "verdict");
    assert_eq!((&verdicts[0]["verdict"], &verdicts[0]["by"]), (&json!("deny"), &json!("no-one")));
    assert_eq!(verdicts.len(), 1, "{verdicts:?}");
}

#[tokio::test]
async fn the_last_front_end_may_leave_and_another_answers() {
    let host = shared(TestHost::new(FILES));
    let run = Run::start(&host, one(bash("touch new"))).await;
    let asked = run.asked().await;
    host.host.detach("test", &host.window);
    assert_eq!(run.pending().await, 1, "a page that is loaded again finds it");
    let late = host.host.attach("late", Slow::Wait, true);
    let pending = host.call("permission.pending", json!({"sessionId": run.session})).await.unwrap();
    for key in ["requestId", "toolCallId", "args", "cwd", "mode", "hash", "askedAt", "expiresAt"] {
        assert_eq!(pending[0][key], asked[key], "{key}");
    }
    let other = host.call("permission.pending", json!({"sessionId": "other"})).await.unwrap();
    assert_eq!(other, json!([]));
    run.answer(json!({"requestId": asked["requestId"], "decision": "allow-once"})).await.unwrap();
    run.sent.await.unwrap();
    assert!(host.home.project().join("new").exists());
    assert!(late.events.try_next().is_some());
}

#[tokio::test]
async fn a_stop_withdraws_what_waits() {
    let host = shared(TestHost::new(FILES));
    let run = Run::start(&host, one(bash("touch new"))).await;
    let id = run.asked().await["requestId"].clone();
    host.call("session.stop", json!({"sessionId": run.session})).await.unwrap();
    let events = host.until("done").await;
    let rejected = find(&events, "permission.rejected");
    assert_eq!((&rejected["requestId"], &rejected["reason"]), (&id, &json!("interrupted")));
    assert_eq!(run.pending().await, 0);
    let late = run.answer(json!({"requestId": id, "decision": "allow-once"})).await.unwrap_err();
    assert_eq!((late.code, &late.data["reason"]), (-32002, &json!("resolved")));
    assert!(!run.exists("new"));
}

#[tokio::test]
async fn the_end_of_the_session_withdraws_what_waits() {
    let host = shared(TestHost::new(FILES));
    let run = Run::start(&host, one(bash("touch new"))).await;
    let id = run.asked().await["requestId"].clone();
    host.host.shutdown().await;
    let events = host.until("done").await;
    assert_eq!(find(&events, "permission.rejected")["requestId"], id);
    assert_eq!(run.records("answered").pop().unwrap()["decision"], "withdrawn");
    assert!(!run.exists("new"));
}

#[tokio::test]
async fn questions_and_permissions_do_not_answer_each_other() {
    let host = shared(TestHost::new(FILES));
    let options = json!([{"label": "a", "description": ""}, {"label": "b", "description": ""}]);
    let question = json!({"questions": [{"question": "Which?", "header": "h", "options": options, "multiSelect": false}]});
    let run = Run::start(&host, one(call("AskUserQuestion", question))).await;
    let id = host.until("question_asked").await.pop().unwrap()["requestId"].clone();
    for (method, params) in [
        ("permission.answer", json!({"requestId": id, "decision": "allow-once"})),
        ("permission.reject", json!({"requestId": id})),
    ] {
        let error = host.call(method, params).await.unwrap_err();
        assert_eq!((error.code, &error.data["field"]), (-32602, &json!("requestId")), "{method}");
    }
    assert_eq!(run.pending().await, 0);
    host.call("question.reject", json!({"requestId": id})).await.unwrap();
    run.end().await;
}

#[tokio::test]
async fn a_message_with_an_image_is_asked_about_like_any_other() {
    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let image = json!({"images": [{"data": pixel, "mediaType": "image/png"}]});
    let write = call("Write", json!({"file_path": "${cwd}/new", "content": "x"}));
    for (extra, tool) in [
        (json!({}), write.clone()),
        (json!({}), bash("touch new")),
        (image.clone(), write),
        (image, bash("touch new")),
    ] {
        let host = shared(TestHost::new(FILES));
        let session = host.start(one(tool.clone())).await;
        let run = Run::send(&host, session, extra.clone());
        let id = run.asked().await["requestId"].clone();
        run.answer(json!({"requestId": id, "decision": "deny"})).await.unwrap();
        let path = host.home.project().join("new");
        run.end().await;
        assert!(!path.exists(), "{tool}");
    }
}

#[tokio::test]
async fn every_verdict_is_in_the_log_before_its_call_with_what_decided() {
    let files = "=== a.txt\none\n=== .ostler/settings.json\n{\"permissions\": {\"deny\": [\"Read(./secret)\"], \"ask\": [\"Bash(ls:*)\"]}}\n=== secret\ns\n";
    let host = shared(TestHost::new(files));
    let replies = json!([
        {"steps": [call("Read", json!({"file_path": "${cwd}/a.txt"}))]},
        {"when": {"turn": 2}, "steps": [call("Read", json!({"file_path": "${cwd}/secret"}))]},
        {"when": {"turn": 3}, "steps": [bash("ls")]},
        {"repeat": true, "steps": [{"text": "End."}]}
    ]);
    let run = Run::start(&host, replies).await;
    let id = run.asked().await["requestId"].clone();
    run.answer(json!({"requestId": id, "decision": "allow-once"})).await.unwrap();
    host.until("done").await;
    let rows: Vec<_> = run
        .records("verdict")
        .into_iter()
        .map(|line| {
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let source = text("source").ends_with(".ostler/settings.json");
            (text("verdict"), text("by"), text("rule"), source)
        })
        .collect();
    let row = |verdict: &str, by: &str, rule: &str, source| {
        (verdict.to_owned(), by.to_owned(), rule.to_owned(), source)
    };
    assert_eq!(
        rows,
        [
            row("allow", "mode", "", false),
            row("deny", "rule", "Read(./secret)", true),
            row("ask", "rule", "Bash(ls:*)", true),
            row("allow", "person", "", false),
        ]
    );
    host.host.shutdown().await;
    let session = run.session.clone();
    drop(run);
    let Ok(host) = Arc::try_unwrap(host) else { panic!("the host is still used") };
    let host = host.reopened();
    host.call("session.resume", json!({"sessionId": session})).await.unwrap();
    assert_eq!(records(&host, &session, "verdict").len(), 4, "a resume keeps them");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_come_in_time_is_a_no_and_the_model_is_told() {
    let host = shared(TestHost::with_runtime_time(FILES));
    let run = Run::start(&host, one(bash("touch new"))).await;
    let asked = run.asked().await;
    let time = |key: &str| asked[key].as_i64().unwrap();
    assert_eq!(time("expiresAt") - time("askedAt"), 30 * 60 * 1000);
    let start = tokio::time::Instant::now();
    let events = host.until("done").await;
    assert_eq!(start.elapsed().as_secs(), 30 * 60);
    assert_eq!(find(&events, "permission.rejected")["reason"], "timeout");
    let done = find(&events, "tool_complete");
    assert_eq!(done["deniedBy"], "no-one");
    assert!(done["result"].as_str().unwrap().starts_with("Nobody answered"), "{done}");
    assert_eq!(run.records("verdict").pop().unwrap()["by"], "timeout");
    assert_eq!(run.pending().await, 0);
    assert!(!run.exists("new"));
}
