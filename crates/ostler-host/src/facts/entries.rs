//! What globs match and which links lie below a folder, within a bound for the whole call.
//!
//! Names come from listing folders alone; only links are followed one by one.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, DirEntry},
};

use ostler_permission::{Glob, Resolved, glob_fits, is_one_word};
use ostler_stdx::AbsPath;

use super::resolve;

/// Entries of folders that are looked at for one call; some tens of
/// milliseconds of work.
pub(super) const MAX_ENTRIES: usize = 32_768;

/// Lists folders until it has seen too many entries.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    left: usize,
    resolved: &'a mut HashMap<AbsPath, Resolved>,
}

/// A folder as spelled, and where it really is.
#[derive(Debug, Clone)]
struct Folder {
    spelled: AbsPath,
    real: AbsPath,
}

impl<'a> Entries<'a> {
    pub(super) fn new(resolved: &'a mut HashMap<AbsPath, Resolved>) -> Self {
        Self { left: MAX_ENTRIES, resolved }
    }

    /// What a glob matches; nothing if there is too much to look at.
    pub(super) fn glob(&mut self, glob: &Glob) -> Option<Vec<AbsPath>> {
        let real = resolve(&glob.base).real;
        let mut at = vec![Folder { spelled: glob.base.clone(), real }];
        for part in &glob.parts {
            let mut next = Vec::new();
            for folder in &at {
                self.step(folder, part, &mut next)?;
            }
            at = next;
        }
        Some(at.into_iter().map(|found| found.spelled).collect())
    }

    /// What of a folder one component of a pattern matches.
    fn step(&mut self, folder: &Folder, part: &str, next: &mut Vec<Folder>) -> Option<()> {
        if !part.contains(['*', '?', '[']) {
            let spelled = folder.spelled.join(part);
            self.left = self.left.checked_sub(1)?;
            let found = resolve(&folder.real.join(part));
            if found.exists || spelled.as_path().symlink_metadata().is_ok() {
                next.push(self.note(spelled, found));
            }
            return Some(());
        }
        let Ok(entries) = fs::read_dir(folder.real.as_path()) else { return Some(()) };
        for entry in entries.flatten() {
            self.left = self.left.checked_sub(1)?;
            if glob_fits(part, &entry.file_name().to_string_lossy()) {
                let (spelled, found) = look(folder, &entry);
                next.push(self.note(spelled, found));
            }
        }
        Some(())
    }

    fn note(&mut self, spelled: AbsPath, found: Resolved) -> Folder {
        let real = found.real.clone();
        self.resolved.insert(spelled.clone(), found);
        Folder { spelled, real }
    }

    /// The links below a path, also those behind links, and whether a name there is not one
    /// plain word; nothing if there is too much to look through.
    pub(super) fn walk(&mut self, root: &AbsPath) -> Option<(Vec<AbsPath>, bool)> {
        let mut links = Vec::new();
        let mut odd = false;
        let mut seen = HashSet::new();
        let mut open = vec![Folder { spelled: root.clone(), real: resolve(root).real }];
        while let Some(folder) = open.pop() {
            if !seen.insert(folder.real.clone()) {
                continue;
            }
            let Ok(entries) = fs::read_dir(folder.real.as_path()) else { continue };
            for entry in entries.flatten() {
                self.left = self.left.checked_sub(1)?;
                odd |= entry.file_name().to_str().is_none_or(|name| !is_one_word(name));
                let is_link = entry.file_type().map_or(true, |kind| kind.is_symlink());
                let (spelled, found) = look(&folder, &entry);
                if found.is_dir {
                    open.push(Folder { spelled: spelled.clone(), real: found.real.clone() });
                }
                if is_link {
                    self.resolved.insert(spelled.clone(), found);
                    links.push(spelled);
                }
            }
        }
        Some((links, odd))
    }
}

/// An entry as spelled, and where it leads.
fn look(folder: &Folder, entry: &DirEntry) -> (AbsPath, Resolved) {
    let name = entry.file_name();
    let spelled = folder.spelled.join(&name);
    let real = folder.real.join(&name);
    let found = match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => Resolved { real, exists: true, is_dir: kind.is_dir() },
        Ok(_) | Err(_) => resolve(&real),
    };
    (spelled, found)
}
