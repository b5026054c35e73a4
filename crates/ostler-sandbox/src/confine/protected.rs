//! The names that other programs obey: a confined command must not change them although
//! they lie in a folder that it may write (faults.md section 2).

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ostler_stdx::AbsPath;

/// Folders of the project, and files, that stay as they are.
const FOLDERS: &[&str] = &[".ostler", ".claude", ".vscode", ".idea", ".husky", ".devcontainer"];
const FILES: &[&str] = &[
    ".mcp.json",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".gitmodules",
];
/// Of a repository: what git itself runs or obeys.
const GIT_FOLDERS: &[&str] = &["hooks"];
const GIT_FILES: &[&str] = &["config", "config.worktree", "info/attributes"];

/// A name that stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Protected {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

/// What stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Present,
    /// Nothing: an empty folder is to stand there meanwhile.
    AbsentFolder,
    /// Nothing: an empty file is to stand there meanwhile.
    AbsentFile,
}

/// The protected names of a project, and of the repository that it belongs to.
pub(crate) fn protected(project: &AbsPath) -> Vec<Protected> {
    let project = project.as_path();
    let mut out = named(project, FOLDERS, FILES);
    for git in git_folders(project) {
        out.extend(named(&git, GIT_FOLDERS, GIT_FILES));
    }
    // Inside a project that was cloned with submodules or worktrees each has its own.
    for folder in ["modules", "worktrees"] {
        for git in git_folders(project) {
            for below in entries(&git.join(folder)) {
                out.extend(named(&below, GIT_FOLDERS, GIT_FILES));
            }
        }
    }
    out
}

fn named(folder: &Path, folders: &[&str], files: &[&str]) -> Vec<Protected> {
    let one = |name: &str, absent: Kind| {
        let path = folder.join(name);
        let is_there = fs::symlink_metadata(&path).is_ok();
        // What cannot be put there without making further folders is left alone.
        let parent_is_there = path.parent().is_some_and(Path::is_dir);
        (is_there || parent_is_there)
            .then_some(Protected { path, kind: if is_there { Kind::Present } else { absent } })
    };
    let folders = folders.iter().filter_map(|name| one(name, Kind::AbsentFolder));
    let files = files.iter().filter_map(|name| one(name, Kind::AbsentFile));
    folders.chain(files).collect()
}

/// The `.git` folders of a project: its own, and for a worktree also the common one.
fn git_folders(project: &Path) -> Vec<PathBuf> {
    let git = project.join(".git");
    if git.is_dir() {
        return vec![git];
    }
    let Some(own) = pointed_at(&git) else { return Vec::new() };
    let common = fs::read_to_string(own.join("commondir")).ok();
    let common = common.map(|text| own.join(text.trim()));
    [Some(own), common].into_iter().flatten().filter(|folder| folder.is_dir()).collect()
}

/// Where a `.git` file points.
fn pointed_at(git: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(git).ok()?;
    let path = Path::new(text.strip_prefix("gitdir:")?.trim());
    Some(git.parent()?.join(path))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = |folder: &Path| -> io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?.take(200).map(|entry| entry.map(|entry| entry.path())).collect()
    };
    read(folder).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(project: &Path) -> Vec<(String, Kind)> {
        let project = AbsPath::new(project).unwrap();
        let name = |path: &Path| path.strip_prefix(&project).unwrap_or(path).display().to_string();
        protected(&project).into_iter().map(|one| (name(&one.path), one.kind)).collect()
    }

    #[test]
    fn a_repository_keeps_its_hooks_and_configuration() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".git/modules/sub")).unwrap();
        fs::write(dir.path().join(".git/config"), "").unwrap();
        fs::create_dir(dir.path().join(".claude")).unwrap();
        let kinds = kinds(dir.path());
        let of = |name: &str| kinds.iter().find(|(path, _)| path == name).map(|(_, kind)| *kind);
        assert_eq!(of(".git/config"), Some(Kind::Present));
        assert_eq!(of(".git/hooks"), Some(Kind::AbsentFolder));
        assert_eq!(of(".git/modules/sub/hooks"), Some(Kind::AbsentFolder));
        assert_eq!(of(".git/info/attributes"), None, "its folder is not there");
        assert_eq!(of(".claude"), Some(Kind::Present));
        assert_eq!(of(".ostler"), Some(Kind::AbsentFolder));
        assert_eq!(of(".mcp.json"), Some(Kind::AbsentFile));
    }

    #[test]
    fn a_worktree_protects_the_common_repository_too() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("main/.git/worktrees/w");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        let kinds = kinds(&tree);
        assert!(
            kinds.iter().any(|(path, _)| path.ends_with("worktrees/w/../../hooks")),
            "{kinds:?}"
        );
    }
}
