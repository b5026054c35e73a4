//! Manifests in the session log: a line each, or, where a call changed very much, a blob that
//! the line names, so that no log grows by what a build or a formatter touches.

use super::{Checkpoints, FileChange, Manifest};
use crate::{Result, record::Checkpoint};

/// Changes that a line of a log holds.
const IN_LINE: usize = 200;

impl Checkpoints {
    /// The record of a manifest: of the call `tool_use_id`, or of an undo with that id, which
    /// took back the calls and undos `undoes`.
    #[must_use]
    pub fn record(
        &self,
        tool_use_id: impl Into<String>,
        undoes: Vec<String>,
        manifest: Manifest,
    ) -> Checkpoint {
        let Manifest { mut files, uncovered } = manifest;
        let mut kept_in = None;
        if files.len() > IN_LINE {
            // A list that cannot be kept elsewhere stays in the line: long is better than lost.
            kept_in = serde_json::to_vec(&files).ok().and_then(|json| self.blobs().put(&json).ok());
            if kept_in.is_some() {
                files.clear();
            }
        }
        Checkpoint { tool_use_id: tool_use_id.into(), undoes, files, kept_in, uncovered }
    }

    /// The manifest of a record; none if the blob that holds it was pruned or is damaged.
    ///
    /// # Errors
    /// `Storage`.
    pub fn manifest(&self, record: &Checkpoint) -> Result<Option<Manifest>> {
        let files: Option<Vec<FileChange>> = match &record.kept_in {
            None => Some(record.files.clone()),
            Some(blob) => {
                self.blobs().get(blob)?.and_then(|json| serde_json::from_slice(&json).ok())
            }
        };
        Ok(files.map(|files| Manifest { files, uncovered: record.uncovered }))
    }
}
