//! Every event that is raised, and what its hooks are told: one row each. A new event needs
//! its row here, and a cause below.

use std::{collections::BTreeSet, fs};

use ostler_host::{HookEvent, SessionSpec};
use ostler_stdx::AbsPath;
use serde_json::{Value, json};

use super::{FILES, call};
use crate::support::TestHost;

/// What every input holds.
const COMMON: &[&str] =
    &["session_id", "transcript_path", "cwd", "hook_event_name", "permission_mode"];

/// Events with the fields of their own.
const EVENTS: &[(&str, &[&str])] = &[
    ("SessionStart", &["source", "model"]),
    ("UserPromptSubmit", &["prompt"]),
    ("TurnStart", &["prompt"]),
    ("PreToolUse", &["tool_name", "tool_input", "tool_use_id"]),
    ("PermissionRequest", &["tool_name", "tool_input", "permission_suggestions"]),
    ("PermissionDenied", &["tool_name", "tool_input", "tool_use_id", "reason"]),
    ("PostToolUse", &["tool_name", "tool_input", "tool_use_id", "tool_response", "duration_ms"]),
    ("PostToolUseFailure", &["tool_name", "tool_input", "tool_use_id", "error", "duration_ms"]),
    ("PostToolBatch", &["tool_calls"]),
    ("Notification", &["message", "title", "notification_type"]),
    ("Stop", &["stop_hook_active", "last_assistant_message"]),
    ("StopFailure", &["error", "error_details"]),
    ("TurnEnd", &["reason", "last_assistant_message", "duration_ms"]),
    ("CwdChanged", &["old_cwd", "new_cwd"]),
    ("TaskCreated", &["task_id", "task_subject", "task_description"]),
    ("TaskCompleted", &["task_id", "task_subject", "task_description"]),
    ("PostModelSwitch", &["from_model", "to_model", "requested_model"]),
    ("SessionEnd", &["reason"]),
];

/// A model that gives a cause to each of them.
fn causes() -> Value {
    let step = |call: Value| json!({ "steps": [call] });
    json!([
        step(call("Read", &json!({"file_path": "a.txt"}))),
        step(call("Read", &json!({"file_path": "missing.txt"}))),
        step(call("Bash", &json!({"command": "rm a.txt"}))),
        step(call("Bash", &json!({"command": "touch made"}))),
        step(call("TaskCreate", &json!({"subject": "one", "description": "the first"}))),
        step(call("TaskUpdate", &json!({"taskId": "1", "status": "completed"}))),
        step(call(
            "Bash",
            &json!({"command":
            "git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m first"})
        )),
        step(call("EnterWorktree", &json!({"name": "aside"}))),
        step(json!({"text": "End."})),
        step(json!({"error": {"status": 400, "body": {"type": "error", "error":
            {"type": "invalid_request_error", "message": "no"}}}})),
    ])
}

/// Sends a prompt and answers what is asked: one command with no, all else with yes.
async fn turn(host: &TestHost, session: &str) {
    let params = json!({"sessionId": session, "message": "go"});
    let send = async { host.call("session.send", params).await.unwrap() };
    let answers = async {
        let mut asked = Value::Null;
        loop {
            let event = host.next().await;
            match event["type"].as_str() {
                Some("permission_asked") => asked = event,
                // An answer that is faster than the hook would stop it.
                Some("hook.triggered") if event["event"] == "PermissionRequest" => {
                    let is_touch = asked["args"]["command"] == "touch made";
                    let decision = if is_touch { "deny" } else { "allow-once" };
                    let params = json!({"requestId": asked["requestId"], "decision": decision});
                    host.call("permission.answer", params).await.unwrap();
                }
                Some("done") => return,
                _ => {}
            }
        }
    };
    tokio::join!(send, answers);
}

#[tokio::test]
async fn each_event_is_raised_with_its_fields() {
    let raised = HookEvent::ALL.iter().filter(|event| event.is_raised());
    let raised: BTreeSet<_> = raised.map(|event| event.name()).collect();
    assert_eq!(raised, EVENTS.iter().map(|(name, _)| *name).collect(), "a row for each event");

    let host = TestHost::new(FILES);
    host.home.init_git().unwrap();
    let inputs = host.home.home().join("inputs");
    fs::create_dir_all(&inputs).unwrap();
    let command = format!("cat > '{}'/$OSTLER_HOOK_EVENT", inputs.display());
    let hooks: serde_json::Map<_, _> = EVENTS
        .iter()
        .map(|(name, _)| ((*name).to_owned(), json!([{"command": command}])))
        .collect();
    let settings = json!({"hooks": hooks, "permissions": {"deny": ["Bash(rm *)"]}});
    fs::create_dir_all(host.home.ostler_home()).unwrap();
    fs::write(host.home.ostler_home().join("settings.json"), settings.to_string()).unwrap();

    let model = host.scenario(causes());
    let mut spec = SessionSpec::new(AbsPath::new(host.home.project()).unwrap());
    spec.on_demand = &[];
    spec.model = Some(model);
    let session = host.host.start(spec).unwrap();
    turn(&host, &session.id.0).await;
    turn(&host, &session.id.0).await;
    session.change_model(&host.host, Some("scripted:demo")).await.unwrap();
    // The switch is told in the session's own time; a look at it comes after.
    session.snapshot().await.unwrap();
    host.host.shutdown().await;

    for (name, fields) in EVENTS {
        let text = fs::read_to_string(inputs.join(name));
        let text = text.unwrap_or_else(|error| panic!("{name} was not raised: {error}"));
        let input: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for field in COMMON.iter().chain(*fields) {
            assert!(
                input.get(field).is_some_and(|value| !value.is_null()),
                "{name} {field}: {input}"
            );
        }
        assert_eq!(input["hook_event_name"], *name);
    }
}
