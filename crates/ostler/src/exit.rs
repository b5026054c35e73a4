//! Exit codes and how errors are told, in one place (design.md 8 (d)).

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ostler_protocol::{ErrorKind, RpcError};

use crate::visible::visible;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Ok,
    /// The task or command failed.
    Failed,
    /// Usage or settings.
    Usage,
    /// The provider: not configured, refused, unreachable.
    Provider,
    /// SIGINT.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// A code that a door decides.
    Code(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Provider => 3,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
            Exit::Code(code) => code,
        })
    }
}

impl Exit {
    /// The exit that a kind of failure leads to.
    pub(crate) fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage | ErrorKind::Settings => Self::Usage,
            kind if kind.is_provider() => Self::Provider,
            _ => Self::Failed,
        }
    }
}

/// Tells an error on standard error, with what to do about it.
pub(crate) fn fail(exit: Exit, message: &str, hint: Option<&str>) -> Exit {
    let hint = hint.map(|hint| format!("\nhint: {}", visible(hint))).unwrap_or_default();
    // Nobody may read standard error; the exit code still tells.
    writeln!(io::stderr(), "error: {}{hint}", visible(message)).unwrap_or_default();
    exit
}

/// Tells a line on standard error as it is: texts that hosts compare.
pub(crate) fn fail_plainly(line: &str) {
    writeln!(io::stderr(), "{line}").unwrap_or_default();
}

/// Tells an error of the host.
pub(crate) fn rpc(error: &RpcError) -> Exit {
    let kind = error.data.get("kind").cloned().and_then(|kind| serde_json::from_value(kind).ok());
    let hint = error.data.get("hint").and_then(serde_json::Value::as_str);
    fail(kind.map_or(Exit::Failed, Exit::of), &error.message, hint)
}

/// Tells what clap says: help is no error, an unknown flag is one of usage.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
    // A reader that went away has seen enough.
    error.print().unwrap_or_default();
    exit
}

/// The exit after writing to standard output: a broken pipe is success.
pub(crate) fn written(result: io::Result<()>) -> Exit {
    match result.and_then(|()| io::stdout().flush()) {
        Ok(()) => Exit::Ok,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Ok,
        Err(error) => {
            fail(Exit::Failed, &format!("cannot write to standard output: {error}"), None)
        }
    }
}
