//! Whether settings changed on disk: times, sizes and numbers of their files, compared when
//! somebody asks. Nothing is watched, so that no busy folder can keep a process busy.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use ostler_stdx::AbsPath;

use super::{Sources, Tier};
use crate::store::Store;

/// What the settings files of a project looked like at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamp {
    files: Vec<(PathBuf, Option<Look>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    seconds: i64,
    nanos: i64,
    /// Changes by rights, owner and renames, too.
    changed: (i64, i64),
    size: u64,
    inode: u64,
    device: u64,
}

impl Look {
    fn at(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok()?;
        Some(Self {
            seconds: found.mtime(),
            nanos: found.mtime_nsec(),
            changed: (found.ctime(), found.ctime_nsec()),
            size: found.size(),
            inode: found.ino(),
            device: found.dev(),
        })
    }
}

impl Store {
    /// How the files look now from which [`Store::settings`] would read, and what trust
    /// depends on. A handful of `stat` calls; no file is opened.
    #[must_use]
    pub fn settings_stamp(&self, project: &AbsPath, sources: &Sources<'_>) -> Stamp {
        let mut paths: Vec<PathBuf> =
            self.files(project, sources).into_iter().map(|file| file.path).collect();
        if sources.tiers.iter().any(|tier| matches!(tier, Tier::Project | Tier::Local)) {
            paths.push(project.join(".mcp.json").to_path_buf());
            paths.push(self.roots().home.join("trust.json").to_path_buf());
        }
        Stamp { files: paths.into_iter().map(|path| (path.clone(), Look::at(&path))).collect() }
    }
}
