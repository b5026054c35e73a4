//! Allow, ask and deny rules: their text, their source, and the lists they stand in.
//!
//! Grammar: spec agent-sdk 5.3 and ipc 5.3.2. Parsing never guesses: what is not a rule is
//! an error with a hint, and is not added. Whether a rule applies is asked of its pattern.

mod pattern;
#[cfg(test)]
mod tests;
mod text;

use ostler_stdx::AbsPath;
use serde::{Deserialize, Serialize};

pub use ostler_protocol::canonical_tool;
pub(crate) use pattern::{CommandPattern, PathPattern, Pattern, base_name, host_matches};
pub use text::{RuleError, split_rule_list};

/// The list that a rule stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behavior {
    /// It runs.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It never runs.
    Deny,
}

/// Where a rule came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleSource {
    /// The machine's policy.
    Managed,
    /// The command line or the Agent SDK's options.
    CliArg,
    /// An answer of this session.
    Session,
    /// The project's settings file that is not shared.
    Local,
    /// The project's shared settings file.
    Project,
    /// The user's settings file.
    User,
}

impl RuleSource {
    /// How a reason names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed settings",
            Self::CliArg => "command line",
            Self::Session => "this session",
            Self::Local => "local settings",
            Self::Project => "project settings",
            Self::User => "user settings",
        }
    }
}

/// One parsed rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The tool, by its canonical name; `mcp__server` names all tools of a server.
    pub tool: String,
    /// What stands in the parentheses, unescaped; nothing for the whole tool.
    pub pattern: Option<String>,
    /// The rule as it was written.
    pub text: String,
    /// Where it came from.
    pub source: RuleSource,
    /// The folder that a leading `/` of a path pattern means; nothing means the project.
    pub root: Option<AbsPath>,
    /// The file it stands in, for reasons.
    pub file: Option<AbsPath>,
    pub(crate) parsed: Pattern,
}

/// Switches of the settings that forbid: they hold in every mode, and no rule lifts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// What lies outside the project and the further folders is not read.
    pub reads_inside_only: bool,
    /// It is not written.
    pub writes_inside_only: bool,
    /// What would be asked is denied.
    pub asks_nobody: bool,
}

/// All rules in force. Order does not matter within a list.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    list: Vec<(Behavior, Rule)>,
    limits: Limits,
}

impl Rules {
    /// The switches in force beside the rules.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sets the switches in force beside the rules.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Parses a rule and adds it.
    ///
    /// # Errors
    /// [`RuleError`] says what is wrong with the text; nothing is added then.
    pub fn add(
        &mut self,
        behavior: Behavior,
        text: &str,
        source: RuleSource,
    ) -> Result<(), RuleError> {
        let rule = text::parse(text, source)?;
        self.list.push((behavior, rule));
        Ok(())
    }

    /// As [`Rules::add`], for a rule of a settings file: `root` is the folder that a leading
    /// `/` of its path patterns means.
    ///
    /// # Errors
    /// As [`Rules::add`].
    pub fn add_from_file(
        &mut self,
        behavior: Behavior,
        text: &str,
        source: RuleSource,
        file: AbsPath,
        root: AbsPath,
    ) -> Result<(), RuleError> {
        let rule = Rule { root: Some(root), file: Some(file), ..text::parse(text, source)? };
        self.list.push((behavior, rule));
        Ok(())
    }

    /// Adds all rules of another set; of the switches those of both hold.
    pub fn merge(&mut self, other: Self) {
        self.limits = Limits {
            reads_inside_only: self.limits.reads_inside_only || other.limits.reads_inside_only,
            writes_inside_only: self.limits.writes_inside_only || other.limits.writes_inside_only,
            asks_nobody: self.limits.asks_nobody || other.limits.asks_nobody,
        };
        self.list.extend(other.list);
    }

    /// All rules with their lists.
    pub fn iter(&self) -> impl Iterator<Item = (Behavior, &Rule)> {
        self.list.iter().map(|(behavior, rule)| (*behavior, rule))
    }

    /// The rules of one list.
    pub fn of(&self, behavior: Behavior) -> impl Iterator<Item = &Rule> {
        self.list.iter().filter(move |(other, _)| *other == behavior).map(|(_, rule)| rule)
    }

    /// Removes a rule by its text from one list of one source; answers how many there were.
    pub fn remove(&mut self, behavior: Behavior, text: &str, source: RuleSource) -> usize {
        let wanted = text::parse(text, source).ok();
        self.drop_if(|other, rule| {
            other == behavior
                && rule.source == source
                && match &wanted {
                    Some(wanted) => rule.tool == wanted.tool && rule.pattern == wanted.pattern,
                    None => rule.text == text,
                }
        })
    }

    /// Removes all rules of one list and source, to replace them; answers how many there were.
    pub fn clear(&mut self, behavior: Behavior, source: RuleSource) -> usize {
        self.drop_if(|other, rule| other == behavior && rule.source == source)
    }

    /// Removes all rules of a source, when its file is read again; answers how many there were.
    pub fn clear_source(&mut self, source: RuleSource) -> usize {
        self.drop_if(|_, rule| rule.source == source)
    }

    fn drop_if(&mut self, gone: impl Fn(Behavior, &Rule) -> bool) -> usize {
        let before = self.list.len();
        self.list.retain(|(behavior, rule)| !gone(*behavior, rule));
        before - self.list.len()
    }

    /// Whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
