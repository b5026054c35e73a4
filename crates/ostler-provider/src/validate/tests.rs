//! What `validate` promises, held on examples.

use ostler_protocol::MediaSource;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{SystemBlock, ToolSpec};

fn call(id: &str) -> Block {
    Block::ToolUse { id: id.to_owned(), name: "A".to_owned(), input: json!({}) }
}

fn result(id: &str) -> Block {
    Block::tool_result(id, "r", false)
}

fn user(blocks: &[Block]) -> Message {
    Message::user(blocks.to_vec())
}

fn model(blocks: &[Block]) -> Message {
    Message::assistant(blocks.to_vec())
}

fn words() -> Message {
    user(&[Block::text("x")])
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest { model: "m".to_owned(), messages, ..ModelRequest::default() }
}

fn problems(messages: Vec<Message>) -> String {
    check(&request(messages)).err().unwrap_or_default().join("; ")
}

#[test]
fn good_histories_pass() {
    let good = [
        vec![words()],
        vec![words(), words()],
        vec![words(), model(&[call("a"), call("b")]), user(&[result("b"), result("a")])],
        // Neighbours of one role are one message.
        vec![
            words(),
            model(&[Block::text("y"), call("a")]),
            model(&[call("b")]),
            user(&[result("a")]),
            user(&[result("b"), Block::text("and")]),
        ],
    ];
    for messages in good {
        assert_eq!(problems(messages.clone()), "", "{messages:?}");
    }
}

#[test]
fn what_vendors_refuse_is_named() {
    let cases = [
        (vec![], "the first message is not the user's"),
        (vec![model(&[Block::text("y")]), words()], "the first message is not the user's"),
        (vec![words(), model(&[Block::text("y")])], "the last message is not the user's"),
        (vec![words(), model(&[call("a")])], "call `a` has no result"),
        (vec![words(), model(&[call("a")]), words()], "call `a` has no result"),
        (
            vec![
                words(),
                model(&[call("a")]),
                words(),
                model(&[Block::text("y")]),
                user(&[result("a")]),
            ],
            "result `a` answers no open call",
        ),
        (
            vec![words(), model(&[call("a")]), user(&[result("a"), result("a")])],
            "answers no open call",
        ),
        (vec![user(&[result("a")])], "answers no open call"),
        (
            vec![words(), model(&[call("a"), call("a")]), user(&[result("a"), result("a")])],
            "used twice",
        ),
        (vec![user(&[])], "message 0 is empty"),
        (vec![user(&[Block::text(" \n")])], "message 0 block 0 is an empty text"),
        (vec![user(&[call("a")])], "the user holds the call `a`"),
        (vec![words(), model(&[result("a")]), words()], "the model holds the result `a`"),
        (
            vec![
                words(),
                model(&[call("a")]),
                user(&[Block::tool_result("a", "x".repeat(MAX_RESULT + 1), false)]),
            ],
            "over 200000 characters",
        ),
        (
            vec![user(&[Block::Image {
                source: MediaSource::Base64 {
                    media_type: "image/png".to_owned(),
                    data: String::new(),
                },
            }])],
            "0 bytes of media",
        ),
    ];
    for (messages, want) in cases {
        let problems = problems(messages);
        assert!(problems.contains(want), "`{problems}` lacks `{want}`");
    }
}

#[test]
fn tools_have_names_that_vendors_take() {
    let tool =
        |name: &str, schema| ToolSpec { name: name.to_owned(), description: String::new(), schema };
    let mut request = request(vec![words()]);
    request.tools = vec![tool("A", json!({})), tool("A", json!({})), tool("a b", json!(1))];
    let problems = check(&request).unwrap_err().join("; ");
    for want in ["`A` is offered twice", "tool name `a b`", "schema of tool `a b`"] {
        assert!(problems.contains(want), "`{problems}` lacks `{want}`");
    }
}

#[test]
fn the_previous_request_must_be_a_prefix_unless_it_was_invalidated() {
    let first = request(vec![words()]);
    let mut next = request(vec![words(), model(&[Block::text("y")]), words()]);
    assert_eq!(validate(&next, Some(&first), PrefixCheck::Strict), Ok(()));
    next.system.push(SystemBlock { text: "new".to_owned(), cache: true });
    let problems = validate(&next, Some(&first), PrefixCheck::Strict).unwrap_err();
    assert_eq!(problems, ["the system prompt changed"]);
    assert_eq!(validate(&next, Some(&first), PrefixCheck::Invalidated), Ok(()));
    let other = request(vec![words(), model(&[Block::text("z")]), words()]);
    let before = request(vec![words(), model(&[Block::text("y")]), words()]);
    let problems = validate(&other, Some(&before), PrefixCheck::Strict).unwrap_err();
    assert!(problems[0].contains("block 1 of the messages changed"), "{problems:?}");
}

#[test]
fn side_calls_are_conversations_of_their_own() {
    let mut checker = Checker::default();
    let title = request(vec![user(&[Block::text("name this")])]);
    let first = request(vec![words()]);
    let next = request(vec![words(), model(&[Block::text("y")]), words()]);
    for request in [&first, &title, &next] {
        assert_eq!(checker.next(request), Ok(()));
    }
    assert!(checker.next(&first).unwrap_err()[0].contains("changed"));
    checker.invalidate();
    assert_eq!(checker.next(&next), Ok(()));
    checker.ignore_prefixes();
    assert_eq!(checker.next(&first), Ok(()));
}

proptest! {
    /// A good history stays good if it is cut into other messages, and turns bad if one
    /// result is lost.
    #[test]
    fn pairing_depends_on_blocks_not_on_messages(
        batches in prop::collection::vec(1usize..4, 1..5),
        split in any::<bool>(),
        lost in any::<prop::sample::Index>(),
    ) {
        let mut messages = vec![words()];
        let mut ids = Vec::new();
        for (at, size) in batches.iter().enumerate() {
            let batch = (0..*size).map(|n| format!("c{at}_{n}")).collect::<Vec<_>>();
            let calls = batch.iter().map(|id| call(id)).collect::<Vec<_>>();
            let results = batch.iter().map(|id| result(id)).collect::<Vec<_>>();
            let width = if split { 1 } else { 9 };
            messages.extend(calls.chunks(width).map(model));
            messages.extend(results.chunks(width).map(user));
            ids.extend(batch);
        }
        prop_assert_eq!(problems(messages.clone()), "");
        let lost = &ids[lost.index(ids.len())];
        for message in &mut messages {
            message.content.retain(|block| !matches!(block, Block::ToolResult { tool_use_id, .. } if tool_use_id == lost));
        }
        messages.retain(|message| !message.content.is_empty());
        messages.push(words());
        let want = format!("call `{lost}` has no result");
        prop_assert!(problems(messages).contains(&want));
    }
}
