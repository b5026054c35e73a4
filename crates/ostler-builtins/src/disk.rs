//! Files by handle: resolve a path once, hold its folder open, and read, check and
//! replace the file inside that folder.
//!
//! Never follows a link that was put into the path after it was resolved, and never
//! leaves a half-written file under the asked name.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, Metadata},
    io::{self, Write as _},
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt as _, fchown},
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use nix::{
    errno::Errno,
    fcntl::{AtFlags, OFlag, openat, renameat},
    sys::stat::{FileStat, Mode, fstat, fstatat, mkdirat, stat},
    unistd::{UnlinkatFlags, unlinkat},
};
use ostler_stdx::AbsPath;

/// Links that one path may go through, as Linux has it.
const MAX_LINKS: usize = 40;

/// A resolved path whose folder is held open.
#[derive(Debug)]
pub(crate) struct Place {
    /// The path with all links resolved.
    pub(crate) real: AbsPath,
    folder: OwnedFd,
    name: OsString,
}

/// What tells that a file is still the one that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: i64::try_from(meta.size()).unwrap_or(i64::MAX),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    fn of_stat(stat: &FileStat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: stat.st_size,
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

/// What to do about folders of the path that do not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parents {
    Required,
    Create,
}

impl Place {
    /// Resolves a path that may not exist yet, without touching the disk otherwise.
    pub(crate) fn resolve(path: &AbsPath) -> io::Result<AbsPath> {
        resolve(path, MAX_LINKS)
    }

    /// Opens the folder of a resolved path, component by component, following no link.
    pub(crate) fn open_folder(real: AbsPath, parents: Parents) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Ok(Self { folder: open_root()?, name: OsString::from("."), real });
        };
        let mut folder = open_root()?;
        for part in parent.components().skip(1) {
            folder = step(&folder, part.as_os_str(), parents)?;
        }
        Ok(Self { folder, name: name.to_owned(), real })
    }

    /// Opens the file or folder for reading. A pipe or device does not block.
    pub(crate) fn open(&self) -> io::Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        openat(&self.folder, self.name.as_os_str(), flags, Mode::empty())
            .map(File::from)
            .map_err(moved)
    }

    /// Puts `bytes` in the place of the file in one step.
    ///
    /// `seen` is the file that the caller read by [`Place::open`], with its metadata, or
    /// `None` if there was none; the file keeps its mode and owner. Refuses, with nothing
    /// changed, if by now another file stands there or the folder was moved.
    pub(crate) fn replace(&self, seen: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut prefix = self.name.to_string_lossy().into_owned();
        prefix.truncate(ostler_stdx::floor_char_boundary(&prefix, 60));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temp = OsString::from(format!(".{prefix}.{}-{number}.tmp", std::process::id()));
        let result = self.write_and_rename(&temp, seen, bytes);
        if result.is_err() {
            // The error matters, not whether the temporary file was there already.
            let _gone = unlinkat(&self.folder, temp.as_os_str(), UnlinkatFlags::NoRemoveDir);
        }
        result
    }

    /// Removes the file that the caller read by [`Place::open`]. Refuses, with nothing
    /// changed, if by now another file stands there or the folder was moved.
    pub(crate) fn remove(&self, seen: &Metadata) -> io::Result<()> {
        self.check_unchanged(Some(seen))?;
        Ok(unlinkat(&self.folder, self.name.as_os_str(), UnlinkatFlags::NoRemoveDir)?)
    }

    fn write_and_rename(
        &self,
        temp: &OsStr,
        seen: Option<&Metadata>,
        bytes: &[u8],
    ) -> io::Result<()> {
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        // A new file gets what the umask leaves; an existing one gets its own mode below.
        let mode = if seen.is_some() { 0o600 } else { 0o666 };
        let mut file =
            File::from(openat(&self.folder, temp, flags, Mode::from_bits_truncate(mode))?);
        file.write_all(bytes)?;
        if let Some(seen) = seen {
            keep_owner_and_mode(&file, seen)?;
        }
        file.sync_all()?;
        self.check_unchanged(seen)?;
        renameat(&self.folder, temp, &self.folder, self.name.as_os_str())?;
        // The rename is done; a file system that cannot sync folders does not undo it.
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        if let Ok(folder) = openat(&self.folder, ".", flags, Mode::empty()) {
            let _unsynced = File::from(folder).sync_all();
        }
        Ok(())
    }

    fn check_unchanged(&self, seen: Option<&Metadata>) -> io::Result<()> {
        let now = match fstatat(&self.folder, self.name.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(Stamp::of_stat(&stat)),
            Err(Errno::ENOENT) => None,
            Err(error) => return Err(error.into()),
        };
        if now != seen.map(Stamp::of) {
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "changed while it was being written",
            ));
        }
        let held = fstat(&self.folder)?;
        let parent = self.real.parent().unwrap_or_else(AbsPath::root);
        let named = stat(parent.as_path())?;
        if (held.st_dev, held.st_ino) != (named.st_dev, named.st_ino) {
            return Err(moved(Errno::ELOOP));
        }
        Ok(())
    }
}

/// Owner first: giving a file away clears its set-id bits. Not being allowed to keep a
/// foreign owner is no reason to refuse the write.
fn keep_owner_and_mode(file: &File, seen: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (seen.uid(), seen.gid()) {
        let both = fchown(file, Some(seen.uid()), Some(seen.gid()));
        if both.is_err() {
            let _foreign_group = fchown(file, None, Some(seen.gid()));
        }
    }
    file.set_permissions(seen.permissions())
}

fn resolve(path: &AbsPath, links_left: usize) -> io::Result<AbsPath> {
    let absolute = |path: PathBuf| AbsPath::new(path).map_err(io::Error::other);
    match path.canonicalize() {
        Ok(real) => return absolute(real),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    if let Ok(target) = path.read_link() {
        // A link to nothing: writing goes where it points.
        let Some(links_left) = links_left.checked_sub(1) else { return Err(Errno::ELOOP.into()) };
        return resolve(&resolve(&parent, links_left)?.join(target), links_left);
    }
    Ok(resolve(&parent, links_left)?.join(name))
}

#[cfg(target_os = "linux")]
const FOLDER_ONLY: OFlag = OFlag::O_PATH;
#[cfg(not(target_os = "linux"))]
const FOLDER_ONLY: OFlag = OFlag::O_RDONLY;

fn open_root() -> io::Result<OwnedFd> {
    let flags = FOLDER_ONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    Ok(nix::fcntl::open(Path::new("/"), flags, Mode::empty())?)
}

fn step(folder: &OwnedFd, part: &OsStr, parents: Parents) -> io::Result<OwnedFd> {
    let flags = FOLDER_ONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    match openat(folder, part, flags, Mode::empty()) {
        Err(Errno::ENOENT) if parents == Parents::Create => {
            match mkdirat(folder, part, Mode::from_bits_truncate(0o777)) {
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(error) => return Err(error.into()),
            }
            openat(folder, part, flags, Mode::empty()).map_err(moved)
        }
        opened => opened.map_err(moved),
    }
}

/// A link where none was when the path was resolved says that somebody swapped it.
fn moved(error: Errno) -> io::Error {
    match error {
        Errno::ELOOP => io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the path was changed while it was used",
        ),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests;
