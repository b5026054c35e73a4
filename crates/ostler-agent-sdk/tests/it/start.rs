//! What is refused at start, and sessions that go on.

use ostler_test::TempHome;
use serde_json::{Value, json};

use crate::pipes::{End, Pipes, kinds, only, transcripts};

fn hello() -> Value {
    json!([{"repeat": true, "steps": [{"text": "hello"}]}])
}

async fn refused(args: &[&str]) -> End {
    let end = Pipes::start(args, hello()).wait().await;
    assert_eq!(end.status, 1);
    end
}

#[tokio::test]
async fn a_missing_session_is_refused_before_anything_is_answered() {
    let id = "99999999-2222-4333-8444-555555555555";
    for args in [&["--resume", id][..], &["--resume=no-such-title"]] {
        let end = refused(args).await;
        let result = only(&end.frames, "result");
        assert_eq!(
            (&result["subtype"], &result["num_turns"]),
            (&json!("error_during_execution"), &json!(0))
        );
        let text = result["errors"][0].as_str().unwrap();
        assert!(text.starts_with("No conversation found with session ID: "), "{text}");
        assert_eq!(end.stderr, format!("{text}\n"));
        assert_eq!(result.get("terminal_reason"), None);
    }
}

#[tokio::test]
async fn what_cannot_be_held_is_a_result_and_a_line() {
    for args in [
        &["--max-budget-usd=1"][..],
        &["--settings", "/no/such/file.json"],
        &["--settings", r#"{"hooks":"none"}"#],
        &["--managed-settings", r#"{"forbidEverything":true}"#],
        &["--system-prompt-file=/no/such/prompt"],
        &["--mcp-config", "{"],
    ] {
        let end = refused(args).await;
        assert_eq!(kinds(&end.frames), ["result"], "{args:?}");
        assert_eq!(end.stderr.lines().count(), 1, "{}", end.stderr);
    }
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused_on_standard_error_alone() {
    let id = "99999999-2222-4333-8444-555555555555";
    let home = TempHome::new().unwrap();
    let mut pipes = Pipes::start_in(home, &["--session-id", id], &[], hello());
    pipes.prompt("hi").await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["session_id"], id);
    let end = Pipes::start_in(end.home, &["--session-id", id], &[], hello()).wait().await;
    assert_eq!((end.status, end.frames.len()), (1, 0));
    assert_eq!(end.stderr, format!("Error: Session ID {id} is already in use.\n"));
}

#[tokio::test]
async fn a_session_goes_on_in_its_file_by_id_and_by_continue() {
    let mut pipes = Pipes::start(&["--permission-mode=acceptEdits"], hello());
    pipes.prompt("one").await;
    let end = pipes.end().await;
    let id = only(&end.frames, "result")["session_id"].as_str().unwrap().to_owned();
    let mut pipes = Pipes::start_in(end.home, &[&format!("--resume={id}")], &[], hello());
    pipes.prompt("two").await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["session_id"], id.as_str());
    assert_eq!(end.frames[0]["permissionMode"], "default", "a mode is not resumed");
    let mut pipes = Pipes::start_in(end.home, &["--continue"], &[], hello());
    pipes.prompt("three").await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["session_id"], id.as_str());
    let records = end.transcript();
    let entries: Vec<_> = records
        .iter()
        .filter(|r| matches!(r["type"].as_str(), Some("user" | "assistant")))
        .collect();
    assert_eq!(entries.len(), 6);
    for pair in entries.windows(2) {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"], "one chain");
    }
}

#[tokio::test]
async fn a_session_that_is_not_saved_leaves_nothing() {
    let mut pipes = Pipes::start(&["--no-session-persistence"], hello());
    pipes.prompt("one").await;
    pipes.until("result").await;
    pipes.prompt("two").await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["result"], "hello");
    assert!(transcripts(&end.home).is_empty());
    let kept: Vec<_> = std::fs::read_dir(end.home.ostler_home())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(!kept.iter().any(|name| name == "projects" || name == "journal"), "{kept:?}");
}

#[tokio::test]
async fn tools_and_rules_of_the_command_line_hold() {
    let replies = json!([
        {"when": {"toolResultFor": "Write"}, "steps": [{"text": "end"}]},
        {"steps": [{"toolUse": {"name": "Write", "input": {"file_path": "a.txt", "content": "a"}}}]}
    ]);
    let settings = r#"{"permissions":{"deny":["Edit(secret/**)"]},"model":"ignored"}"#;
    let args =
        ["--allowedTools", "Edit,Bash(git *)", "--disallowedTools=Glob", "--settings", settings];
    let mut pipes = Pipes::start(&args, replies.clone());
    pipes.prompt("hi").await;
    let end = pipes.end().await;
    let tools: Vec<_> = end.frames[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool.as_str().unwrap())
        .collect();
    assert!(tools.contains(&"Write") && !tools.contains(&"Glob"), "{tools:?}");
    assert!(end.home.project().join("a.txt").exists());
    let mut pipes = Pipes::start(&["--tools=", "--permission-mode=bypassPermissions"], replies);
    pipes.prompt("hi").await;
    let end = pipes.end().await;
    assert_eq!(end.frames[0]["tools"], json!([]));
    assert!(!end.home.project().join("a.txt").exists());
    let block = &only(&end.frames, "user")["message"]["content"][0];
    assert_eq!(
        block["content"],
        "<tool_use_error>Error: No such tool available: Write</tool_use_error>"
    );
}

#[tokio::test]
async fn prompts_come_from_the_flag_or_from_initialize() {
    let frozen = |end: &End| {
        let records = end.transcript();
        let frozen = records.iter().find(|record| record["kind"] == "frozen").unwrap();
        let blocks = frozen["system"].as_array().unwrap().iter();
        blocks
            .map(|block| (block["text"].as_str().unwrap().to_owned(), block["cache"] == true))
            .collect::<Vec<_>>()
    };
    let boundary = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";
    type Case = (Vec<String>, Value, Vec<(&'static str, bool)>);
    let cases: Vec<Case> = vec![
        (vec!["--system-prompt=".to_owned()], json!({}), vec![]),
        (
            vec!["--system-prompt".to_owned(), format!("be brief\n{boundary}\ntoday")],
            json!({}),
            vec![("be brief\n", true), ("today", false)],
        ),
        (vec![], json!({"systemPrompt": ["a", boundary, "b"]}), vec![("a", true), ("b", false)]),
        (
            vec![],
            json!({"systemPrompt": ["a"], "appendSystemPrompt": "b"}),
            vec![("a", true), ("b", false)],
        ),
    ];
    for (args, mut request, expected) in cases {
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let mut pipes = Pipes::start(&args, hello());
        request["subtype"] = json!("initialize");
        pipes.asked(request.clone()).await;
        pipes.prompt("hi").await;
        let got = frozen(&pipes.end().await);
        let got: Vec<_> = got.iter().map(|(text, cache)| (text.as_str(), *cache)).collect();
        assert_eq!(got, expected, "{args:?} {request}");
    }
    let mut pipes = Pipes::start(&["--append-system-prompt", "and one more thing"], hello());
    pipes.prompt("hi").await;
    let got = frozen(&pipes.end().await);
    assert!(got.len() > 1 && got.last().unwrap().0 == "and one more thing", "{got:?}");
}

#[tokio::test]
async fn a_title_is_given_to_a_new_session_alone() {
    let mut args = vec![];
    let mut home = TempHome::new().unwrap();
    for title in ["first", "second"] {
        let words: Vec<_> = args.iter().map(String::as_str).collect();
        let mut pipes = Pipes::start_in(home, &words, &[], hello());
        pipes.asked(json!({"subtype": "initialize", "title": title})).await;
        pipes.prompt("hi").await;
        let end = pipes.end().await;
        let records = end.transcript();
        let titles = records.iter().filter_map(|record| record["customTitle"].as_str());
        assert!(titles.into_iter().all(|title| title == "first"));
        assert!(records.iter().any(|record| record["customTitle"] == "first"));
        args = vec!["--continue".to_owned()];
        home = end.home;
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_had_is_refused() {
    let mut pipes = Pipes::start(&["--model=acme/none"], json!([]));
    pipes.prompt("hi").await;
    let end = pipes.wait().await;
    let result = only(&end.frames, "result");
    assert_eq!((end.status, &result["is_error"]), (1, &json!(true)));
    assert_eq!(end.stderr.lines().count(), 1, "{}", end.stderr);
}

#[tokio::test]
async fn a_flag_that_is_left_out_is_told_on_standard_error() {
    let args = ["--fallback-model=other", "--plugin-dir=/plugins"];
    let mut pipes = Pipes::start(&args, json!([{"steps": [{"text": "hello"}]}]));
    pipes.prompt("hi").await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["result"], "hello");
    for flag in ["`--fallback-model other`", "`--plugin-dir /plugins`"] {
        assert_eq!(end.stderr.matches(flag).count(), 1, "{}", end.stderr);
    }
}
