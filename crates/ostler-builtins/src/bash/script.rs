//! How a command is handed to the shell so that the folder in which it ends is known,
//! and its text means exactly what it means alone.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _},
    path::PathBuf,
};

use ostler_stdx::AbsPath;
use tempfile::NamedTempFile;

/// The command is an argument and runs by `eval`, so that an open quote, here-document,
/// comment or trailing backslash in it ends with it and cannot swallow what follows. It
/// sees no arguments. What follows is silent under `set -x`, writes under `set -C`, and
/// keeps the exit code; a command that ends the shell itself is not followed by it.
const SCRIPT: &str = concat!(
    "__ostler_command=$1 __ostler_folder=$2; set --; eval \" $__ostler_command\"; ",
    "{ __ostler_code=$?; set +x +e; command pwd -P >|\"$__ostler_folder\"; } 2>/dev/null; ",
    "exit $__ostler_code",
);

/// Longest path that is read back.
const PATH_MAX: u64 = 16 * 1024;

/// The file in which the shell says where it ended.
#[derive(Debug)]
pub(crate) struct Report(NamedTempFile);

impl Report {
    /// A file that the shell can write to: in `folder`, if it cannot elsewhere.
    pub(crate) fn new(folder: Option<&AbsPath>) -> io::Result<Self> {
        const PREFIX: &str = "ostler-cwd-";
        match folder {
            Some(folder) => {
                std::fs::create_dir_all(folder)?;
                NamedTempFile::with_prefix_in(PREFIX, folder).map(Self)
            }
            None => NamedTempFile::with_prefix(PREFIX).map(Self),
        }
    }

    /// Arguments of the shell.
    pub(crate) fn args(&self, command: &str) -> [OsString; 5] {
        let name = OsString::from("bash");
        ["-c".into(), SCRIPT.into(), name, command.into(), self.0.path().into()]
    }

    /// The folder in which the shell ended, if it said so.
    pub(crate) fn folder(&self) -> Option<AbsPath> {
        let mut bytes = Vec::new();
        File::open(self.0.path()).ok()?.take(PATH_MAX).read_to_end(&mut bytes).ok()?;
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
