//! A command that is talked to while it runs: language servers, MCP servers. Its standard
//! input stays open and its standard output is the caller's to read; of standard error
//! the newest part is kept. Like every other command it has a keeper, and its whole tree
//! ends with it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ostler_stdx::Cancel;
use tokio::{
    io::AsyncReadExt as _,
    net::unix::pipe::{Receiver, Sender},
    sync::watch,
    task::JoinSet,
};

use crate::{
    Command, Error, Status, Supervisor,
    job::{Control, Job},
    run::CANCEL_GRACE,
    wire::Event,
};

/// Bytes of standard error that are kept.
const ERRORS: usize = 64 << 10;

/// A command that is talked to. Dropping it kills its whole tree.
#[derive(Debug)]
pub struct Piped {
    /// Its standard input; dropping it says that nothing more comes.
    pub stdin: Option<Sender>,
    /// Its standard output; `None` once it was taken.
    pub stdout: Option<Receiver>,
    errors: Arc<Mutex<VecDeque<u8>>>,
    pid: i32,
    stop: Cancel,
    status: watch::Receiver<Status>,
    _tasks: JoinSet<()>,
}

impl Supervisor {
    /// Starts `command` with open pipes. What [`Command::input`] gives is not used, and
    /// the time limit does not hold.
    ///
    /// # Errors
    /// The command did not start.
    pub async fn spawn_piped(&self, command: &Command) -> Result<Piped, Error> {
        let (job, stdin) = Job::start_open(self, command).await?;
        let Job { pid, control, output, .. } = job;
        let (stdout, stderr) = output.into_streams();
        let (status, watched) = watch::channel(Status::default());
        let (stop, errors) = (Cancel::new(), Arc::new(Mutex::new(VecDeque::new())));
        let grace = command.kill_grace.unwrap_or(CANCEL_GRACE);
        let mut tasks = JoinSet::new();
        tasks.spawn(watch_end(control, status, stop.clone(), grace));
        if let Some(stderr) = stderr {
            tasks.spawn(keep_newest(stderr, Arc::clone(&errors)));
        }
        Ok(Piped { stdin, stdout, errors, pid, stop, status: watched, _tasks: tasks })
    }
}

impl Piped {
    /// The process id of the main process.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// How it is doing now.
    #[must_use]
    pub fn status(&self) -> Status {
        *self.status.borrow()
    }

    /// The newest of what it wrote to standard error; what is no UTF-8 reads as U+FFFD.
    #[must_use]
    pub fn errors(&self) -> String {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(errors.make_contiguous()).into_owned()
    }

    /// Waits until the main process has ended.
    pub async fn wait(&self) -> Status {
        Status::reached(&self.status, |status| status.ended || status.gone).await
    }

    /// Kills the whole tree and waits until nothing of it is left.
    pub async fn kill(&self) -> Status {
        self.stop.cancel();
        Status::reached(&self.status, |status| status.gone).await
    }
}

async fn watch_end(
    mut control: Control,
    status: watch::Sender<Status>,
    stop: Cancel,
    grace: Duration,
) {
    let mut stopping = false;
    loop {
        tokio::select! {
            event = control.event() => match event {
                Some(Event::Exited { code }) => status.send_modify(|status| {
                    (status.ended, status.code) = (true, Some(code));
                }),
                Some(Event::Signaled { signal }) => status.send_modify(|status| {
                    (status.ended, status.signal) = (true, Some(signal));
                }),
                Some(Event::Gone) | None => break,
                Some(Event::Started { .. } | Event::NoFolder { .. } | Event::NotStarted { .. }) => {}
            },
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                control.kill(grace);
            }
        }
        // What it left behind serves nobody.
        if status.borrow().ended && !stopping {
            stopping = true;
            control.kill(grace);
        }
    }
    status.send_modify(|status| status.gone = true);
}

async fn keep_newest(mut stderr: Receiver, kept: Arc<Mutex<VecDeque<u8>>>) {
    let mut chunk = vec![0; 8 << 10];
    while let Ok(len @ 1..) = stderr.read(&mut chunk).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&chunk[..len]);
        let excess = kept.len().saturating_sub(ERRORS);
        kept.drain(..excess);
    }
}
