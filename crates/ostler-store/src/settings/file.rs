//! One settings file: read, and skipped whole with its place named if it is broken.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{SettingsProblem, Sourced, Tier};
use crate::atomic;

/// A settings file and its tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SettingsFile {
    pub(super) tier: Tier,
    pub(super) path: PathBuf,
}

impl SettingsFile {
    pub(super) fn sourced<T>(&self, value: T) -> Sourced<T> {
        Sourced { value, tier: self.tier, file: self.path.clone() }
    }
}

/// The keys that count here; others are for others.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) allow: Vec<String>,
    pub(super) ask: Vec<String>,
    pub(super) deny: Vec<String>,
    pub(super) default_mode: Option<String>,
    pub(super) additional_directories: Vec<String>,
    pub(super) model: Option<String>,
    pub(super) sandbox: Map<String, Value>,
    pub(super) hooks: Map<String, Value>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    permissions: Option<Permissions>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    sandbox: Option<Map<String, Value>>,
    #[serde(default)]
    hooks: Option<Map<String, Value>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Permissions {
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
    default_mode: Option<String>,
    additional_directories: Vec<String>,
}

/// Reads a file; none if there is none.
pub(super) fn load(path: &Path) -> Result<Option<Loaded>, SettingsProblem> {
    match atomic::read(path) {
        Ok(Some(bytes)) => parse(path, &bytes),
        Ok(None) => Ok(None),
        Err(error) => {
            let what = format!("{error}; nothing in it counts");
            Err(SettingsProblem { file: path.to_path_buf(), line: 0, column: 0, what })
        }
    }
}

/// Parses the content of a file.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Option<Loaded>, SettingsProblem> {
    let text = without_mark(bytes);
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    let file: File = serde_json::from_slice(text).map_err(|error| SettingsProblem {
        file: path.to_path_buf(),
        line: error.line(),
        column: error.column(),
        what: format!("{}; the whole file is skipped until it is corrected", reason(&error)),
    })?;
    let permissions = file.permissions.unwrap_or_default();
    Ok(Some(Loaded {
        allow: permissions.allow,
        ask: permissions.ask,
        deny: permissions.deny,
        default_mode: permissions.default_mode,
        additional_directories: permissions.additional_directories,
        model: file.model,
        sandbox: file.sandbox.unwrap_or_default(),
        hooks: file.hooks.unwrap_or_default(),
    }))
}

/// Without the byte order mark that some editors write.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// What the parser says, without the place that is told apart.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}
