//! Absolute, lexically normalised paths, so that no code depends on a working folder.

use std::{
    fmt, ops,
    path::{Component, Path, PathBuf},
};

/// An absolute path without `.` and `..` components.
///
/// Normalisation is lexical: links are not resolved and the disk is not asked.
/// Whoever judges access resolves links before (`ostler-host` gathers those facts).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsPath(PathBuf);

/// The path given to [`AbsPath::new`] was relative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAbsolute(pub PathBuf);

impl fmt::Display for NotAbsolute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "path `{}` is not absolute", self.0.display())
    }
}

impl std::error::Error for NotAbsolute {}

impl AbsPath {
    /// Takes an absolute path and normalises it lexically.
    ///
    /// # Errors
    /// [`NotAbsolute`] gives the path back if it is relative.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, NotAbsolute> {
        let path = path.into();
        if path.is_absolute() { Ok(Self(normalise(&path))) } else { Err(NotAbsolute(path)) }
    }

    /// The root folder.
    #[must_use]
    pub fn root() -> Self {
        Self(PathBuf::from("/"))
    }

    /// Joins a path onto this one; an absolute `path` replaces it.
    #[must_use]
    pub fn join(&self, path: impl AsRef<Path>) -> Self {
        Self(normalise(&self.0.join(path)))
    }

    /// The folder that holds this path, if it is not the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.to_path_buf()))
    }

    /// The path as std's type.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The path as text; what is not UTF-8 becomes U+FFFD.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }

    /// Whether this path is `base` or lies below it, compared by components.
    #[must_use]
    pub fn is_within(&self, base: &Self) -> bool {
        self.0.starts_with(&base.0)
    }
}

fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(component),
        }
    }
    out
}

impl ops::Deref for AbsPath {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for AbsPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Debug for AbsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for AbsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_lexically() {
        assert_eq!(AbsPath::new("/a/./b/../c").unwrap().as_path(), Path::new("/a/c"));
        assert_eq!(AbsPath::new("/../..").unwrap().as_path(), Path::new("/"));
        assert!(AbsPath::new("a/b").is_err());
    }

    #[test]
    fn within_compares_components_not_text() {
        let app = AbsPath::new("/srv/app").unwrap();
        assert!(AbsPath::new("/srv/app/x").unwrap().is_within(&app));
        assert!(!AbsPath::new("/srv/app-secrets").unwrap().is_within(&app));
    }
}
