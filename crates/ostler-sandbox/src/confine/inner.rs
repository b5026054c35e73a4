//! The last step inside: this program again, which takes away what it can still take away
//! from itself and then becomes the command. What cannot be taken away ends it: a command
//! never runs less confined than it was meant to.

use std::{
    ffi::{CString, OsString},
    io::Write as _,
    os::unix::ffi::OsStringExt as _,
    path::PathBuf,
};

use nix::{errno::Errno, unistd::execve};
use serde::{Deserialize, Serialize};

use crate::{spawn, wire::Request};

/// The first argument that makes the program do this.
pub(crate) const SWITCH: &str = "__ostler-confine";

/// The exit code when the command could not be confined or started.
const FAILED: u8 = 126;

/// What to take away, as the second argument.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// Rules for files and ports, where no mount does it.
    pub(crate) landlock: Option<FileRules>,
    /// System calls that are refused; absent means all stay.
    pub(crate) calls: Option<Calls>,
    /// A port on this machine that leads out.
    pub(crate) forward: Option<Forward>,
    /// Only says which version of Landlock there is.
    pub(crate) probe: bool,
}

/// What Landlock allows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRules {
    /// Folders and files that may be read, in a confinement of files.
    pub(crate) read: Vec<PathBuf>,
    /// Those that may be written.
    pub(crate) write: Vec<PathBuf>,
    /// Whether files are confined.
    pub(crate) files: bool,
    /// Ports that may be connected to; absent means all.
    pub(crate) connect: Option<Vec<u16>>,
    /// Whether ports may be listened on.
    pub(crate) bind: bool,
}

/// Which system calls are refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Calls {
    /// Sockets of the file system and of the abstract name space stay.
    pub(crate) unix: bool,
    /// Sockets of the internet stay.
    pub(crate) inet: Inet,
}

/// Which sockets of the internet may be made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Inet {
    /// All: the name space or the policy takes care of them.
    #[default]
    All,
    /// Those of TCP, whose ports are judged elsewhere.
    Streams,
    /// None.
    None,
}

/// A port inside that is connected with a socket outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Forward {
    /// The port on the loopback address.
    pub(crate) port: u16,
    /// The socket.
    pub(crate) socket: PathBuf,
}

/// Does it if the program was started for it; comes back only if that failed.
pub(crate) fn confine_if_asked() -> Option<u8> {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_none_or(|first| first != SWITCH) {
        return None;
    }
    let spec = args.next().unwrap_or_default();
    Some(match run(&spec, args.collect()) {
        Ok(code) => code,
        Err(error) => {
            // Nobody may listen.
            drop(writeln!(std::io::stderr(), "ostler: the command was not run: {error}"));
            FAILED
        }
    })
}

fn run(spec: &OsString, words: Vec<OsString>) -> Result<u8, String> {
    let spec: Spec = spec
        .to_str()
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or("it was started with a confinement that cannot be read")?;
    if spec.probe {
        return probe();
    }
    if let Some(forward) = &spec.forward {
        super::forward::start(forward).map_err(|error| format!("no way to the proxy: {error}"))?;
    }
    confine(&spec)?;
    let mut words = words.into_iter().map(|word| CString::new(word.into_vec()));
    let program = words.next().and_then(Result::ok).ok_or("no program was named")?;
    let args = words.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    Err(exec(program, args))
}

#[cfg(target_os = "linux")]
fn confine(spec: &Spec) -> Result<(), String> {
    if let Some(rules) = &spec.landlock {
        super::powers::drop_dangerous();
        super::landlock_rules::apply(rules)?;
    }
    if let Some(calls) = spec.calls {
        super::seccomp::apply(calls)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn confine(_: &Spec) -> Result<(), String> {
    Err("this system has no such confinement".to_owned())
}

#[cfg(target_os = "linux")]
fn probe() -> Result<u8, String> {
    drop(writeln!(std::io::stdout(), "{}", super::landlock_rules::version()));
    Ok(0)
}

#[cfg(not(target_os = "linux"))]
fn probe() -> Result<u8, String> {
    drop(writeln!(std::io::stdout(), "0"));
    Ok(0)
}

/// Becomes the program, looked up as for any command; gives why it did not.
fn exec(program: CString, args: Vec<CString>) -> String {
    let env: Vec<CString> = std::env::vars_os()
        .filter_map(|(name, value)| {
            CString::new([name.into_vec(), vec![b'='], value.into_vec()].concat()).ok()
        })
        .collect();
    let request =
        Request { cwd: CString::default(), program: program.clone(), args, env, side: false };
    let mut argv = vec![program.clone()];
    argv.extend(request.args.iter().cloned());
    let mut failure = Errno::ENOENT;
    for path in spawn::candidates(&request) {
        match execve(&path, &argv, &request.env) {
            Err(Errno::ENOENT | Errno::ENOTDIR) => {}
            Err(errno) => failure = errno,
            Ok(never) => match never {},
        }
    }
    format!("`{}`: {}", program.to_string_lossy(), failure.desc())
}
