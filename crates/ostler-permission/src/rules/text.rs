//! The text of rules: `Tool`, `Tool(pattern)`, and lists of them.
//!
//! Tool names are compared without case and old names are accepted (spec agent-sdk 5.3).

use ostler_protocol::canonical_tool;

use super::{CommandPattern, PathPattern, Pattern, Rule, RuleSource};

/// Why a text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Nothing stands there.
    #[error("rule is empty; write `Tool` or `Tool(pattern)`")]
    Empty,
    /// The parentheses do not close at the end.
    #[error("rule `{0}` has no closing parenthesis at its end; write `Tool(pattern)`")]
    Unclosed(String),
    /// The tool's name has characters that no name has.
    #[error("rule `{0}` starts with no tool name; use letters, digits, `_` and `-`")]
    BadTool(String),
    /// The pattern cannot be understood.
    #[error("rule `{rule}` has a pattern that means nothing: {why}")]
    BadPattern {
        /// The rule.
        rule: String,
        /// What is wrong and what to write.
        why: &'static str,
    },
}

/// Splits the value of a list flag (`--allowedTools`): at commas and white space outside
/// parentheses. There are no escapes at this level; empty tokens are dropped.
#[must_use]
pub fn split_rule_list(list: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    let mut depth = 0_usize;
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            tokens.push(std::mem::take(&mut token));
        } else {
            token.push(c);
        }
    }
    tokens.push(token);
    tokens.retain_mut(|token| {
        *token = token.trim().to_owned();
        !token.is_empty()
    });
    tokens
}

/// Parses one rule.
pub(super) fn parse(text: &str, source: RuleSource) -> Result<Rule, RuleError> {
    let text = text.trim();
    let (tool, content) = match text.split_once('(') {
        None => (text, None),
        Some((tool, rest)) => {
            let inner = rest.strip_suffix(')').ok_or_else(|| RuleError::Unclosed(text.into()))?;
            (tool, Some(unescape(inner)))
        }
    };
    if text.is_empty() {
        return Err(RuleError::Empty);
    }
    let tool = canonical_tool(tool.trim_end());
    let tool = tool.strip_suffix("__*").filter(|tool| tool.starts_with("mcp__")).unwrap_or(tool);
    if tool.is_empty() || !tool.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
        return Err(RuleError::BadTool(text.into()));
    }
    let content = content.filter(|content| !content.trim().is_empty() && content.trim() != "*");
    let parsed = match &content {
        None => Pattern::Any,
        Some(content) => pattern(tool, content)
            .map_err(|why| RuleError::BadPattern { rule: text.into(), why })?,
    };
    let tool = tool.to_owned();
    Ok(Rule { tool, pattern: content, text: text.into(), source, root: None, file: None, parsed })
}

fn pattern(tool: &str, content: &str) -> Result<Pattern, &'static str> {
    Ok(match tool {
        "Bash" => match CommandPattern::parse(content) {
            Some(pattern) => Pattern::Command(pattern),
            None => Pattern::Any,
        },
        "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "NotebookRead" | "Grep"
        | "Glob" | "LS" => Pattern::Path(PathPattern::parse(content)?),
        "WebFetch" | "WebSearch" => match content.trim().strip_prefix("domain:") {
            Some("") => return Err("name a host after `domain:`"),
            Some("*") => Pattern::Any,
            Some(host) => Pattern::Host(host.trim().trim_end_matches('.').to_ascii_lowercase()),
            None => Pattern::Text(content.to_owned()),
        },
        _ if tool.starts_with("mcp__") => {
            return Err("arguments of MCP tools cannot be matched; write the tool alone");
        }
        _ => match content.strip_suffix(":*") {
            Some(prefix) => Pattern::Prefix(prefix.to_owned()),
            None => Pattern::Text(content.to_owned()),
        },
    })
}

/// `\(`, `\)` and `\\` stand for the second character; every other backslash stays.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '\\' && matches!(next, '(' | ')' | '\\') => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}
