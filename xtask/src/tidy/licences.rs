//! Which licences our dependencies may have. `deny.toml` says the same to `cargo deny`; this
//! needs no tool and no network, and a test holds the two equal.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::sh;

/// Licences anything may have.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates with another licence: name, licence, and why it is fine.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

/// The triple of this machine, as `cargo metadata --filter-platform` wants it.
pub(super) fn host_filter() -> Result<String> {
    let said = sh::cmd("rustc").arg("-vV").read()?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no host: is that the Rust compiler?")
}

/// Complaints about the packages of `cargo metadata`.
pub(super) fn check(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let complain = |package: &Value| {
        let name = package["name"].as_str().unwrap_or_default();
        let licence = package["license"].as_str().unwrap_or_default();
        let excepted = EXCEPTIONS.iter().any(|row| row.0 == name && row.1 == licence);
        let fine = excepted || allows(licence);
        (!fine).then(|| {
            format!(
                "`{name}` has licence `{licence}`, which is not allowed: drop it, or add it with the reason to `EXCEPTIONS` in `xtask/src/tidy/licences.rs` and to `deny.toml`"
            )
        })
    };
    packages.iter().filter_map(complain).collect()
}

/// Whether a licence expression leaves a way to use the crate under [`ALLOWED`] alone.
/// What cannot be read is not allowed.
fn allows(expression: &str) -> bool {
    // Before SPDX expressions, a slash meant that the user chooses.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, at: 0 };
    let verdict = reader.either();
    reader.at == words.len() && verdict == Some(true)
}

/// Reads an expression by recursive descent; `None` is a mistake in it.
struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn take(&mut self, wanted: &str) -> bool {
        let there = self.words.get(self.at).is_some_and(|word| word.eq_ignore_ascii_case(wanted));
        self.at += usize::from(there);
        there
    }

    fn either(&mut self) -> Option<bool> {
        let mut verdict = self.both()?;
        while self.take("OR") {
            verdict |= self.both()?;
        }
        Some(verdict)
    }

    fn both(&mut self) -> Option<bool> {
        let mut verdict = self.one()?;
        while self.take("AND") {
            verdict &= self.one()?;
        }
        Some(verdict)
    }

    fn one(&mut self) -> Option<bool> {
        let word = self.next()?;
        if word == "(" {
            let verdict = self.either()?;
            return (self.next()? == ")").then_some(verdict);
        }
        if [")", "OR", "AND", "WITH"].contains(&word) {
            return None;
        }
        let licence = if self.take("WITH") {
            format!("{word} WITH {}", self.next()?)
        } else {
            word.to_owned()
        };
        Some(ALLOWED.contains(&licence.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn expressions_are_read_with_their_precedence() {
        for (expression, verdict) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-3.0 OR MIT AND ISC", true),
            ("MIT OR GPL-3.0 AND LGPL-2.1", true),
            ("(MIT OR GPL-3.0) AND LGPL-2.1", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
        ] {
            assert_eq!(allows(expression), verdict, "{expression}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_allowed() {
        for expression in ["", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT MIT", "MIT WITH", "()"] {
            assert!(!allows(expression), "{expression}");
        }
    }

    #[test]
    fn package_without_a_licence_is_named() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "good", "license": "MIT" },
            { "name": "bare", "license": null },
        ]});
        let said = check(&metadata);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("`bare` has licence ``, which is not allowed"), "{said:?}");
    }

    #[test]
    fn deny_toml_allows_the_same() {
        let text = std::fs::read_to_string(workspace::root().join("deny.toml")).unwrap();
        let list = text.split_once("allow = [").unwrap().1.split_once(']').unwrap().0;
        let mut theirs: Vec<_> = list.split('"').skip(1).step_by(2).collect();
        theirs.sort_unstable();
        assert_eq!(theirs, ALLOWED);
    }
}
