//! What a repository brings that could act, and what the person decides about it
//! (ipc.md 11.2, `projects.trustReport` and `projects.trust`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Whether the present content of a project is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TrustState {
    /// Exactly this content is.
    Yes,
    /// Nobody decided about it.
    No,
    /// Other content of this folder was; this waits.
    Changed,
    /// Somebody looked at exactly this content and did not want it.
    Denied,
}

/// What is decided about the content of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TrustDecision {
    /// It may act.
    Trust,
    /// It may not, and nobody asks again until it changes.
    Deny,
    /// The trust is taken back.
    Revoke,
}

/// What kind of thing a repository brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum BroughtKind {
    /// A program that runs at some event.
    Hook,
    /// A server that would be started or spoken to.
    Mcp,
    /// A variable in the environment of programs.
    Env,
    /// An address to which requests would go.
    Endpoint,
    /// A permission rule, a folder, or a setting of the sandbox.
    Rule,
    /// A program that would be run for something else.
    Command,
    /// A plugin.
    Plugin,
    /// A permission mode.
    Mode,
}

/// One thing that a repository brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Brought {
    /// What kind of thing.
    pub kind: BroughtKind,
    /// What it would do, in one line.
    pub text: String,
    /// Where it stands.
    pub file: String,
    /// The line in it, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub line: Option<u32>,
    /// Whether it waits for trust; else it forbids and counts at once, or never counts.
    pub loosens: bool,
}
