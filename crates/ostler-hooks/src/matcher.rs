//! Which subjects a hook is for: everything, a list of names, or a regular expression that
//! must match the whole name. Case does not matter: `Bash` and `bash` are the same tool.

use regex::{Regex, RegexBuilder};

/// Most bytes of a compiled expression; an expression beyond it is refused.
const SIZE: usize = 1 << 20;

/// A matcher as settings write it.
#[derive(Debug, Clone, Default)]
pub enum Matcher {
    /// Absent, empty or `*`.
    #[default]
    All,
    /// One name, or several with `|` between them.
    Names(Vec<String>),
    /// A regular expression.
    Expression(Regex),
}

impl Matcher {
    /// Reads a matcher.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        let plain = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_- :".contains(c))
        };
        let names: Vec<_> = text.split('|').map(str::trim).collect();
        if names.iter().all(|name| plain(name)) {
            return Ok(Self::Names(names.into_iter().map(str::to_owned).collect()));
        }
        RegexBuilder::new(&format!("^(?:{text})$"))
            .case_insensitive(true)
            .size_limit(SIZE)
            .build()
            .map(Self::Expression)
            .map_err(|error| error.to_string().lines().last().unwrap_or_default().to_owned())
    }

    /// Whether the hook is for this subject. An event without one matches all matchers.
    #[must_use]
    pub fn matches(&self, subject: Option<&str>) -> bool {
        let Some(subject) = subject else { return true };
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|name| name.eq_ignore_ascii_case(subject)),
            Self::Expression(expression) => expression.is_match(subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_match_by_list_or_expression() {
        let table = [
            ("", "Bash", true),
            ("*", "anything", true),
            ("Bash", "Bash", true),
            ("Bash", "bash", true),
            ("Bash", "BashOutput", false),
            ("Write|Edit", "Edit", true),
            ("Write | Edit", "Write", true),
            ("Write|Edit", "NotebookEdit", false),
            ("Notebook.*", "NotebookEdit", true),
            ("Notebook.*", "MyNotebookEdit", false),
            (".*Edit", "NotebookEdit", true),
            ("mcp__github__.*", "mcp__github__issue", true),
            ("mcp__github", "mcp__github__issue", false),
            ("mcp__.*__write.*|Edit", "Edit", true),
            ("a|b.*", "xb", false),
        ];
        for (matcher, subject, expected) in table {
            let parsed = Matcher::parse(matcher).unwrap();
            assert_eq!(parsed.matches(Some(subject)), expected, "{matcher:?} on {subject:?}");
        }
    }

    #[test]
    fn an_event_without_subject_runs_every_hook() {
        assert!(Matcher::parse("Bash").unwrap().matches(None));
    }

    #[test]
    fn broken_and_huge_expressions_are_refused() {
        for bad in ["(", "[a", "a{1000}{1000}{1000}"] {
            assert!(!Matcher::parse(bad).unwrap_err().is_empty(), "{bad}");
        }
    }
}
