use ostler_protocol::Usage;
use ostler_provider::{BlockKind, StopReason, SystemBlock, ToolSpec, list_models};
use serde_json::json;

use super::*;

const REPLIES: &str = r#"[
    {"steps":[
        {"thinking":"hm €","signature":"sig","chunk":1},
        {"text":"Grüße","chunk":2},
        {"toolUse":{"name":"Read","input":{"file_path":"/ü"}},"chunk":3},
        {"toolUse":{"name":"Glob","input":{}},"chunk":1},
        {"usage":{"input_tokens":10,"output_tokens":7,"cache_read_input_tokens":90}}]},
    {"when":{"toolResultFor":"Read","toolResultContains":"content"},"steps":[{"text":"done"}]}]"#;

fn with_tools(text: &str) -> ModelRequest {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "a tool".to_owned(),
        schema: json!({ "type": "object" }),
    };
    let block = |text: &str, cache| SystemBlock { text: text.to_owned(), cache };
    ModelRequest {
        system: vec![block("stable", true), block("later", false)],
        tools: vec![tool("Glob"), tool("Read")],
        ..ask(text)
    }
}

#[tokio::test]
async fn a_loop_of_two_requests_is_clean_on_both_wires() {
    for wire in WIRES {
        let server = server(REPLIES);
        let provider = open(config(&server, wire));
        let mut request = with_tools("read it");
        let events = run(&provider, request.clone()).await;
        let Some(ModelEvent::Done { stop_reason, usage }) = events.last() else {
            panic!("{wire:?}: {events:?}")
        };
        assert_eq!(*stop_reason, StopReason::ToolUse);
        let cache_read_input_tokens = Some(90);
        let want = Usage {
            input_tokens: 10,
            output_tokens: 7,
            cache_read_input_tokens,
            ..Usage::default()
        };
        assert_eq!(*usage, want);
        let signature = if wire == Wire::Messages { "sig" } else { "" }.to_owned();
        let call = |id: &str, name: &str, input| Block::ToolUse {
            id: id.to_owned(),
            name: name.to_owned(),
            input,
        };
        let answer = blocks(&events);
        let want = vec![
            Block::Thinking { thinking: "hm €".to_owned(), signature },
            Block::text("Grüße"),
            call("toolu_000001", "Read", json!({ "file_path": "/ü" })),
            call("toolu_000002", "Glob", json!({})),
        ];
        assert_eq!(answer, want, "{wire:?}");
        request.messages.push(Message::assistant(answer));
        let results =
            ["toolu_000001", "toolu_000002"].map(|id| Block::tool_result(id, "the content", false));
        request.messages.push(Message::user(results.to_vec()));
        let events = run(&provider, request).await;
        assert_eq!(blocks(&events), [Block::text("done")]);
        server.assert_clean();
        assert!(server.unplayed().is_empty());
    }
}

#[tokio::test]
async fn events_tell_a_block_before_its_pieces() {
    for wire in WIRES {
        let server = server(REPLIES);
        let events = run(&open(config(&server, wire)), with_tools("x")).await;
        assert!(
            matches!(&events[0], ModelEvent::Started { message_id, .. } if !message_id.is_empty())
        );
        let mut open = None;
        for event in &events[1..] {
            match event {
                ModelEvent::BlockStarted { index, kind } => {
                    assert_eq!(open.replace(*index), None);
                    assert!(*kind != BlockKind::Other);
                }
                ModelEvent::TextDelta { index, .. }
                | ModelEvent::ThinkingDelta { index, .. }
                | ModelEvent::InputDelta { index, .. } => assert_eq!(open, Some(*index)),
                ModelEvent::BlockDone { index, .. } => assert_eq!(open.take(), Some(*index)),
                ModelEvent::Done { .. } => assert_eq!(open, None),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn headers_carry_key_version_and_betas() {
    let server = server(r#"[{"repeat":true,"steps":[{"text":"a"}]}]"#);
    let mut request = ask("x");
    request.betas = vec!["one".to_owned(), "two".to_owned()];
    for wire in WIRES {
        run(&open(config(&server, wire)), request.clone()).await;
    }
    let all = server.requests();
    let header = |at: usize, name: &str| {
        let mut headers = all[at].headers.iter();
        headers.find(|(header, _)| header == name).map(|(_, value)| value.clone())
    };
    assert_eq!(header(0, "x-api-key").as_deref(), Some(KEY));
    assert_eq!(header(0, "anthropic-version").as_deref(), Some("2023-06-01"));
    assert_eq!(header(0, "anthropic-beta").as_deref(), Some("one,two"));
    assert_eq!(header(1, "authorization"), Some(format!("Bearer {KEY}")));
    assert_eq!(header(1, "anthropic-beta"), None);
}

#[tokio::test]
async fn many_deltas_of_one_read_become_few_events() {
    for wire in WIRES {
        let server = server(r#"[{"steps":[{"repeatText":{"text":"word ","count":20000}}]}]"#);
        let mut config = config(&server, wire);
        config.timeouts.idle = Duration::from_secs(20);
        config.timeouts.header = Duration::from_secs(20);
        let events = run(&open(config), ask("x")).await;
        assert_eq!(blocks(&events), [Block::text("word ".repeat(20_000))]);
        assert!(events.len() < 10_000, "{} events", events.len());
    }
}

#[tokio::test]
async fn pictures_in_results_reach_both_wires() {
    use ostler_protocol::{MediaSource, ToolResultContent};
    for wire in WIRES {
        let server = server(r#"[{"when":{"toolResultFor":"c1"},"steps":[{"text":"a cat"}]}]"#);
        let mut request = ask("look");
        let source =
            MediaSource::Base64 { media_type: "image/png".to_owned(), data: "iVBO".to_owned() };
        let picture = Block::Image { source };
        let (id, name, input) = ("c1".to_owned(), "Read".to_owned(), json!({}));
        request.messages.push(Message::assistant(vec![Block::ToolUse { id, name, input }]));
        request.messages.push(Message::user(vec![Block::ToolResult {
            tool_use_id: "c1".to_owned(),
            content: ToolResultContent::Blocks(vec![picture.clone()]),
            is_error: None,
        }]));
        let events = run(&open(config(&server, wire)), request).await;
        assert_eq!(blocks(&events), [Block::text("a cat")], "{events:?}");
        let got = &server.requests()[0].request.messages;
        let shown = got.iter().flat_map(|message| &message.content).any(|block| match block {
            Block::ToolResult { content: ToolResultContent::Blocks(blocks), .. } => {
                blocks.contains(&picture)
            }
            block => *block == picture,
        });
        assert!(shown, "{got:?}");
        server.assert_clean();
    }
}

#[tokio::test]
async fn a_server_lists_its_models() {
    let limit = Duration::from_secs(5);
    for wire in WIRES {
        let server = server("[]");
        let config = config(&server, wire);
        assert_eq!(list_models(&config, limit).await, Ok(vec!["scripted".to_owned()]));
        drop(server);
        let failure = list_models(&config, limit).await.unwrap_err();
        assert_eq!(failure.kind, ostler_protocol::ErrorKind::Network);
    }
}
