//! Why a process could not be run. What the process itself did wrong is no error
//! but an [`crate::Exit`].

use std::{ffi::OsString, io, path::PathBuf};

use ostler_stdx::AbsPath;

/// Why a command was not run, or was lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The supervisor did not start. No command runs without it.
    #[error(
        "cannot start the process supervisor `{}`: no command runs without it, check that the file is Ostler and may be executed", exe.display()
    )]
    Supervisor {
        /// The program that was to be the supervisor.
        exe: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// [`crate::Supervisor::shutdown`] was called before.
    #[error("the process supervisor of this session is shut down: start a new session")]
    ShutDown,
    /// There is no such program.
    #[error(
        "program `{}` was not found: check the name, or give its full path", program.display()
    )]
    NotFound {
        /// The program as it was named.
        program: OsString,
    },
    /// The working folder cannot be entered.
    #[error("cannot enter folder `{cwd}`: check that it exists and may be entered")]
    Folder {
        /// The folder.
        cwd: AbsPath,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The program exists but does not start.
    #[error("cannot start `{}`: check that it may be executed", program.display())]
    Start {
        /// The program as it was named.
        program: OsString,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A string for the process holds a NUL byte, which no process can be given.
    #[error("`{}` contains a NUL byte: remove it", what.display())]
    Nul {
        /// The argument, the path, or the name of the variable.
        what: OsString,
    },
    /// The watcher of the command ended, so that its exit is not known. Its tree was
    /// killed by the supervisor.
    #[error("lost track of `{}`: its watcher was killed, run the command again", program.display())]
    Lost {
        /// The program as it was named.
        program: OsString,
    },
    /// The output file of a background command cannot be written.
    #[error("cannot write output file `{path}`: check its folder and the space on the disk")]
    Output {
        /// The file.
        path: AbsPath,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A pipe or socket could not be made.
    #[error("cannot make the pipes for `{}`: check the limit of open files", program.display())]
    Pipes {
        /// The program as it was named.
        program: OsString,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}
