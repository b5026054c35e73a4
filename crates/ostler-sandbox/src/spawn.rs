//! Starts one program with posix_spawn: own process group, signals as at login, and
//! nothing open but the three standard streams and what the caller gave as a fourth. Runs in a keeper, which has one
//! thread, so that its working folder can be set for the moment.

use std::{
    ffi::{CStr, CString},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use nix::{
    errno::Errno,
    spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn},
    sys::signal::{SigSet, Signal},
    unistd::{AccessFlags, Pid, access, chdir},
};

use crate::wire::{Event, Request};

/// The pipes of the program.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// None: the program has three streams only.
    pub(crate) side: Option<OwnedFd>,
    /// None: empty.
    pub(crate) stdin: Option<OwnedFd>,
}

/// Starts the program; the error is the event that tells of it.
pub(crate) fn spawn(request: &Request, pipes: &Pipes) -> Result<Pid, Event> {
    chdir(request.cwd.as_c_str()).map_err(|errno| Event::NoFolder { errno: errno as i32 })?;
    let started = start(request, pipes);
    // Not to keep the folder busy; if it fails nothing depends on it.
    let _ = chdir("/");
    started.map_err(|errno| Event::NotStarted { errno: errno as i32 })
}

fn start(request: &Request, pipes: &Pipes) -> nix::Result<Pid> {
    let actions = file_actions(pipes)?;
    let attributes = attributes()?;
    let mut argv = vec![request.program.clone()];
    argv.extend(request.args.iter().cloned());
    let mut failure = Errno::ENOENT;
    for path in candidates(request) {
        // A process that only finds out that there is no such file costs a quarter of a ms.
        if is_absent(&path) {
            continue;
        }
        match posix_spawn(path.as_c_str(), &actions, &attributes, &argv, &request.env) {
            Err(Errno::ENOEXEC) => {
                // A script without an interpreter line is the shell's, as in execvp.
                let mut script = vec![c"sh".to_owned(), path];
                script.extend(request.args.iter().cloned());
                return posix_spawn(c"/bin/sh", &actions, &attributes, &script, &request.env);
            }
            Err(Errno::ENOENT | Errno::ENOTDIR) => {}
            // There may be one that can be run further down the path.
            Err(Errno::EACCES) => failure = Errno::EACCES,
            done => return done,
        }
    }
    Err(failure)
}

/// Whether nothing lies there. Of anything else the start itself tells.
fn is_absent(path: &CStr) -> bool {
    matches!(access(path, AccessFlags::F_OK), Err(Errno::ENOENT | Errno::ENOTDIR))
}

fn file_actions(pipes: &Pipes) -> nix::Result<PosixSpawnFileActions> {
    let mut actions = PosixSpawnFileActions::init()?;
    // Without input the keeper's own standard input goes on: /dev/null.
    if let Some(stdin) = &pipes.stdin {
        actions.add_dup2(stdin.as_raw_fd(), 0)?;
    }
    actions.add_dup2(pipes.stdout.as_raw_fd(), 1)?;
    actions.add_dup2(pipes.stderr.as_raw_fd(), 2)?;
    if let Some(side) = &pipes.side {
        actions.add_dup2(side.as_raw_fd(), 3)?;
    }
    Ok(actions)
}

fn attributes() -> nix::Result<PosixSpawnAttr> {
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_flags(
        PosixSpawnFlags::POSIX_SPAWN_SETPGROUP
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF,
    )?;
    attributes.set_pgroup(Pid::from_raw(0))?;
    attributes.set_sigmask(&SigSet::empty())?;
    let usual = [
        Signal::SIGPIPE,
        Signal::SIGCHLD,
        Signal::SIGINT,
        Signal::SIGQUIT,
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGTSTP,
        Signal::SIGTTIN,
        Signal::SIGTTOU,
        Signal::SIGXFSZ,
    ];
    attributes.set_sigdefault(&usual.into_iter().collect())?;
    Ok(attributes)
}

/// Where the program may lie. Relative folders of the path are passed over: what lies
/// in a work folder must not be run because of its name.
pub(crate) fn candidates(request: &Request) -> Vec<CString> {
    if request.program.as_bytes().contains(&b'/') {
        return vec![request.program.clone()];
    }
    let path = request.env.iter().find_map(|entry| entry.as_bytes().strip_prefix(b"PATH="));
    let path = path.unwrap_or(b"/usr/local/bin:/usr/bin:/bin");
    let name = Path::new(std::ffi::OsStr::from_bytes(request.program.as_bytes()));
    path.split(|&byte| byte == b':')
        .filter(|folder| folder.starts_with(b"/"))
        .filter_map(|folder| {
            let full = Path::new(std::ffi::OsStr::from_bytes(folder)).join(name);
            CString::new(full.as_os_str().as_bytes()).ok()
        })
        .collect()
}

/// The name under which a keeper shows in process lists.
pub(crate) const KEEPER_NAME: &CStr = c"ostler-keeper";

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(program: &CStr, env: &[&CStr]) -> Vec<CString> {
        candidates(&Request {
            cwd: c"/".to_owned(),
            program: program.to_owned(),
            args: Vec::new(),
            env: env.iter().map(|&entry| entry.to_owned()).collect(),
            side: false,
        })
    }

    #[test]
    fn a_name_is_looked_up_in_absolute_folders_only() {
        let found = paths(c"git", &[c"A=b", c"PATH=/a:.::bin:/b/"]);
        assert_eq!(found, [c"/a/git".to_owned(), c"/b/git".to_owned()]);
    }

    #[test]
    fn only_what_is_not_there_is_passed_over() {
        assert!(is_absent(c"/no/such/program"));
        assert!(is_absent(c"/dev/null/program"));
        assert!(!is_absent(c"/dev/null"));
    }

    #[test]
    fn a_path_is_taken_as_it_is() {
        assert_eq!(paths(c"./x", &[c"PATH=/a"]), [c"./x".to_owned()]);
    }
}
