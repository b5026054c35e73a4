//! Where the parts of a JSON text stand, so that one can change and all others keep their
//! bytes. Reads only what `serde_json` found to be right.

use std::ops::Range;

/// A value and where it stands.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) parts: Parts,
}

/// What a value is made of.
#[derive(Debug)]
pub(crate) enum Parts {
    Object(Vec<Entry>),
    Array(Vec<Node>),
    Scalar,
}

/// A key of an object and its value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Where the key starts.
    pub(crate) start: usize,
    pub(crate) value: Node,
}

impl Node {
    /// The parts of a text; the error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        // Holds the text to the grammar, and bounds its depth.
        serde_json::from_str::<serde_json::Value>(text).map_err(|error| error.to_string())?;
        let mut scan = Scan { text, at: 0 };
        scan.value().ok_or_else(|| "it ends too early".to_owned())
    }

    /// The value of a key, the last one if there are several, as readers have it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().rev().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.parts {
            Parts::Object(entries) => entries,
            _ => &[],
        }
    }

    /// The text of a string value.
    pub(crate) fn string(&self, text: &str) -> Option<String> {
        serde_json::from_str(&text[self.span.clone()]).ok()
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl Scan<'_> {
    fn value(&mut self) -> Option<Node> {
        self.blanks();
        let start = self.at;
        let parts = match self.peek()? {
            b'{' => Parts::Object(self.entries()?),
            b'[' => Parts::Array(self.items()?),
            b'"' => {
                self.string()?;
                Parts::Scalar
            }
            _ => {
                let rest = &self.text[start..];
                self.at += rest
                    .find(|c: char| matches!(c, ',' | ']' | '}') || c.is_ascii_whitespace())
                    .unwrap_or(rest.len());
                Parts::Scalar
            }
        };
        Some(Node { span: start..self.at, parts })
    }

    fn entries(&mut self) -> Option<Vec<Entry>> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.blanks();
            match self.peek()? {
                b'}' => break,
                b',' => self.at += 1,
                _ => {
                    let start = self.at;
                    self.string()?;
                    let key = serde_json::from_str(&self.text[start..self.at]).ok()?;
                    self.blanks();
                    self.at += 1;
                    entries.push(Entry { key, start, value: self.value()? });
                }
            }
        }
        self.at += 1;
        Some(entries)
    }

    fn items(&mut self) -> Option<Vec<Node>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blanks();
            match self.peek()? {
                b']' => break,
                b',' => self.at += 1,
                _ => items.push(self.value()?),
            }
        }
        self.at += 1;
        Some(items)
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}
