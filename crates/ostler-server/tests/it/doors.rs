//! The same scenario through both doors gives the same events, byte for byte but for ids.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::{
    http::{call, request, token},
    support::{TestHost, events_of},
};

fn replies() -> Value {
    json!([
        {"when": {"toolResultFor": "Read"}, "steps": [{"text": "It says Helo, naïvely.", "chunk": 5}]},
        {"steps": [
            {"thinking": "I should look.", "signature": "c2ln"},
            {"text": "Looking."},
            {"toolUse": {"name": "Read", "id": "toolu_1", "input": {"file_path": "${cwd}/greet.sh"}}}]}
    ])
}

/// Names of things that are made up anew each time.
const IDS: [&str; 5] = ["sessionId", "messageId", "runId", "epoch", "requestId"];

/// Replaces ids by when they were first seen, and times by nothing. The order of keys stays.
fn plain(events: &[Value]) -> Vec<String> {
    let mut seen = HashMap::new();
    let mut plain_of = |mut event: Value| {
        for (name, value) in event.as_object_mut().unwrap() {
            if IDS.contains(&name.as_str()) {
                let next = seen.len();
                let number = *seen.entry(value.to_string()).or_insert(next);
                *value = json!(number);
            } else if matches!(name.as_str(), "ms" | "duration_ms" | "elapsedMs") {
                *value = json!(0);
            }
        }
        event.to_string()
    };
    events.iter().cloned().map(&mut plain_of).collect()
}

#[tokio::test]
async fn both_doors_give_the_same_events() {
    let host = TestHost::new();
    host.replies(replies());
    let mut lines = host.stdio();
    let session = lines.start().await;
    let id = lines.send("session.send", json!({"sessionId": session, "message": "look"})).await;
    let lines_seen = lines.until_answer(id).await;
    let answer = lines_seen.last().unwrap()["result"].clone();
    let of_lines = events_of(&lines_seen, &session);

    let web = host.web().await;
    let started = call(&web, "w", "session.start", json!({})).await;
    let session = started["result"]["sessionId"].as_str().unwrap();
    let stream = request(&web, "GET", &format!("/events?sessionId={session}"));
    let mut stream = stream.bearer(&token(&web)).stream().await;
    let sent =
        call(&web, "w", "session.send", json!({"sessionId": session, "message": "look"})).await;
    let of_web: Vec<_> = stream.until("done").await.into_iter().map(|sent| sent.data).collect();

    assert_eq!(plain(&of_lines), plain(&of_web));
    let mut results = [answer, sent["result"].clone()];
    for result in &mut results {
        result["finalState"]["sessionId"] = Value::Null;
    }
    assert_eq!(results[0], results[1]);
    assert!(of_lines.iter().any(|event| event["type"] == "thinking_delta"));
    web.stop().await;
}
