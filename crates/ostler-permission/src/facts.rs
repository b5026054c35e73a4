//! What the judge knows of the disk, gathered by the host before it is asked.
//!
//! Never looks anything up itself. A path that nobody looked up counts as one that leads
//! outside, so a forgotten look-up asks and never allows.

use std::collections::{HashMap, HashSet};

use ostler_protocol::Access;
use ostler_stdx::AbsPath;

use crate::{
    repository::Repository,
    shell::{self, How, Touch},
};

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The path with every link followed. For a path that does not exist: the real path of
    /// the nearest folder that does, joined with the rest.
    pub real: AbsPath,
    /// Whether something is there.
    pub exists: bool,
    /// Whether it is a folder.
    pub is_dir: bool,
}

/// What the judge must know of the machine; plain data.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The project's folder.
    pub project: AbsPath,
    /// Further folders that count as inside (`--add-dir`, `addDirectories`).
    pub extra_dirs: Vec<AbsPath>,
    /// The home of the user.
    pub home: AbsPath,
    /// Where the paths of [`paths_to_resolve`] lead; also those of the folders above.
    pub resolved: HashMap<AbsPath, Resolved>,
    /// The repositories that git finds from the folders of [`LookUps::repositories`].
    pub repositories: HashMap<AbsPath, Repository>,
    /// What is there for each of [`LookUps::globs`], as spelled from its base; nothing if
    /// that would take too long to find out. Where each leads is in `resolved`.
    pub globs: HashMap<Glob, Option<Vec<AbsPath>>>,
    /// The links below each of [`LookUps::walks`] and below each match of a glob that is
    /// walked, those behind links included; nothing if there is too much to look through.
    /// Where each leads is in `resolved`.
    pub walks: HashMap<AbsPath, Option<Vec<AbsPath>>>,
    /// Those of them below which a name has blanks, quotes or control characters in it.
    pub odd: HashSet<AbsPath>,
}

/// A pattern of file names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Glob {
    /// The folder before the first wildcard.
    pub base: AbsPath,
    /// Its further components, the first of them with a wildcard. `**` is no more than `*`.
    pub parts: Vec<String>,
    /// Whether what matches is walked and links below it followed.
    pub follows: bool,
}

/// What the host must look up before it asks the judge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookUps {
    /// Paths whose links must be followed.
    pub paths: Vec<AbsPath>,
    /// Folders in which git would look for its repository.
    pub repositories: Vec<AbsPath>,
    /// Patterns of file names.
    pub globs: Vec<Glob>,
    /// Paths below which links are followed.
    pub walks: Vec<AbsPath>,
}

impl Facts {
    /// Facts about a project with nothing looked up yet.
    #[must_use]
    pub fn new(project: AbsPath, home: AbsPath) -> Self {
        Self {
            project,
            extra_dirs: Vec::new(),
            home,
            resolved: HashMap::new(),
            repositories: HashMap::new(),
            globs: HashMap::new(),
            walks: HashMap::new(),
            odd: HashSet::new(),
        }
    }

    /// The real path, if somebody looked it up.
    pub(crate) fn real(&self, path: &AbsPath) -> Option<&AbsPath> {
        self.resolved.get(path).map(|resolved| &resolved.real)
    }

    /// The folders that count as inside, as spelled and as resolved.
    pub(crate) fn inside_dirs(&self) -> impl Iterator<Item = &AbsPath> {
        std::iter::once(&self.project)
            .chain(&self.extra_dirs)
            .flat_map(|dir| std::iter::once(dir).chain(self.real(dir)))
    }

    /// Whether a real path lies in the project or in one of the further folders.
    pub(crate) fn is_inside(&self, real: &AbsPath) -> bool {
        self.inside_dirs().any(|dir| real.is_within(dir))
    }
}

/// The paths that the host must look up before it asks the judge about these accesses; a
/// part of [`look_ups`].
#[must_use]
pub fn paths_to_resolve(accesses: &[Access], home: &AbsPath) -> Vec<AbsPath> {
    look_ups(accesses, home).paths
}

/// What the host must look up before it asks the judge about these accesses, that of shell
/// commands included. `home` is what `~` stands for.
///
/// The project, the further folders and the home should be looked up as well, once.
#[must_use]
pub fn look_ups(accesses: &[Access], home: &AbsPath) -> LookUps {
    let mut out = LookUps::default();
    for access in accesses {
        match access {
            Access::Read { path } | Access::Write { path } => out.paths.push(path.clone()),
            Access::Search { root } => out.paths.push(root.clone()),
            Access::Shell { command, cwd } => {
                out.paths.push(cwd.clone());
                let script = shell::analyse(command, cwd, home);
                script.each_path(&mut |path| out.paths.push(path.clone()));
                script.touches().for_each(|touch| out.add(touch));
            }
            Access::Network { .. } | Access::Mcp { .. } | Access::Nothing | Access::Unknown => {}
        }
    }
    for list in [&mut out.paths, &mut out.repositories, &mut out.walks] {
        list.sort();
        list.dedup();
    }
    out.globs.sort();
    out.globs.dedup();
    out
}

impl LookUps {
    fn add(&mut self, touch: &Touch) {
        if touch.how == How::Repository {
            self.repositories.push(touch.path.clone());
        }
        match touch.glob() {
            Some(glob) => self.globs.push(glob),
            None if touch.follows => self.walks.push(touch.path.clone()),
            None => {}
        }
    }
}

impl Touch {
    /// What it is if it is a pattern that can be looked up.
    pub(crate) fn glob(&self) -> Option<Glob> {
        let (base, parts, follows) = (self.path.clone(), self.glob.clone(), self.follows);
        (!parts.is_empty()).then_some(Glob { base, parts, follows })
    }
}
