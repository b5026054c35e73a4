//! Commands that go on while others run: their output goes to a file with a limit.
//! They end with the session; none outlives the supervisor.

use std::{fs::OpenOptions, io::SeekFrom, os::unix::fs::OpenOptionsExt};

use ostler_stdx::{AbsPath, Cancel};
use tokio::{
    fs::File,
    io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _},
    sync::watch,
    task::JoinSet,
    time::Instant,
};

use crate::{
    Command, Error, OutputCap, Supervisor,
    job::Job,
    run::{CANCEL_GRACE, until},
    wire::Event,
};

/// A command in the background. Dropping it kills its whole tree.
#[derive(Debug)]
pub struct Background {
    id: u64,
    pid: i32,
    stop: Cancel,
    status: watch::Receiver<Status>,
    _task: JoinSet<()>,
}

/// How a background command is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The main process ended; what it left behind may still run.
    pub ended: bool,
    /// No process of the command is left.
    pub gone: bool,
    /// The exit code, if the process ended by itself.
    pub code: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<i32>,
    /// Whether the time limit ended it.
    pub timed_out: bool,
    /// Bytes of output that stand in the file.
    pub written: u64,
    /// Bytes of output that were left out: in the middle, or the disk refused them.
    pub omitted: u64,
}

impl Status {
    /// Waits until a status is reached. If the task that tells it is gone, so is its tree:
    /// what it said last holds.
    pub(crate) async fn reached(
        told: &watch::Receiver<Self>,
        reached: impl FnMut(&Self) -> bool,
    ) -> Self {
        let mut told = told.clone();
        let waited = told.wait_for(reached).await.map(|status| *status);
        waited.unwrap_or_else(|_| *told.borrow())
    }
}

impl Supervisor {
    /// Starts `command` and lets it go on; both its streams are written to `file`, in
    /// the order they come. The file never grows beyond the sum of the output cap: its
    /// beginning and the newest of the rest stay, what lies between is counted. The file
    /// is replaced and readable by its owner only.
    ///
    /// # Errors
    /// The file cannot be made, or the command did not start.
    pub async fn spawn_background(
        &self,
        command: &Command,
        file: &AbsPath,
    ) -> Result<Background, Error> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        let opened = tokio::fs::OpenOptions::from(options).open(file).await;
        let opened = opened.map_err(|source| Error::Output { path: file.clone(), source })?;
        let timeout = command.timeout.map(|timeout| Instant::now() + timeout);
        let job = Job::start(self, command).await?;
        let pid = job.pid;
        let (status, watched) = watch::channel(Status::default());
        let stop = Cancel::new();
        let log = Log::new(opened, command.cap);
        let grace = command.kill_grace.unwrap_or(CANCEL_GRACE);
        let follow = Follow { job, log, status, stop: stop.clone(), timeout, grace };
        let mut task = JoinSet::new();
        task.spawn(follow.follow());
        Ok(Background { id: self.next_id(), pid, stop, status: watched, _task: task })
    }
}

impl Background {
    /// A number that no other background command of this supervisor has.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

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

    /// Waits until the main process has ended and what it wrote stands in the file.
    pub async fn wait(&self) -> Status {
        Status::reached(&self.status, |status| status.ended || status.gone).await
    }

    /// Kills the whole tree and waits until nothing of it is left.
    pub async fn kill(&self) -> Status {
        self.stop.cancel();
        Status::reached(&self.status, |status| status.gone).await
    }
}

#[derive(Debug)]
struct Follow {
    job: Job,
    log: Log,
    status: watch::Sender<Status>,
    stop: Cancel,
    timeout: Option<Instant>,
    grace: std::time::Duration,
}

impl Follow {
    async fn follow(mut self) {
        let mut stopping = false;
        let timeout = self.timeout;
        loop {
            tokio::select! {
                event = self.job.control.event() => match event {
                    Some(Event::Exited { code }) => self.ended(Some(code), None).await,
                    Some(Event::Signaled { signal }) => self.ended(None, Some(signal)).await,
                    Some(Event::Gone) | None => break,
                    Some(Event::Started { .. } | Event::NoFolder { .. } | Event::NotStarted { .. }) => {}
                },
                (_, bytes) = self.job.output.next() => self.log.write(bytes, &self.status).await,
                () = self.stop.cancelled(), if !stopping => {
                    stopping = true;
                    self.job.control.kill(self.grace);
                }
                () = until(timeout), if !stopping => {
                    stopping = true;
                    self.status.send_modify(|status| status.timed_out = !status.ended);
                    self.job.control.kill(self.grace);
                }
            }
        }
        self.rest().await;
        self.status.send_modify(|status| status.gone = true);
    }

    async fn ended(&mut self, code: Option<i32>, signal: Option<i32>) {
        self.rest().await;
        self.status.send_modify(|status| {
            status.ended = true;
            status.code = code;
            status.signal = signal;
        });
    }

    /// What an ended process left in its pipes.
    async fn rest(&mut self) {
        let mut rest = Vec::new();
        self.job.output.take_rest(1 << 20, |_, bytes| rest.extend_from_slice(bytes));
        self.log.write(&rest, &self.status).await;
    }
}

/// The output file: its beginning stays, and of what comes later the newest part. It
/// grows to the sum of the cap and is then cut to the beginning and half of the rest, so
/// that a command which never stops writing costs no more than that.
#[derive(Debug)]
struct Log {
    file: File,
    head: u64,
    tail: u64,
    /// Bytes in the file.
    len: u64,
    /// Bytes that were cut out of the middle.
    cut: u64,
    /// Where the line that says so ends, once there is one.
    mark: u64,
}

impl Log {
    fn new(file: File, cap: OutputCap) -> Self {
        Self { file, head: cap.head as u64, tail: cap.tail as u64, len: 0, cut: 0, mark: 0 }
    }

    async fn write(&mut self, bytes: &[u8], status: &watch::Sender<Status>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = (self.head + self.tail).saturating_sub(self.len);
            let now = rest.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            let (fits, later) = rest.split_at(now);
            let written = self.append(fits).await;
            if written.is_err() || (now == 0 && self.make_room().await.is_err()) {
                let lost = rest.len() as u64;
                status.send_modify(|status| status.omitted += lost);
                return;
            }
            rest = later;
            status.send_modify(|status| {
                status.written = self.len;
                status.omitted = self.cut;
            });
        }
    }

    async fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.write_all(bytes).await?;
        self.file.flush().await?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Cuts out the middle: the beginning, a line that says so, and the newest half of the
    /// rest stay.
    async fn make_room(&mut self) -> std::io::Result<()> {
        let keep = self.tail / 2;
        let from = self.len - keep;
        let mut newest = vec![0; usize::try_from(keep).map_err(std::io::Error::other)?];
        self.file.seek(SeekFrom::Start(from)).await?;
        self.file.read_exact(&mut newest).await?;
        self.cut += from - self.head.max(self.mark);
        let line = format!("\n[... {} bytes were left out here ...]\n", self.cut);
        self.file.set_len(self.head).await?;
        self.file.seek(SeekFrom::Start(self.head)).await?;
        self.file.write_all(line.as_bytes()).await?;
        self.file.write_all(&newest).await?;
        self.file.flush().await?;
        self.mark = self.head + line.len() as u64;
        self.len = self.mark + keep;
        Ok(())
    }
}
