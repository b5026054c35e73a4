//! What `demo` promises, held on examples.

use futures::StreamExt as _;
use ostler_protocol::{Block, Message};
use ostler_stdx::Cancel;

use super::*;
use crate::{ModelEvent, ModelRequest, Provider as _, Scripted};

/// Plays the demo for one prompt; `answer` gives each tool's result. Returns all words and
/// the tools in order.
async fn scene(
    provider: &Scripted,
    request: &mut ModelRequest,
    answer: impl Fn(&str) -> (&'static str, bool),
) -> (String, Vec<String>) {
    let mut words = String::new();
    let mut tools = Vec::new();
    request.messages.push(Message::user(vec![Block::text("please help")]));
    loop {
        let events: Vec<_> = provider.stream(request.clone(), Cancel::new()).collect().await;
        assert!(matches!(events.last(), Some(ModelEvent::Done { .. })), "{events:?}");
        let blocks = events.into_iter().filter_map(|event| match event {
            ModelEvent::BlockDone { block, .. } => Some(block),
            _ => None,
        });
        let blocks = blocks.collect::<Vec<_>>();
        let mut results = Vec::new();
        for block in &blocks {
            match block {
                Block::Text { text } => words.push_str(text),
                Block::ToolUse { id, name, input } => {
                    assert!(!input.to_string().contains("${"), "{input}");
                    let (text, is_error) = answer(name);
                    results.push(Block::tool_result(id, text, is_error));
                    tools.push(name.clone());
                }
                other => panic!("{other:?}"),
            }
        }
        request.messages.push(Message::assistant(blocks));
        if results.is_empty() {
            return (words, tools);
        }
        request.messages.push(Message::user(results));
    }
}

#[tokio::test(start_paused = true)]
async fn the_demo_plays_again_and_again_and_says_what_it_is() {
    let provider = Scripted::new(demo("/srv/project").unwrap());
    let mut request = ModelRequest { model: "demo".to_owned(), ..ModelRequest::default() };
    for _ in 0..3 {
        let (words, tools) = scene(&provider, &mut request, |tool| match tool {
            "Glob" => ("/srv/project/README.md\n/srv/project/src", false),
            _ => ("fine", false),
        })
        .await;
        assert_eq!(tools, ["Glob", "Read", "Write", "Bash"]);
        assert!(words.contains("a **script**, not a language model"), "{words}");
        assert!(words.contains("ANTHROPIC_API_KEY"));
    }
}

#[tokio::test(start_paused = true)]
async fn the_demo_takes_no_for_an_answer() {
    let provider = Scripted::new(demo("/srv/project").unwrap());
    let mut request = ModelRequest { model: "demo".to_owned(), ..ModelRequest::default() };
    let (words, tools) = scene(&provider, &mut request, |tool| ("nothing", tool == "Write")).await;
    assert_eq!(tools, ["Glob", "Write"]);
    assert!(words.contains("was refused"), "{words}");
    let (words, tools) = scene(&provider, &mut request, |tool| ("nothing", tool == "Bash")).await;
    assert_eq!(tools, ["Glob", "Write", "Bash"]);
    assert!(words.contains("did not run to its end"), "{words}");
}
