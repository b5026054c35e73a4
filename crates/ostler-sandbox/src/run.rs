//! Runs one command to its end within its bounds. It waits for the process and not
//! for the end of its output, which a child that it left behind may hold open.

use std::{pin::pin, time::Duration};

use ostler_stdx::Cancel;
use tokio::time::{Instant, sleep_until, timeout};

use crate::{Captured, Command, Error, Stream, Supervisor, job::Job, wire::Event};

/// Between TERM and KILL after a timeout: the command may save what it has.
const TIMEOUT_GRACE: Duration = Duration::from_secs(2);
/// Between TERM and KILL after a cancel: within a second all must be silent.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_millis(300);
/// The output of an ended process counts as complete after so long a silence.
const QUIET: Duration = Duration::from_millis(50);
/// The longest wait for the rest of the output.
const DRAIN: Duration = Duration::from_millis(250);
/// How long after KILL to wait for the tree to go. It takes a few milliseconds; this
/// long only on a machine with no time left, or for what the kernel holds. The keeper
/// goes on all the same.
const AFTER_KILL: Duration = Duration::from_millis(600);
/// How long a command that is to stop may take to start.
const START_LIMIT: Duration = Duration::from_millis(500);
/// Most bytes taken from each pipe after the end.
const REST: usize = 1 << 20;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// The exit code, if the process ended by itself.
    pub code: Option<i32>,
    /// The signal that ended the process. Code and signal are both `None` if it was
    /// cancelled before it started, or could not be killed.
    pub signal: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// What it wrote to standard error.
    pub stderr: Captured,
    /// Both in the order they came; exact for one stream, close between the two.
    pub combined: Captured,
    /// Whether the time limit ended it.
    pub timed_out: bool,
    /// Whether the cancel ended it.
    pub cancelled: bool,
    /// From the call to the end.
    pub wall: Duration,
}

impl Exit {
    /// Whether the process ended by itself with code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    fn new(command: &Command) -> Self {
        let empty = Captured::new(command.cap);
        Self {
            code: None,
            signal: None,
            stdout: empty.clone(),
            stderr: empty.clone(),
            combined: empty,
            timed_out: false,
            cancelled: false,
            wall: Duration::ZERO,
        }
    }

    fn capture(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Stdout => self.stdout.push(bytes),
            Stream::Stderr => self.stderr.push(bytes),
        }
        self.combined.push(bytes);
    }
}

impl Supervisor {
    /// Runs `command` to its end. `on_output` sees all output as it comes, beyond the
    /// cap too; while it does not return, the command may have to wait.
    ///
    /// When the main process has ended, the rest of its tree is killed. Cancel and
    /// timeout kill the whole tree. Dropping the future does so too, without waiting.
    ///
    /// # Errors
    /// The command did not start, or its watcher was killed. Whatever the command
    /// itself does is an [`Exit`].
    pub async fn run(
        &self,
        command: &Command,
        cancel: &Cancel,
        mut on_output: impl FnMut(Stream, &[u8]) + Send,
    ) -> Result<Exit, Error> {
        let begin = Instant::now();
        let stop_at = command.timeout.map(|timeout| begin + timeout);
        let mut exit = Exit::new(command);
        if cancel.is_cancelled() {
            exit.cancelled = true;
            return Ok(exit);
        }
        match self.start_unless_stopped(command, cancel, stop_at).await {
            Some(job) => {
                let run = Run { job: job?, exit, stop_at, grace: command.kill_grace };
                let lost = || Error::Lost { program: command.program.clone() };
                exit = run.drive(cancel, &mut on_output).await.ok_or_else(lost)?;
            }
            None => {
                exit.cancelled = cancel.is_cancelled();
                exit.timed_out = !exit.cancelled;
            }
        }
        exit.wall = begin.elapsed();
        Ok(exit)
    }

    /// Starts the command. When it is to stop meanwhile the start is waited for all the
    /// same, because only a started command can be seen to end; `None` if that hangs
    /// (a dead network folder): then its keeper ends it as soon as it can.
    async fn start_unless_stopped(
        &self,
        command: &Command,
        cancel: &Cancel,
        stop_at: Option<Instant>,
    ) -> Option<Result<Job, Error>> {
        let mut start = pin!(Job::start(self, command));
        tokio::select! {
            job = &mut start => return Some(job),
            () = cancel.cancelled() => {}
            () = until(stop_at) => {}
        }
        timeout(START_LIMIT, start).await.ok()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// The main process ended; its last output is taken.
    Draining {
        quiet_at: Instant,
        stop_at: Instant,
    },
    Killing {
        give_up_at: Instant,
    },
}

impl Phase {
    fn draining() -> Self {
        let now = Instant::now();
        Self::Draining { quiet_at: now + QUIET, stop_at: now + DRAIN }
    }

    fn heard(&mut self) {
        if let Self::Draining { quiet_at, .. } = self {
            *quiet_at = Instant::now() + QUIET;
        }
    }
}

#[derive(Debug)]
struct Run {
    job: Job,
    exit: Exit,
    stop_at: Option<Instant>,
    grace: Option<Duration>,
}

impl Run {
    /// `None`: the keeper was lost.
    async fn drive(
        mut self,
        cancel: &Cancel,
        on_output: &mut (impl FnMut(Stream, &[u8]) + Send),
    ) -> Option<Exit> {
        let mut phase = Phase::Running;
        let mut gone = false;
        loop {
            let killing = matches!(phase, Phase::Killing { .. });
            let deadline = self.deadline(phase);
            tokio::select! {
                event = self.job.control.event(), if !gone => match event {
                    Some(Event::Exited { code }) => {
                        self.exit.code = Some(code);
                        phase = if killing { phase } else { Phase::draining() };
                    }
                    Some(Event::Signaled { signal }) => {
                        self.exit.signal = Some(signal);
                        phase = if killing { phase } else { Phase::draining() };
                    }
                    None if phase == Phase::Running => return None,
                    Some(Event::Gone) | None => gone = true,
                    Some(Event::Started { .. } | Event::NoFolder { .. } | Event::NotStarted { .. }) => {}
                },
                (stream, bytes) = self.job.output.next() => {
                    self.exit.capture(stream, bytes);
                    if !bytes.is_empty() {
                        on_output(stream, bytes);
                    }
                    phase.heard();
                }
                () = cancel.cancelled(), if !killing => {
                    self.exit.cancelled = phase == Phase::Running;
                    phase = self.kill(CANCEL_GRACE);
                }
                () = until(deadline) => match phase {
                    Phase::Running => {
                        self.exit.timed_out = true;
                        phase = self.kill(TIMEOUT_GRACE);
                    }
                    Phase::Draining { .. } => phase = self.kill(CANCEL_GRACE),
                    Phase::Killing { .. } => break,
                },
            }
            if matches!(phase, Phase::Draining { .. }) && self.job.output.is_closed() {
                phase = self.kill(CANCEL_GRACE);
            }
            if gone && matches!(phase, Phase::Killing { .. }) {
                break;
            }
        }
        let Self { job, exit, .. } = &mut self;
        job.output.take_rest(REST, |stream, bytes| {
            exit.capture(stream, bytes);
            on_output(stream, bytes);
        });
        Some(self.exit)
    }

    fn deadline(&self, phase: Phase) -> Option<Instant> {
        match phase {
            Phase::Running => self.stop_at,
            Phase::Draining { quiet_at, stop_at } => Some(quiet_at.min(stop_at)),
            Phase::Killing { give_up_at } => Some(give_up_at),
        }
    }

    fn kill(&self, grace: Duration) -> Phase {
        let grace = self.grace.unwrap_or(grace);
        self.job.control.kill(grace);
        Phase::Killing { give_up_at: Instant::now() + grace + AFTER_KILL }
    }
}

/// Waits for a moment, or for ever if there is none.
pub(crate) async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
