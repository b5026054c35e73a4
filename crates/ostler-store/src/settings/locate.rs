//! Where a value stands in the text of a JSON file, and which keys stand there twice: what
//! serde_json does not tell. Reads text that is known to be JSON; of other text it gives
//! what it found before it lost its way.

use std::collections::HashSet;

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// The value of a key.
    Key(String),
    /// An element of a list, from 0.
    At(usize),
}

/// Line and column, from 1, of the value that a path leads to.
pub(super) fn place_of(text: &str, path: &[Step]) -> Option<(usize, usize)> {
    let mut found = None;
    let mut reader = Reader { text, at: 0, path: Vec::new() };
    reader.value(&mut |here, at| {
        if here == path {
            found = Some(at);
        }
    });
    found.map(|at| line_and_column(text, at))
}

/// The first key that stands twice in one object: its path, and the place of the second.
pub(super) fn repeated(text: &str) -> Option<(Vec<Step>, (usize, usize))> {
    let mut seen: HashSet<Vec<Step>> = HashSet::new();
    let mut twice = None;
    let mut reader = Reader { text, at: 0, path: Vec::new() };
    reader.value(&mut |here, at| {
        // What stands below a key that repeats repeats as well; the first one is told.
        let looked_at = here.len() <= MOST_STEPS && twice.is_none();
        if looked_at && !seen.insert(here.to_vec()) {
            twice = Some((here.to_vec(), at));
        }
    });
    twice.map(|(path, at)| (path, line_and_column(text, at)))
}

/// How deep repeated keys are looked for: enough for every key that is known.
const MOST_STEPS: usize = 3;

fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before.get(start..).map_or(0, |line| line.chars().count()) + 1)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    path: Vec<Step>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blank(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.blank();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Reads a value and tells it and what is in it with its place. The depth is that of
    /// text that serde_json took, which is bounded.
    fn value(&mut self, tell: &mut dyn FnMut(&[Step], usize)) {
        self.blank();
        tell(&self.path, self.at);
        match self.peek() {
            Some(b'{') => self.items(b'}', tell),
            Some(b'[') => self.items(b']', tell),
            Some(b'"') => drop(self.string()),
            _ => {
                while self.peek().is_some_and(|byte| !b",]}".contains(&byte)) {
                    self.at += 1;
                }
            }
        }
    }

    fn items(&mut self, end: u8, tell: &mut dyn FnMut(&[Step], usize)) {
        self.at += 1;
        for index in 0.. {
            if self.take(end) {
                return;
            }
            if index > 0 && !self.take(b',') {
                return;
            }
            let step = if end == b'}' {
                self.blank();
                let Some(key) = self.string() else { return };
                if !self.take(b':') {
                    return;
                }
                Step::Key(key)
            } else {
                Step::At(index)
            };
            self.path.push(step);
            self.value(tell);
            self.path.pop();
        }
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_str(self.text.get(start..self.at)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn key(name: &str) -> Step {
        Step::Key(name.to_owned())
    }

    #[test]
    fn values_are_found_by_line_and_column() {
        let text = "{\n  \"a\": [1, {\"\\u0062\\\"\": true}],\n  \"é\": {}, \"z\": -1.5e3\n}\n";
        for (path, expected) in [
            (vec![], Some((1, 1))),
            (vec![key("a")], Some((2, 8))),
            (vec![key("a"), Step::At(0)], Some((2, 9))),
            (vec![key("a"), Step::At(1), key("b\"")], Some((2, 25))),
            (vec![key("é")], Some((3, 8))),
            (vec![key("z")], Some((3, 17))),
            (vec![key("y")], None),
        ] {
            assert_eq!(place_of(text, &path), expected, "{path:?}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_found_with_its_second_place() {
        let text = "{\"a\": {\"x\": 1},\n \"b\": {\"x\": 1},\n \"a\": {\"x\": 2}}";
        assert_eq!(repeated(text), Some((vec![key("a")], (3, 7))));
        assert_eq!(repeated("{\"a\":[{\"x\":1},{\"x\":1}]}"), None);
    }

    #[test]
    fn what_is_no_json_ends_somewhere() {
        for text in ["", "{", "{\"", "{\"a", "[1,,2", "{\"a\" 1}", "nul", "{\"a\\", "]"] {
            assert!(place_of(text, &[key("no")]).is_none() && repeated(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_place_is_where_its_value_begins(numbers in prop::collection::vec(any::<i32>(), 0..8), spaces in 0_usize..4) {
            let gap = " ".repeat(spaces);
            let list: Vec<String> = numbers.iter().map(|n| format!("\n{gap}{n}")).collect();
            let text = format!("{{\"k\":{gap}[{}]}}", list.join(","));
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
            for (index, number) in numbers.iter().enumerate() {
                let place = place_of(&text, &[key("k"), Step::At(index)]);
                prop_assert_eq!(place, Some((index + 2, spaces + 1)));
                let line = text.lines().nth(index + 1).unwrap();
                let there = line[spaces..].starts_with(&number.to_string());
                prop_assert!(there);
            }
        }
    }
}
