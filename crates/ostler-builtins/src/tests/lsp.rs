//! What LSP promises, held against a language server that this test program itself is: it
//! starts itself again with only [`fake_language_server`] to run.

mod fake;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use ostler_protocol::Access;
use ostler_tool::ToolError;
use serde_json::{Value, json};

use crate::{
    Hands,
    tests::bench::{Bench, object, text},
};

/// The server of the tests below; a test that does nothing where none of them runs it.
#[test]
fn fake_language_server() {
    fake::serve_if_asked();
}

/// Lets the fake server be the one for Rust.
pub(crate) fn use_fake(hands: &mut Hands, mode: &str) {
    hands.env.insert("OSTLER_LSP_RUST".into(), command().into());
    hands.env.insert(fake::MODE.into(), mode.into());
}

/// The command line that runs the fake server.
fn command() -> String {
    let own = std::env::current_exe().unwrap();
    format!(
        "\"{}\" --exact tests::lsp::fake_language_server --nocapture --test-threads 1",
        own.display()
    )
}

/// A project whose language server does what `mode` says.
fn bench(mode: &str) -> Bench {
    let bench = Bench::with(|hands| {
        use_fake(hands, mode);
        hands.limits.lsp_request_ms = 2000;
        hands.limits.lsp_start_ms = 10_000;
    });
    bench.file("Cargo.toml", "");
    bench.file("src/a.rs", "fn alpha() {}\nfn beta() { alpha(); alpha(); }\n");
    bench.file("src/b.rs", "// \u{1f600} alpha\n");
    bench
}

fn at(operation: &str, line: u64, character: u64) -> Value {
    json!({"operation": operation, "filePath": "src/a.rs", "line": line, "character": character})
}

#[tokio::test]
async fn places_are_lines_with_their_source() {
    let bench = bench("good");
    assert_eq!(bench.text("LSP", at("definition", 2, 14)).await, "src/a.rs:1:4: fn alpha() {}");
    let references = bench.call("LSP", at("references", 1, 4)).await.unwrap();
    assert_eq!(
        text(&references),
        "src/a.rs:1:4: fn alpha() {}\nsrc/a.rs:2:13: fn beta() { alpha(); alpha(); }\nsrc/a.rs:2:22: fn beta() { alpha(); alpha(); }\nsrc/b.rs:1:6: // \u{1f600} alpha"
    );
    assert_eq!(
        references.structured["results"][3],
        json!({"path": "src/b.rs", "line": 1, "character": 6, "endLine": 1, "endCharacter": 11, "text": "// \u{1f600} alpha"})
    );
    assert_eq!(bench.text("LSP", at("hover", 2, 5)).await, "```rust\nfn beta\n```\n\na word");
    let by_name =
        json!({"operation": "hover", "filePath": "src/b.rs", "line": 1, "query": "alpha"});
    assert_eq!(bench.text("LSP", by_name).await, "```rust\nfn alpha\n```\n\na word");
    assert_eq!(
        bench.text("LSP", json!({"operation": "documentSymbol", "filePath": "src/a.rs"})).await,
        "src/a.rs:1:4: function alpha\n  src/a.rs:1:4: variable inner of alpha\nsrc/a.rs:2:4: function beta\n  src/a.rs:2:4: variable inner of beta"
    );
    assert_eq!(
        bench.text("LSP", json!({"operation": "workspaceSymbol", "query": "bet"})).await,
        "src/a.rs:2:4: function beta (in a)"
    );
}

#[tokio::test]
async fn the_server_sees_files_as_they_are_now() {
    let bench = bench("good");
    let symbols = json!({"operation": "documentSymbol", "filePath": "src/a.rs"});
    assert!(bench.text("LSP", symbols.clone()).await.contains("alpha"));
    bench.file("src/a.rs", "\n\nfn gamma() {}\n");
    assert!(bench.text("LSP", symbols).await.starts_with("src/a.rs:3:4: function gamma"));
    // One that is open and not asked about is told too.
    bench.file("src/a.rs", "fn delta() {}\n");
    let other =
        json!({"operation": "references", "filePath": "src/b.rs", "line": 1, "query": "alpha"});
    assert_eq!(bench.text("LSP", other).await, "src/b.rs:1:6: // \u{1f600} alpha");
}

#[tokio::test]
async fn diagnostics_are_those_of_the_file_as_it_is() {
    for mode in ["good", "pull"] {
        let bench = bench(mode);
        let ask = || bench.text("LSP", json!({"operation": "diagnostics", "filePath": "src/a.rs"}));
        assert_eq!(ask().await, "no results", "{mode}");
        bench.file("src/a.rs", "fn x() {}\n  BUG here\nWARN\n");
        assert_eq!(
            ask().await,
            "src/a.rs:2:3: error: there is a bug [fake E1]\nsrc/a.rs:3:1: warning: take care [fake]",
            "{mode}"
        );
        assert_eq!(ask().await.lines().count(), 2, "{mode}");
    }
    let silent = bench("silent");
    let ask = json!({"operation": "diagnostics", "filePath": "src/a.rs"});
    assert!(silent.text("LSP", ask).await.contains("published nothing about this file yet"));
}

#[tokio::test]
async fn a_server_asks_once_to_be_started() {
    let bench = bench("good");
    let tool = std::sync::Arc::clone(bench.registry.get("LSP").unwrap());
    let access = |args: Value| tool.access(&object(args), &bench.root).unwrap();
    let read = Access::Read { path: bench.root.join("src/a.rs") };
    let search = Access::Search { root: bench.root.clone() };
    assert_eq!(access(at("hover", 1, 4)), [read.clone(), Access::Unknown]);
    let find = json!({"operation": "workspaceSymbol", "query": "x"});
    assert_eq!(access(find.clone()), [search.clone(), Access::Unknown]);
    bench.text("LSP", at("hover", 1, 4)).await;
    assert_eq!(access(at("hover", 1, 4)), [read]);
    assert_eq!(access(find), [search]);
    let other = json!({"operation": "hover", "filePath": "../outside/x.rs"});
    assert_eq!(access(other)[1], Access::Unknown);
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let bench = Bench::with(|hands| {
        hands.env.insert("PATH".into(), "/nowhere".into());
        hands.env.insert("OSTLER_LSP_GO".into(), "/nowhere/gopls".into());
    });
    for (file, content) in
        [("a.py", "x = 1\n"), ("a.go", "x\n"), ("a.rs", "fn x() {}\n"), ("a.txt", "x")]
    {
        bench.file(file, content);
    }
    let ask = async |args: Value| bench.refused("LSP", args).await;
    let symbols = |file: &str| json!({"operation": "documentSymbol", "filePath": file});
    let said = ask(symbols("a.py")).await;
    assert!(
        said.contains("pip install python-lsp-server") && said.contains("OSTLER_LSP_PYTHON"),
        "{said}"
    );
    assert!(ask(symbols("a.go")).await.contains("`/nowhere/gopls` could not be started"));
    assert!(ask(symbols("a.txt")).await.contains("no language server is known"));
    assert!(ask(symbols("none.rs")).await.contains("no such file"));
    assert!(ask(json!({"operation": "hover"})).await.contains("filePath is needed"));
    let hover = |more: Value| {
        let mut args = json!({"operation": "hover", "filePath": "a.rs"});
        args.as_object_mut().unwrap().extend(object(more));
        args
    };
    assert!(ask(hover(json!({}))).await.contains("line is needed"));
    assert!(ask(hover(json!({"line": 9}))).await.contains("line 9 is not there"));
    assert!(ask(hover(json!({"line": 1}))).await.contains("character is needed"));
    assert!(
        ask(hover(json!({"line": 1, "query": "zzz"}))).await.contains("`zzz` is not on line 1")
    );
    let find = json!({"operation": "workspaceSymbol", "query": "x"});
    assert!(ask(find).await.contains("not the root of a project"));
    let find = json!({"operation": "workspaceSymbol", "filePath": "a.rs"});
    assert!(ask(find).await.contains("query is needed"));
}

#[tokio::test]
async fn servers_that_go_wrong_give_an_error_and_do_not_hang() {
    for (mode, said) in [
        ("crash", "it ended with code 7: error: the fake server fell over"),
        ("hang", "did not answer within 2 s"),
        ("deaf", "did not answer within"),
        ("garbage", "something else than the protocol"),
        ("nojson", "is not JSON"),
        ("huge", "is too large"),
        ("refuse", "it answered with an error: not today"),
        ("unable", "cannot answer this operation: use Grep and Read"),
        ("early", "it ended with code 3"),
    ] {
        let bench = bench(mode);
        let begin = Instant::now();
        let refused = bench.refused("LSP", at("definition", 1, 4)).await;
        assert!(refused.contains(said), "{mode}: {refused}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{mode}: {:?}", begin.elapsed());
    }
}

#[tokio::test]
async fn a_server_that_keeps_ending_is_left() {
    let bench = bench("crash");
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(bench.refused("LSP", at("definition", 1, 4)).await);
    }
    assert!(all.last().unwrap().contains("is not started again"), "{all:?}");
    // Where it does not fall over it may still be asked.
    let calm = bench_hover(&bench).await;
    assert!(calm.is_err());
}

async fn bench_hover(bench: &Bench) -> Result<String, ToolError> {
    bench.call("LSP", at("hover", 1, 4)).await.map(|output| text(&output))
}

#[tokio::test]
async fn a_wait_that_is_cancelled_ends_and_the_server_is_told() {
    let mut bench = bench("hang");
    bench_hover(&bench).await.unwrap();
    let cancel = bench.cx.cancel.clone();
    let asked = bench.root.join("asked");
    let watch = tokio::task::spawn_blocking(move || {
        wait_for(&asked);
        cancel.cancel();
        Instant::now()
    });
    let ended = bench.call("LSP", at("definition", 1, 4)).await;
    let when = watch.await.unwrap();
    assert!(matches!(ended, Err(ToolError::Cancelled)), "{ended:?}");
    assert!(when.elapsed() < Duration::from_secs(1));
    let told = bench.root.join("cancelled");
    tokio::task::spawn_blocking(move || wait_for(&told)).await.unwrap();
    // It is as good as before.
    bench.cx.cancel = ostler_stdx::Cancel::new();
    assert!(bench_hover(&bench).await.is_ok());
}

/// Waits until another process made a file; ten seconds at most.
fn wait_for(path: &Path) {
    let begin = Instant::now();
    while !path.exists() {
        assert!(begin.elapsed() < Duration::from_secs(10), "{} is not there", path.display());
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn what_may_not_be_read_is_not_shown() {
    let bench = Bench::with(|hands| {
        use_fake(hands, "good");
        hands.gate = crate::Gate::new(|access| match access {
            Access::Read { path } if path.to_text().ends_with("b.rs") => Err("no".to_owned()),
            _ => Ok(()),
        });
    });
    bench.file("Cargo.toml", "");
    bench.file("src/a.rs", "fn alpha() {}\n");
    bench.file("src/b.rs", "alpha secret\n");
    let text = bench.text("LSP", at("references", 1, 4)).await;
    assert_eq!(text, "src/a.rs:1:4: fn alpha() {}\n[1 more in files that may not be read]");
    let direct = json!({"operation": "documentSymbol", "filePath": "src/b.rs"});
    assert_eq!(bench.refused("LSP", direct).await, "no");
}

#[tokio::test]
async fn an_answer_of_any_length_is_cut() {
    let bench = bench("many");
    let output = bench.call("LSP", at("references", 1, 4)).await.unwrap();
    let text = text(&output);
    assert!(
        text.len() < 40_000 && text.contains("[4900 more: narrow the question]"),
        "{}",
        text.len()
    );
    assert_eq!(output.structured["results"].as_array().unwrap().len(), 100);
    assert_eq!(output.structured["truncated"], true);
}
