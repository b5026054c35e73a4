//! The supervisor's own process: one thread that forks a keeper for each command and
//! makes sure that nothing is left at the end. It reads no configuration, opens no
//! file and never runs a program itself.

use std::{
    collections::BTreeSet,
    ffi::CStr,
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::ExitCode,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, poll},
    sys::{
        signal::{Signal, kill},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{ForkResult, Pid, chdir, dup2_stdin, setsid},
};

use crate::{
    keeper::{self, timeout},
    platform::{self, Wake},
    sys, tree,
};

/// The name (argument zero) that makes the program a supervisor.
pub(crate) const ARG0: &str = "ostler-supervisor";

/// The first byte on the link: the supervisor is there.
pub(crate) const READY: u8 = b'R';

const NAME: &CStr = c"ostler-superv";

/// How long keepers have to end their trees before the supervisor does it itself.
const KEEPERS_GRACE: Duration = Duration::from_millis(1500);

/// Turns this process into a supervisor, or into a confined command, if it was started as one.
///
/// Must come first in `main`, before any thread or runtime starts. `Some`: the work is
/// done, and `main` returns this code. `None`: this is an ordinary start, in which a write
/// beyond the limit of file size is an error and not the end of the process.
#[must_use]
pub fn supervisor_main() -> Option<ExitCode> {
    serve_if_asked().map(ExitCode::from)
}

/// [`supervisor_main`] with the exit code as a number.
pub(crate) fn serve_if_asked() -> Option<u8> {
    if let Some(code) = crate::confine::inner::confine_if_asked() {
        return Some(code);
    }
    sys::outlive_file_size_limit();
    let is_supervisor = std::env::args_os().next().is_some_and(|name| name == ARG0);
    is_supervisor.then(|| match Supervise::prepare() {
        Ok(supervise) => supervise.serve(),
        Err(_) => 1,
    })
}

#[derive(Debug)]
struct Supervise {
    link: UnixStream,
    wake: Wake,
    keepers: BTreeSet<Pid>,
    /// When the session ended, and what is left is killed.
    end_at: Option<Instant>,
    /// A keeper was killed: its command's processes are ours now, and end.
    strays: bool,
}

impl Supervise {
    /// Leaves the terminal, the folder and the open files of whoever started us.
    fn prepare() -> io::Result<Self> {
        if !platform::is_single_threaded() {
            return Err(Errno::EBUSY.into());
        }
        platform::close_inherited();
        let mut link = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        dup2_stdin(std::fs::File::open("/dev/null")?)?;
        link.local_addr()?;
        setsid()?;
        chdir("/")?;
        platform::become_reaper(NAME)?;
        let wake = Wake::new()?;
        link.write_all(&[READY])?;
        Ok(Self { link, wake, keepers: BTreeSet::new(), end_at: None, strays: false })
    }

    fn serve(mut self) -> u8 {
        loop {
            let children_left = self.reap();
            if self.end_at.is_some() && !children_left {
                return 0;
            }
            let pause = self.tidy();
            if let Some(control) = self.wait(pause) {
                match sys::fork_single_threaded() {
                    Ok(ForkResult::Child) => {
                        drop(self);
                        return keeper::keep(control);
                    }
                    Ok(ForkResult::Parent { child }) => drop(self.keepers.insert(child)),
                    // Ostler sees that the other end of `control` closed.
                    Err(_) => {}
                }
            }
        }
    }

    /// Takes the children that ended; whether there are others.
    fn reap(&mut self) -> bool {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => return true,
                Ok(WaitStatus::Exited(pid, 0)) => drop(self.keepers.remove(&pid)),
                Ok(status) => {
                    if status.pid().is_some_and(|pid| self.keepers.remove(&pid)) {
                        self.strays = true;
                    }
                }
                Err(Errno::EINTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Kills what has no keeper, and at the end everything; says when to come again.
    fn tidy(&mut self) -> Option<Duration> {
        let now = Instant::now();
        if let Some(end_at) = self.end_at {
            if now < end_at {
                return Some(end_at - now);
            }
            tree::kill_now(&tree::descendants(Pid::this()));
            return Some(Duration::from_millis(10));
        }
        if self.strays {
            let mut strays = platform::children(Pid::this());
            strays.retain(|pid| !self.keepers.contains(pid));
            self.strays = !strays.is_empty();
            let below: Vec<Pid> = strays.iter().flat_map(|pid| tree::descendants(*pid)).collect();
            strays.extend(below);
            tree::kill_now(&strays);
        }
        self.strays.then_some(Duration::from_millis(2))
    }

    /// Waits for something to do; a command's control socket if one came.
    fn wait(&mut self, pause: Option<Duration>) -> Option<OwnedFd> {
        let mut fds = Vec::with_capacity(2);
        fds.extend(self.wake.fd().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        let signals = fds.len();
        if self.end_at.is_none() {
            fds.push(PollFd::new(self.link.as_fd(), PollFlags::POLLIN));
        }
        let polled = poll(&mut fds, timeout(pause, &self.wake)).is_ok();
        let heard = polled && fds.get(signals).and_then(PollFd::any).unwrap_or(false);
        if self.wake.asked_to_stop() {
            self.end();
        }
        if !heard {
            return None;
        }
        match sys::receive(&self.link, &mut [0]) {
            Ok((0, _)) => {
                self.end();
                None
            }
            Ok((_, fds)) => fds.into_iter().next(),
            Err(Errno::EINTR | Errno::EAGAIN) => None,
            Err(_) => {
                self.end();
                None
            }
        }
    }

    fn end(&mut self) {
        if self.end_at.is_none() {
            self.end_at = Some(Instant::now() + KEEPERS_GRACE);
            for keeper in &self.keepers {
                let _ = kill(*keeper, Signal::SIGTERM);
            }
        }
    }
}
