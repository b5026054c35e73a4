//! `docs/tools.md` is made from the tools themselves.

use std::fmt::Write as _;

use serde_json::Value;

use crate::tests::bench::Bench;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md");

const HEAD: &str = "# Tools\n\n\
Made from the tools by a test of `ostler-builtins`; `cargo xtask bless` writes it anew.\n\
What stands here is what a model reads.\n\n\
Hosts of the Agent SDK get TaskCreate, TaskGet, TaskList and TaskUpdate, and TodoWrite only if they name it; \
everywhere else it is the other way round.\n";

/// The documentation of every tool: its text, and its arguments as a table.
fn documentation() -> String {
    let bench = Bench::new();
    let mut out = HEAD.to_owned();
    let names = bench
        .registry
        .iter()
        .map(|tool| format!("[{0}](#{1})", tool.name(), tool.name().to_lowercase()));
    writeln!(out, "\n{}\n", names.collect::<Vec<_>>().join(" ")).unwrap();
    for tool in bench.registry.iter() {
        let schema = tool.schema();
        writeln!(out, "## {}\n\n{}\n", tool.name(), tool.description().trim()).unwrap();
        let Some(properties) = schema["properties"].as_object().filter(|all| !all.is_empty())
        else {
            continue;
        };
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        out.push_str("| Argument | Type | What |\n|---|---|---|\n");
        for (name, property) in properties {
            let mark = if required.contains(&Value::from(name.as_str())) { "**" } else { "" };
            let what =
                property["description"].as_str().unwrap_or_default().replace(['\n', '|'], " ");
            writeln!(out, "| {mark}`{name}`{mark} | {} | {what} |", kind(property)).unwrap();
        }
        out.push('\n');
    }
    out.trim_end().to_owned() + "\n"
}

/// The type of an argument in a word.
fn kind(property: &Value) -> String {
    match &property["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")
            .unwrap_or("")
            .to_owned(),
        _ if property["enum"].is_array() => "string".to_owned(),
        _ => "any".to_owned(),
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "asks whether the page is to be written anew")]
fn the_page_of_tools_says_what_the_tools_say() {
    let text = documentation();
    if std::env::var_os("OSTLER_BLESS").is_some() {
        std::fs::write(PATH, &text).unwrap();
    }
    let committed = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(committed == text, "docs/tools.md is not what the tools say: run `cargo xtask bless`");
}
