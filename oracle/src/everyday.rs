//! The list of everyday harmless commands, the same file that the tests of the judge read.

use serde_json::Value;

/// The list.
#[derive(Debug)]
pub(crate) struct Everyday {
    /// Commands that change nothing.
    pub(crate) harmless: Vec<String>,
    /// What each of them is about, in their order.
    pub(crate) ecosystems: Vec<String>,
    /// Commands that look as if they did, and can do more.
    pub(crate) marked: Vec<String>,
}

impl Everyday {
    /// Reads the list that was built in.
    pub(crate) fn read() -> Self {
        let text = include_str!("../../crates/ostler-permission/tests/everyday.jsonl");
        let mut everyday =
            Self { harmless: Vec::new(), ecosystems: Vec::new(), marked: Vec::new() };
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            let Some(command) = value["command"].as_str() else { continue };
            let harmless = value["harmless"].as_bool().unwrap_or(true);
            if harmless {
                let about = value["ecosystem"].as_str().unwrap_or("other");
                everyday.ecosystems.push(about.to_owned());
                everyday.harmless.push(command.to_owned());
            } else {
                everyday.marked.push(command.to_owned());
            }
        }
        everyday
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_read_whole() {
        let everyday = Everyday::read();
        assert!(everyday.harmless.len() >= 500);
        assert_eq!(everyday.harmless.len(), everyday.ecosystems.len());
        assert!(everyday.marked.iter().any(|command| command == "yarn --version"));
    }
}
