//! Where things are: the root of the repository, the target folder, cargo's metadata, the files
//! of the tree. The only file of `xtask` that reads the environment; it never writes anything.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::sh;

/// Folders that hold nothing of ours, by name, wherever they are.
const NOT_OURS: &[&str] =
    &[".git", "node_modules", "target", "dist", "crashes", "__pycache__", ".venv"];

/// A variable of the environment.
pub(crate) fn env(name: &str) -> Option<OsString> {
    #[expect(
        clippy::disallowed_methods,
        reason = "automation is steered by CI and cargo variables"
    )]
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The names of all variables of the environment.
pub(crate) fn env_names() -> Vec<OsString> {
    std::env::vars_os().map(|(name, _)| name).collect()
}

/// The folder the user called us from.
pub(crate) fn invoked_from() -> Result<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "`run` opens the folder the user stands in")]
    std::env::current_dir().context("cannot tell the current folder: it may have been deleted")
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    // What cargo says at run time wins: a cached binary may come from another checkout.
    let manifest = env("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let ours = manifest.filter(|dir| dir.ends_with("xtask") && dir.is_dir());
    let xtask = ours.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    xtask.parent().map_or_else(|| xtask.clone(), Path::to_path_buf)
}

/// The full path of a program on the `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// What `cargo metadata` says with these arguments: without network if that works.
pub(crate) fn metadata(args: &[&str]) -> Result<Value> {
    let ask = |more: &[&str]| -> Result<Value> {
        let text = sh::cargo(["metadata", "--format-version", "1"]).args(args).args(more).read()?;
        serde_json::from_str(&text).context("cargo metadata wrote something that is not JSON")
    };
    ask(&["--offline"]).or_else(|_| ask(&[]))
}

/// Where cargo builds to.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    let dir = metadata["target_directory"].as_str();
    dir.map(PathBuf::from).context("cargo metadata names no target folder")
}

/// Where cargo puts a binary of ours.
pub(crate) fn binary(profile: &str, name: &str) -> Result<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    Ok(target_dir()?.join(profile).join(file))
}

/// A file of the tree.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// Relative to the root, with `/` between the parts.
    pub(crate) path: String,
    /// Its whole text.
    pub(crate) text: String,
}

impl SourceFile {
    /// What stands after the last dot of the name.
    pub(crate) fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

/// Every text file below `root` that is ours, sorted by path; files that are not UTF-8 are left out.
pub(crate) fn source_files(root: &Path) -> Result<Vec<SourceFile>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("cannot list `{}`", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let kind = entry.file_type()?;
            if kind.is_dir() && !NOT_OURS.iter().any(|not| name == *not) {
                folders.push(entry.path());
            } else if kind.is_file()
                && let Ok(text) = std::fs::read_to_string(entry.path())
            {
                found.push(SourceFile { path: relative(root, &entry.path()), text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn relative(root: &Path, path: &Path) -> String {
    let rest = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = rest.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_holds_the_workspace_manifest() {
        let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(manifest.starts_with("[workspace]"), "{manifest}");
    }

    #[test]
    fn walk_gives_relative_sorted_paths_and_leaves_builds_out() {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in [
            ("b/two.md", &b"two"[..]),
            ("a.rs", b"one"),
            ("target/x.rs", b"built"),
            ("web/node_modules/y.ts", b"theirs"),
            ("b/image.png", b"\xff\xfe"),
        ] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let files = source_files(dir.path()).unwrap();
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a.rs", "b/two.md"]);
        assert_eq!(files[1].extension(), "md");
    }

    #[test]
    fn programs_are_found_on_the_path_only() {
        assert!(find_program("cargo").is_some());
        assert!(find_program("no-such-program-here").is_none());
    }
}
