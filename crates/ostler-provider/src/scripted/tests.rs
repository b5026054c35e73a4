//! What `scripted` promises, held on examples.

use futures::StreamExt as _;
use ostler_protocol::Message;

use super::*;
use crate::StopReason;

pub(crate) fn scripted(text: &str) -> Scripted {
    Scripted::new(Scenario::parse("test", text, &Vars::new()).unwrap())
}

fn ask(text: &str) -> ModelRequest {
    ModelRequest {
        model: "m".to_owned(),
        messages: vec![Message::user(vec![Block::text(text)])],
        ..ModelRequest::default()
    }
}

async fn run(provider: &Scripted, request: ModelRequest) -> Vec<ModelEvent> {
    provider.stream(request, Cancel::new()).collect().await
}

fn texts(events: &[ModelEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        ModelEvent::TextDelta { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn a_reply_becomes_blocks_and_an_end() {
    let provider = scripted(
        r#"{"name":"t","replies":[{"steps":[
            {"thinking":"hm","signature":"s"},
            {"text":"Grüße","chunk":2},
            {"toolUse":{"name":"Read","input":{"a":1}}}]}]}"#,
    );
    let events = run(&provider, ask("x")).await;
    assert_eq!(texts(&events), "Grüße");
    let blocks = events.iter().filter_map(|event| match event {
        ModelEvent::BlockDone { index, block } => Some((*index, block.clone())),
        _ => None,
    });
    let input = serde_json::json!({"a": 1});
    let call = Block::ToolUse { id: "toolu_000001".to_owned(), name: "Read".to_owned(), input };
    let thinking = Block::Thinking { thinking: "hm".to_owned(), signature: "s".to_owned() };
    let want = vec![(0, thinking), (1, Block::text("Grüße")), (2, call)];
    assert_eq!(blocks.collect::<Vec<_>>(), want);
    let Some(ModelEvent::Done { stop_reason, usage }) = events.last() else {
        panic!("not done: {events:?}")
    };
    assert_eq!(*stop_reason, StopReason::ToolUse);
    assert!(usage.output_tokens > 0);
}

#[tokio::test]
async fn repeated_text_is_so_many_deltas() {
    let provider = scripted(
        r#"{"name":"t","replies":[{"steps":[{"repeatText":{"text":"word ","count":20000}}]}]}"#,
    );
    let events = run(&provider, ask("x")).await;
    let deltas = events.iter().filter(|event| matches!(event, ModelEvent::TextDelta { .. }));
    assert_eq!(deltas.count(), 20_000);
}

#[tokio::test]
async fn a_text_that_no_vendor_takes_is_too_large_and_no_fault_of_ours() {
    let provider = scripted(r#"{"name":"t","replies":[{"steps":[{"text":"x"}]}]}"#);
    let events = run(&provider, ask(&"ä".repeat(1_000_001))).await;
    let [ModelEvent::Failed(failure)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(failure.kind, ErrorKind::TooLarge, "{failure:?}");
    let events = run(&provider, ask(&"ä".repeat(1_000_000))).await;
    assert!(matches!(events.last(), Some(ModelEvent::Done { .. })), "{:?}", events.last());
}

#[tokio::test]
async fn a_transient_error_is_retried_with_the_next_reply() {
    let provider = scripted(
        r#"{"name":"t","replies":[
            {"steps":[{"error":{"status":529,"body":{"error":{"type":"overloaded_error","message":"busy"}}}}]},
            {"steps":[{"text":"half"},{"cut":true}]},
            {"steps":[{"text":"whole"}]}]}"#,
    );
    let events = run(&provider, ask("x")).await;
    let retries = events.iter().filter_map(|event| match event {
        ModelEvent::Retrying { attempt, max, failure, .. } => Some((*attempt, *max, failure.kind)),
        _ => None,
    });
    let want = vec![(2, 3, ErrorKind::Overloaded), (3, 3, ErrorKind::Network)];
    assert_eq!(retries.collect::<Vec<_>>(), want);
    assert!(matches!(events.last(), Some(ModelEvent::Done { .. })));
}

#[tokio::test]
async fn a_long_wait_is_given_up_at_once_and_says_when_it_ends() {
    let provider = scripted(
        r#"{"name":"t","replies":[{"steps":[{"error":{"status":429,"body":"slow down","retryAfter":7200}}]}]}"#,
    );
    let events = run(&provider, ask("x")).await;
    let [ModelEvent::Failed(failure)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(failure.kind, ErrorKind::RateLimit);
    assert!(failure.hint.as_ref().unwrap().contains("resets in 2 h 0 min"), "{failure:?}");
}

#[tokio::test(start_paused = true)]
async fn silence_is_noticed_and_retried() {
    let provider = scripted(
        r#"{"name":"t","replies":[{"steps":[{"text":"a"},{"stall":true}]},{"steps":[{"text":"b"}]}]}"#,
    );
    let events = run(&provider, ask("x")).await;
    assert!(events.iter().any(|event| matches!(
        event,
        ModelEvent::Retrying { failure, .. } if failure.kind == ErrorKind::Stalled
    )));
    assert!(matches!(events.last(), Some(ModelEvent::Done { .. })));
}

#[tokio::test]
async fn cancel_ends_a_silent_answer_without_a_last_event() {
    let provider = scripted(r#"{"name":"t","replies":[{"steps":[{"text":"a"},{"stall":true}]}]}"#);
    let cancel = Cancel::new();
    let mut stream = provider.stream(ask("x"), cancel.clone());
    while let Some(event) = stream.next().await {
        if matches!(event, ModelEvent::BlockDone { .. }) {
            cancel.cancel();
        }
        assert!(!matches!(event, ModelEvent::Failed(_) | ModelEvent::Done { .. }));
    }
}

#[tokio::test]
async fn a_request_that_no_vendor_takes_is_refused() {
    let provider = scripted(r#"{"name":"t","replies":[{"steps":[{"text":"a"}]}]}"#);
    let mut request = ask("x");
    request.messages.push(Message::user(vec![Block::tool_result("toolu_1", "x", false)]));
    let events = run(&provider, request).await;
    let [ModelEvent::Failed(failure)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(failure.kind, ErrorKind::BadRequest);
    assert!(failure.message.contains("answers no open call"), "{failure:?}");
}

#[tokio::test]
async fn nothing_left_says_what_was_asked_and_what_is_left() {
    let provider = scripted(
        r#"{"name":"t","replies":[{"when":{"lastUserText":"hello"},"steps":[{"text":"a"}]}]}"#,
    );
    let events = run(&provider, ask("good bye")).await;
    let [ModelEvent::Failed(failure)] = events.as_slice() else { panic!("{events:?}") };
    assert!(failure.message.contains("`good bye`"), "{failure:?}");
    assert!(failure.message.contains("replies[0] lastUserText `hello`"), "{failure:?}");
}
