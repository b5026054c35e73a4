//! The folders that a script may be in at one point.
//!
//! A `cd` may fail, so there can be several; each relative path then means several paths.

use ostler_stdx::AbsPath;

use super::{How, Touch};
use crate::glob;

/// The possible folders; never empty unless too many to follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cwds(Vec<AbsPath>);

/// More than these are not followed.
const MOST: usize = 6;

impl Cwds {
    pub(super) fn one(cwd: AbsPath) -> Self {
        Self(vec![cwd])
    }

    /// The folders after a `cd` that worked.
    pub(super) fn enter(&self, path: &str) -> Self {
        Self(self.0.iter().map(|cwd| cwd.join(path)).collect())
    }

    /// Either set of folders.
    pub(super) fn or(mut self, other: &Self) -> Self {
        for cwd in &other.0 {
            if !self.0.contains(cwd) {
                self.0.push(cwd.clone());
            }
        }
        self
    }

    /// Whether there are more than are followed.
    pub(super) fn too_many(&self) -> bool {
        self.0.len() > MOST
    }

    /// A path from each folder.
    pub(super) fn each(&self, path: &str) -> Vec<AbsPath> {
        self.0.iter().take(MOST).map(|cwd| cwd.join(path)).collect()
    }

    /// Files of these names in each folder and in those above it.
    pub(super) fn above(&self, names: &[&str]) -> Vec<AbsPath> {
        let mut found = Vec::new();
        for cwd in self.0.iter().take(MOST) {
            let mut folder = Some(cwd.clone());
            while let Some(at) = folder {
                found.extend(names.iter().map(|name| at.join(name)));
                folder = at.parent();
            }
        }
        found
    }

    /// What touching a path means from each folder. The path may hold wildcards if `wild`.
    pub(super) fn touch(&self, how: How, path: &str, wild: bool, out: &mut Vec<Touch>) {
        let places = self.0.iter().take(MOST).map(|cwd| touch(cwd, how, path, wild));
        out.extend(places.filter(|touch| !is_plain_device(touch)));
    }
}

fn touch(cwd: &AbsPath, how: How, path: &str, wild: bool) -> Touch {
    let mut at = if path.starts_with('/') { AbsPath::root() } else { cwd.clone() };
    let mut hops = Vec::new();
    let mut last = None;
    let mut pattern = Vec::new();
    let mut parts = path.split('/').filter(|part| !matches!(*part, "" | ".")).peekable();
    while let Some(part) = parts.next() {
        if wild && glob::is_wild(part) {
            // `dir/*/..` and the like: the folder before the wildcard stands for all of it.
            let rest: Vec<&str> = parts.by_ref().collect();
            last = rest.last().or(Some(&part)).map(|last| (*last).to_owned());
            if rest.contains(&"..") {
                at = AbsPath::root();
            } else {
                pattern = std::iter::once(part).chain(rest).map(str::to_owned).collect();
            }
            break;
        }
        if part == ".." {
            let above = at.parent().unwrap_or_else(AbsPath::root);
            hops.push((at, above.clone()));
            at = above;
        } else {
            at = at.join(part);
        }
    }
    Touch {
        how,
        path: at,
        last,
        glob: pattern,
        follows: false,
        worded: false,
        dashless: false,
        hops,
    }
}

/// Devices that every program may use; touching one changes nothing. A path through them
/// (`/dev/fd/9/x`) leads anywhere, and opening a read-only descriptor by its name for writing
/// opens the file behind it anew; `Walker` sees to it that 1 and 2 are never such ones.
fn is_plain_device(touch: &Touch) -> bool {
    if touch.last.is_some() || !touch.hops.is_empty() {
        return false;
    }
    let text = touch.path.to_text();
    match text.as_str() {
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/fd/1" | "/dev/fd/2" | "/dev/tty" => {
            true
        }
        "/dev/stdin" => touch.how != How::Write,
        _ => {
            touch.how != How::Write
                && text
                    .strip_prefix("/dev/fd/")
                    .is_some_and(|fd| fd.bytes().all(|b| b.is_ascii_digit()))
        }
    }
}
