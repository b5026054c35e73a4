//! Files by handle: resolve a path once, hold its folder open, and read, check and
//! replace the file inside that folder.
//!
//! Never follows a link that was put into the path after it was resolved, and never
//! leaves a half-written file under the asked name.

mod kept;
mod put;

use std::{
    ffi::{OsStr, OsString},
    fs::{File, Metadata},
    io,
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use nix::{
    errno::Errno,
    fcntl::{AtFlags, OFlag, openat},
    sys::stat::{FileStat, Mode, fstat, fstatat, mkdirat},
    unistd::{UnlinkatFlags, unlinkat},
};
use ostler_stdx::AbsPath;

pub(crate) use kept::Kept;

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
        let folder = open_way(&parent, parents)?;
        Ok(Self { folder, name: name.to_owned(), real })
    }

    /// Opens the file or folder for reading. A pipe or device does not block.
    pub(crate) fn open(&self) -> io::Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        openat(&self.folder, self.name.as_os_str(), flags, Mode::empty())
            .map(File::from)
            .map_err(moved)
    }

    /// Removes the file that the caller read by [`Place::open`]. Refuses, with nothing
    /// changed, if by now another file stands there or the folder was moved.
    pub(crate) fn remove(&self, seen: &Metadata) -> io::Result<()> {
        self.check_unchanged(Some(seen))?;
        Ok(unlinkat(&self.folder, self.name.as_os_str(), UnlinkatFlags::NoRemoveDir)?)
    }

    fn check_unchanged(&self, seen: Option<&Metadata>) -> io::Result<()> {
        let now = match fstatat(&self.folder, self.name.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(Stamp::of_stat(&stat)),
            Err(Errno::ENOENT) => None,
            Err(error) => return Err(error.into()),
        };
        if now != seen.map(Stamp::of) {
            return Err(put::changed());
        }
        self.check_folder()
    }

    /// Refuses if the held folder is not the one that the path names, without any link.
    fn check_folder(&self) -> io::Result<()> {
        let held = fstat(&self.folder)?;
        let parent = self.real.parent().unwrap_or_else(AbsPath::root);
        let named = fstat(open_way(&parent, Parents::Required)?)?;
        if (held.st_dev, held.st_ino) != (named.st_dev, named.st_ino) {
            return Err(moved(Errno::ELOOP));
        }
        Ok(())
    }
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

/// Opens a folder whose path has no link in it: in one step where the kernel can, else
/// component by component.
fn open_way(folder: &AbsPath, parents: Parents) -> io::Result<OwnedFd> {
    match open_at_once(folder) {
        Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => {}
        Some(opened) => return opened,
        None => {}
    }
    let mut held = open_root()?;
    for part in folder.components().skip(1) {
        held = step(&held, part.as_os_str(), parents)?;
    }
    Ok(held)
}

#[cfg(target_os = "linux")]
fn open_at_once(folder: &AbsPath) -> Option<io::Result<OwnedFd>> {
    use rustix::{
        fs::{CWD, Mode, OFlags, ResolveFlags, openat2},
        io::Errno,
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, folder.as_path(), flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // An old kernel, a filter that does not know the call, or a path too long for one.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::NAMETOOLONG) => None,
        Err(error) => Some(Err(moved(nix::errno::Errno::from_raw(error.raw_os_error())))),
        Ok(opened) => Some(Ok(opened)),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_at_once(_: &AbsPath) -> Option<io::Result<OwnedFd>> {
    None
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
