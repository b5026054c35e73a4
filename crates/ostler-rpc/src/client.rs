//! A client of the protocol over any pair of streams.
//!
//! One task reads, one writes whole lines; dropping the client ends both. Lines that make no
//! sense are skipped. It retries nothing and knows no time limits: callers do.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use ostler_protocol::{Event, RpcError};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::{Notify, mpsc, oneshot},
    task::JoinSet,
};

use crate::{
    call::Id,
    lines::{Line, LineReader},
    reply::{Reply, decode_reply, request_line},
};

/// Calls that wait to be written; more wait in their callers.
const WRITE_QUEUE: usize = 64;

/// Events that wait to be read; above it the oldest are lost, and the reader is told.
const EVENT_QUEUE: usize = 65_536;

/// Why a call gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The server answered an error.
    #[error("{}", .0.message)]
    Rpc(RpcError),
    /// The server is gone; whether it did what was asked is not known.
    #[error("the connection to the server is closed; start it again")]
    Closed,
    /// The answer is not what the method gives.
    #[error(
        "the answer to `{method}` makes no sense: {source}; client and server are of different versions"
    )]
    Answer {
        /// The method.
        method: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// What comes without having been asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// An event.
    Event(Box<Event>),
    /// So many events were lost, because they were not read in time: look at the sessions again.
    Lost(u64),
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    heard: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<Id, oneshot::Sender<Result<Value, RpcError>>>,
    events: VecDeque<Box<Event>>,
    lost: u64,
    closed: bool,
}

impl Shared {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, reply: Reply) {
        let mut state = self.state();
        match reply {
            Reply::Response { id: Some(id), answer } => {
                if let Some(waiting) = state.waiting.remove(&id) {
                    // The caller may have stopped waiting.
                    waiting.send(answer).unwrap_or_default();
                }
            }
            Reply::Event(event) => {
                if state.events.len() >= EVENT_QUEUE {
                    state.events.pop_front();
                    state.lost += 1;
                }
                state.events.push_back(event);
                drop(state);
                self.heard.notify_one();
            }
            Reply::Response { id: None, .. } | Reply::Skipped => {}
        }
    }

    fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.waiting.clear();
        drop(state);
        self.heard.notify_one();
    }
}

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    shared: Arc<Shared>,
    lines: mpsc::Sender<String>,
    last_id: AtomicU64,
    _tasks: JoinSet<()>,
}

/// The events of a connection, in order.
#[derive(Debug)]
pub struct EventStream(Arc<Shared>);

impl Client {
    /// Talks over these streams. Needs a tokio runtime.
    pub fn connect(
        input: impl AsyncRead + Unpin + Send + 'static,
        output: impl AsyncWrite + Unpin + Send + 'static,
    ) -> (Self, EventStream) {
        let shared = Arc::new(Shared::default());
        let (lines, queue) = mpsc::channel(WRITE_QUEUE);
        let mut tasks = JoinSet::new();
        tasks.spawn(read(input, Arc::clone(&shared)));
        tasks.spawn(write(output, queue, Arc::clone(&shared)));
        let events = EventStream(Arc::clone(&shared));
        (Self { shared, lines, last_id: AtomicU64::new(0), _tasks: tasks }, events)
    }

    /// Calls a method and waits for its answer. Calls may run side by side.
    ///
    /// # Errors
    /// The server's error, a closed connection, or an answer that is not an `R`.
    pub async fn call<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &str,
        params: &P,
    ) -> Result<R, CallError> {
        let of_answer = |source| CallError::Answer { method: method.to_owned(), source };
        let params = serde_json::to_value(params).map_err(of_answer)?;
        let id = Id::from(self.last_id.fetch_add(1, Ordering::Relaxed) + 1);
        let line = request_line(&id, method, &params);
        let (sender, answer) = oneshot::channel();
        {
            let mut state = self.shared.state();
            if state.closed {
                return Err(CallError::Closed);
            }
            state.waiting.insert(id, sender);
        }
        self.lines.send(line).await.map_err(|_| CallError::Closed)?;
        let result = answer.await.map_err(|_| CallError::Closed)?.map_err(CallError::Rpc)?;
        serde_json::from_value(result).map_err(of_answer)
    }
}

impl EventStream {
    /// The next event; `None` once the connection is closed and all are read.
    pub async fn next(&mut self) -> Option<Heard> {
        loop {
            let heard = self.0.heard.notified();
            {
                let mut state = self.0.state();
                if state.lost > 0 {
                    return Some(Heard::Lost(std::mem::take(&mut state.lost)));
                }
                if let Some(event) = state.events.pop_front() {
                    return Some(Heard::Event(event));
                }
                if state.closed {
                    return None;
                }
            }
            heard.await;
        }
    }
}

async fn read(input: impl AsyncRead + Unpin, shared: Arc<Shared>) {
    let mut lines = LineReader::new(input);
    while let Ok(Some(line)) = lines.next().await {
        if let Line::Bytes(bytes) = line {
            shared.take(decode_reply(bytes));
        }
    }
    shared.close();
}

async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<String>,
    shared: Arc<Shared>,
) {
    while let Some(mut line) = queue.recv().await {
        line.push('\n');
        let written = output.write_all(line.as_bytes()).await.is_ok();
        if !written || output.flush().await.is_err() {
            // Nothing that was asked will be answered, though the server may still talk.
            return shared.close();
        }
    }
}

#[cfg(test)]
mod tests;
