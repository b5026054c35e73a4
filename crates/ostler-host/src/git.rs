//! What git's own files say, read without starting git: a repository may bring settings
//! that make git run programs.

use std::path::{Path, PathBuf};

use ostler_stdx::AbsPath;

/// The branch of a folder's repository, or the commit if none is checked out.
pub(crate) fn branch(cwd: &AbsPath) -> Option<String> {
    let head = std::fs::read_to_string(git_dir(cwd.as_path())?.1.join("HEAD")).ok()?;
    let head = head.trim();
    let commit = || head.get(..12).unwrap_or(head).to_owned();
    Some(head.strip_prefix("ref: refs/heads/").map_or_else(commit, str::to_owned))
}

/// The work tree that holds a folder, and its git folder.
fn git_dir(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    folder.ancestors().find_map(|at| {
        let git = at.join(".git");
        if git.join("HEAD").is_file() {
            return Some((at.to_path_buf(), git));
        }
        // A worktree's `.git` is a file that names the real folder.
        let text = std::fs::read_to_string(&git).ok()?;
        Some((at.to_path_buf(), at.join(text.strip_prefix("gitdir:")?.trim())))
    })
}

/// Whether git tracks a file, as far as its index can be read simply; in doubt it does.
pub(crate) fn is_tracked(file: &Path) -> bool {
    let Some((tree, git)) = file.parent().and_then(git_dir) else { return false };
    let Ok(index) = std::fs::read(git.join("index")) else { return false };
    let Some(name) = file.strip_prefix(&tree).ok().and_then(Path::to_str) else { return true };
    // Versions 2 and 3 hold whole paths; 4 shortens them, and a split index lies elsewhere.
    let plain = index.starts_with(b"DIRC\0\0\0\x02") || index.starts_with(b"DIRC\0\0\0\x03");
    let split = std::fs::read_dir(&git).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("sharedindex."))
    });
    !plain || split || index.windows(name.len()).any(|window| window == name.as_bytes())
}
