//! `settings.sandbox` at the Agent SDK door (agent-sdk.md 5.7).

use serde_json::{Value, json};

use crate::pipes::{Pipes, kinds, only};

const ASKED: &str = "--permission-prompt-tool=stdio";

fn start(settings: &Value, input: Value) -> Pipes {
    let replies = json!([
        {"when": {"toolResultFor": "Bash"}, "steps": [{"text": "Done."}]},
        {"steps": [{"toolUse": {"name": "Bash", "input": input}}]}
    ]);
    let settings = json!({ "sandbox": settings }).to_string();
    Pipes::start(&["--settings", &settings, ASKED], replies)
}

fn result(frames: &[Value]) -> String {
    frames.iter().find(|frame| frame["type"] == "user").unwrap()["message"]["content"][0]["content"]
        .to_string()
}

#[tokio::test]
async fn a_confined_command_runs_unasked_and_cannot_leave_the_project() {
    let settings =
        json!({"enabled": true, "autoAllowBashIfSandboxed": true, "failIfUnavailable": true});
    let command =
        "echo in > inside; echo out > ../outside; echo \"[$OSTLER_SANDBOX]\"; cd .; exit 4";
    let mut pipes = start(&settings, json!({"command": command}));
    pipes.prompt("go").await;
    let end = pipes.end().await;
    assert!(
        !kinds(&end.frames).contains(&"control_request".to_owned()),
        "{:?}",
        kinds(&end.frames)
    );
    let said = result(&end.frames);
    assert!(said.contains("[bubblewrap]") || said.contains("[landlock]"), "{said}");
    assert!(said.contains("ran in the sandbox"), "{said}");
    let project = end.home.project();
    assert_eq!(std::fs::read_to_string(project.join("inside")).unwrap(), "in\n");
    assert!(!project.join("../outside").exists());
}

#[tokio::test]
async fn without_auto_allow_it_is_asked_about_and_then_confined() {
    let mut pipes =
        start(&json!({"enabled": true}), json!({"command": "echo out > ../outside; exit 1"}));
    pipes.prompt("go").await;
    let asked = pipes.until("control_request").await.pop().unwrap();
    pipes.answer(&asked, json!({"behavior": "allow"})).await;
    let end = pipes.end().await;
    assert!(result(&end.frames).contains("ran in the sandbox"));
    assert!(!end.home.project().join("../outside").exists());
}

#[tokio::test]
async fn leaving_the_sandbox_is_asked_about_whatever_rules_say() {
    let input =
        json!({"command": "echo out > ../outside; exit 1", "dangerouslyDisableSandbox": true});
    let settings = json!({"enabled": true, "autoAllowBashIfSandboxed": true});
    let mut pipes = start(&settings, input.clone());
    pipes.prompt("go").await;
    let asked = pipes.until("control_request").await.pop().unwrap();
    assert_eq!(asked["request"]["input"]["dangerouslyDisableSandbox"], true);
    pipes.answer(&asked, json!({"behavior": "allow"})).await;
    let end = pipes.end().await;
    assert!(end.home.project().join("../outside").exists());

    let settings = json!({"enabled": true, "autoAllowBashIfSandboxed": true, "allowUnsandboxedCommands": false});
    let mut pipes = start(&settings, input);
    pipes.prompt("go").await;
    let end = pipes.end().await;
    assert!(result(&end.frames).contains("ran in the sandbox"), "the wish is ignored");
    assert!(!end.home.project().join("../outside").exists());
}

#[tokio::test]
async fn a_deny_rule_holds_inside_too() {
    let settings = json!({"enabled": true, "autoAllowBashIfSandboxed": true});
    let settings =
        json!({"sandbox": settings, "permissions": {"deny": ["Bash(rm:*)"]}}).to_string();
    let replies = json!([
        {"when": {"toolResultFor": "Bash"}, "steps": [{"text": "Done."}]},
        {"steps": [{"toolUse": {"name": "Bash", "input": {"command": "rm greet.sh"}}}]}
    ]);
    let mut pipes = Pipes::start(&["--settings", &settings], replies);
    pipes.prompt("go").await;
    let end = pipes.end().await;
    assert!(only(&end.frames, "result")["permission_denials"][0]["tool_name"] == "Bash");
    assert!(end.home.project().join("greet.sh").exists());
}

#[tokio::test]
async fn what_rules_deny_to_read_is_hidden_inside() {
    let sandbox = json!({"enabled": true, "autoAllowBashIfSandboxed": true});
    let rules = json!({"deny": ["Read(greet.sh)", "Read(*.pem)"]});
    let settings = json!({"sandbox": sandbox, "permissions": rules}).to_string();
    let command = "f=greet; cat \"$f.sh\"; echo over";
    let replies = json!([
        {"when": {"toolResultFor": "Bash"}, "steps": [{"text": "Done."}]},
        {"steps": [{"toolUse": {"name": "Bash", "input": {"command": command}}}]}
    ]);
    let mut pipes = Pipes::start(&["--settings", &settings, ASKED], replies);
    pipes.prompt("go").await;
    let end = pipes.end().await;
    let said = result(&end.frames);
    assert!(said.contains("over") && !said.contains("Helo"), "{said}");
    assert_eq!(end.stderr, "", "a pattern is hidden, too, so there is nothing to say");
}
