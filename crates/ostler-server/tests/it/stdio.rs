//! The stdio door: what becomes of every kind of line, order, and the end.

use serde_json::{Value, json};

use crate::support::{TestHost, events_of, types};

fn hello() -> Value {
    json!([{"repeat": true, "steps": [{"text": "Hello there.", "chunk": 3}]}])
}

#[tokio::test]
async fn the_answer_to_a_send_comes_after_its_done() {
    let host = TestHost::new();
    let mut lines = host.stdio();
    host.replies(hello());
    let session = lines.start().await;
    for _ in 0..20 {
        let id = lines.send("session.send", json!({"sessionId": session, "message": "hi"})).await;
        let answered = lines.until_answer(id).await;
        let events = events_of(&answered, &session);
        assert_eq!(types(&events).first(), Some(&"session.created"));
        assert_eq!(types(&events).last(), Some(&"done"));
        assert_eq!(answered.last().unwrap()["result"]["content"], "Hello there.");
        assert_eq!(types(&events).iter().filter(|kind| **kind == "text_delta").count(), 4);
    }
}

#[tokio::test]
async fn lines_that_are_no_calls_are_answered_or_dropped_and_harm_nothing() {
    let host = TestHost::new();
    let mut lines = host.stdio();
    let input = concat!(
        "no json\n",
        "\r\n",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"host.info\"}]\n",
        "17\n",
        "{\"id\":\"a\",\"method\":\"host.info\",\"params\":[]}\n",
        "{\"id\":\"b\"}\n",
        "{\"id\":\"c\",\"method\":\"no.such\"}\r\n",
        "{\"method\":\"host.info\"}\n",
        "{\"method\":\"no.such\"}\n",
        "{\"id\":\"d\",\"method\":\"events.unsubscribe\",\"params\":{\"sessionId\":\"s\"}}",
    );
    lines.write(input.as_bytes()).await;
    let answers = lines.end().await;
    let heads: Vec<_> = answers
        .iter()
        .map(|answer| (answer["id"].clone(), answer["error"]["code"].clone()))
        .collect();
    let want = json!([
        [null, -32600],
        [null, -32600],
        ["a", -32602],
        ["b", -32600],
        ["c", -32601],
        ["d", null]
    ]);
    assert_eq!(json!(heads), want);
    let last = answers.last().unwrap().as_object().unwrap();
    assert_eq!(last.get("result"), Some(&Value::Null), "no result is null, and is there");
    assert!(answers[4]["error"]["message"].as_str().unwrap().contains("no.such"));
}

#[tokio::test]
async fn two_sessions_stream_side_by_side_each_in_order() {
    let host = TestHost::new();
    let mut lines = host.stdio();
    host.replies(json!([{"steps": [{"repeatText": {"text": "word ", "count": 300}}]}]));
    let (one, two) = (lines.start().await, lines.start().await);
    let first = lines.send("session.send", json!({"sessionId": one, "message": "go"})).await;
    let second = lines.send("session.send", json!({"sessionId": two, "message": "go"})).await;
    let mut all = Vec::new();
    let is_answer = |line: &Value, id: u64| line["jsonrpc"] == "2.0" && line["id"] == id;
    while !(all.iter().any(|line| is_answer(line, first))
        && all.iter().any(|line| is_answer(line, second)))
    {
        all.push(lines.next().await);
    }
    for session in [&one, &two] {
        let events = events_of(&all, session);
        let seqs: Vec<_> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
        let words: String = events
            .iter()
            .filter(|event| event["type"] == "text_delta")
            .map(|event| event["delta"].as_str().unwrap())
            .collect();
        assert_eq!(words, "word ".repeat(300));
        assert_eq!(types(&events).last(), Some(&"done"));
    }
}

#[tokio::test]
async fn the_end_of_the_input_ends_runs_and_answers_them() {
    let host = TestHost::new();
    let mut lines = host.stdio();
    host.replies(json!([{"steps": [{"text": "I begin"}, {"stall": true}]}]));
    let session = lines.start().await;
    let id = lines.send("session.send", json!({"sessionId": session, "message": "go"})).await;
    lines.until_event("text_delta").await;
    let rest = lines.end().await;
    assert_eq!(types(&events_of(&rest, &session)).last(), Some(&"done"));
    let answer = rest.iter().find(|line| line["id"] == id).unwrap();
    assert_eq!(answer["result"]["message"], "Interrupted", "{answer}");
}

#[tokio::test]
async fn more_calls_than_allowed_are_refused_and_say_so() {
    let host = TestHost::new();
    let mut lines = host.stdio();
    host.replies(json!([{"repeat": true, "steps": [{"stall": true}]}]));
    let session = lines.start().await;
    // Sent again with the same id, a message waits for the end of the same run.
    let message = json!({"sessionId": session, "message": "go", "clientId": "once"});
    for _ in 0..256 {
        lines.send("session.send", message.clone()).await;
    }
    let refused = lines.call("host.info", json!({})).await;
    assert_eq!(refused["error"]["code"], -32005, "{refused}");
    assert_eq!(refused["error"]["data"]["limit"], 256);
    let rest = lines.end().await;
    assert_eq!(rest.iter().filter(|line| line["result"]["message"] == "Interrupted").count(), 256);
}
