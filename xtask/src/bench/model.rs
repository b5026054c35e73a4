//! A model that costs nothing: a listener on loopback that sends answers written in advance and
//! notes when each request came. It understands no more of HTTP than it must.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

/// A request, and its answer.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    /// When its first bytes came.
    pub(super) came: Instant,
    /// When all of it was there.
    pub(super) read: Instant,
    /// When all of the answer was written.
    pub(super) answered: Instant,
    /// What was asked.
    pub(super) body: Vec<u8>,
}

/// The listener; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Model {
    address: SocketAddr,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct State {
    answers: Vec<Vec<u8>>,
    seen: Mutex<Vec<Exchange>>,
    ends: AtomicBool,
}

impl Model {
    /// Gives these answers, in order, and the last one to all further requests.
    pub(super) fn start(answers: Vec<Vec<u8>>) -> Result<Self> {
        ensure!(!answers.is_empty(), "a model without an answer cannot be asked");
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("cannot listen on loopback")?;
        let address = listener.local_addr()?;
        let seen = Mutex::default();
        let state = Arc::new(State { answers, seen, ends: AtomicBool::new(false) });
        let shared = Arc::clone(&state);
        let accepting = std::thread::spawn(move || accept(&listener, &shared));
        Ok(Self { address, state, accepting: Some(accepting) })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked since the last time; the answers start again.
    pub(super) fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut *self.state.seen())
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.state.ends.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it ends.
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            drop(accepting.join());
        }
    }
}

impl State {
    fn seen(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: &TcpListener, state: &Arc<State>) {
    for connection in listener.incoming() {
        if state.ends.load(Ordering::SeqCst) {
            return;
        }
        let Ok(connection) = connection else { continue };
        let state = Arc::clone(state);
        // It ends with its connection. A client that went away is nobody's mistake here: the
        // bench sees by the missing exchange that something is wrong.
        std::thread::spawn(move || drop(talk(connection, &state)));
    }
}

fn talk(mut connection: TcpStream, state: &State) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(256 * 1024, connection.try_clone()?);
    loop {
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        let came = Instant::now();
        let mut length = 0;
        let mut line = String::new();
        while reader.read_line(&mut line)? > 2 {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let read = Instant::now();
        // Noted before it is answered: the client may end as soon as it has the answer.
        let number = {
            let mut seen = state.seen();
            seen.push(Exchange { came, read, answered: read, body });
            seen.len() - 1
        };
        let answer = &state.answers[number.min(state.answers.len() - 1)];
        connection.write_all(answer)?;
        let answered = Instant::now();
        if let Some(exchange) = state.seen().get_mut(number) {
            exchange.answered = answered;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reply;
    use super::*;

    #[test]
    fn requests_are_answered_in_order_and_noted() {
        let answers = vec![b"one".to_vec(), b"two".to_vec()];
        let model = Model::start(answers).unwrap();
        let mut client = TcpStream::connect(model.address).unwrap();
        for (body, wanted) in [("a", "one"), ("bc", "two"), ("", "two")] {
            let length = body.len();
            write!(client, "POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
            let mut answer = [0; 3];
            client.read_exact(&mut answer).unwrap();
            assert_eq!(answer, wanted.as_bytes());
        }
        let seen = model.take();
        assert_eq!(seen.len(), 3);
        assert_eq!(seen[1].body, b"bc");
        assert!(seen[0].came <= seen[0].read && seen[0].read <= seen[1].came);
        assert!(model.take().is_empty());
    }

    #[test]
    fn model_without_an_answer_is_refused() {
        assert!(Model::start(Vec::new()).is_err());
        assert!(Model::start(vec![reply::words(1)]).is_ok());
    }
}
