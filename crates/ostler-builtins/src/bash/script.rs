//! How a command is handed to the shell so that the folder in which it ends is known,
//! and its text means exactly what it means alone.

use std::{
    ffi::OsString,
    io::{self, PipeReader, Read as _},
    os::fd::OwnedFd,
    path::PathBuf,
    sync::Arc,
};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use ostler_stdx::AbsPath;

/// The command is an argument and runs by `eval`, so that an open quote, here-document,
/// comment or trailing backslash in it ends with it and cannot swallow what follows. It
/// sees no arguments, nor the descriptor by which the shell says where it ended: what it
/// starts could hold that open or write to it. What follows is silent under `set -x` and
/// keeps the exit code; a command that ends the shell itself is not followed by it.
const SCRIPT: &str = concat!(
    "__ostler_command=$1; set --; eval \" $__ostler_command\" 3>&-; ",
    "{ __ostler_code=$?; set +x +e; command pwd -P >&3; } 2>/dev/null; ",
    "exit $__ostler_code",
);

/// Longest path that is read back.
const PATH_MAX: u64 = 16 * 1024;

/// The pipe by which the shell says where it ended. It has no name, so that nothing is
/// left of it, however we end.
#[derive(Debug)]
pub(crate) struct Report {
    said: PipeReader,
    shell: Arc<OwnedFd>,
}

impl Report {
    pub(crate) fn new() -> io::Result<Self> {
        let (said, shell) = io::pipe()?;
        // What was not said by the end of the command is not waited for.
        fcntl(&said, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Self { said, shell: Arc::new(shell.into()) })
    }

    /// The shell's end.
    pub(crate) fn side(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.shell)
    }

    /// Arguments of the shell.
    pub(crate) fn args(command: &str) -> [OsString; 4] {
        ["-c".into(), SCRIPT.into(), "bash".into(), command.into()]
    }

    /// The folder in which the shell ended, if it said so.
    pub(crate) fn folder(&self) -> Option<AbsPath> {
        let mut bytes = Vec::new();
        // The end of what is there is an error here, because our own end stays open.
        let _would_block = (&self.said).take(PATH_MAX).read_to_end(&mut bytes);
        let path = bytes.strip_suffix(b"\n")?;
        AbsPath::new(path_of(path)?).ok()
    }
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}
