//! Permission modes: two vocabularies for one table of capabilities (design.md 8 (b)).

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use ts_rs::TS;

/// What happens to a tool call where no rule and no hook decides.
///
/// The wire form is the exact name (`permissionMode`); [`Mode::ipc_name`] gives the
/// shorter vocabulary (`agentMode`). Both, and `manual`, are accepted on input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Reading in the project is free, everything else asks. Also `manual`, `build`.
    #[default]
    Default,
    /// As default, and edits in the project are free.
    AcceptEdits,
    /// Nothing is changed.
    Plan,
    /// Nothing is changed, read-only commands run, others are refused.
    Review,
    /// Reading in the project only; whatever would ask is refused.
    Explore,
    /// Whatever would ask is refused; what rules allow runs.
    DontAsk,
    /// A classifier decides; where there is none, ask.
    Auto,
    /// Everything runs but what a deny or ask rule names. Also `danger`.
    BypassPermissions,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 8] = [
        Self::Default,
        Self::AcceptEdits,
        Self::Plan,
        Self::Review,
        Self::Explore,
        Self::DontAsk,
        Self::Auto,
        Self::BypassPermissions,
    ];

    /// Reads a name of either vocabulary.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "default" | "manual" | "build" => Self::Default,
            "acceptEdits" => Self::AcceptEdits,
            "plan" => Self::Plan,
            "review" => Self::Review,
            "explore" => Self::Explore,
            "dontAsk" => Self::DontAsk,
            "auto" => Self::Auto,
            "bypassPermissions" | "danger" => Self::BypassPermissions,
            _ => return None,
        })
    }

    /// The exact name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::Review => "review",
            Self::Explore => "explore",
            Self::DontAsk => "dontAsk",
            Self::Auto => "auto",
            Self::BypassPermissions => "bypassPermissions",
        }
    }

    /// The name of the shorter vocabulary: `build plan review explore danger`.
    #[must_use]
    pub fn ipc_name(self) -> &'static str {
        match self {
            Self::Default | Self::AcceptEdits | Self::DontAsk | Self::Auto => "build",
            Self::Plan => "plan",
            Self::Review => "review",
            Self::Explore => "explore",
            Self::BypassPermissions => "danger",
        }
    }

    /// The name that the Agent SDK knows: review and explore show as `plan`.
    #[must_use]
    pub fn sdk_name(self) -> &'static str {
        match self {
            Self::Review | Self::Explore => "plan",
            other => other.name(),
        }
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name).ok_or_else(|| {
            serde::de::Error::unknown_variant(
                &name,
                &[
                    "default",
                    "acceptEdits",
                    "plan",
                    "review",
                    "explore",
                    "dontAsk",
                    "auto",
                    "bypassPermissions",
                    "build",
                    "danger",
                ],
            )
        })
    }
}
