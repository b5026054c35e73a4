//! What EnterWorktree and ExitWorktree share: where worktrees of a project lie, and in
//! which one the session stands. Pure but for the state.

use std::{
    path::{Component, PathBuf},
    sync::{Mutex, PoisonError},
};

use ostler_stdx::AbsPath;

/// The folder with worktrees, below the project.
pub(crate) const FOLDER: &str = ".ostler/worktrees";

/// A worktree in which the session works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entered {
    /// Its top folder.
    pub(crate) path: AbsPath,
    /// Where the session worked before.
    pub(crate) original: AbsPath,
    /// Its name, if it lies in [`FOLDER`].
    pub(crate) name: Option<String>,
}

/// The worktree in which the session works. Kept in `ostler_tool::SessionState`.
#[derive(Debug, Default)]
pub(crate) struct Current(Mutex<Option<Entered>>);

impl Current {
    /// The worktree; after a resume, what the working folder tells.
    pub(crate) fn or(&self, cwd: &AbsPath) -> Option<Entered> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.filter(|known| cwd.is_within(&known.path)).or_else(|| own(cwd))
    }

    pub(crate) fn set(&self, entered: Option<Entered>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = entered;
    }
}

/// The worktree in [`FOLDER`] of some project that holds this folder.
pub(crate) fn own(folder: &AbsPath) -> Option<Entered> {
    let parts: Vec<Component<'_>> = folder.as_path().components().collect();
    let is = |at: usize, name: &str| parts.get(at).is_some_and(|part| part.as_os_str() == name);
    // The innermost: a project may itself lie in a worktree.
    let at = (0..parts.len()).rev().find(|&at| is(at, ".ostler") && is(at + 1, "worktrees"))?;
    let name = parts.get(at + 2)?.as_os_str().to_str()?.to_owned();
    let path = |count: usize| AbsPath::new(parts[..count].iter().collect::<PathBuf>()).ok();
    Some(Entered { path: path(at + 3)?, original: path(at)?, name: Some(name) })
}

/// The branch of a worktree.
pub(crate) fn branch(name: &str) -> String {
    format!("worktree-{name}")
}

/// Whether a worktree may be called so: a plain name that git takes in a branch too.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= 64
        && name.chars().all(plain)
        && !name.contains("..")
        && !name.ends_with('.')
        && !name.to_ascii_lowercase().ends_with(".lock")
}

/// The worktrees that `git worktree list --porcelain -z` lists: path and branch.
pub(crate) fn listed(porcelain: &str) -> Vec<(PathBuf, Option<String>)> {
    let mut trees: Vec<(PathBuf, Option<String>)> = Vec::new();
    for field in porcelain.split('\0') {
        if let Some(path) = field.strip_prefix("worktree ") {
            trees.push((path.into(), None));
        } else if let Some(branch) = field.strip_prefix("branch ")
            && let Some(tree) = trees.last_mut()
        {
            tree.1 = Some(branch.strip_prefix("refs/heads/").unwrap_or(branch).to_owned());
        }
    }
    trees
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_tells_its_worktree() {
        let own = |path: &str| own(&AbsPath::new(path).unwrap());
        let found = own("/p/.ostler/worktrees/fix/src").unwrap();
        assert_eq!(found.path.to_text(), "/p/.ostler/worktrees/fix");
        assert_eq!(found.original.to_text(), "/p");
        assert_eq!(found.name.as_deref(), Some("fix"));
        assert_eq!(own("/p/.ostler/worktrees"), None);
        assert_eq!(own("/p/.ostler/worktree/x"), None);
        let inner = own("/p/.ostler/worktrees/a/.ostler/worktrees/b").unwrap();
        assert_eq!(inner.original.to_text(), "/p/.ostler/worktrees/a");
    }

    #[test]
    fn names_are_plain() {
        assert!(is_name("fix-1") && is_name("v1.2_x"));
        for bad in ["", ".", "..", "a..b", "a/b", "-x", "a.", "x.lock", "a b", "\u{e9}"] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn lists_are_read() {
        let text =
            "worktree /p\0HEAD 1\0branch refs/heads/main\0\0worktree /p/w\0HEAD 2\0detached\0\0";
        assert_eq!(listed(text), [("/p".into(), Some("main".to_owned())), ("/p/w".into(), None)]);
    }
}
