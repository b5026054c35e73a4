//! Turns: their frames, their results, and the end of the input.

use serde_json::{Value, json};

use crate::pipes::{End, Pipes, kinds, only, user};
use ostler_test::TempHome;

fn hello() -> Value {
    json!([{"repeat": true, "steps": [{"text": "hello"}, {"usage": {"input_tokens": 7, "output_tokens": 3}}]}])
}

const STATES: (&str, &str) = ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");

fn with_states(replies: Value) -> Pipes {
    Pipes::start_in(
        TempHome::new().unwrap(),
        &[],
        &[STATES, ("CLAUDE_CODE_ENTRYPOINT", "sdk-ts")],
        replies,
    )
}

#[tokio::test]
async fn a_string_prompt_is_answered_though_the_input_ended_before() {
    let mut pipes = with_states(hello());
    pipes.request("a", json!({"subtype": "initialize", "systemPrompt": [""], "hooks": null})).await;
    pipes
        .send(json!({"type": "user", "session_id": "", "parent_tool_use_id": null,
        "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}}))
        .await;
    let end = pipes.end().await;
    assert_eq!(end.stderr, "");
    assert_eq!(end.status, 0);
    assert_eq!(
        kinds(&end.frames),
        [
            "control_response",
            "system/session_state_changed",
            "system/init",
            "assistant text",
            "result",
            "system/session_state_changed"
        ]
    );
    assert_eq!(
        (&end.frames[1]["state"], &end.frames[5]["state"]),
        (&json!("running"), &json!("idle"))
    );
    let result = only(&end.frames, "result");
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["result"], "hello");
    assert_eq!(result["terminal_reason"], "completed");
    assert_eq!(result["num_turns"], 1);
    assert_eq!(result["total_cost_usd"].to_string(), "0.0");
    assert_eq!(result["usage"]["input_tokens"], 7);
    let no_nulls =
        |value: &Value| value.as_object().unwrap().values().all(|field| !field.is_null());
    assert!(no_nulls(&result["usage"]) && no_nulls(&result["usage"]["server_tool_use"]));
}

#[tokio::test]
async fn the_transcript_has_the_uuids_of_the_wire_and_the_content_as_received() {
    let mut pipes = with_states(hello());
    pipes.request("a", json!({"subtype": "initialize", "systemPrompt": [""]})).await;
    let mut prompt = user("plain");
    prompt["uuid"] = json!("11111111-2222-4333-8444-555555555555");
    pipes.send(prompt).await;
    let end = pipes.end().await;
    let records = end.transcript();
    assert_eq!(records[0]["type"], "user");
    assert_eq!(records[0]["message"]["content"], "plain");
    assert_eq!(records[0]["uuid"], "11111111-2222-4333-8444-555555555555");
    assert_eq!(records[0]["entrypoint"], "sdk-ts");
    let answer = only(&end.frames, "assistant");
    assert_eq!(only(&records, "assistant")["uuid"], answer["uuid"]);
    assert_eq!(only(&end.frames, "result")["user_message_uuid"], records[0]["uuid"]);
    let frozen = records.iter().find(|record| record["kind"] == "frozen").unwrap();
    assert_eq!(frozen["system"], json!([]), "an unset prompt is an empty one");
}

#[tokio::test]
async fn two_turns_share_the_session_and_add_up() {
    let mut pipes = Pipes::start(&[], hello());
    pipes.prompt("one").await;
    let first = pipes.until("result").await;
    pipes.prompt("two").await;
    let second = pipes.until("result").await;
    let end = pipes.end().await;
    assert_eq!((end.status, end.frames.len()), (0, 0));
    assert_eq!(kinds(&first), ["system/init", "assistant text", "result"]);
    assert_eq!(kinds(&second), kinds(&first));
    let (one, two) = (first.last().unwrap(), second.last().unwrap());
    assert_eq!(one["session_id"], two["session_id"]);
    assert_eq!((&one["result_index"], &two["result_index"]), (&json!(0), &json!(1)));
    assert_eq!(two["usage"]["input_tokens"], 7, "tokens are of the turn");
    let models = two["modelUsage"].as_object().unwrap();
    assert_eq!(models.values().next().unwrap()["inputTokens"], 14, "of the session here");
}

#[tokio::test]
async fn deltas_are_streamed_and_the_block_comes_before_its_end() {
    let replies =
        json!([{"steps": [{"thinking": "hm", "signature": "sig"}, {"text": "hello", "chunk": 3}]}]);
    let mut pipes = Pipes::start(&["--include-partial-messages"], replies);
    pipes.prompt("hi").await;
    let end = pipes.end().await;
    assert_eq!(
        kinds(&end.frames),
        [
            "system/init",
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "assistant thinking",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "assistant text",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "result"
        ]
    );
    let deltas: Vec<_> =
        end.frames.iter().filter_map(|frame| frame["event"]["delta"]["text"].as_str()).collect();
    assert_eq!(deltas, ["hel", "lo"]);
    assert_eq!(end.frames[5]["message"]["content"][0]["signature"], "sig");
    assert_eq!(end.frames[4]["event"]["delta"]["signature"], "sig");
}

#[tokio::test]
async fn an_error_of_the_vendor_is_told_in_words_and_ends_with_status_1() {
    let refusal = json!({"status": 404, "body": {"type": "error", "error": {"type": "not_found_error", "message": "model: m"}}});
    let mut pipes = with_states(json!([{"repeat": true, "steps": [{"error": refusal}]}]));
    pipes.prompt("hi").await;
    let End { frames, status, .. } = pipes.end().await;
    assert_eq!(status, 1);
    assert_eq!(
        kinds(&frames),
        [
            "system/session_state_changed",
            "system/init",
            "assistant text",
            "result",
            "system/session_state_changed"
        ]
    );
    let answer = only(&frames, "assistant");
    assert_eq!(answer["message"]["model"], "<synthetic>");
    assert_eq!(answer["error"], "model_not_found");
    let result = only(&frames, "result");
    assert_eq!((&result["subtype"], &result["is_error"]), (&json!("success"), &json!(true)));
    assert_eq!(result["terminal_reason"], "api_error");
    assert_eq!(result["api_error_status"], 404);
    assert_eq!(result["result"], answer["message"]["content"][0]["text"]);
    assert!(result["result"].as_str().unwrap().starts_with("API Error: 404 "));
    assert_eq!(result.get("errors"), None);
}

#[tokio::test]
async fn an_interrupt_while_streaming_ends_the_turn_and_the_next_one_works() {
    let replies = json!([{"steps": [{"text": "I begin"}, {"stall": true}]}, {"repeat": true, "steps": [{"text": "Still here."}]}]);
    let mut pipes = Pipes::start(&["--include-partial-messages"], replies);
    let idle = pipes.asked(json!({"subtype": "interrupt"})).await;
    assert_eq!(idle["response"], json!({"still_queued": []}), "nothing happens while idle");
    pipes.prompt("go").await;
    pipes.until("assistant").await;
    let answer = pipes.asked(json!({"subtype": "interrupt"})).await;
    assert_eq!(answer["response"], json!({"still_queued": []}));
    let frames = pipes.until("result").await;
    let note = only(&frames, "user");
    assert_eq!(note["message"]["content"][0]["text"], "[Request interrupted by user]");
    let result = only(&frames, "result");
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["terminal_reason"], "aborted_streaming");
    assert_eq!(result["stop_reason"], Value::Null);
    assert_eq!(result["errors"], json!(["interrupted"]));
    assert_eq!((result.get("result"), &result["num_turns"]), (None, &json!(2)));
    pipes.prompt("and?").await;
    let next = pipes.until("result").await;
    assert_eq!(next.last().unwrap()["result"], "Still here.");
    assert_eq!(pipes.end().await.status, 0, "the last result decides");
}

#[tokio::test]
async fn the_limit_of_turns_lets_the_tools_run_first() {
    let replies = json!([{"repeat": true, "steps": [{"toolUse": {"name": "Read", "input": {"file_path": "greet.sh"}}}]}]);
    let mut pipes = Pipes::start(&["--max-turns", "1"], replies);
    pipes.prompt("hi").await;
    let end = pipes.end().await;
    assert_eq!(kinds(&end.frames), ["system/init", "assistant tool_use", "user", "result"]);
    let result = only(&end.frames, "result");
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(result["errors"], json!(["Reached maximum number of turns (1)"]));
    assert_eq!((&result["num_turns"], &result["stop_reason"]), (&json!(2), &json!("tool_use")));
    assert_eq!(end.status, 1);
}

#[tokio::test]
async fn messages_that_wait_at_the_end_become_one_turn() {
    let replies = json!([
        {"when": {"lastUserText": "one"}, "steps": [{"text": "first", "delayMs": 50}]},
        {"when": {"lastUserText": "three"}, "steps": [{"text": "both"}]}
    ]);
    let mut pipes = Pipes::start(&["--replay-user-messages"], replies);
    for text in ["one", "two", "three"] {
        pipes.prompt(text).await;
    }
    let end = pipes.end().await;
    let results: Vec<_> = end.frames.iter().filter(|frame| frame["type"] == "result").collect();
    assert_eq!(results.len(), 2);
    assert_eq!(results[1]["result"], "both");
    assert_eq!(results[1]["user_message_uuids"].as_array().unwrap().len(), 2);
    let replayed = end.frames.iter().filter(|frame| frame["isReplay"] == true);
    let replayed: Vec<_> =
        replayed.map(|frame| frame["message"]["content"].as_str().unwrap()).collect();
    assert_eq!(replayed, ["one", "two", "three"]);
}

#[tokio::test]
async fn a_large_call_stays_below_a_mebibyte_on_the_wire_and_whole_on_disk() {
    let content = "x".repeat(1_500_000);
    let replies = json!([
        {"when": {"toolResultFor": "Write"}, "steps": [{"text": "done"}]},
        {"steps": [{"toolUse": {"name": "Write", "input": {"file_path": "big.txt", "content": content}}}]}
    ]);
    let mut pipes =
        Pipes::start(&["--permission-mode=acceptEdits", "--include-partial-messages"], replies);
    pipes.prompt("write").await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["result"], "done");
    assert_eq!(std::fs::metadata(end.home.project().join("big.txt")).unwrap().len(), 1_500_000);
}

#[tokio::test]
async fn content_without_a_query_waits_for_the_next_prompt() {
    let mut pipes = Pipes::start(&[], hello());
    let mut silent = user("remember this");
    silent["shouldQuery"] = json!(false);
    pipes.send(silent).await;
    pipes.prompt("go").await;
    let end = pipes.end().await;
    assert_eq!(only(&end.frames, "result")["num_turns"], 1);
    let content = &end.transcript()[0]["message"]["content"];
    assert_eq!(
        content,
        &json!([{"type": "text", "text": "remember this"}, {"type": "text", "text": "go"}])
    );
}

#[tokio::test(start_paused = true)]
async fn the_host_hears_of_a_turn_that_takes_long() {
    let mut pipes = Pipes::start(&[], json!([{"steps": [{"text": "I begin"}, {"stall": true}]}]));
    pipes.prompt("go").await;
    pipes.until("keep_alive").await;
    pipes.until("keep_alive").await;
    pipes.asked(json!({"subtype": "interrupt"})).await;
    let end = pipes.end().await;
    assert_eq!(end.frames.last().unwrap()["type"], "result", "nothing follows the result");
}

#[tokio::test]
async fn a_disk_that_refuses_ends_the_turn_and_the_process() {
    let home = TempHome::new().unwrap();
    let blocked = home.home().join("blocked");
    std::fs::write(&blocked, "a file where a folder should be").unwrap();
    let env = [STATES, ("CLAUDE_CONFIG_DIR", blocked.to_str().unwrap())];
    let mut pipes = Pipes::start_in(home, &["--model=scripted:demo"], &env, hello());
    pipes.prompt("one").await;
    pipes.prompt("two").await;
    let end = pipes.end().await;
    assert_eq!(end.status, 1);
    let result = end.frames.iter().find(|frame| frame["type"] == "result").unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(
        kinds(&end.frames)[..5],
        [
            "system/session_state_changed",
            "system/init",
            "assistant text",
            "result",
            "system/session_state_changed"
        ]
    );
}
