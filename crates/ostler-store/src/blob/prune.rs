//! Keeping the blobs of a home under a cap. It never fails whoever calls it: what cannot be
//! read or removed is left, and a home that is busy is pruned the next time.

use std::{
    fs::{self, DirEntry, TryLockError},
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
    thread,
    time::Duration,
};

use super::{BlobId, Blobs};

/// Blobs that are removed before writers get their turn.
const BATCH: usize = 64;
/// How often a home that is being written to is tried again.
const TRIES: u32 = 50;

/// What pruning did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Blobs that were removed.
    pub removed: u64,
    /// Their bytes.
    pub freed_bytes: u64,
    /// Bytes of the blobs that are left.
    pub left_bytes: u64,
    /// Blobs that could not be read or removed.
    pub failed: u64,
    /// Whether writers kept it from going on.
    pub is_busy: bool,
}

struct Found {
    used: (i64, i64),
    size: u64,
    path: PathBuf,
    id: Option<BlobId>,
}

impl Blobs {
    /// Removes the blobs that were not used for longest until at most `cap_bytes` are left;
    /// those that `keep` wants stay whatever they take. Also removes what killed processes
    /// left half written. Several processes may do it at once.
    pub fn prune(&self, cap_bytes: u64, keep: impl Fn(&BlobId) -> bool) -> Pruned {
        let mut pruned = Pruned::default();
        if !self.dir.is_dir() {
            return pruned;
        }
        pruned.is_busy = !self.alone(|| {
            for temp in entries(self.temp_dir()) {
                drop(fs::remove_file(temp.path()));
            }
        });
        let mut found = self.scan(&mut pruned);
        pruned.left_bytes = found.iter().map(|blob| blob.size).sum();
        if pruned.left_bytes <= cap_bytes {
            return pruned;
        }
        found.sort_unstable_by_key(|blob| blob.used);
        let mut goes = found.iter().filter(|blob| !blob.id.is_some_and(|id| keep(&id))).peekable();
        while pruned.left_bytes > cap_bytes && goes.peek().is_some() && !pruned.is_busy {
            pruned.is_busy = !self.alone(|| {
                for blob in goes.by_ref().take(BATCH) {
                    if pruned.left_bytes <= cap_bytes {
                        break;
                    }
                    remove(blob, &mut pruned);
                }
            });
        }
        if pruned.removed > 0 {
            // Whoever remembers what is here learns to look again.
            drop(fs::write(self.pruned_mark(), b""));
        }
        pruned
    }

    /// When blobs were removed last, by whichever process; none if never.
    pub(crate) fn pruned_at(&self) -> Option<(i64, i64)> {
        let metadata = fs::metadata(self.pruned_mark()).ok()?;
        Some((metadata.mtime(), metadata.mtime_nsec()))
    }

    fn pruned_mark(&self) -> PathBuf {
        self.dir.join(".pruned")
    }

    fn scan(&self, pruned: &mut Pruned) -> Vec<Found> {
        let mut found = Vec::new();
        for folder in entries(self.dir.clone()) {
            let prefix = folder.file_name();
            let Some(prefix) = prefix.to_str().filter(|name| name.len() == 2) else { continue };
            for blob in entries(folder.path()) {
                let Ok(metadata) = blob.metadata() else {
                    pruned.failed += 1;
                    continue;
                };
                let name = blob.file_name();
                let id = name.to_str().and_then(|name| format!("{prefix}{name}").parse().ok());
                found.push(Found {
                    used: (metadata.mtime(), metadata.mtime_nsec()),
                    size: metadata.len(),
                    path: blob.path(),
                    id,
                });
            }
        }
        found
    }

    /// Does something while nobody writes; whether it could.
    fn alone(&self, act: impl FnOnce()) -> bool {
        let Ok(lock) = self.lock_file() else { return false };
        for _ in 0..TRIES {
            match lock.try_lock() {
                Ok(()) => {
                    act();
                    return true;
                }
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
                Err(TryLockError::Error(_)) => return false,
            }
        }
        false
    }
}

fn entries(dir: PathBuf) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(dir).into_iter().flatten().flatten()
}

/// Removes a blob, unless it was used since it was found.
fn remove(blob: &Found, pruned: &mut Pruned) {
    match fs::metadata(&blob.path) {
        Ok(now) if (now.mtime(), now.mtime_nsec()) != blob.used => return,
        // Another process was faster.
        Err(_) => {
            pruned.left_bytes -= blob.size;
            return;
        }
        Ok(_) => {}
    }
    match fs::remove_file(&blob.path) {
        Ok(()) => {
            pruned.removed += 1;
            pruned.freed_bytes += blob.size;
            pruned.left_bytes -= blob.size;
        }
        Err(_) => pruned.failed += 1,
    }
}
