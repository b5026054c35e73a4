//! A command that was started: its control socket and its pipes. Knows nothing of
//! limits and of what is done with the output.

use std::{
    io::{self, PipeReader},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixStream, unix::pipe},
    task::JoinSet,
};

use crate::{
    Command, Error, Stream, Supervisor, sys,
    wire::{self, EVENT_LEN, Event, Request},
};

/// Bytes read at once.
const CHUNK: usize = 32 << 10;

/// A running command. Dropping it makes its keeper kill the whole tree.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) pid: i32,
    pub(crate) control: Control,
    pub(crate) output: Output,
    input: Input,
}

/// The writing end of a command's standard input.
#[derive(Debug)]
pub(crate) enum Input {
    /// Filled with what the command was given; ends with the job.
    Filling(#[expect(dead_code, reason = "held for its drop, which ends the filling")] JoinSet<()>),
    /// The caller's to write to.
    Open(pipe::Sender),
}

/// Our end of the input, and the command's, if it gets any.
type InputPipe = (Input, Option<PipeReader>);

impl Job {
    /// Starts `command`; its program runs when this returns.
    pub(crate) async fn start(supervisor: &Supervisor, command: &Command) -> Result<Self, Error> {
        Self::start_with(supervisor, command, filled).await
    }

    /// Starts `command` with an input that stays open, which is given beside the job.
    pub(crate) async fn start_open(
        supervisor: &Supervisor,
        command: &Command,
    ) -> Result<(Self, Option<pipe::Sender>), Error> {
        let job = Self::start_with(supervisor, command, |_| open()).await?;
        let (pid, control, output) = (job.pid, job.control, job.output);
        let stdin = match job.input {
            Input::Open(sender) => Some(sender),
            Input::Filling(_) => None,
        };
        Ok((Self { pid, control, output, input: Input::Filling(JoinSet::new()) }, stdin))
    }

    async fn start_with(
        supervisor: &Supervisor,
        command: &Command,
        input: fn(&Command) -> io::Result<InputPipe>,
    ) -> Result<Self, Error> {
        let request = Request::new(command)?;
        let failed = |source| Error::Pipes { program: command.program.clone(), source };
        let lost = |_| Error::Lost { program: command.program.clone() };
        let (stdout, stdout_end) = io::pipe().map_err(failed)?;
        let (stderr, stderr_end) = io::pipe().map_err(failed)?;
        let output = Output::new(stdout, stderr).map_err(failed)?;
        let (input, input_end) = input(command).map_err(failed)?;

        let keeper = supervisor.keeper(failed).await?;
        keeper.set_nonblocking(true).map_err(failed)?;
        let mut control = Control::new(UnixStream::from_std(keeper).map_err(failed)?);
        let ends: Vec<BorrowedFd<'_>> = [Some(stdout_end.as_fd()), Some(stderr_end.as_fd())]
            .into_iter()
            .chain([command.side.as_deref().map(AsFd::as_fd)])
            .chain([input_end.as_ref().map(AsFd::as_fd)])
            .flatten()
            .collect();
        control.request(&request, &ends).await.map_err(lost)?;
        drop((stdout_end, stderr_end, input_end));

        let os_error = io::Error::from_raw_os_error;
        let program = || wire::os_string(&request.program);
        match control.event().await {
            Some(Event::Started { pid }) => Ok(Self { pid, control, output, input }),
            Some(Event::NoFolder { errno }) => {
                Err(Error::Folder { cwd: command.cwd.clone(), source: os_error(errno) })
            }
            Some(Event::NotStarted { errno }) => match os_error(errno) {
                source if source.kind() == io::ErrorKind::NotFound => {
                    Err(Error::NotFound { program: program() })
                }
                source => Err(Error::Start { program: program(), source }),
            },
            Some(Event::Exited { .. } | Event::Signaled { .. } | Event::Gone) | None => {
                Err(Error::Lost { program: program() })
            }
        }
    }
}

/// A pipe whose writing end stays open.
fn open() -> io::Result<InputPipe> {
    let (reader, writer) = io::pipe()?;
    let writer = pipe::Sender::from_owned_fd(OwnedFd::from(writer))?;
    Ok((Input::Open(writer), Some(reader)))
}

/// The pipe for the command's own input and the task that fills it.
fn filled(command: &Command) -> io::Result<InputPipe> {
    let mut tasks = JoinSet::new();
    let Some(bytes) = command.input.clone() else { return Ok((Input::Filling(tasks), None)) };
    let (reader, writer) = io::pipe()?;
    let mut writer = pipe::Sender::from_owned_fd(OwnedFd::from(writer))?;
    tasks.spawn(async move {
        // A command that does not read its input is free not to.
        drop(writer.write_all(&bytes).await);
    });
    Ok((Input::Filling(tasks), Some(reader)))
}

/// The socket to a command's keeper.
#[derive(Debug)]
pub(crate) struct Control {
    socket: UnixStream,
    bytes: [u8; EVENT_LEN],
    filled: usize,
}

impl Control {
    fn new(socket: UnixStream) -> Self {
        Self { socket, bytes: [0; EVENT_LEN], filled: 0 }
    }

    async fn request(&mut self, request: &Request, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let body = request.encode();
        let len = u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes();
        // The socket is new and empty, so that these few bytes have room at once.
        let sent = sys::send(&self.socket, &len, fds)?;
        self.socket.write_all(&len[sent..]).await?;
        self.socket.write_all(&body).await
    }

    /// The next event; `None` when the keeper is gone. Safe to drop and call again.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        while self.filled < EVENT_LEN {
            match self.socket.read(&mut self.bytes[self.filled..]).await {
                Ok(0) | Err(_) => return None,
                Ok(len) => self.filled += len,
            }
        }
        self.filled = 0;
        Event::decode(self.bytes)
    }

    /// Orders the whole tree killed: TERM now, KILL after `grace`. A keeper that does
    /// not take the order is gone, or loses its socket soon.
    pub(crate) fn kill(&self, grace: Duration) {
        drop(self.socket.try_write(&wire::encode_kill(grace)));
    }
}

/// The output pipes of a command, read as it comes.
#[derive(Debug)]
pub(crate) struct Output {
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    chunk: Vec<u8>,
}

impl Output {
    fn new(stdout: PipeReader, stderr: PipeReader) -> io::Result<Self> {
        let receiver = |end| pipe::Receiver::from_owned_fd(OwnedFd::from(end)).map(Some);
        Ok(Self { stdout: receiver(stdout)?, stderr: receiver(stderr)?, chunk: vec![0; CHUNK] })
    }

    /// Both streams, to be read apart.
    pub(crate) fn into_streams(self) -> (Option<pipe::Receiver>, Option<pipe::Receiver>) {
        (self.stdout, self.stderr)
    }

    /// Whether both streams ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Some output, in the order it came; empty when a stream ended. Waits for ever
    /// once both did. Safe to drop and call again.
    pub(crate) async fn next(&mut self) -> (Stream, &[u8]) {
        let (stream, len) = loop {
            let stream = tokio::select! {
                () = readable(self.stdout.as_ref()) => Stream::Stdout,
                () = readable(self.stderr.as_ref()) => Stream::Stderr,
            };
            if let Some(len) = self.try_read(stream) {
                break (stream, len);
            }
        };
        (stream, &self.chunk[..len])
    }

    /// What lies in a pipe now, `most` bytes at most, without waiting.
    pub(crate) fn take_rest(&mut self, most: usize, mut take: impl FnMut(Stream, &[u8])) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let mut taken = 0;
            while let Some(len @ 1..) = self.try_read(stream) {
                take(stream, &self.chunk[..len]);
                taken += len;
                if taken >= most {
                    break;
                }
            }
        }
    }

    /// Bytes read into the chunk; zero at the end; `None` if there is nothing now.
    fn try_read(&mut self, stream: Stream) -> Option<usize> {
        let slot = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        match slot.as_ref()?.try_read(&mut self.chunk) {
            Ok(len @ 1..) => Some(len),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Ok(0) | Err(_) => {
                *slot = None;
                Some(0)
            }
        }
    }
}

async fn readable(pipe: Option<&pipe::Receiver>) {
    match pipe {
        // An error shows when the pipe is read.
        Some(pipe) => drop(pipe.readable().await),
        None => std::future::pending().await,
    }
}
