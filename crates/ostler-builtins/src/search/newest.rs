//! The files changed last, of any number of files, and the cheapest way to learn when a
//! file was changed. Keeps no more than will be shown.

use std::{
    cmp::Ordering,
    ffi::OsStr,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

use nix::{
    fcntl::{AT_FDCWD, AtFlags, OFlag, open},
    sys::stat::{Mode, fstatat},
};

/// Seconds and nanoseconds since 1970.
pub(crate) type Time = (i64, i64);

/// Keeps the newest of the files it is given.
#[derive(Debug)]
pub(crate) struct Newest {
    keep: usize,
    files: Vec<(Time, PathBuf)>,
    /// The last of those kept at the last tidying: what comes behind it is not kept.
    floor: Option<(Time, PathBuf)>,
    total: usize,
}

impl Newest {
    pub(crate) fn new(keep: usize) -> Self {
        Self { keep, files: Vec::new(), floor: None, total: 0 }
    }

    pub(crate) fn add(&mut self, time: Time, path: &Path) {
        self.total += 1;
        if let Some((floor, last)) = &self.floor
            && order((time, path), (*floor, last)).is_gt()
        {
            return;
        }
        self.files.push((time, path.to_owned()));
        if self.files.len() > self.keep.saturating_mul(2).saturating_add(64) {
            self.tidy();
            self.floor = self.files.last().cloned();
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.total += other.total;
        self.files.extend(other.files);
    }

    /// Newest first, then by name, so that the order never depends on the walk; and how
    /// many files there were in all.
    pub(crate) fn into_sorted(mut self) -> (Vec<PathBuf>, usize) {
        self.tidy();
        (self.files.into_iter().map(|(_, path)| path).collect(), self.total)
    }

    fn tidy(&mut self) {
        self.files.sort_unstable_by(|a, b| order((a.0, &a.1), (b.0, &b.1)));
        self.files.truncate(self.keep);
    }
}

fn order(a: (Time, &Path), b: (Time, &Path)) -> Ordering {
    // By bytes: comparing paths part by part costs more than reading the times.
    b.0.cmp(&a.0).then_with(|| a.1.as_os_str().as_bytes().cmp(b.1.as_os_str().as_bytes()))
}

/// Reads times of files that come folder by folder: the folder is opened at its second
/// file, so that the kernel need not walk the whole path for each.
#[derive(Debug, Default)]
pub(crate) struct Times {
    folder: Vec<u8>,
    open: Option<OwnedFd>,
}

impl Times {
    /// When the file was changed last; `None` if it is gone.
    pub(crate) fn of(&mut self, path: &Path) -> Option<Time> {
        let bytes = path.as_os_str().as_bytes();
        let slash = bytes.iter().rposition(|&byte| byte == b'/')?;
        let (folder, name) = (&bytes[..slash], &bytes[slash + 1..]);
        let again = self.folder == folder;
        if !again {
            self.open = None;
            self.folder.clear();
            self.folder.extend_from_slice(folder);
        } else if self.open.is_none() && !folder.is_empty() {
            let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | only_name();
            self.open = open(OsStr::from_bytes(folder), flags, Mode::empty()).ok();
        }
        let links = AtFlags::AT_SYMLINK_NOFOLLOW;
        let stat = match &self.open {
            Some(open) => fstatat(open, OsStr::from_bytes(name), links),
            None => fstatat(AT_FDCWD, path, links),
        };
        stat.ok().map(|stat| (stat.st_mtime, stat.st_mtime_nsec))
    }
}

/// A folder that is only a place to start from need not be readable.
#[cfg(target_os = "linux")]
fn only_name() -> OFlag {
    OFlag::O_PATH
}

#[cfg(not(target_os = "linux"))]
fn only_name() -> OFlag {
    OFlag::O_RDONLY
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn the_newest_are_those_of_a_whole_sort(
            files in prop::collection::vec((0i64..6, "[a-c]{1,3}"), 0..400),
            keep in 0usize..20,
            shards in 1usize..4,
        ) {
            let mut all: Vec<_> = files.iter().map(|(time, name)| ((*time, 0), PathBuf::from(name))).collect();
            let mut parts: Vec<_> = (0..shards).map(|_| Newest::new(keep)).collect();
            for (at, (time, path)) in all.iter().enumerate() {
                parts[at % shards].add(*time, path);
            }
            let mut whole = parts.remove(0);
            parts.into_iter().for_each(|part| whole.merge(part));
            all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            let expected: Vec<_> = all.iter().take(keep).map(|(_, path)| path.clone()).collect();
            prop_assert_eq!(whole.into_sorted(), (expected, files.len()));
        }
    }

    #[test]
    fn times_are_the_same_with_and_without_the_open_folder() {
        let dir = tempfile::tempdir().unwrap();
        let mut times = Times::default();
        for name in ["a", "b", "c"] {
            let path = dir.path().join(name);
            std::fs::write(&path, "").unwrap();
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::new(7, 9);
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
            assert_eq!(times.of(&path), Some((7, 9)));
        }
        assert_eq!(times.of(&dir.path().join("gone")), None);
    }
}
