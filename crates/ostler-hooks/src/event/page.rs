//! Holds the page on hooks to the table of events, and its examples to what is read without
//! a warning.

use std::{fs, path::PathBuf};

use serde_json::Value;

use super::Event;
use crate::{Only, Source, parse};

const BEGIN: &str = "<!-- events -->\n";
const END: &str = "<!-- end -->";

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/hooks.md")
}

fn table() -> String {
    let mut text =
        "| Event | Raised | Matcher | Can block | When |\n|---|---|---|---|---|\n".to_owned();
    for event in Event::ALL {
        let yes = |is| if is { "yes" } else { "no" };
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            event.name(),
            yes(event.is_raised()),
            event.subject().unwrap_or("-"),
            yes(event.can_block()),
            event.when(),
        ));
    }
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how `cargo xtask bless` asks for a new page")]
fn the_page_lists_the_events_as_they_are() {
    let text = fs::read_to_string(page()).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("OSTLER_BLESS").is_some() {
        fs::write(page(), expected).unwrap();
        return;
    }
    assert!(text == expected, "docs/hooks.md is old; run `cargo xtask bless`");
}

#[test]
fn every_example_of_the_page_is_read_whole() {
    let text = fs::read_to_string(page()).unwrap();
    let examples: Vec<_> =
        text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() > 8);
    for example in examples {
        let settings: Value = serde_json::from_str(example).unwrap();
        let hooks = settings["hooks"].clone();
        let source = Source { file: "page".to_owned(), is_managed: false, hooks };
        let parsed = parse(&[source], Only::All);
        assert_eq!(parsed.warnings, Vec::<String>::new(), "{example}");
        assert!(!parsed.hooks.is_empty() && parsed.hooks.iter().all(|hook| hook.event.is_raised()));
    }
}
