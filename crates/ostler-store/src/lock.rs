//! One writer per session: an OS lock on `$OSTLER_HOME/locks/<id>` with the owner's pid in
//! it. The lock decides, the pid only informs: one that a killed process left is taken over.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    atomic,
    error::{Error, Result},
};

/// How often a held lock is tried again: a reader that asks for the owner holds it for a moment.
const TRIES: u32 = 4;

/// The right to write to a session, until it is dropped.
#[derive(Debug)]
pub(crate) struct WriterLock {
    path: PathBuf,
    file: File,
}

impl WriterLock {
    /// Takes the lock of session `id` in the folder `locks`.
    pub(crate) fn take(locks: &Path, id: &str) -> Result<Self> {
        atomic::private_dir(locks)?;
        let path = locks.join(id);
        let mut tries = 0;
        loop {
            let mut file = open(&path, true).map_err(Error::storage("lock", &path))?;
            match file.try_lock() {
                Ok(()) if atomic::is_still_there(&file, &path) => {
                    note_pid(&mut file).map_err(Error::storage("lock", &path))?;
                    return Ok(Self { path, file });
                }
                // The owner left between opening and locking, and took the file with it.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    thread::sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => {
                    let pid = read_pid(&mut file).unwrap_or(0);
                    return Err(Error::Busy { id: id.to_owned(), pid, path });
                }
                Err(TryLockError::Error(error)) => {
                    return Err(Error::storage("lock", &path)(error));
                }
            }
        }
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Removed while it is held; `take` and `owner` notice a file that is gone.
        drop(fs::remove_file(&self.path));
        drop(self.file.unlock());
    }
}

/// The process that holds the lock of session `id`, if one does.
pub(crate) fn owner(locks: &Path, id: &str) -> Option<u32> {
    let path = locks.join(id);
    let mut file = open(&path, false).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read_pid(&mut file).unwrap_or(0)),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn open(path: &Path, create: bool) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(create)
        .create(create)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

fn note_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(std::process::id().to_string().as_bytes())
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_writer_learns_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let first = WriterLock::take(dir.path(), "a").unwrap();
        assert_eq!(owner(dir.path(), "a"), Some(std::process::id()));
        let second = WriterLock::take(dir.path(), "a");
        assert!(matches!(second, Err(Error::Busy { pid, .. }) if pid == std::process::id()));
        drop(first);
        assert_eq!(owner(dir.path(), "a"), None);
        assert!(!dir.path().join("a").exists());
        drop(WriterLock::take(dir.path(), "a").unwrap());
    }

    #[test]
    fn a_pid_without_a_lock_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "4194304").unwrap();
        assert_eq!(owner(dir.path(), "a"), None);
        let lock = WriterLock::take(dir.path(), "a").unwrap();
        let text = fs::read_to_string(&lock.path).unwrap();
        assert_eq!(text, std::process::id().to_string());
    }

    #[test]
    fn asking_for_the_owner_does_not_stop_a_writer() {
        let dir = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| (0..2000).filter_map(|_| owner(dir.path(), "a")).count());
            for _ in 0..200 {
                drop(WriterLock::take(dir.path(), "a").unwrap());
            }
        });
    }
}
