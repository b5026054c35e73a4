//! Adding a rule to a settings file: unknown keys and their order stay, a broken file is
//! refused and never replaced, and no update of another process is lost.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ostler_stdx::AbsPath;
use serde_json::{Map, Value};

use super::{
    Behavior, TrustState,
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

impl Store {
    /// Adds a rule, unless it stands there already; gives the file. A project that was
    /// trusted stays so: the change is the user's own.
    ///
    /// # Errors
    /// `Damaged` if the file is not what it should be (nothing is written), `Invalid` if
    /// it leads out of the project by a link, `Storage` if the disk refuses.
    pub fn add_rule(&self, file: &RuleFile, behavior: Behavior, rule: &str) -> Result<PathBuf> {
        let (path, project) = match file {
            RuleFile::User => (self.roots().home.join("settings.json"), None),
            RuleFile::Project(project) => (project.join(".ostler/settings.json"), Some(project)),
            RuleFile::Local(project) => {
                (project.join(".ostler/settings.local.json"), Some(project))
            }
        };
        let access = if project.is_some() { Access::Shared } else { Access::Private };
        let was_trusted = project
            .map(|project| stays_within(&path, project).map(|()| self.trust_state(project).0))
            .transpose()?;
        let mut is_new = false;
        atomic::update(&path, access, |bytes| {
            is_new = bytes.is_none();
            with_rule(&path, bytes, behavior, rule)
        })?;
        if let RuleFile::Local(project) = file
            && is_new
        {
            ignore(&project.join(".ostler/.gitignore"))?;
        }
        if let (Some(project), Some(TrustState::Trusted)) = (project, was_trusted) {
            self.move_trust(project)?;
        }
        Ok(path.to_path_buf())
    }
}

/// The new content, or none if the rule is there.
fn with_rule(
    path: &Path,
    bytes: Option<Vec<u8>>,
    behavior: Behavior,
    rule: &str,
) -> Result<Option<Vec<u8>>> {
    let mut root = object(path, bytes)?;
    let permissions = root.entry("permissions").or_insert_with(|| Map::new().into());
    let Value::Object(permissions) = permissions else {
        return Err(wrong(path, "`permissions` is not an object"));
    };
    let list = permissions.entry(behavior.key()).or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(list) = list else {
        return Err(wrong(path, &format!("`permissions.{}` is not a list", behavior.key())));
    };
    if list.iter().any(|known| known.as_str() == Some(rule)) {
        return Ok(None);
    }
    list.push(rule.into());
    Ok(Some(pretty(&root)))
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
