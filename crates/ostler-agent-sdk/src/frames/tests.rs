//! Events that are hard to have from a scripted model.

use ostler_host::{Failure, RunEnd, RunReason};
use ostler_protocol::{ErrorKind, MessageId, RunId};

use super::*;

fn projector() -> Projector {
    Projector::new(ProjectorOptions {
        session_id: "s".to_owned(),
        cwd: "/p".to_owned(),
        model: "m".to_owned(),
        model_info: ModelInfo::default(),
        mode: Mode::Default,
        tools: vec!["Read".to_owned()],
        mcp_servers: Vec::new(),
        betas: Vec::new(),
        effort: Some(Effort::High),
        api_key_source: "none",
        partial_messages: false,
        replay_user_messages: false,
        hook_events: false,
        session_state: false,
    })
}

fn frames(projector: &mut Projector, event: &SessionEvent) -> Vec<Value> {
    projector.project(event).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn failure(kind: ErrorKind, status: Option<u16>) -> Failure {
    Failure { kind, message: "it broke".to_owned(), hint: None, status, retry_after_ms: None }
}

fn ended(reason: RunReason, failure: Option<Failure>) -> SessionEvent {
    SessionEvent::RunEnded(Box::new(RunEnd {
        run_id: RunId("r".to_owned()),
        reason,
        failure,
        text: "words".to_owned(),
        message_id: MessageId("a".to_owned()),
        model: "m".to_owned(),
        stop_reason: Some("end_turn".to_owned()),
        ms: 12,
        responses: 1,
        user_messages: 1,
        usage: Usage::default(),
        context_tokens: 0,
        denials: Vec::new(),
        queued_ids: Vec::new(),
        prompt_ids: vec![MessageId("u".to_owned())],
        origin: Some(json!({"kind": "human"})),
    }))
}

#[test]
fn a_retry_counts_retries_and_keeps_the_word_overloaded() {
    let event = SessionEvent::Retrying {
        message_id: None,
        attempt: 2,
        max: 11,
        delay_ms: 500,
        failure: failure(ErrorKind::Overloaded, Some(529)),
    };
    let frame = frames(&mut projector(), &event).remove(0);
    assert_eq!((&frame["attempt"], &frame["max_retries"]), (&json!(1), &json!(10)));
    assert_eq!((&frame["error"], &frame["error_status"]), (&json!("overloaded"), &json!(529)));
}

#[test]
fn a_failure_of_ours_is_an_error_of_the_run_and_one_of_the_vendor_is_not() {
    let mut projector = projector();
    let ours = failure(ErrorKind::Storage, None);
    let result = frames(&mut projector, &ended(RunReason::Failed, Some(ours))).remove(1);
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["errors"], json!(["it broke"]));
    assert_eq!(result["duration_ms"], 0, "the turn never began");
    let theirs = failure(ErrorKind::TooLarge, Some(413));
    let result = frames(&mut projector, &ended(RunReason::Failed, Some(theirs))).remove(1);
    assert_eq!((&result["subtype"], &result["is_error"]), (&json!("success"), &json!(true)));
    assert_eq!(result["terminal_reason"], "prompt_too_long");
    assert!(projector.last_result_failed());
    let result = frames(&mut projector, &ended(RunReason::End, None)).remove(1);
    assert_eq!(result["origin"], json!({"kind": "human"}));
    assert_eq!(result["result_index"], 2);
    assert!(!projector.last_result_failed());
}

#[test]
fn the_state_is_idle_only_when_nothing_waits() {
    let mut projector = projector();
    projector.options_mut().session_state = true;
    let started =
        SessionEvent::RunStarted { run_id: RunId("r".to_owned()), queued_ids: Vec::new() };
    frames(&mut projector, &started);
    let queued = SessionEvent::Queued { id: "q".to_owned(), content: String::new() };
    frames(&mut projector, &queued);
    assert_eq!(frames(&mut projector, &ended(RunReason::End, None)).len(), 1);
    frames(&mut projector, &SessionEvent::Dequeued { id: "q".to_owned() });
    let last = frames(&mut projector, &ended(RunReason::End, None)).pop().unwrap();
    assert_eq!(last["state"], "idle");
}

#[test]
fn a_long_call_is_reported_now_and_then() {
    let mut projector = projector();
    let id = ToolCallId("t".to_owned());
    frames(
        &mut projector,
        &SessionEvent::ToolStarted {
            tool_call_id: id.clone(),
            message_id: MessageId("a".to_owned()),
            tool_name: "Bash".to_owned(),
            args: serde_json::Map::new(),
            title: String::new(),
        },
    );
    let mut at = |elapsed_ms| {
        let event = SessionEvent::ToolProgress {
            tool_call_id: id.clone(),
            elapsed_ms,
            bytes: 1,
            tail: String::new(),
        };
        frames(&mut projector, &event)
    };
    assert_eq!(at(4_999).len() + at(5_000).len() + at(9_000).len() + at(10_000).len(), 2);
    assert_eq!(at(15_000)[0]["elapsed_time_seconds"], 15);
}

#[test]
fn the_first_frame_has_what_hosts_read() {
    let started =
        SessionEvent::RunStarted { run_id: RunId("r".to_owned()), queued_ids: Vec::new() };
    let init = frames(&mut projector(), &started).remove(0);
    for key in [
        "cwd",
        "tools",
        "mcp_servers",
        "model",
        "permissionMode",
        "slash_commands",
        "apiKeySource",
        "claude_code_version",
        "output_style",
        "agents",
        "skills",
        "plugins",
        "capabilities",
        "effort",
        "session_id",
        "uuid",
    ] {
        assert!(init.get(key).is_some_and(|value| !value.is_null()), "{key}");
    }
}
