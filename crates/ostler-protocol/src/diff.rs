//! A change to one file, as people look at it (ipc.md 11.4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub enum FileStatus {
    /// It is new.
    #[serde(rename = "A")]
    Added,
    /// Its content changed.
    #[serde(rename = "M")]
    Modified,
    /// It is gone.
    #[serde(rename = "D")]
    Deleted,
}

/// A line's part in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub enum DiffOp {
    /// In both.
    #[serde(rename = " ")]
    Context,
    /// New.
    #[serde(rename = "+")]
    Added,
    /// Gone.
    #[serde(rename = "-")]
    Removed,
}

/// One line of a hunk, its line ending left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DiffLine {
    /// Context, added or removed.
    pub op: DiffOp,
    /// The line without its ending.
    pub text: String,
}

/// A run of changed lines with context around it. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// First line in the old file.
    pub old_start: u32,
    /// Lines of the old file.
    pub old_lines: u32,
    /// First line in the new file.
    pub new_start: u32,
    /// Lines of the new file.
    pub new_lines: u32,
    /// The lines in order.
    pub lines: Vec<DiffLine>,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The file, absolute.
    pub path: String,
    /// Added, modified or deleted.
    pub status: FileStatus,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// Whether the content is not text; then there are no hunks.
    pub binary: bool,
    /// The changed places.
    pub hunks: Vec<DiffHunk>,
    /// Whether hunks were left out because there are too many lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}
