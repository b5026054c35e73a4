//! `PermissionUpdate`: what a host may change after a prompt, in the Agent SDK's JSON shape.
//!
//! Shape: spec agent-sdk 5.2. Plain data; who applies it decides whether it may.

use serde::{Deserialize, Serialize};

use crate::rules::Behavior;

/// Where an update is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Destination {
    /// The user's settings file.
    UserSettings,
    /// The project's shared settings file.
    ProjectSettings,
    /// The project's settings file that is not shared.
    LocalSettings,
    /// This session only.
    Session,
    /// As if given on the command line.
    CliArg,
}

/// One rule, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleValue {
    /// The tool.
    pub tool_name: String,
    /// What stands in the parentheses; `null` on input is the same as absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
}

impl RuleValue {
    /// The rule as one text, `Tool` or `Tool(content)`.
    #[must_use]
    pub fn to_text(&self) -> String {
        match &self.rule_content {
            None => self.tool_name.clone(),
            Some(content) => {
                let mut out = format!("{}(", self.tool_name);
                for c in content.chars() {
                    if matches!(c, '(' | ')' | '\\') {
                        out.push('\\');
                    }
                    out.push(c);
                }
                out.push(')');
                out
            }
        }
    }
}

/// A change of rules, mode or folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum PermissionUpdate {
    /// Adds rules to those that are there.
    AddRules {
        /// The rules.
        rules: Vec<RuleValue>,
        /// The list they go to.
        behavior: Behavior,
        /// Where they are kept.
        destination: Destination,
    },
    /// Replaces all rules of one list.
    ReplaceRules {
        /// The rules.
        rules: Vec<RuleValue>,
        /// The list that is replaced.
        behavior: Behavior,
        /// Where they are kept.
        destination: Destination,
    },
    /// Removes rules.
    RemoveRules {
        /// The rules.
        rules: Vec<RuleValue>,
        /// The list they are in.
        behavior: Behavior,
        /// Where they are kept.
        destination: Destination,
    },
    /// Changes the mode. The name is kept as text: a later mode must not break the frame.
    SetMode {
        /// The mode's exact name.
        mode: String,
        /// Where it is kept.
        destination: Destination,
    },
    /// Adds folders that count as inside.
    AddDirectories {
        /// Absolute paths.
        directories: Vec<String>,
        /// Where they are kept.
        destination: Destination,
    },
    /// Removes such folders.
    RemoveDirectories {
        /// Absolute paths.
        directories: Vec<String>,
        /// Where they were kept.
        destination: Destination,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_content_is_absent_and_stays_away() {
        let text = r#"{"type":"addRules","rules":[{"toolName":"Read","ruleContent":null},{"toolName":"Bash","ruleContent":"touch:*"}],"behavior":"allow","destination":"localSettings"}"#;
        let update: PermissionUpdate = serde_json::from_str(text).unwrap();
        assert_eq!(
            serde_json::to_string(&update).unwrap(),
            text.replace(r#","ruleContent":null"#, "")
        );
        let text = r#"{"type":"setMode","mode":"acceptEdits","destination":"session"}"#;
        let update: PermissionUpdate = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&update).unwrap(), text);
    }

    #[test]
    fn rule_text_escapes_parentheses() {
        let rule = RuleValue { tool_name: "Bash".into(), rule_content: Some("echo (a)".into()) };
        assert_eq!(rule.to_text(), "Bash(echo \\(a\\))");
    }
}
