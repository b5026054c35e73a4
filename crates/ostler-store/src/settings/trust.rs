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

use super::edit;
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
    ".mcp.json",
];

/// Whether a project's present content is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// It was never trusted.
    Untrusted,
    /// It was, and has changed since.
    Changed,
    /// Exactly this content is.
    Trusted,
}

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

    /// Trusts the project's content if it still has this hash (of [`Self::trust_state`]).
    ///
    /// # Errors
    /// `Invalid` if the content changed meanwhile; `Damaged` or `Storage` for `trust.json`.
    pub fn trust(&self, project: &AbsPath, hash: &str) -> Result<()> {
        if Content::read(project).hash() != hash {
            let what = format!("`{project}` changed since it was shown; look at it again");
            return Err(Error::Invalid { what, path: project.to_path_buf() });
        }
        self.note_trust(project, Some(hash))
    }

    /// Takes the trust back.
    ///
    /// # Errors
    /// `Damaged` or `Storage` for `trust.json`.
    pub fn revoke_trust(&self, project: &AbsPath) -> Result<()> {
        self.note_trust(project, None)
    }

    /// Lets the trust follow a change that we made at the user's wish.
    pub(super) fn move_trust(&self, project: &AbsPath) -> Result<()> {
        let hash = Content::read(project).hash();
        self.note_trust(project, Some(&hash))
    }

    /// A file that cannot be read trusts nothing.
    pub(super) fn trust_of(&self, project: &AbsPath, hash: &str) -> TrustState {
        let read = atomic::read(&self.trust_file()).ok().flatten();
        let map: Map<String, Value> =
            read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        match map.get(&name_of(project)).and_then(Value::as_str) {
            Some(trusted) if trusted == hash => TrustState::Trusted,
            Some(_) => TrustState::Changed,
            None => TrustState::Untrusted,
        }
    }

    fn note_trust(&self, project: &AbsPath, hash: Option<&str>) -> Result<()> {
        let path = self.trust_file();
        atomic::update(&path, Access::Private, |bytes| {
            let mut map = edit::object(&path, bytes)?;
            match hash {
                Some(hash) => drop(map.insert(name_of(project), hash.into())),
                None => drop(map.remove(&name_of(project))),
            }
            Ok(Some(edit::pretty(&map)))
        })
    }

    fn trust_file(&self) -> PathBuf {
        self.roots().home.join("trust.json").to_path_buf()
    }
}

/// A project by its real path, so that no link gives it a second name.
fn name_of(project: &AbsPath) -> String {
    fs::canonicalize(project)
        .unwrap_or_else(|_| project.to_path_buf())
        .to_string_lossy()
        .into_owned()
}
