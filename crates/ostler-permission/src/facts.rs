//! What the judge knows of the disk, gathered by the host before it is asked.
//!
//! Never looks anything up itself. A path that nobody looked up counts as one that leads
//! outside, so a forgotten look-up asks and never allows.

use std::collections::HashMap;

use ostler_protocol::Access;
use ostler_stdx::AbsPath;

use crate::shell;

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
}

impl Facts {
    /// Facts about a project with nothing looked up yet.
    #[must_use]
    pub fn new(project: AbsPath, home: AbsPath) -> Self {
        Self { project, extra_dirs: Vec::new(), home, resolved: HashMap::new() }
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

/// The paths that the host must look up before it asks the judge about these accesses,
/// those inside shell commands included. `home` is what `~` stands for.
///
/// The project, the further folders and the home should be looked up as well, once.
#[must_use]
pub fn paths_to_resolve(accesses: &[Access], home: &AbsPath) -> Vec<AbsPath> {
    let mut paths = Vec::new();
    for access in accesses {
        match access {
            Access::Read { path } | Access::Write { path } => paths.push(path.clone()),
            Access::Search { root } => paths.push(root.clone()),
            Access::Shell { command, cwd } => {
                paths.push(cwd.clone());
                shell::analyse(command, cwd, home).each_path(&mut |path| paths.push(path.clone()));
            }
            Access::Network { .. } | Access::Mcp { .. } | Access::Nothing | Access::Unknown => {}
        }
    }
    paths.sort();
    paths.dedup();
    paths
}
