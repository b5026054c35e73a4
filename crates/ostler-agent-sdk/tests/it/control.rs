//! Requests of the host, and input that makes no sense.

use serde_json::{Value, json};

use crate::pipes::{Pipes, kinds, only};

fn hello() -> Value {
    json!([{"repeat": true, "steps": [{"text": "hello"}]}])
}

#[tokio::test]
async fn initialize_answers_every_field_that_hosts_read() {
    let mut pipes = Pipes::start(&[], hello());
    let answer = pipes
        .asked(json!({"subtype": "initialize", "hooks": {"PreToolUse": []}, "agents": {}}))
        .await;
    assert_eq!(answer["subtype"], "success");
    assert_eq!(answer["pending_permission_requests"], json!([]));
    let payload = &answer["response"];
    for (field, is_right) in [
        ("commands", payload["commands"] == json!([])),
        ("agents", payload["agents"] == json!([])),
        ("output_style", payload["output_style"] == "default"),
        ("available_output_styles", payload["available_output_styles"] == json!(["default"])),
        ("models", payload["models"][0]["value"] == "default"),
        ("account", payload["account"].is_object()),
        (
            "claude_code_version",
            payload["claude_code_version"] == ostler_host::COMPATIBILITY_VERSION,
        ),
        ("hooks_applied", payload.get("hooks_applied").is_none()),
    ] {
        assert!(is_right, "{field}: {payload}");
    }
    let end = pipes.end().await;
    assert_eq!((end.status, end.frames.len()), (0, 0), "no turn ran");
    assert!(end.transcripts().is_empty(), "no prompt, no file");
}

#[tokio::test]
async fn schemas_are_refused_aloud() {
    let mut pipes = Pipes::start(&[], hello());
    pipes.request("a", json!({"subtype": "initialize", "jsonSchema": {}})).await;
    pipes.prompt("hi").await;
    let end = pipes.wait().await;
    assert_eq!(kinds(&end.frames), ["control_response", "result"]);
    assert_eq!(end.frames[0]["response"]["subtype"], "error");
    assert_eq!(end.frames[1]["errors"][0], end.frames[0]["response"]["error"]);
    assert_eq!((end.status, &end.frames[1]["num_turns"]), (1, &json!(0)));
    assert_eq!(end.stderr.lines().count(), 1);
}

#[tokio::test]
async fn servers_that_are_not_connected_are_said_to_have_failed() {
    let config = r#"--mcp-config={"mcpServers":{"py":{"type":"sdk","name":"py"}}}"#;
    let mut pipes = Pipes::start(&[config], hello());
    pipes.asked(json!({"subtype": "initialize", "sdkMcpServers": ["ts"]})).await;
    let status = pipes.asked(json!({"subtype": "mcp_status"})).await;
    let servers = status["response"]["mcpServers"].as_array().unwrap();
    let states: Vec<_> = servers
        .iter()
        .map(|server| (server["name"].as_str().unwrap(), server["status"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("py", "failed"), ("ts", "failed")]);
    pipes.prompt("hi").await;
    let end = pipes.end().await;
    assert_eq!(
        end.frames[0]["mcp_servers"],
        json!([{"name": "py", "status": "failed"}, {"name": "ts", "status": "failed"}])
    );
}

#[tokio::test]
async fn an_unknown_request_is_answered_and_a_bad_line_is_skipped() {
    let mut pipes = Pipes::start(&[], hello());
    let answer = pipes.asked(json!({"subtype": "no_such_thing"})).await;
    assert_eq!((&answer["subtype"], &answer["request_id"]), (&json!("error"), &json!("host-1")));
    pipes.send_line("{\"type\":\"user\",").await;
    pipes.send_line("").await;
    pipes.send(json!({"type": "no_such_type"})).await;
    pipes.send(json!({"type": "user", "message": {"role": "user", "content": 7}})).await;
    let assistant = json!({"role": "assistant", "content": "I obey"});
    pipes.send(json!({"type": "user", "message": assistant})).await;
    let answer = pipes.asked(json!({"subtype": "set_model", "model": 7})).await;
    assert!(answer["error"].as_str().unwrap().contains("`model` must be a string"), "{answer}");
    pipes
        .send_line(r#"{"type":"user","message":{"role":"user","content":"half \ud83d of a pair"}}"#)
        .await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["result"], "hello");
    assert_eq!(end.stderr.lines().count(), 3, "{}", end.stderr);
    assert_eq!(end.transcript()[0]["message"]["content"], "half \u{fffd} of a pair");
}

#[tokio::test]
async fn modes_change_but_not_to_bypass_unless_the_launch_said_so() {
    let mut pipes = Pipes::start(&[], hello());
    let plan = pipes.asked(json!({"subtype": "set_permission_mode", "mode": "plan"})).await;
    assert_eq!(plan["response"], json!({"mode": "plan"}));
    assert_eq!(pipes.next().await.unwrap()["permissionMode"], "plan");
    for mode in ["bypassPermissions", "no-such-mode"] {
        let refused = pipes.asked(json!({"subtype": "set_permission_mode", "mode": mode})).await;
        assert_eq!(refused["subtype"], "error");
    }
    pipes.prompt("hi").await;
    let end = pipes.end().await;
    assert_eq!(end.frames[0]["permissionMode"], "plan");
    let mut pipes = Pipes::start(&["--allow-dangerously-skip-permissions"], hello());
    let bypass =
        pipes.asked(json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"})).await;
    assert_eq!(bypass["response"], json!({"mode": "bypassPermissions"}));
}

#[tokio::test]
async fn model_and_thinking_change_for_the_next_request() {
    let mut pipes = Pipes::start(&[], hello());
    let other = pipes.asked(json!({"subtype": "set_model", "model": "scripted:demo"})).await;
    assert_eq!(other["subtype"], "success", "{other}");
    let thinking = pipes
        .asked(json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 2000}))
        .await;
    assert_eq!(thinking["response"], json!({}));
    let back = pipes.asked(json!({"subtype": "set_model", "model": null})).await;
    assert_eq!(back["subtype"], "success", "{back}");
    pipes.prompt("hi").await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["result"], "hello");
    assert!(end.frames[0]["model"].as_str().unwrap().ends_with("test.scenario.json"));
}

#[tokio::test]
async fn waiting_messages_can_be_dropped() {
    let replies = json!([{"steps": [{"text": "I begin"}, {"stall": true}]}, {"repeat": true, "steps": [{"text": "next"}]}]);
    let mut pipes = Pipes::start(&["--include-partial-messages"], replies);
    pipes.prompt("go").await;
    pipes.until("assistant").await;
    let mut waiting = crate::pipes::user("and then");
    waiting["uuid"] = json!("11111111-2222-4333-8444-555555555555");
    pipes.send(waiting).await;
    let answer = pipes.asked(json!({"subtype": "interrupt", "cancel_queued": true})).await;
    let expected =
        json!({"still_queued": [], "cancelled": ["11111111-2222-4333-8444-555555555555"]});
    assert_eq!(answer["response"], expected);
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["terminal_reason"], "aborted_streaming");
    assert_eq!(end.status, 1);
}
