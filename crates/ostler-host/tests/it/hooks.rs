//! User hooks at work: what each answer changes in a session, and what hooks are told.
//! The hooks are real commands of a real shell.

mod events;

use std::fs;

use serde_json::{Value, json};

use crate::support::{TestHost, types};

const FILES: &str = "=== a.txt\none\n";

/// Settings with hooks: each is an event, a matcher and a command.
fn settings(hooks: &[(&str, &str, &str)]) -> Value {
    let mut all = json!({});
    for (event, matcher, command) in hooks {
        let group = json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
        match all[*event].as_array_mut() {
            Some(list) => list.push(group),
            None => all[*event] = json!([group]),
        }
    }
    json!({ "hooks": all })
}

fn host_with(settings: &Value) -> TestHost {
    let host = TestHost::new(FILES);
    let home = host.home.ostler_home();
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("settings.json"), settings.to_string()).unwrap();
    host
}

/// A command that answers with an object.
fn says(answer: &Value) -> String {
    format!("cat >/dev/null; printf %s '{answer}'")
}

fn specific(event: &str, fields: &Value) -> Value {
    let mut all = json!({"hookEventName": event});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({ "hookSpecificOutput": all })
}

fn call(tool: &str, input: &Value) -> Value {
    json!({"toolUse": {"name": tool, "input": input}})
}

/// A model that makes one call and then ends.
fn one_call(call: &Value) -> Value {
    json!([{"steps": [call]}, {"repeat": true, "steps": [{"text": "End."}]}])
}

async fn run(host: &TestHost, session: &str) -> (Value, Vec<Value>) {
    let sent = host.call("session.send", json!({"sessionId": session, "message": "go on"}));
    let (sent, events) = tokio::join!(sent, host.until("done"));
    (sent.unwrap(), events)
}

/// The lines of the session's log.
fn log(host: &TestHost) -> Vec<Value> {
    let projects = host.home.ostler_home().join("projects");
    let mut text = String::new();
    for project in fs::read_dir(projects).unwrap() {
        for file in fs::read_dir(project.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Texts that only the model reads.
fn told(host: &TestHost) -> String {
    let lines = log(host);
    let meta = lines.iter().filter(|line| line["isMeta"] == true);
    meta.map(|line| line["message"]["content"].to_string()).collect()
}

fn of<'a>(events: &'a [Value], kind: &str) -> Option<&'a Value> {
    events.iter().find(|event| event["type"] == kind)
}

/// One answer of a hook before a call, and what becomes of the call.
struct Before {
    name: &'static str,
    command: String,
    more: Value,
    call: Value,
    /// What the result holds, and whether the call succeeded.
    result: (&'static str, bool),
}

fn before(name: &'static str, command: String, result: (&'static str, bool)) -> Before {
    let call = call("Bash", &json!({"command": "echo made > made.txt; echo ran"}));
    Before { name, command, more: json!({}), call, result }
}

fn befores() -> Vec<Before> {
    let answer = |fields: &Value| says(&specific("PreToolUse", fields));
    let rules = |kind: &str| json!({"permissions": {kind: ["Bash(echo *)"]}});
    let allow = json!({"permissionDecision": "allow"});
    let rewrite = |command: &str| json!({"permissionDecision": "allow", "updatedInput": {"command": command}});
    let read = call("Read", &json!({"file_path": "a.txt"}));
    vec![
        before(
            "exit 2",
            "echo 'not here' >&2; exit 2".into(),
            ("PreToolUse:Bash hook error: not here", false),
        ),
        before(
            "deny",
            answer(&json!({"permissionDecision": "deny", "permissionDecisionReason": "never"})),
            ("PreToolUse:Bash hook error: never", false),
        ),
        before(
            "legacy block",
            says(&json!({"decision": "block", "reason": "old"})),
            ("hook error: old", false),
        ),
        before("allow", answer(&allow), ("ran", true)),
        before("legacy approve", says(&json!({"decision": "approve"})), ("ran", true)),
        Before {
            more: rules("deny"),
            ..before("deny rule beats allow", answer(&allow), ("denied", false))
        },
        before("another input", answer(&rewrite("echo other")), ("other", true)),
        Before {
            more: json!({"permissions": {"deny": ["Bash(rm *)"]}}),
            ..before("another input is judged", answer(&rewrite("rm a.txt")), ("denied", false))
        },
        before(
            "defer",
            answer(&json!({"permissionDecision": "defer", "permissionDecisionReason": "later"})),
            ("put off by a hook", false),
        ),
        Before {
            call: read.clone(),
            ..before("exit 1 only reports", "exit 1".into(), ("one", true))
        },
        Before {
            call: read.clone(),
            ..before("nonsense only reports", "echo '{\"decision\": 7}'".into(), ("one", true))
        },
        Before {
            call: read,
            ..before("wrong event only reports", says(&specific("Stop", &json!({}))), ("one", true))
        },
    ]
}

#[tokio::test]
async fn each_answer_before_a_call_has_its_effect() {
    for row in befores() {
        let mut all = settings(&[("PreToolUse", "Bash|Read", &row.command)]);
        all.as_object_mut().unwrap().extend(row.more.as_object().unwrap().clone());
        let host = host_with(&all);
        let session = host.start(one_call(&row.call)).await;
        let (sent, events) = run(&host, &session).await;
        assert_eq!(sent["success"], true, "{}: {sent}", row.name);
        let done = of(&events, "tool_complete").unwrap();
        let (text, ok) = row.result;
        assert!(done["result"].as_str().unwrap().contains(text), "{}: {done}", row.name);
        assert_eq!(done["success"], ok, "{}: {done}", row.name);
        assert_eq!(of(&events, "permission_asked"), None, "{}", row.name);
        assert!(host.home.project().join("a.txt").exists(), "{}", row.name);
    }
}

#[tokio::test]
async fn an_ask_rule_asks_though_a_hook_allows_and_a_hook_asks_though_the_mode_allows() {
    let answer = |fields: &Value| says(&specific("PreToolUse", fields));
    let allow = answer(&json!({"permissionDecision": "allow"}));
    let ask =
        answer(&json!({"permissionDecision": "ask", "permissionDecisionReason": "look twice"}));
    let bash = call("Bash", &json!({"command": "echo x > made.txt"}));
    let read = call("Read", &json!({"file_path": "a.txt"}));
    let rule = json!({"permissions": {"ask": ["Bash(echo *)"]}});
    for (command, more, call, reason) in
        [(allow, rule, bash, "rule"), (ask, json!({}), read, "look twice")]
    {
        let mut all = settings(&[("PreToolUse", "", &command)]);
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let host = host_with(&all);
        let session = host.start(one_call(&call)).await;
        let params = json!({"sessionId": session, "message": "go on"});
        let answered = async {
            let asked = host.until("permission_asked").await;
            let request = asked.last().unwrap().clone();
            let params = json!({"requestId": request["requestId"], "decision": "allow-once"});
            host.call("permission.answer", params).await.unwrap();
            request
        };
        let (sent, request) = tokio::join!(host.call("session.send", params), answered);
        assert_eq!(sent.unwrap()["success"], true);
        assert!(request["reason"].as_str().unwrap().contains(reason), "{request}");
    }
}

#[tokio::test]
async fn a_filter_and_a_matcher_choose_the_calls() {
    let guard = |filter: &str, matcher: &str| {
        json!({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [
            {"type": "command", "command": "exit 2", "if": filter}]}]}})
    };
    for (filter, matcher, blocked) in [
        ("Bash(git *)", "Bash", false),
        ("Bash(cat *)", "Bash", true),
        ("Bash(cat *)", "Read", false),
        ("Bash", "B.*", true),
    ] {
        let host = host_with(&guard(filter, matcher));
        let session = host.start(one_call(&call("Bash", &json!({"command": "cat a.txt"})))).await;
        let (_, events) = run(&host, &session).await;
        let done = of(&events, "tool_complete").unwrap();
        assert_eq!(done["success"], !blocked, "{filter} {matcher}: {done}");
    }
}

#[tokio::test]
async fn each_answer_after_a_call_has_its_effect() {
    let post = |fields: &Value| says(&specific("PostToolUse", fields));
    let read = call("Read", &json!({"file_path": "a.txt"}));
    let bash = call("Bash", &json!({"command": "cat a.txt"}));
    let missing = call("Read", &json!({"file_path": "missing.txt"}));
    let batch = says(&specific("PostToolBatch", &json!({"additionalContext": "all of them"})));
    let failed =
        says(&specific("PostToolUseFailure", &json!({"additionalContext": "look elsewhere"})));
    for (name, event, command, call, result, words) in [
        (
            "context",
            "PostToolUse",
            post(&json!({"additionalContext": "mind the gap"})),
            &read,
            "one",
            "mind the gap",
        ),
        (
            "another output",
            "PostToolUse",
            post(&json!({"updatedToolOutput": "hidden"})),
            &bash,
            "hidden",
            "",
        ),
        (
            "an output of its shape",
            "PostToolUse",
            post(&json!({"updatedToolOutput": {"stdout": "masked"}})),
            &bash,
            "masked",
            "",
        ),
        (
            "an output that does not fit",
            "PostToolUse",
            post(&json!({"updatedToolOutput": {"x": 1}})),
            &bash,
            "one",
            "",
        ),
        (
            "block",
            "PostToolUse",
            says(&json!({"decision": "block", "reason": "format it"})),
            &read,
            "one",
            "format it",
        ),
        ("exit 2", "PostToolUse", "echo 'lint it' >&2; exit 2".to_owned(), &read, "one", "lint it"),
        ("a failure", "PostToolUseFailure", failed, &missing, "missing.txt", "look elsewhere"),
        ("a batch", "PostToolBatch", batch, &read, "one", "all of them"),
    ] {
        let host = host_with(&settings(&[(event, "", &command)]));
        let session = host.start(one_call(call)).await;
        let (sent, events) = run(&host, &session).await;
        assert_eq!(sent["content"], "End.", "{name}: {sent}");
        let done = of(&events, "tool_complete").unwrap();
        assert!(done["result"].as_str().unwrap().contains(result), "{name}: {done}");
        assert!(told(&host).contains(words), "{name}: {}", told(&host));
    }
}

#[tokio::test]
async fn a_hook_ends_the_turn_and_the_result_is_written() {
    let stop = says(&json!({"continue": false, "stopReason": "enough"}));
    let two = json!([{"steps": [
        call("Bash", &json!({"command": "cat a.txt"})), call("Bash", &json!({"command": "cat a.txt"}))]},
        {"repeat": true, "steps": [{"text": "End."}]}]);
    for event in ["PreToolUse", "PostToolUse", "PostToolBatch", "UserPromptSubmit", "Stop"] {
        let host = host_with(&settings(&[(event, "", &stop)]));
        let session = host.start(two.clone()).await;
        let (sent, events) = run(&host, &session).await;
        assert_eq!(sent["success"], true, "{event}: {sent}");
        assert_eq!(events.last().unwrap()["reason"], "end");
        let log = log(&host);
        let end = log.iter().rfind(|line| line["kind"] == "run_ended").unwrap();
        assert_eq!(end["reason"], "hook_stopped", "{event}");
        let results = events.iter().filter(|event| event["type"] == "tool_complete").count();
        assert_eq!(results, if event == "UserPromptSubmit" { 0 } else { 2 }, "{event}");
    }
}

#[tokio::test]
async fn a_message_is_kept_back_added_to_or_replaced() {
    let block = says(&json!({"decision": "block", "reason": "no secrets"}));
    let host = host_with(&settings(&[("UserPromptSubmit", "", &block)]));
    let session = host.start(json!([])).await;
    let (sent, events) = run(&host, &session).await;
    assert_eq!(sent["content"], "no secrets");
    assert_eq!(of(&events, "user_message"), None, "{events:?}");
    assert!(of(&events, "notice").unwrap()["content"].as_str().unwrap().contains("no secrets"));

    let listed = host.call("session.list", json!({})).await.unwrap();
    assert!(listed.to_string().contains(&session), "{listed}");
    assert!(!listed.to_string().contains("go on"), "{listed}");

    let more = says(&specific(
        "UserPromptSubmit",
        &json!({"additionalContext": "it is Monday", "sessionTitle": "Mondays"}),
    ));
    let replaced = says(&specific(
        "UserPromptSubmit",
        &json!({"additionalContext": "instead", "suppressOriginalPrompt": true}),
    ));
    for (command, there, gone) in [
        ("echo plain words".to_owned(), "plain words", None),
        (more, "it is Monday", None),
        (replaced, "instead", Some("go on")),
    ] {
        let host = host_with(&settings(&[("UserPromptSubmit", "", &command)]));
        let session = host.start(json!([{"steps": [{"text": "End."}]}])).await;
        run(&host, &session).await;
        let text: String =
            log(&host).iter().filter(|line| line["type"] == "user").map(Value::to_string).collect();
        assert!(text.contains(there), "{text}");
        assert!(gone.is_none_or(|gone| !text.contains(gone)), "{text}");
    }
}

#[tokio::test]
async fn a_stop_hook_sends_the_model_back_to_work_but_not_for_ever() {
    let command = r#"if grep -q '"stop_hook_active":true'; then exit 0; fi; echo 'test it first' >&2; exit 2"#;
    let host = host_with(&settings(&[("Stop", "", command)]));
    let session =
        host.start(json!([{"steps": [{"text": "One."}]}, {"steps": [{"text": "Two."}]}])).await;
    let (sent, _) = run(&host, &session).await;
    assert_eq!(sent["content"], "Two.");
    assert!(told(&host).contains("test it first"));

    let host = host_with(&settings(&[("Stop", "", "exit 2")]));
    let session = host.start(json!([{"repeat": true, "steps": [{"text": "Again."}]}])).await;
    let (sent, events) = run(&host, &session).await;
    assert_eq!(sent["iterationCount"], 9, "{sent}");
    assert!(events.iter().any(|event| event["key"] == "notice.hook_limit"));
}

#[tokio::test]
async fn a_person_is_answered_for_by_a_hook() {
    let answer =
        |decision: &Value| says(&specific("PermissionRequest", &json!({ "decision": decision })));
    let allow = answer(&json!({"behavior": "allow"}));
    let other = answer(&json!({"behavior": "allow", "updatedInput": {"command": "echo changed"}}));
    let deny = answer(&json!({"behavior": "deny", "message": "not today"}));
    let bash = call("Bash", &json!({"command": "echo ran > made.txt; cat made.txt"}));
    for watched in [true, false] {
        for (command, text, ok) in
            [(&allow, "ran", true), (&other, "changed", true), (&deny, "not today", false)]
        {
            let host = host_with(&settings(&[("PermissionRequest", "Bash", command)]));
            let session = host.start(one_call(&bash)).await;
            let send = host.call("session.send", json!({"sessionId": session, "message": "go"}));
            if watched {
                let (_, events) = tokio::join!(send, host.until("done"));
                let done = of(&events, "tool_complete").unwrap();
                assert!(done["result"].as_str().unwrap().contains(text), "{done}");
                assert_eq!(done["success"], ok);
                let asked = types(&events).contains(&"permission_asked");
                assert!(asked, "the person is asked at the same time");
            } else {
                host.host.detach("test", &host.window);
                send.await.unwrap();
                assert!(log(&host).iter().any(|line| line.to_string().contains(text)), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn a_session_begins_and_ends_with_its_hooks() {
    let note = r#"cat > "$OSTLER_PROJECT_DIR/end.json""#;
    let host = host_with(&settings(&[
        ("SessionStart", "startup", "echo the river is high"),
        ("SessionStart", "resume", "echo not now"),
        ("SessionEnd", "", note),
        ("TurnStart", "", "echo a new day"),
    ]));
    let session = host.start(json!([{"repeat": true, "steps": [{"text": "End."}]}])).await;
    run(&host, &session).await;
    let told = told(&host);
    assert!(told.contains("SessionStart hook: the river is high"), "{told}");
    assert!(told.contains("TurnStart hook: a new day") && !told.contains("not now"), "{told}");
    host.host.shutdown().await;
    let end: Value = serde_json::from_str(&host.file("end.json")).unwrap();
    assert_eq!(
        (end["hook_event_name"].as_str(), end["reason"].as_str()),
        (Some("SessionEnd"), Some("other"))
    );
    assert!(log(&host).iter().any(|line| line["kind"] == "hook" && line["event"] == "SessionEnd"));
    let host = host.reopened();
    host.call("session.open", json!({"sessionId": session})).await.unwrap();
    run(&host, &session).await;
    assert!(crate::hooks::told(&host).contains("not now"));
}

/// Writes a project's settings.
fn project(host: &TestHost, file: &str, settings: &Value) {
    let file = host.home.project().join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, settings.to_string()).unwrap();
}

#[tokio::test]
async fn hooks_of_a_project_run_only_once_it_is_trusted() {
    let mark = |name: &str| settings(&[("UserPromptSubmit", "", &format!("touch {name}.ran"))]);
    let host = host_with(&mark("user"));
    let files = [".claude/settings.json", ".ostler/settings.json", ".claude/settings.local.json"];
    for (file, name) in files.into_iter().zip(["claude", "ostler", "local"]) {
        project(&host, file, &mark(name));
    }
    let ran = |name: &str| host.home.project().join(format!("{name}.ran")).exists();
    let session = host.start(json!([{"repeat": true, "steps": [{"text": "End."}]}])).await;
    run(&host, &session).await;
    assert!(ran("user"));
    for name in ["claude", "ostler", "local"] {
        assert!(!ran(name), "{name}: nobody trusted it");
    }
    let path = host.home.project();
    let report = host.call("projects.trustReport", json!({ "path": path })).await.unwrap();
    assert!(report["brings"].as_array().unwrap().iter().any(|item| item["kind"] == "hook"));
    let params = json!({"path": path, "hash": report["hash"], "decision": "trust"});
    host.call("projects.trust", params).await.unwrap();
    run(&host, &session).await;
    for name in ["claude", "ostler", "local"] {
        assert!(ran(name), "{name}: it is trusted");
    }
}

#[tokio::test]
async fn the_policy_and_the_switch_say_which_hooks_run() {
    let mark = |name: &str| settings(&[("UserPromptSubmit", "", &format!("touch {name}.ran"))]);
    let with = |mut settings: Value, key: &str| {
        settings[key] = json!(true);
        settings
    };
    for (user, policy, expected) in [
        (mark("user"), mark("policy"), (true, true)),
        (mark("user"), with(mark("policy"), "allowManagedHooksOnly"), (false, true)),
        (with(mark("user"), "disableAllHooks"), mark("policy"), (false, true)),
        (mark("user"), with(mark("policy"), "disableAllHooks"), (false, false)),
    ] {
        let host = host_with(&user);
        host.policy(&policy.to_string());
        let session = host.start(json!([{"repeat": true, "steps": [{"text": "End."}]}])).await;
        run(&host, &session).await;
        let ran = |name: &str| host.home.project().join(format!("{name}.ran")).exists();
        assert_eq!((ran("user"), ran("policy")), expected, "{user} {policy}");
    }
}

#[tokio::test]
async fn hooks_follow_their_file_from_one_turn_to_the_next() {
    let host = host_with(&json!({}));
    let session = host.start(json!([{"repeat": true, "steps": [{"text": "End."}]}])).await;
    run(&host, &session).await;
    let file = host.home.ostler_home().join("settings.json");
    let both = settings(&[("UserPromptSubmit", "", "echo a new rule"), ("PreCompact", "", "true")]);
    fs::write(&file, both.to_string()).unwrap();
    let (_, events) = run(&host, &session).await;
    assert!(told(&host).contains("a new rule"));
    let notice = of(&events, "notice").unwrap();
    assert!(notice["content"].as_str().unwrap().contains("never raises this event"), "{notice}");
    fs::write(&file, "{}").unwrap();
    let before = told(&host).len();
    run(&host, &session).await;
    assert_eq!(told(&host).len(), before);
}

#[tokio::test]
async fn both_shapes_of_hooks_run() {
    let both = json!({"hooks": {"UserPromptSubmit": [
        {"matcher": "", "hooks": [{"type": "command", "command": "echo nested"}]},
        {"name": "mine", "command": "echo flat"},
    ]}});
    let host = host_with(&both);
    let session = host.start(json!([{"repeat": true, "steps": [{"text": "End."}]}])).await;
    let (_, events) = run(&host, &session).await;
    let told = told(&host);
    assert!(told.contains("nested") && told.contains("flat"), "{told}");
    let names: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "hook.triggered")
        .map(|event| event["hookName"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"mine") && names.contains(&"UserPromptSubmit-0"), "{names:?}");
}

#[tokio::test]
async fn each_further_field_of_an_answer_has_its_effect() {
    let bash = call("Bash", &json!({"command": "touch made"}));
    let read = call("Read", &json!({"file_path": "a.txt"}));
    let deny = |fields: &Value| specific("PermissionRequest", &json!({ "decision": fields }));
    for (field, event, answer, call, reason, notice, told_to_model) in [
        (
            "systemMessage",
            "PostToolUse",
            json!({"systemMessage": "look here"}),
            &read,
            "end",
            "look here",
            "",
        ),
        ("suppressOutput", "PostToolUse", json!({"suppressOutput": true}), &read, "end", "", ""),
        (
            "retry",
            "PermissionDenied",
            specific("PermissionDenied", &json!({"retry": true})),
            &bash,
            "end",
            "",
            "may be tried again",
        ),
        (
            "additionalContext of a refusal",
            "PermissionDenied",
            specific("PermissionDenied", &json!({"additionalContext": "ask first"})),
            &bash,
            "end",
            "",
            "ask first",
        ),
        (
            "interrupt",
            "PermissionRequest",
            deny(&json!({"behavior": "deny", "interrupt": true})),
            &bash,
            "interrupted",
            "",
            "",
        ),
        (
            "sessionTitle",
            "SessionStart",
            specific("SessionStart", &json!({"sessionTitle": "Named"})),
            &read,
            "end",
            "",
            "",
        ),
    ] {
        let mut all = settings(&[(event, "", &says(&answer))]);
        // Where nobody asks, the mode refuses, and hooks of a refusal run.
        if event == "PermissionDenied" {
            all["permissions"] = json!({"deny": ["Bash(touch *)"]});
        }
        let host = host_with(&all);
        let session = host.start(one_call(call)).await;
        let (_, events) = run(&host, &session).await;
        let log = log(&host);
        let end = log.iter().rfind(|line| line["kind"] == "run_ended").unwrap();
        assert_eq!(end["reason"], reason, "{field}");
        let notices: String = events
            .iter()
            .filter(|event| event["type"] == "notice")
            .map(|event| event["content"].as_str().unwrap())
            .collect();
        assert!(notices.contains(notice), "{field}: {notices}");
        assert!(told(&host).contains(told_to_model), "{field}: {}", told(&host));
        if field == "sessionTitle" {
            assert!(log.iter().any(|line| line["customTitle"] == "Named"), "{log:?}");
        }
        let ran = log.iter().filter(|line| line["kind"] == "hook").count();
        assert_eq!(ran, 1, "{field}");
    }
}

#[tokio::test]
async fn a_hook_that_goes_on_by_itself_holds_nothing_up() {
    let command = r#"echo '{"async": true}'; sleep 600"#;
    for flag in [false, true] {
        let entry = if flag {
            json!({"command": "sleep 600", "async": true})
        } else {
            json!({ "command": command })
        };
        let host = host_with(&json!({"hooks": {"PreToolUse": [entry]}}));
        let read = call("Read", &json!({"file_path": "a.txt"}));
        let session = host.start(one_call(&read)).await;
        let (sent, _) = run(&host, &session).await;
        assert_eq!(sent["content"], "End.");
        host.host.shutdown().await;
    }
}
