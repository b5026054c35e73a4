//! The line of a rule in the text of a settings file. It reads for people only: what it
//! does not find it leaves out.

use ostler_permission::Behavior;

/// The line, from 1, of a rule in one of the lists of `permissions`.
pub(super) fn line_of(text: &str, list: Behavior, rule: &str) -> Option<usize> {
    let key = match list {
        Behavior::Allow => "\"allow\"",
        Behavior::Ask => "\"ask\"",
        Behavior::Deny => "\"deny\"",
    };
    let quoted = serde_json::to_string(rule).ok()?;
    let start = text.find("\"permissions\"")?;
    let list = start + text.get(start..)?.find(key)?;
    let at = list + text.get(list..)?.find(&quoted)?;
    Some(text.get(..at)?.matches('\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_the_list() {
        let text = "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(a)\",\n      \"Bash(\\\"b\\\")\"\n    ],\n    \"deny\": [\"Bash(a)\"]\n  }\n}\n";
        assert_eq!(line_of(text, Behavior::Allow, "Bash(a)"), Some(4));
        assert_eq!(line_of(text, Behavior::Allow, "Bash(\"b\")"), Some(5));
        assert_eq!(line_of(text, Behavior::Deny, "Bash(a)"), Some(7));
        assert_eq!(line_of(text, Behavior::Ask, "Bash(a)"), None);
        assert_eq!(line_of("not json", Behavior::Ask, "Bash(a)"), None);
    }
}
