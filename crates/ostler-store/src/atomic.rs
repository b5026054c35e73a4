//! Small files that are replaced, never written in place: temporary file, fsync, rename,
//! under a lock file beside them, so that neither a crash nor a second process loses
//! anything. Never used for logs, which are append-only.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use crate::error::{Error, Result};

/// Who may read what is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// The user alone: folders 0700, files 0600.
    Private,
    /// What the user's umask says, for files that are meant for git.
    Shared,
}

/// Makes a folder and its parents, for the user alone.
pub(crate) fn private_dir(dir: &Path) -> Result<()> {
    make_dir(dir, Access::Private).map_err(Error::storage("create", dir))
}

fn make_dir(dir: &Path, access: Access) -> io::Result<()> {
    let mode = if access == Access::Private { 0o700 } else { 0o777 };
    DirBuilder::new().recursive(true).mode(mode).create(dir)
}

/// Reads a file; none if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::storage("read", path)(error)),
    }
}

/// Changes a file under its lock: `change` gets the present content and gives the new one,
/// or none to leave it alone.
pub(crate) fn update(
    path: &Path,
    access: Access,
    change: impl FnOnce(Option<Vec<u8>>) -> Result<Option<Vec<u8>>>,
) -> Result<()> {
    // A link stays a link: what it points to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let dir = path.parent().unwrap_or(Path::new("/"));
    make_dir(dir, access).map_err(Error::storage("create", dir))?;
    let guard = guard(path)?;
    if guard.was_there {
        sweep(path, dir);
    }
    let Some(bytes) = change(read(path)?)? else { return Ok(()) };
    replace(path, dir, access, &bytes).map_err(Error::storage("write", path))
}

/// The lock of a file: a file beside it, since the file itself is renamed over.
struct Guard {
    path: PathBuf,
    /// Whether the lock file was there before, perhaps of a process that was killed.
    was_there: bool,
    _file: File,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Removed while it is still held; whoever waits for it sees that and starts again.
        drop(fs::remove_file(&self.path));
    }
}

fn guard(path: &Path) -> Result<Guard> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".lock");
    let lock = path.with_file_name(name);
    let take = || -> io::Result<(File, bool)> {
        loop {
            let was_there = lock.exists();
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(&lock)?;
            file.lock()?;
            if is_still_there(&file, &lock) {
                return Ok((file, was_there));
            }
        }
    };
    let (file, was_there) = take().map_err(Error::storage("lock", &lock))?;
    Ok(Guard { path: lock, was_there, _file: file })
}

/// How the temporary files for a path begin; only whoever holds its lock makes any.
fn temporary(path: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".ostler-");
    name
}

/// Removes what a process left that was killed while it wrote. The lock is held.
fn sweep(path: &Path, dir: &Path) {
    let begins = temporary(path);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(begins.as_encoded_bytes()) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Whether an open file is what its path names now.
pub(crate) fn is_still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => open.ino() == named.ino() && open.dev() == named.dev(),
        _ => false,
    }
}

fn replace(path: &Path, dir: &Path, access: Access, bytes: &[u8]) -> io::Result<()> {
    let mode = match (fs::metadata(path), access) {
        (Ok(old), _) => Some(old.permissions().mode() & 0o777),
        (Err(_), Access::Private) => Some(0o600),
        (Err(_), Access::Shared) => None,
    };
    let mut builder = tempfile::Builder::new();
    let begins = temporary(path);
    builder.prefix(&begins);
    // tempfile masks this with the umask, as `open` does.
    builder.permissions(Permissions::from_mode(mode.unwrap_or(0o666)));
    let mut file = builder.tempfile_in(dir)?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(dir)?.sync_all()
}
