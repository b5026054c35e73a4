//! What can go wrong on disk, typed by what a caller can do about it. The source of a
//! storage error is kept and never printed twice.

use std::{io, path::PathBuf};

use ostler_protocol::ErrorKind;
use thiserror::Error;

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure of the store.
#[derive(Debug, Error)]
pub enum Error {
    /// There is no such session or file.
    #[error("no session `{what}` under `{}`; `ostler session list` shows what there is", path.display())]
    NotFound {
        /// What was looked for.
        what: String,
        /// Where.
        path: PathBuf,
    },
    /// Another process writes to the session.
    #[error("session `{id}` is open in process {pid}; close it there, or open another session")]
    Busy {
        /// The session.
        id: String,
        /// The owner; 0 if it has not said.
        pid: u32,
        /// The lock file.
        path: PathBuf,
    },
    /// A stored file makes no sense; nothing was written.
    #[error("`{}` line {line}, column {column}: {what}; correct it or move it away, nothing was written", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1; 0 if unknown.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// The disk refused.
    #[error("cannot {action} `{}`: {}", path.display(), advice(source))]
    Storage {
        /// What was tried: `read`, `write`, ...
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The caller asked for something that cannot be.
    #[error("{what}")]
    Invalid {
        /// What is wrong, and what to do.
        what: String,
        /// The file that it concerns.
        path: PathBuf,
    },
}

impl Error {
    /// The kind for doors (design.md 8 (f)).
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::Busy { .. } => ErrorKind::Busy,
            Self::Damaged { .. } => ErrorKind::Damaged,
            Self::Storage { .. } => ErrorKind::Storage,
            Self::Invalid { .. } => ErrorKind::Usage,
        }
    }

    /// The file or folder that it is about.
    #[must_use]
    pub fn path(&self) -> &std::path::Path {
        match self {
            Self::NotFound { path, .. }
            | Self::Busy { path, .. }
            | Self::Damaged { path, .. }
            | Self::Storage { path, .. }
            | Self::Invalid { path, .. } => path,
        }
    }

    /// Wraps what the system said about a path.
    pub(crate) fn storage(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Storage { action, path, source }
    }
}

/// For callers whose contract speaks of I/O: what was asked in vain is `InvalidInput`.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotFound { .. } => io::ErrorKind::NotFound,
            Error::Busy { .. } => io::ErrorKind::ResourceBusy,
            Error::Damaged { .. } => io::ErrorKind::InvalidData,
            Error::Storage { source, .. } => source.kind(),
            Error::Invalid { .. } => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

/// What the system said and, where that helps, what to do about it.
fn advice(source: &io::Error) -> String {
    let todo = match source.kind() {
        io::ErrorKind::StorageFull => "; free some space, then send the message again",
        io::ErrorKind::QuotaExceeded => "; make room within the quota, then send the message again",
        io::ErrorKind::FileTooLarge => "; raise the file size limit (`ulimit -f`)",
        io::ErrorKind::PermissionDenied => "; check who owns it and its mode",
        io::ErrorKind::ReadOnlyFilesystem => "; point `OSTLER_HOME` to a place that can be written",
        _ => "",
    };
    format!("{source}{todo}")
}
