//! Keeping outputs within their bounds. Never fails whoever writes one: what cannot be
//! removed stays until the next time.

use std::{
    fs::{self, DirEntry, File},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use super::dir_of;
use crate::lock;

/// How the name of an unfinished output starts.
pub(super) const TEMP: &str = ".ostler-";

/// When something was written last, for sorting.
type Age = (i64, i64);

/// Drops the oldest outputs of a session until at most `cap` bytes are left; never the
/// `newest` one.
pub(super) fn outputs(dir: &Path, cap: u64, newest: &Path) {
    let mut found: Vec<(Age, u64, DirEntry)> = entries(dir)
        .filter(|entry| !is_temp(entry))
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some(((metadata.mtime(), metadata.mtime_nsec()), metadata.len(), entry))
        })
        .collect();
    let mut left: u64 = found.iter().map(|(_, size, _)| size).sum();
    found.sort_unstable_by_key(|(age, ..)| *age);
    for (_, size, entry) in found {
        if left <= cap {
            break;
        }
        if entry.path() != newest && fs::remove_file(entry.path()).is_ok() {
            left -= size;
        }
    }
}

/// Drops all that the sessions that were used longest ago wrote beside their logs (outputs,
/// background commands, temporary files), so that `keep` are left with the present one, and
/// what killed processes left of it. Sessions that some process has open keep theirs.
pub(super) fn sessions(home: &Path, present: &str, keep: usize) {
    leftovers(&dir_of(home, present));
    let mut others: Vec<(Age, String)> = entries(&home.join("tasks"))
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let age = |path: &Path| {
                let metadata = fs::metadata(path).ok()?;
                Some((metadata.mtime(), metadata.mtime_nsec()))
            };
            let newest = age(&entry.path()).max(age(&dir_of(home, &name)))?;
            Some((newest, name))
        })
        .filter(|(_, name)| name != present)
        .collect();
    others.sort_unstable();
    let surplus = (others.len() + 1).saturating_sub(keep.max(1));
    let locks = home.join("locks");
    for (_, name) in others.iter().take(surplus) {
        if lock::owner(&locks, name).is_none() {
            drop(fs::remove_dir_all(home.join("tasks").join(name)));
        }
    }
}

fn leftovers(dir: &Path) {
    for entry in entries(dir).filter(is_temp) {
        let path = entry.path();
        let is_left = File::options().write(true).open(&path).is_ok_and(|f| f.try_lock().is_ok());
        if is_left {
            drop(fs::remove_file(path));
        }
    }
}

fn is_temp(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(TEMP.as_bytes())
}

fn entries(dir: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(dir).into_iter().flatten().flatten()
}
