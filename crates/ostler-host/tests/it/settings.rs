//! Settings at work: the machine's policy, changes while a session runs, the environment of
//! commands.

use std::{fs, os::unix::fs::PermissionsExt as _};

use ostler_protocol::ErrorKind;
use serde_json::{Value, json};

use crate::support::TestHost;

const FILES: &str = "=== a.txt\none\n";

fn call(tool: &str, input: Value) -> Value {
    json!({"toolUse": {"name": tool, "input": input}})
}

/// A session whose model makes the same call in every run.
fn always(call: &Value) -> Value {
    let run = [json!({"steps": [call]}), json!({"steps": [{"text": "End."}]})];
    Value::Array([&run[..], &run[..], &run[..]].concat())
}

fn user(host: &TestHost, settings: &Value) {
    let home = host.home.ostler_home();
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("settings.json"), settings.to_string()).unwrap();
}

async fn run(host: &TestHost, session: &str) -> Vec<Value> {
    let sent = host.call("session.send", json!({"sessionId": session, "message": "go"}));
    let (sent, events) = tokio::join!(sent, host.until("done"));
    sent.unwrap();
    events
}

/// What the call gave, and whether it failed.
fn result(events: &[Value]) -> (String, bool) {
    let done = events.iter().find(|event| event["type"] == "tool_complete").unwrap();
    (done["result"].as_str().unwrap().to_owned(), done["success"] == false)
}

fn kind(error: &ostler_protocol::RpcError) -> Option<&str> {
    error.data.get("kind").and_then(Value::as_str)
}

#[tokio::test]
async fn a_rule_that_is_written_between_two_runs_counts_in_the_second() {
    let host = TestHost::new(FILES);
    let session = host.start(always(&call("Read", json!({"file_path": "a.txt"})))).await;
    assert!(!result(&run(&host, &session).await).1);
    user(&host, &json!({"permissions": {"deny": ["Read"]}}));
    let (text, failed) = result(&run(&host, &session).await);
    assert!(failed && text.contains("denied"), "{text}");
    // Broken, it forbids on, and that is said.
    fs::write(host.home.ostler_home().join("settings.json"), "{").unwrap();
    let events = run(&host, &session).await;
    assert!(result(&events).1);
    let notice = events.iter().find(|event| event["type"] == "notice").unwrap();
    assert!(notice["content"].as_str().unwrap().contains("settings.json` line 1"), "{notice}");
}

#[tokio::test]
async fn a_mode_that_the_policy_forbids_is_refused_at_every_door() {
    let policy = json!({"permissions": {"disableBypassPermissionsMode": "disable"}});
    let host = TestHost::with_policy(FILES, &policy.to_string());
    let model = host.scenario(json!([{"steps": [{"text": "End."}]}]));
    let start = json!({"model": model, "agentMode": "danger"});
    let error = host.call("session.start", start).await.unwrap_err();
    assert_eq!(kind(&error), Some("managed"));
    assert!(error.message.contains("managed.json"), "{}", error.message);
    let session = host.start(json!([{"steps": [{"text": "End."}]}])).await;
    for params in [
        json!({"agentMode": "danger", "confirm": true}),
        json!({"agentMode": "bypassPermissions", "confirm": true}),
    ] {
        let mut all = json!({"sessionId": session});
        all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        let error = host.call("session.set", all).await.unwrap_err();
        assert_eq!(error.code, ErrorKind::Managed.code());
    }
    let send = json!({"sessionId": session, "message": "go", "agentMode": "danger"});
    let error = host.call("session.send", send).await.unwrap_err();
    assert_eq!(kind(&error), Some("managed"));
}

#[tokio::test]
async fn a_policy_that_comes_while_a_session_runs_free_binds_it() {
    let host = TestHost::with_policy(FILES, "{}");
    let model = host.scenario(always(&call("Bash", json!({"command": "touch made"}))));
    let start = json!({"model": model, "agentMode": "danger"});
    let started = host.call("session.start", start).await.unwrap();
    let session = started["sessionId"].as_str().unwrap().to_owned();
    host.policy(
        r#"{"permissions":{"disableBypassPermissionsMode":"disable","denyInsteadOfPrompting":true}}"#,
    );
    let (text, failed) = result(&run(&host, &session).await);
    assert!(failed && text.contains("denyInsteadOfPrompting"), "{text}");
    assert!(!host.home.project().join("made").exists());
}

#[tokio::test]
async fn a_policy_that_cannot_be_read_lets_no_session_start() {
    for policy in ["{", "[]", r#"{"permissions":{"deny":"Bash"}}"#] {
        let host = TestHost::with_policy(FILES, policy);
        let model = host.scenario(json!([{"steps": [{"text": "End."}]}]));
        let error = host.call("session.start", json!({"model": model})).await.unwrap_err();
        assert_eq!(kind(&error), Some("settings"), "{policy}: {error:?}");
        assert!(error.message.contains("no session starts"), "{}", error.message);
    }
    let host = TestHost::with_policy(FILES, "{}");
    let path = host.policy_path();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&path).is_err() {
        let model = host.scenario(json!([{"steps": [{"text": "End."}]}]));
        let error = host.call("session.start", json!({"model": model})).await.unwrap_err();
        assert!(error.message.contains("no session starts"), "{}", error.message);
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let model = host.scenario(json!([{"steps": [{"text": "End."}]}]));
    assert!(host.call("session.start", json!({"model": model})).await.is_err());
}

#[tokio::test]
async fn under_the_policys_own_allow_rules_nobody_elses_count() {
    let policy = json!({"allowManagedPermissionRulesOnly": true, "permissions": {"allow": ["Bash(touch ours)"]}});
    let host = TestHost::with_policy(FILES, &policy.to_string());
    user(&host, &json!({"permissions": {"allow": ["Bash(touch theirs)"]}}));
    let ours = host.start(always(&call("Bash", json!({"command": "touch ours"})))).await;
    assert!(!result(&run(&host, &ours).await).1);
    let theirs = host.start(always(&call("Bash", json!({"command": "touch theirs"})))).await;
    let params = json!({"sessionId": theirs, "message": "go"});
    let (sent, ()) = tokio::join!(host.call("session.send", params), async {
        let asked = host.until("permission_asked").await.pop().unwrap();
        let id = &asked["requestId"];
        let always = json!({"requestId": id, "decision": "allow-always"});
        let error = host.call("permission.answer", always).await.unwrap_err();
        assert_eq!(kind(&error), Some("managed"));
        let once = json!({"requestId": id, "decision": "allow-once"});
        host.call("permission.answer", once).await.unwrap();
    });
    sent.unwrap();
    assert!(host.home.project().join("theirs").exists());
}

#[tokio::test]
async fn commands_get_the_variables_of_settings_and_no_key_of_a_vendor() {
    let host = TestHost::new(FILES);
    let project = host.home.project();
    let text = json!({"env": {"FROM_PROJECT": "p"}}).to_string();
    fs::create_dir_all(project.join(".claude")).unwrap();
    fs::write(project.join(".claude/settings.json"), text).unwrap();
    user(
        &host,
        &json!({
            "env": {"FROM_USER": "u", "MY_TOKEN": "t", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "o"},
            "passEnv": ["OPENAI_API_KEY"],
            "permissions": {"allow": ["Bash"]}
        }),
    );
    let command =
        "echo u=$FROM_USER t=$MY_TOKEN p=$FROM_PROJECT k=$ANTHROPIC_API_KEY o=$OPENAI_API_KEY.";
    let session = host.start(always(&call("Bash", json!({"command": command})))).await;
    let (text, _) = result(&run(&host, &session).await);
    assert!(text.contains("u=u t=t p= k= o=o."), "{text}");
}
