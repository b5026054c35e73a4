//! JSON-RPC lines on a pair of streams (ipc.md 1.1): `ostler serve`.
//!
//! Answers go through the same queue as events, so that one writer gives both out in the
//! order in which they came about: `done` before the answer to its `session.send`.
//! Nothing but protocol lines is ever written.

use std::{
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use ostler_host::{
    Host, Published,
    outlet::{Outlet, Slow},
};
use ostler_protocol::{
    RpcError,
    methods::{Caller, TransportKind},
};
use ostler_rpc::{Call, Id, Line, LineReader, decode_call, error_line, response_line};
use ostler_stdx::Cancel;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    task::JoinSet,
    time::{Instant, timeout, timeout_at},
};

use crate::{
    MAX_CALLS,
    attached::Attached,
    call::{SEND, call, too_many},
};

/// Bytes that are collected before they are written at once.
const BATCH_BYTES: usize = 256 << 10;

/// How long calls that are no runs may take to end once the input has ended.
const CALLS_GRACE: Duration = Duration::from_secs(1);

/// How long the end of runs may take after that.
const RUNS_GRACE: Duration = Duration::from_millis(3500);

/// When what is left to write is given up, if nobody reads it (R-10 says 5 s).
const WRITE_GRACE: Duration = Duration::from_millis(4800);

/// Serves until the input ends or the output breaks; then ends the host's runs and gives out
/// what is left, within 5 s.
pub async fn serve_stdio(
    host: Host,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
) {
    serve_stdio_until(host, input, output, &Cancel::new()).await;
}

/// The same, and ends as well when `stop` is cancelled.
pub async fn serve_stdio_until(
    host: Host,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    stop: &Cancel,
) {
    static DOORS: AtomicU64 = AtomicU64::new(0);
    let client = format!("stdio-{}", DOORS.fetch_add(1, Ordering::Relaxed));
    let attached = Attached::new(host.clone(), client.clone(), Slow::Wait, true);
    let events = attached.events().clone();
    let caller = Caller { client, transport: TransportKind::Stdio };
    let stop = stop.child();
    let reading = async {
        let mut door = Door {
            host,
            caller,
            events: events.clone(),
            calls: JoinSet::new(),
            runs: JoinSet::new(),
        };
        door.read(LineReader::new(input), &stop).await;
        let deadline = Instant::now() + WRITE_GRACE;
        door.finish().await;
        events.close();
        deadline
    };
    let writing = async {
        if let Err(error) = write(&events, output).await {
            tracing::info!(%error, "the output is closed");
            events.close();
            stop.cancel();
        }
    };
    tokio::pin!(reading, writing);
    tokio::select! {
        deadline = &mut reading => {
            if timeout_at(deadline, writing).await.is_err() {
                tracing::warn!("nobody reads the output");
            }
        }
        () = &mut writing => {
            reading.await;
        }
    }
    drop(attached);
}

struct Door {
    host: Host,
    caller: Caller,
    events: Outlet<Published>,
    calls: JoinSet<()>,
    runs: JoinSet<()>,
}

impl Door {
    async fn read(&mut self, mut lines: LineReader<impl AsyncRead + Unpin>, stop: &Cancel) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                Some(_) = self.calls.join_next() => {}
                Some(_) = self.runs.join_next() => {}
                line = lines.next() => match line {
                    Ok(Some(Line::Bytes(bytes))) => {
                        let line = decode_call(bytes);
                        self.take(line).await;
                    }
                    Ok(Some(Line::TooLong(bytes))) => {
                        tracing::warn!(bytes, "an over-long line was passed over");
                    }
                    Ok(None) => return,
                    Err(error) => {
                        tracing::warn!(%error, "the input cannot be read");
                        return;
                    }
                },
            }
        }
    }

    async fn take(&mut self, line: Call) {
        match line {
            Call::Request { id, .. } if self.calls.len() + self.runs.len() >= MAX_CALLS => {
                say(&self.events, response_line(&id, &Err(too_many(MAX_CALLS))));
            }
            Call::Request { id, method, params } => self.start(Some(id), method, params).await,
            Call::Notification { method, params } => self.start(None, method, params).await,
            Call::Invalid { id, error } => say(&self.events, error_line(id.as_ref(), &error)),
            Call::Garbage(error) => tracing::warn!(%error, "a line was dropped"),
        }
    }

    /// Starts a call here, so that calls begin in the order of their lines, and leaves it to
    /// a task of its own where it first waits.
    async fn start(&mut self, id: Option<Id>, method: String, params: Option<Value>) {
        let is_run = method == SEND;
        let (host, caller, events) = (self.host.clone(), self.caller.clone(), self.events.clone());
        let work = async move {
            let answer = call(&host, &caller, &method, params).await;
            match id {
                Some(id) => say(&events, response_line(&id, &answer)),
                None => note(&method, &answer),
            }
        };
        let mut work: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(work);
        if futures::poll!(work.as_mut()).is_pending() {
            let set = if is_run { &mut self.runs } else { &mut self.calls };
            set.spawn(work);
        }
    }

    /// Gives calls a moment, ends runs, and leaves no task behind.
    async fn finish(&mut self) {
        let calls = async { while self.calls.join_next().await.is_some() {} };
        let in_time = timeout(CALLS_GRACE, calls).await.is_ok();
        let runs = async {
            self.host.shutdown().await;
            while self.runs.join_next().await.is_some() {}
            while self.calls.join_next().await.is_some() {}
        };
        if timeout(RUNS_GRACE, runs).await.is_err() || !in_time {
            tracing::warn!("some requests did not end in time");
        }
        self.calls.shutdown().await;
        self.runs.shutdown().await;
    }
}

/// The failure of a call that wants no answer.
fn note(method: &str, answer: &Result<Value, RpcError>) {
    if let Err(error) = answer {
        tracing::info!(method, %error, "a notification failed");
    }
}

/// Queues a line behind the events that came about before it.
fn say(events: &Outlet<Published>, line: String) {
    let bytes = line.len();
    events.push(Published { seq: 0, session_id: None, json: line.into() }, bytes);
}

/// Writes whole lines, as many at once as there are, until the queue is closed and empty.
async fn write(
    events: &Outlet<Published>,
    mut output: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    let mut batch: Vec<u8> = Vec::with_capacity(BATCH_BYTES);
    while let Some(first) = events.next().await {
        let mut next = Some(first);
        while let Some(line) = next.take() {
            batch.extend_from_slice(line.json.as_bytes());
            batch.push(b'\n');
            if batch.len() < BATCH_BYTES {
                next = events.try_next();
            }
        }
        output.write_all(&batch).await?;
        batch.clear();
        batch.shrink_to(BATCH_BYTES);
        if events.is_empty() {
            output.flush().await?;
        }
    }
    output.flush().await
}
