//! Ostler's end of the supervisor: starts it at first use, hands it the control socket
//! of each command, and starts another one if it was killed. The only process that
//! Ostler itself starts.

use std::{
    io::{self, Read},
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    path::PathBuf,
    process::{self, Child, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use nix::errno::Errno;

use crate::{
    Error,
    supervise::{ARG0, READY},
    sys,
};

/// How long a supervisor has to say that it is there.
const READY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a command waits for a place in a full queue to the supervisor.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs commands under one supervisor process, which a session has for itself.
///
/// Clones share the supervisor. When the last one is dropped, or this process ends in
/// whatever way, the supervisor kills all that it started and ends.
#[derive(Debug, Clone)]
pub struct Supervisor(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    exe: PathBuf,
    link: Mutex<Link>,
    next_id: AtomicU64,
}

#[derive(Debug)]
enum Link {
    NotStarted,
    Up(Process),
    ShutDown,
}

#[derive(Debug)]
struct Process {
    socket: UnixStream,
    child: Option<Child>,
}

enum Refused {
    /// The queue is full.
    Full,
    /// There is no supervisor, or no more.
    Absent,
    Error(Error),
}

impl Supervisor {
    /// A supervisor that starts at first use, from the program `exe`, whose `main`
    /// calls [`crate::supervisor_main`] first (on Linux `/proc/self/exe` names the
    /// running program even while it is being replaced).
    pub fn new(exe: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Inner {
            exe: exe.into(),
            link: Mutex::new(Link::NotStarted),
            next_id: AtomicU64::new(1),
        }))
    }

    /// Like [`Supervisor::new`], but starts it now. Blocks for about a millisecond.
    ///
    /// # Errors
    /// [`Error::Supervisor`] if it does not start or does not answer.
    pub fn start(exe: impl Into<PathBuf>) -> Result<Self, Error> {
        let supervisor = Self::new(exe);
        supervisor.0.ensure()?;
        Ok(supervisor)
    }

    /// The process id of the supervisor, if it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        match &*self.0.link() {
            Link::Up(process) => process.child.as_ref().map(Child::id),
            Link::NotStarted | Link::ShutDown => None,
        }
    }

    /// Kills all that runs, and waits until nothing is left (two seconds at most, but
    /// for what the kernel does not let go). No command starts afterwards.
    pub async fn shutdown(&self) {
        let link = std::mem::replace(&mut *self.0.link(), Link::ShutDown);
        if let Link::Up(mut process) = link
            && let Some(mut child) = process.child.take()
        {
            // The closing link is the order to end.
            drop(process);
            let ended = tokio::task::spawn_blocking(move || child.wait());
            drop(tokio::time::timeout(Duration::from_secs(5), ended).await);
        }
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.0.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// A socket to a keeper of its own, which starts what it is sent.
    pub(crate) async fn keeper(
        &self,
        pipes: impl Fn(io::Error) -> Error,
    ) -> Result<UnixStream, Error> {
        let (ours, theirs) = UnixStream::pair().map_err(pipes)?;
        let theirs = OwnedFd::from(theirs);
        let give_up = Instant::now() + QUEUE_TIMEOUT;
        loop {
            match self.0.hand_over(&theirs) {
                Ok(()) => return Ok(ours),
                Err(Refused::Error(error)) => return Err(error),
                Err(Refused::Full) if Instant::now() > give_up => {
                    return Err(self.0.failed(io::ErrorKind::TimedOut.into()));
                }
                Err(Refused::Full) => tokio::time::sleep(Duration::from_millis(1)).await,
                Err(Refused::Absent) => {
                    let inner = Arc::clone(&self.0);
                    let started = tokio::task::spawn_blocking(move || inner.ensure()).await;
                    started.map_err(|error| self.0.failed(io::Error::other(error)))??;
                }
            }
        }
    }
}

impl Inner {
    fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Supervisor { exe: self.exe.clone(), source }
    }

    fn ensure(&self) -> Result<(), Error> {
        let mut link = self.link();
        match *link {
            Link::Up(_) => {}
            Link::ShutDown => return Err(Error::ShutDown),
            Link::NotStarted => {
                *link = Link::Up(Process::start(&self.exe).map_err(|error| self.failed(error))?);
            }
        }
        Ok(())
    }

    fn hand_over(&self, control: &OwnedFd) -> Result<(), Refused> {
        use std::os::fd::AsFd;
        let mut link = self.link();
        let process = match &*link {
            Link::Up(process) => process,
            Link::NotStarted => return Err(Refused::Absent),
            Link::ShutDown => return Err(Refused::Error(Error::ShutDown)),
        };
        match sys::send(&process.socket, b"K", &[control.as_fd()]) {
            Ok(_) => Ok(()),
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS | Errno::ETOOMANYREFS) => {
                Err(Refused::Full)
            }
            Err(Errno::EPIPE | Errno::ECONNRESET | Errno::ENOTCONN) => {
                *link = Link::NotStarted;
                Err(Refused::Absent)
            }
            Err(errno) => Err(Refused::Error(self.failed(errno.into()))),
        }
    }
}

impl Process {
    #[expect(clippy::disallowed_methods, reason = "the supervisor, which starts everything else")]
    fn start(exe: &PathBuf) -> io::Result<Self> {
        let (mut socket, theirs) = UnixStream::pair()?;
        let child = process::Command::new(exe)
            .arg0(ARG0)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        socket.set_read_timeout(Some(READY_TIMEOUT))?;
        let mut process = Self { socket: socket.try_clone()?, child: Some(child) };
        let mut ready = [0];
        match socket.read(&mut ready) {
            Ok(1) if ready == [READY] => Ok(process),
            answer => {
                // Whatever it is, it is not a supervisor, and it is ours to end.
                if let Some(child) = &mut process.child {
                    drop(child.kill());
                }
                Err(answer.err().unwrap_or_else(|| io::Error::other("it is not a supervisor")))
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Only the closing of the link ends the supervisor, and only its end can be
        // waited for: that is left to a thread, which ends with it.
        drop(self.socket.shutdown(std::net::Shutdown::Both));
        if let Some(mut child) = self.child.take()
            && !matches!(child.try_wait(), Ok(Some(_)))
        {
            let reap = thread::Builder::new().name("ostler-reap".to_owned());
            drop(reap.spawn(move || child.wait()));
        }
    }
}
