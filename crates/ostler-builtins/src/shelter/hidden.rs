//! Which files the deny rules with wildcards name at this moment: a sandbox hides paths, so
//! they are looked for on the disk before each confined command. Bounded; follows no link.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet};
use ignore::WalkBuilder;
use ostler_stdx::AbsPath;

/// Entries that one look goes through, and paths that it gives.
const ENTRIES: usize = 100_000;
const PATHS: usize = 2_000;

/// Absolute patterns of paths that are hidden.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    globs: GlobSet,
    roots: Vec<PathBuf>,
}

impl Hidden {
    /// From absolute globs in which `*` does not cross folders and `**` does. One that is no
    /// glob names nothing.
    pub(super) fn new(globs: &[String]) -> Self {
        let mut set = GlobSet::builder();
        let mut roots = Vec::new();
        for glob in globs {
            // What lies in a hidden folder is hidden with it.
            let glob = glob.trim_end_matches("/**");
            let Ok(built) = GlobBuilder::new(glob).literal_separator(true).build() else {
                continue;
            };
            set.add(built);
            roots.push(root_of(glob));
        }
        roots.sort();
        // What lies below another root is walked with that.
        roots.dedup_by(|later, earlier| later.starts_with(earlier));
        Self { globs: set.build().unwrap_or_default(), roots }
    }

    /// The paths that are there now.
    pub(super) fn find(&self) -> Vec<AbsPath> {
        let mut found: Vec<AbsPath> = Vec::new();
        let mut left = ENTRIES;
        for root in &self.roots {
            let walk = WalkBuilder::new(root)
                .standard_filters(false)
                .follow_links(false)
                .filter_entry(|entry| !entry.path().ends_with(".git/objects"))
                .build();
            for entry in walk.flatten() {
                if left == 0 || found.len() == PATHS {
                    return found;
                }
                left -= 1;
                let is_within = |path: &AbsPath| entry.path().starts_with(path.as_path());
                if self.globs.is_match(entry.path())
                    && !found.last().is_some_and(is_within)
                    && let Ok(path) = AbsPath::new(entry.path())
                {
                    found.push(path);
                }
            }
        }
        found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }
}

/// The folder before the first wildcard.
fn root_of(glob: &str) -> PathBuf {
    let plain = glob.find(['*', '?', '[', '{']).map_or(glob, |at| &glob[..at]);
    match plain.rfind('/') {
        None | Some(0) => PathBuf::from("/"),
        Some(at) => Path::new(&plain[..at]).to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in [".env", "a/.env", "a/b/.env.local", "keys/x.pem", "keys/deep/y.pem", "z"] {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), "secret").unwrap();
        }
        std::os::unix::fs::symlink("/", root.join("loop")).unwrap();
        let find = |globs: &[&str]| {
            let globs: Vec<_> =
                globs.iter().map(|glob| format!("{}/{glob}", root.display())).collect();
            let found = Hidden::new(&globs).find();
            let mut found: Vec<_> = found
                .iter()
                .map(|path| path.as_path().strip_prefix(&root).unwrap().display().to_string())
                .collect();
            found.sort();
            found
        };
        assert_eq!(find(&["**/.env"]), [".env", "a/.env"]);
        assert_eq!(
            find(&["**/.env*", "keys/*.pem"]),
            [".env", "a/.env", "a/b/.env.local", "keys/x.pem"]
        );
        assert_eq!(find(&["key?/**"]), ["keys"]);
        assert_eq!(find(&["none/*", "["]), Vec::<String>::new());
        assert!(Hidden::new(&[]).is_empty());
    }

    #[test]
    fn a_walk_starts_before_the_first_wildcard() {
        for (glob, root) in
            [("/p/**/x", "/p"), ("/p/a*", "/p"), ("/*", "/"), ("/p/q/[ab]/c", "/p/q")]
        {
            assert_eq!(root_of(glob), Path::new(root), "{glob}");
        }
    }
}
