//! A trace told from log lines alone; no session is run.

use serde_json::json;

use super::*;

fn own(kind: &str, second: u32, more: Value) -> Value {
    let stamp = format!("2026-01-02T03:04:{second:02}.000Z");
    let mut line = json!({"type": "ostler", "kind": kind, "timestamp": stamp});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

#[test]
fn a_log_is_told_with_waits_and_runs_measured() {
    let lines = [
        json!({"type": "user", "uuid": "u1", "message": {"role": "user", "content": "go"}}),
        own("run_started", 0, json!({"runId": "r", "prompt": "u1"})),
        own("retried", 1, json!({"attempt": 2, "max": 5, "delayMs": 500, "message": "busy"})),
        json!({"type": "assistant", "message": {"model": "m", "content": [
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}}),
        own(
            "response",
            3,
            json!({"stopReason": "tool_use", "usage": {
            "input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2}}),
        ),
        own(
            "verdict",
            3,
            json!({"toolUseId": "t", "verdict": "ask", "by": "rule",
            "reason": "it asks", "rule": "Bash(x)", "source": "/s.json"}),
        ),
        own("asked", 3, json!({"requestId": "q", "toolUseId": "t"})),
        own("answered", 8, json!({"requestId": "q", "decision": "deny", "reason": "no"})),
        own("later", 8, json!({})),
        json!({"type": "user", "timestamp": "2026-01-02T03:04:09.000Z", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": true}]}}),
        own("tool", 9, json!({"toolUseId": "t", "deniedBy": "user"})),
        own("response", 11, json!({"stopReason": "end_turn", "usage": {}})),
        own(
            "hook",
            11,
            json!({"name": "Stop-0", "event": "Stop", "outcome": "success", "ms": 7, "blocked": "no"}),
        ),
        own("run_ended", 12, json!({"reason": "end", "ms": 0})),
    ];
    let mut reader = Reader::default();
    lines.iter().for_each(|line| reader.line(line));
    let rows: Vec<Value> =
        reader.rows.iter().map(|row| serde_json::to_value(row).unwrap()).collect();
    let what: Vec<_> = rows.iter().map(|row| row["what"].as_str().unwrap()).collect();
    assert_eq!(
        what,
        ["run", "retry", "answer", "verdict", "answered", "tool", "answer", "hook", "end"]
    );
    assert_eq!(rows[0]["prompt"], "go");
    assert_eq!(rows[1]["delayMs"], 500);
    assert_eq!((&rows[2]["inputTokens"], &rows[2]["ms"]), (&json!(15), &json!(3000)));
    assert_eq!((&rows[3]["tool"], &rows[3]["rule"]), (&json!("Bash"), &json!("Bash(x)")));
    assert_eq!((&rows[4]["decision"], &rows[4]["ms"]), (&json!("deny"), &json!(5000)));
    assert_eq!((&rows[5]["ok"], &rows[5]["deniedBy"]), (&json!(false), &json!("user")));
    assert!(rows[5].get("ms").is_none(), "it never ran");
    assert_eq!(rows[6]["ms"], 2000, "since the results were there");
    assert_eq!((&rows[7]["event"], &rows[7]["blocked"]), (&json!("Stop"), &json!("no")));
    assert_eq!(rows[8]["ms"], 12_000);
    assert_eq!(rows[8]["at"].as_i64().unwrap() - rows[0]["at"].as_i64().unwrap(), 12_000);
}

#[test]
fn lines_that_lack_everything_are_no_trouble() {
    let mut reader = Reader::default();
    for kind in
        ["run_started", "retried", "response", "verdict", "asked", "answered", "tool", "run_ended"]
    {
        reader.line(&json!({"type": "ostler", "kind": kind}));
    }
    reader.line(&json!({"type": "user"}));
    reader.line(&json!({"type": "assistant", "message": 3}));
    reader.line(&json!([1]));
    assert_eq!(reader.rows.len(), 7);
}
