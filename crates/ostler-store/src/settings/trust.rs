//! Which content of a project the user trusted. What was read is what is trusted: the hash
//! is over the very bytes that the settings are taken from, and any change waits again.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use ostler_stdx::AbsPath;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::{
    brings::{self, Brought},
    edit,
};
use crate::{
    atomic::{self, Access},
    error::{Error, Result},
    store::Store,
};

/// Files of a project that can loosen something.
const FILES: [&str; 5] = [
    ".ostler/settings.json",
    ".ostler/settings.local.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    SERVERS,
];

/// The file of MCP servers.
const SERVERS: &str = ".mcp.json";

/// Whether a project's present content is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// It was never trusted.
    Untrusted,
    /// It was, and has changed since.
    Changed,
    /// Exactly this content is.
    Trusted,
    /// Somebody looked at exactly this content and did not want it.
    Denied,
}

impl TrustState {
    /// Its name on the wire: `no`, `changed`, `yes`, `denied`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Untrusted => "no",
            Self::Changed => "changed",
            Self::Trusted => "yes",
            Self::Denied => "denied",
        }
    }
}

/// What somebody who decides about trust must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustReport {
    /// Of the content that is reported.
    pub hash: String,
    /// Whether that is trusted.
    pub state: TrustState,
    /// What it brings, file by file in the order of the files.
    pub brings: Vec<Brought>,
}

impl TrustReport {
    /// Whether there is something that would act once it is trusted.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        self.brings.iter().any(|brought| brought.loosens)
    }
}

/// What is written in place of a hash.
const REVOKED: &str = "revoked";
/// What is written before the hash of content that is not wanted.
const DENIED: &str = "denied:";

/// The files of a project, read once.
#[derive(Debug)]
pub(super) struct Content {
    files: BTreeMap<PathBuf, Vec<u8>>,
    names: Vec<(&'static str, PathBuf)>,
}

impl Content {
    pub(super) fn read(project: &AbsPath) -> Self {
        let names: Vec<_> =
            FILES.into_iter().map(|name| (name, project.join(name).to_path_buf())).collect();
        let read = |(_, path): &(_, PathBuf)| Some((path.clone(), fs::read(path).ok()?));
        Self { files: names.iter().filter_map(read).collect(), names }
    }

    /// Whether there is nothing to trust.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn bytes(&self, path: &Path) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// SHA-256 over names, lengths and bytes, in hex.
    pub(super) fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for (name, path) in &self.names {
            if let Some(bytes) = self.files.get(path) {
                hasher.update(name.as_bytes());
                hasher.update([0]);
                hasher.update((bytes.len() as u64).to_le_bytes());
                hasher.update(bytes);
            }
        }
        hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Store {
    /// Whether the user trusted the project's present content.
    #[must_use]
    pub fn is_trusted(&self, project: &AbsPath) -> bool {
        self.trust_state(project).0 == TrustState::Trusted
    }

    /// The same in three steps, and the hash of the present content.
    #[must_use]
    pub fn trust_state(&self, project: &AbsPath) -> (TrustState, String) {
        let hash = Content::read(project).hash();
        (self.trust_of(project, &hash), hash)
    }

    /// What a project's present content brings, and whether it is trusted.
    #[must_use]
    pub fn trust_report(
        &self,
        project: &AbsPath,
        is_tracked: &dyn Fn(&Path) -> bool,
    ) -> TrustReport {
        let content = Content::read(project);
        let hash = content.hash();
        let state = self.trust_of(project, &hash);
        let of_file = |(name, path): &(&'static str, PathBuf)| {
            let bytes = content.bytes(path)?;
            Some(match *name {
                SERVERS => brings::of_servers(path, bytes),
                name => {
                    let is_local = name.ends_with("settings.local.json");
                    brings::of_settings(path, bytes, is_local && !is_tracked(path))
                }
            })
        };
        let brings = content.names.iter().filter_map(of_file).flatten().collect();
        TrustReport { hash, state, brings }
    }

    /// Notes that content of this hash was looked at and is not wanted; nobody needs to ask
    /// about it again.
    ///
    /// # Errors
    /// `Invalid` if the content changed meanwhile; `Damaged` or `Storage` for `trust.json`.
    pub fn deny_trust(&self, project: &AbsPath, hash: &str) -> Result<()> {
        unchanged(project, hash)?;
        self.note_trust(project, &format!("{DENIED}{hash}"))
    }

    /// Trusts the project's content if it still has this hash (of [`Self::trust_state`]).
    ///
    /// # Errors
    /// `Invalid` if the content changed meanwhile; `Damaged` or `Storage` for `trust.json`.
    pub fn trust(&self, project: &AbsPath, hash: &str) -> Result<()> {
        unchanged(project, hash)?;
        self.note_trust(project, hash)
    }

    /// Takes the trust back.
    ///
    /// # Errors
    /// `Damaged` or `Storage` for `trust.json`.
    pub fn revoke_trust(&self, project: &AbsPath) -> Result<()> {
        self.note_trust(project, REVOKED)
    }

    /// Whether nothing of a project waits: it is trusted, or brings nothing.
    pub(super) fn is_all_trusted(&self, project: &AbsPath) -> bool {
        let content = Content::read(project);
        content.is_empty() || self.trust_of(project, &content.hash()) == TrustState::Trusted
    }

    /// Lets the trust follow a change that we made at the user's wish.
    pub(super) fn move_trust(&self, project: &AbsPath) -> Result<()> {
        let hash = Content::read(project).hash();
        self.note_trust(project, &hash)
    }

    /// A file that cannot be read trusts nothing.
    pub(super) fn trust_of(&self, project: &AbsPath, hash: &str) -> TrustState {
        let read = atomic::read(&self.trust_file()).ok().flatten();
        let map: Map<String, Value> =
            read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        match map.get(&name_of(project)).and_then(Value::as_str) {
            Some(trusted) if trusted == hash => TrustState::Trusted,
            Some(REVOKED) => TrustState::Untrusted,
            Some(denied) if denied.strip_prefix(DENIED) == Some(hash) => TrustState::Denied,
            Some(denied) if denied.starts_with(DENIED) => TrustState::Untrusted,
            Some(_) => TrustState::Changed,
            None => self.adopted(project, hash),
        }
    }

    /// Whether Claude Code trusts exactly this folder and we have no word of our own; then
    /// the content that is seen now is pinned. Where that cannot be written, nothing is
    /// trusted: it would be trusted whatever it became.
    fn adopted(&self, project: &AbsPath, hash: &str) -> TrustState {
        let pinned = self.claude_trusts(project) && self.note_trust(project, hash).is_ok();
        if pinned { TrustState::Trusted } else { TrustState::Untrusted }
    }

    /// Claude Code's record, `projects.<folder>.hasTrustDialogAccepted` of `.claude.json`,
    /// which lies in its folder if that was chosen, else beside it. It is only read.
    fn claude_trusts(&self, project: &AbsPath) -> bool {
        let folder = &self.roots().claude;
        let beside = folder.parent().filter(|_| folder.file_name() == Some(".claude".as_ref()));
        let files = [Some(folder.clone()), beside].into_iter().flatten();
        files.map(|folder| folder.join(".claude.json")).any(|file| {
            let read = fs::read(file.as_path()).ok();
            let record: Option<Value> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let accepted = record
                .as_ref()
                .and_then(|record| record.get("projects")?.get(name_of(project)))
                .and_then(|project| project.get("hasTrustDialogAccepted"));
            accepted == Some(&Value::Bool(true))
        })
    }

    fn note_trust(&self, project: &AbsPath, note: &str) -> Result<()> {
        let path = self.trust_file();
        atomic::update(&path, Access::Private, |bytes| {
            let mut map = edit::object(&path, bytes)?;
            map.insert(name_of(project), note.into());
            Ok(Some(edit::pretty(&map)))
        })
    }

    fn trust_file(&self) -> PathBuf {
        self.roots().home.join("trust.json").to_path_buf()
    }
}

fn unchanged(project: &AbsPath, hash: &str) -> Result<()> {
    if Content::read(project).hash() == hash {
        return Ok(());
    }
    let what = format!("`{project}` changed since it was shown; look at it again");
    Err(Error::Invalid { what, path: project.to_path_buf() })
}

/// A project by its real path, so that no link gives it a second name.
fn name_of(project: &AbsPath) -> String {
    fs::canonicalize(project)
        .unwrap_or_else(|_| project.to_path_buf())
        .to_string_lossy()
        .into_owned()
}
