//! What to run and within which bounds. Only data: nothing starts here, and nothing
//! is taken from Ostler's own environment or working folder.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    os::fd::OwnedFd,
    sync::Arc,
    time::Duration,
};

use ostler_stdx::AbsPath;

/// How many bytes of each output stream are kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputCap {
    /// Bytes kept of the start.
    pub head: usize,
    /// Bytes kept of the end.
    pub tail: usize,
}

impl Default for OutputCap {
    fn default() -> Self {
        Self { head: 256 << 10, tail: 256 << 10 }
    }
}

/// A command: program, arguments, folder, whole environment and bounds.
///
/// Its standard input is empty unless [`Command::input`] gives it some. It inherits
/// no variable, no open file but one that [`Command::side`] gives, and no terminal.
#[derive(Debug, Clone)]
pub struct Command {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: AbsPath,
    pub(crate) env: BTreeMap<OsString, OsString>,
    pub(crate) input: Option<Vec<u8>>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cap: OutputCap,
    pub(crate) kill_grace: Option<Duration>,
    pub(crate) side: Option<Arc<OwnedFd>>,
}

impl Command {
    /// A command without arguments, variables or time limit. A `program` without `/`
    /// is looked up in the absolute folders of the `PATH` given by [`Command::env`].
    pub fn new(program: impl Into<OsString>, cwd: AbsPath) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd,
            env: BTreeMap::new(),
            input: None,
            timeout: None,
            cap: OutputCap::default(),
            kill_grace: None,
            side: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets the whole environment; [`crate::child_env`] makes one without credentials.
    #[must_use]
    pub fn env(mut self, env: BTreeMap<OsString, OsString>) -> Self {
        self.env = env;
        self
    }

    /// Gives the command these bytes on its standard input, and then its end.
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Gives the command one more open file, as descriptor 3, by which it can say what is
    /// not output. A pipe, unlike a file with a name, leaves nothing if we are killed.
    #[must_use]
    pub fn side(mut self, side: Arc<OwnedFd>) -> Self {
        self.side = Some(side);
        self
    }

    /// Kills the command's tree when it has run this long; no limit unless set.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets how much output is kept. For a background command the sum is the size
    /// limit of its file.
    #[must_use]
    pub fn output_cap(mut self, cap: OutputCap) -> Self {
        self.cap = cap;
        self
    }

    /// The same command as an argument of another program, which runs it.
    pub(crate) fn wrapped(mut self, program: impl Into<OsString>, args: Vec<OsString>) -> Self {
        let inner = std::mem::replace(&mut self.program, program.into());
        let inner_args = std::mem::replace(&mut self.args, args);
        self.args.push(inner);
        self.args.extend(inner_args);
        self
    }

    /// Sets the time between TERM and KILL, for every cause. Unless set it is 2 s
    /// after a timeout and 300 ms otherwise.
    #[must_use]
    pub fn kill_grace(mut self, grace: Duration) -> Self {
        self.kill_grace = Some(grace);
        self
    }
}
