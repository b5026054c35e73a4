//! Hooks that the host registers: called side by side, answered, late, withdrawn, replaced.

use serde_json::{Value, json};

use crate::pipes::{Pipes, only};

fn bash(command: &str) -> Value {
    json!([
        {"steps": [{"toolUse": {"name": "Bash", "input": {"command": command}}}]},
        {"repeat": true, "steps": [{"text": "hello"}]},
    ])
}

/// A process whose host has registered these hooks.
async fn with_hooks(args: &[&str], replies: Value, hooks: Value) -> Pipes {
    let mut pipes = Pipes::start(args, replies);
    let answer = pipes.asked(json!({"subtype": "initialize", "hooks": hooks})).await;
    assert_eq!(answer["response"]["hooks_applied"], true, "{answer}");
    assert_eq!(answer["response"]["hook_on_failure_supported"], true);
    pipes
}

/// The next request of the agent.
async fn request(pipes: &mut Pipes) -> Value {
    pipes.until("control_request").await.pop().unwrap()
}

fn pre_tool_use(fields: &Value) -> Value {
    let mut all = json!({"hookEventName": "PreToolUse"});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({ "hookSpecificOutput": all })
}

fn result_of(frames: &[Value]) -> Value {
    let user = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    user["message"]["content"][0].clone()
}

#[tokio::test]
async fn a_callback_refuses_allows_or_changes_a_call() {
    for (answer, text, failed) in [
        (
            json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}),
            "PreToolUse:Bash hook error: no",
            true,
        ),
        (json!({"permissionDecision": "allow"}), "one", false),
        (
            json!({"permissionDecision": "allow", "updatedInput": {"command": "echo two"}}),
            "two",
            false,
        ),
    ] {
        let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"]}]});
        let mut pipes = with_hooks(&[], bash("echo one > made; cat made"), hooks).await;
        pipes.prompt("go").await;
        let call = request(&mut pipes).await;
        assert_eq!(call["request"]["subtype"], "hook_callback");
        assert_eq!(call["request"]["callback_id"], "hook_0");
        let input = &call["request"]["input"];
        assert_eq!(input["tool_input"]["command"], "echo one > made; cat made");
        assert_eq!(input["tool_use_id"], call["request"]["tool_use_id"]);
        pipes.answer(&call, pre_tool_use(&answer)).await;
        let end = pipes.end().await;
        let result = result_of(&end.frames);
        assert_eq!(
            (result["content"].as_str().unwrap().trim(), &result["is_error"]),
            (text, &json!(failed))
        );
        let denied = only(&end.frames, "result")["permission_denials"].as_array().unwrap().len();
        assert_eq!(denied, usize::from(failed));
        assert!(!end.frames.iter().any(|frame| frame["subtype"] == "permission_denied"));
    }
}

#[tokio::test]
async fn callbacks_of_an_event_go_out_side_by_side() {
    let hooks = json!({"PreToolUse": [
        {"matcher": null, "hookCallbackIds": ["hook_0", "hook_1"]}, {"hookCallbackIds": ["hook_2"]}]});
    let mut pipes = with_hooks(&[], bash("cat greet.sh"), hooks).await;
    pipes.prompt("go").await;
    let mut calls = Vec::new();
    for _ in 0..3 {
        calls.push(request(&mut pipes).await);
    }
    // In whatever order they are answered, a refusal counts.
    let deny =
        pre_tool_use(&json!({"permissionDecision": "deny", "permissionDecisionReason": "third"}));
    pipes.answer(&calls[2], deny).await;
    pipes.answer(&calls[1], json!({})).await;
    pipes.answer(&calls[0], pre_tool_use(&json!({"permissionDecision": "allow"}))).await;
    let end = pipes.end().await;
    assert!(result_of(&end.frames)["content"].as_str().unwrap().ends_with("third"));
}

#[tokio::test(start_paused = true)]
async fn a_callback_that_is_late_is_withdrawn_and_refuses_its_call() {
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["hook_0"], "timeout": 2}]});
    let mut pipes = with_hooks(&[], bash("cat greet.sh"), hooks).await;
    pipes.prompt("go").await;
    let call = request(&mut pipes).await;
    let mut frames = pipes.until("control_cancel_request").await;
    assert_eq!(frames.last().unwrap()["request_id"], call["request_id"]);
    // Too late: nobody waits for it.
    pipes.answer(&call, pre_tool_use(&json!({"permissionDecision": "allow"}))).await;
    frames.extend(pipes.end().await.frames);
    let result = result_of(&frames);
    assert!(result["content"].as_str().unwrap().contains("did not end within 2.0 s"), "{result}");
}

#[tokio::test]
async fn a_callback_that_fails_is_reported_or_blocks() {
    for (on_failure, failed) in [("ignore", false), ("block", true)] {
        let hooks =
            json!({"PreToolUse": [{"hookCallbackIds": ["hook_0"], "onFailure": on_failure}]});
        let mut pipes = with_hooks(&["--include-hook-events"], bash("cat greet.sh"), hooks).await;
        pipes.prompt("go").await;
        let call = request(&mut pipes).await;
        let error = json!({"subtype": "error", "request_id": call["request_id"], "error": "boom"});
        pipes.send(json!({"type": "control_response", "response": error})).await;
        let end = pipes.end().await;
        assert_eq!(result_of(&end.frames)["is_error"], failed, "{on_failure}");
        let response = end.frames.iter().find(|frame| frame["subtype"] == "hook_response").unwrap();
        assert_eq!(
            (&response["outcome"], &response["hook_event"]),
            (&json!("error"), &json!("PreToolUse"))
        );
    }
}

#[tokio::test]
async fn an_interrupt_withdraws_what_waits() {
    let hooks = json!({"UserPromptSubmit": [{"hookCallbackIds": ["hook_0"]}]});
    let mut pipes = with_hooks(&[], bash("cat greet.sh"), hooks).await;
    pipes.prompt("go").await;
    let call = request(&mut pipes).await;
    pipes.request("stop", json!({"subtype": "interrupt"})).await;
    // The call is withdrawn and the turn ends, in either order.
    let mut frames = pipes.until("control_cancel_request").await;
    assert_eq!(frames.last().unwrap()["request_id"], call["request_id"]);
    frames.extend(pipes.end().await.frames);
    assert_eq!(only(&frames, "result")["terminal_reason"], "aborted_streaming");
    assert!(!frames.iter().any(|frame| frame["type"] == "assistant"));
}

#[tokio::test]
async fn after_the_end_of_the_input_nobody_is_called() {
    let hooks = json!({"Stop": [{"hookCallbackIds": ["hook_0"]}], "PreToolUse": [{"hookCallbackIds": ["hook_1"]}]});
    let mut pipes = with_hooks(&[], bash("cat greet.sh"), hooks).await;
    pipes.prompt("go").await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["result"], "hello");
}

#[tokio::test]
async fn a_message_that_a_callback_keeps_back_is_a_result_without_a_turn() {
    let hooks = json!({"UserPromptSubmit": [{"hookCallbackIds": ["hook_0"]}]});
    let mut pipes = with_hooks(&[], json!([]), hooks).await;
    pipes.prompt("a secret").await;
    let call = request(&mut pipes).await;
    assert_eq!(call["request"]["input"]["prompt"], "a secret");
    pipes
        .answer(&call, json!({"decision": "block", "reason": "keep it", "systemMessage": "kept"}))
        .await;
    let end = pipes.end().await;
    let result = only(&end.frames, "result");
    assert_eq!(
        (&result["subtype"], &result["num_turns"], &result["result"]),
        (&json!("success"), &json!(0), &json!("keep it"))
    );
    assert_eq!(only(&end.frames, "result")["is_error"], false);
    let said = end.frames.iter().find(|frame| frame["subtype"] == "informational").unwrap();
    assert_eq!(said["content"], "kept");
    assert!(end.transcripts().is_empty(), "what was kept back is not on disk");
}

#[tokio::test]
async fn a_second_initialize_replaces_the_hooks() {
    let hooks = |id: &str| json!({"PreToolUse": [{"hookCallbackIds": [id]}]});
    let mut pipes = with_hooks(&[], bash("cat greet.sh"), hooks("old")).await;
    pipes.asked(json!({"subtype": "initialize", "hooks": hooks("new")})).await;
    pipes.prompt("go").await;
    let call = request(&mut pipes).await;
    assert_eq!(call["request"]["callback_id"], "new");
    pipes.answer(&call, json!({})).await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["result"], "hello");
}

#[tokio::test]
async fn a_hook_of_the_settings_answers_before_the_host_and_the_request_is_withdrawn() {
    let allow = r#"cat >/dev/null; printf %s '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'"#;
    let settings = json!({"hooks": {"PermissionRequest": [{"command": allow}]}}).to_string();
    let args = ["--permission-prompt-tool=stdio", "--settings", &settings];
    let mut pipes = Pipes::start(&args, bash("echo one > made; cat made"));
    pipes.prompt("go").await;
    let asked = request(&mut pipes).await;
    assert_eq!(asked["request"]["subtype"], "can_use_tool");
    let mut frames = pipes.until("control_cancel_request").await;
    assert_eq!(frames.last().unwrap()["request_id"], asked["request_id"]);
    frames.extend(pipes.end().await.frames);
    assert_eq!(result_of(&frames)["content"].as_str().unwrap().trim(), "one");
}
