//! Adding a rule to a settings file: unknown keys and their order stay, a broken file is
//! refused and never replaced, and no update of another process is lost.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ostler_stdx::AbsPath;
use serde_json::{Map, Value};

use super::{
    Behavior,
    file::{reason, without_mark},
};
use crate::{
    atomic::{self, Access},
    error::{Error, Result},
    store::Store,
};

/// Which settings file a rule is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleFile {
    /// `$OSTLER_HOME/settings.json`.
    User,
    /// `<project>/.ostler/settings.json`, meant for git.
    Project(AbsPath),
    /// `<project>/.ostler/settings.local.json`, kept out of git.
    Local(AbsPath),
}

/// A change of the permissions in a settings file (agent-sdk.md 5.2).
#[derive(Debug, Clone, Copy)]
pub enum SettingsChange<'a> {
    /// Adds rules to a list, those that stand there already left out.
    AddRules(Behavior, &'a [String]),
    /// Puts rules in the place of all of a list.
    ReplaceRules(Behavior, &'a [String]),
    /// Takes rules out of a list.
    RemoveRules(Behavior, &'a [String]),
    /// Sets `permissions.defaultMode`.
    SetMode(&'a str),
    /// Adds folders to `permissions.additionalDirectories`.
    AddDirectories(&'a [String]),
    /// Takes folders out of it.
    RemoveDirectories(&'a [String]),
}

impl SettingsChange<'_> {
    /// The list that it changes, if it is one.
    fn list(&self) -> Option<&'static str> {
        Some(match self {
            Self::AddRules(behavior, _)
            | Self::ReplaceRules(behavior, _)
            | Self::RemoveRules(behavior, _) => behavior.key(),
            Self::AddDirectories(_) | Self::RemoveDirectories(_) => "additionalDirectories",
            Self::SetMode(_) => return None,
        })
    }

    /// The list as it should be.
    fn changed(&self, list: &[Value]) -> Vec<Value> {
        let has = |texts: &[String], value: &Value| {
            value.as_str().is_some_and(|known| texts.iter().any(|text| text == known))
        };
        match self {
            Self::AddRules(_, texts) | Self::AddDirectories(texts) => {
                let mut list = list.to_vec();
                for text in *texts {
                    if !list.iter().any(|known| known.as_str() == Some(text)) {
                        list.push(text.as_str().into());
                    }
                }
                list
            }
            Self::ReplaceRules(_, texts) => texts.iter().map(|text| text.as_str().into()).collect(),
            Self::RemoveRules(_, texts) | Self::RemoveDirectories(texts) => {
                list.iter().filter(|value| !has(texts, value)).cloned().collect()
            }
            Self::SetMode(_) => list.to_vec(),
        }
    }
}

/// Where a change went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The file that holds it.
    pub file: PathBuf,
    /// The twin that is not ours to write and still holds what should be gone.
    pub twin: Option<PathBuf>,
}

impl Store {
    /// Adds a rule, unless it stands there already; gives the file.
    ///
    /// # Errors
    /// Those of [`Self::change_settings`].
    pub fn add_rule(&self, file: &RuleFile, behavior: Behavior, rule: &str) -> Result<PathBuf> {
        let rules = [rule.to_owned()];
        self.change_settings(file, SettingsChange::AddRules(behavior, &rules))
            .map(|changed| changed.file)
    }

    /// Changes a settings file at the user's wish. A project that was trusted, or that
    /// brought nothing to trust, stays so: the change is the user's own.
    ///
    /// # Errors
    /// `Damaged` if the file is not what it should be (nothing is written), `Invalid` if
    /// it leads out of the project by a link, `Storage` if the disk refuses.
    pub fn change_settings(&self, file: &RuleFile, change: SettingsChange<'_>) -> Result<Changed> {
        let roots = self.roots();
        let (path, twin, project) = match file {
            RuleFile::User => {
                (roots.home.join("settings.json"), roots.claude.join("settings.json"), None)
            }
            RuleFile::Project(project) => (
                project.join(".ostler/settings.json"),
                project.join(".claude/settings.json"),
                Some(project),
            ),
            RuleFile::Local(project) => (
                project.join(".ostler/settings.local.json"),
                project.join(".claude/settings.local.json"),
                Some(project),
            ),
        };
        let access = if project.is_some() { Access::Shared } else { Access::Private };
        let keeps_trust = project
            .map(|project| stays_within(&path, project).map(|()| self.is_all_trusted(project)))
            .transpose()?;
        let mut is_new = false;
        atomic::update(&path, access, |bytes| {
            is_new = bytes.is_none();
            with_change(&path, bytes, change)
        })?;
        if let RuleFile::Local(project) = file
            && is_new
        {
            ignore(&project.join(".ostler/.gitignore"))?;
        }
        if let (Some(project), Some(true)) = (project, keeps_trust) {
            self.move_trust(project)?;
        }
        let twin = still_holds(&twin, change).then(|| twin.to_path_buf());
        Ok(Changed { file: path.to_path_buf(), twin })
    }
}

/// The new content, or none if nothing changes.
fn with_change(
    path: &Path,
    bytes: Option<Vec<u8>>,
    change: SettingsChange<'_>,
) -> Result<Option<Vec<u8>>> {
    let mut root = object(path, bytes)?;
    let permissions = root.entry("permissions").or_insert_with(|| Map::new().into());
    let Value::Object(permissions) = permissions else {
        return Err(wrong(path, "`permissions` is not an object"));
    };
    let Some(key) = change.list() else {
        let SettingsChange::SetMode(mode) = change else { return Ok(None) };
        let before = permissions.insert("defaultMode".to_owned(), mode.into());
        let is_same = before.is_some_and(|before| before.as_str() == Some(mode));
        return Ok((!is_same).then(|| pretty(&root)));
    };
    let held = permissions.get(key).cloned().unwrap_or_else(|| Value::Array(Vec::new()));
    let Value::Array(held) = held else {
        return Err(wrong(path, &format!("`permissions.{key}` is not a list")));
    };
    let list = change.changed(&held);
    if list == held {
        return Ok(None);
    }
    permissions.insert(key.to_owned(), list.into());
    Ok(Some(pretty(&root)))
}

/// Whether a file that is not ours to write holds what a change takes out.
fn still_holds(twin: &Path, change: SettingsChange<'_>) -> bool {
    let takes_out = matches!(
        change,
        SettingsChange::ReplaceRules(..)
            | SettingsChange::RemoveRules(..)
            | SettingsChange::RemoveDirectories(_)
    );
    let list = || {
        let root = object(twin, atomic::read(twin).ok()?).ok()?;
        let list = root.get("permissions")?.get(change.list()?)?.as_array()?.clone();
        Some(change.changed(&list) != list)
    };
    takes_out && list().unwrap_or(false)
}

/// The object in a file; an absent or empty file is an empty one.
pub(crate) fn object(path: &Path, bytes: Option<Vec<u8>>) -> Result<Map<String, Value>> {
    let bytes = bytes.unwrap_or_default();
    let text = without_mark(&bytes);
    if text.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(text).map_err(|error| Error::Damaged {
        path: path.to_path_buf(),
        line: error.line(),
        column: error.column(),
        what: reason(&error),
    })
}

/// Two spaces a level and a newline at the end, as people write such files.
pub(crate) fn pretty(map: &Map<String, Value>) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(map).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

pub(crate) fn wrong(path: &Path, what: &str) -> Error {
    Error::Damaged { path: path.to_path_buf(), line: 1, column: 0, what: what.to_owned() }
}

/// A repository may bring a link in place of the file or its folder: it must not lead out.
fn stays_within(path: &Path, project: &AbsPath) -> Result<()> {
    let root = fs::canonicalize(project).map_err(Error::storage("open", project.as_path()))?;
    let leads_out = path
        .ancestors()
        .take(2)
        .filter(|part| fs::symlink_metadata(part).is_ok())
        .any(|part| fs::canonicalize(part).map_or(true, |real| !real.starts_with(&root)));
    if leads_out {
        let what =
            format!("`{}` is a link out of the project; replace it with a file", path.display());
        return Err(Error::Invalid { what, path: path.to_path_buf() });
    }
    Ok(())
}

fn ignore(path: &Path) -> Result<()> {
    const LINE: &str = "settings.local.json";
    atomic::update(path, Access::Shared, |bytes| {
        let mut text = bytes.unwrap_or_default();
        if text.split(|&byte| byte == b'\n').any(|line| line.trim_ascii() == LINE.as_bytes()) {
            return Ok(None);
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text.extend_from_slice(LINE.as_bytes());
        text.push(b'\n');
        Ok(Some(text))
    })
}
