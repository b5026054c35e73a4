//! Questions and plans, from the model's call to the person's answer and back.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{TestHost, shared, types};

fn ask(extra: Value) -> Value {
    let mut input = json!({ "questions": [{
        "question": "Which?", "header": "Way",
        "options": [{ "label": "left" }, { "label": "right" }],
    }] });
    input.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    json!({ "toolUse": { "name": "AskUserQuestion", "input": input } })
}

fn send(host: &Arc<TestHost>, session: &str) -> tokio::task::JoinHandle<Value> {
    let (host, params) = (Arc::clone(host), json!({ "sessionId": session, "message": "go" }));
    tokio::spawn(async move { host.call("session.send", params).await.unwrap() })
}

fn results(events: &[Value]) -> String {
    let outputs = events
        .iter()
        .filter(|event| event["type"] == "tool_output" || event["type"] == "tool_complete");
    outputs.map(Value::to_string).collect()
}

#[tokio::test]
async fn the_persons_answer_reaches_the_model() {
    let host = shared(TestHost::new(""));
    let session = host
        .start(json!([
            { "when": { "toolResultFor": "AskUserQuestion" }, "steps": [{ "text": "Good." }] },
            { "steps": [ask(json!({}))] },
        ]))
        .await;
    let sent = send(&host, &session);
    let asked = host.until("question_asked").await;
    let request = asked.last().unwrap();
    assert_eq!(request["questions"][0]["question"], "Which?");
    let answer = json!({ "requestId": request["requestId"], "answers": ["right"] });
    host.call("question.answer", answer).await.unwrap();
    let rest = host.until("done").await;
    assert!(results(&rest).contains("- Which?: right"), "{rest:?}");
    assert_eq!(sent.await.unwrap()["content"], "Good.");
}

#[tokio::test]
async fn a_model_cannot_answer_its_own_question() {
    let host = shared(TestHost::new(""));
    let session = host
        .start(json!([
            { "when": { "toolResultFor": "AskUserQuestion" }, "steps": [{ "text": "Well." }] },
            { "steps": [ask(json!({ "answers": { "Which?": "left" } }))] },
        ]))
        .await;
    let sent = send(&host, &session);
    let events = host.until("done").await;
    assert!(!types(&events).contains(&"question_asked"), "{events:?}");
    assert!(results(&events).contains("`answers` is the person's to give"), "{events:?}");
    sent.await.unwrap();
}

#[tokio::test]
async fn an_approved_plan_ends_plan_mode() {
    let host = shared(TestHost::new(""));
    let session = host
        .start(json!([
            { "when": { "toolResultFor": "ExitPlanMode" }, "steps": [{ "text": "Done." }] },
            { "when": { "toolResultFor": "EnterPlanMode" }, "steps": [
                { "toolUse": { "name": "ExitPlanMode", "input": { "plan": "# P" } } },
            ] },
            { "steps": [{ "toolUse": { "name": "EnterPlanMode", "input": {} } }] },
        ]))
        .await;
    let sent = send(&host, &session);
    let asked = host.until("question_asked").await;
    let modes = |events: &[Value]| -> Vec<Value> {
        let changes = events.iter().filter(|event| event["type"] == "options_changed");
        changes.map(|event| event["permissionMode"].clone()).collect()
    };
    assert_eq!(modes(&asked), ["plan"], "{asked:?}");
    let request = asked.last().unwrap();
    assert_eq!((&request["kind"], &request["plan"]), (&json!("plan"), &json!("# P")));
    let answer =
        json!({ "requestId": request["requestId"], "approved": true, "editedPlan": "# Q" });
    host.call("question.answer", answer).await.unwrap();
    let rest = host.until("done").await;
    assert_eq!(modes(&rest), ["default"], "{rest:?}");
    assert!(results(&rest).contains("# Q"), "{rest:?}");
    sent.await.unwrap();
}
