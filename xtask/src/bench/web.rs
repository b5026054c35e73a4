//! A client of `ostler web`: calls by POST, events by server-sent events, as much HTTP as that
//! takes. Like [`super::talk`] it parses nothing while the time runs.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::measure::Process;
use super::start::contains;
use super::talk::Heard;

/// A running `ostler web`; killed when this is dropped.
#[derive(Debug)]
pub(super) struct Web {
    child: Child,
    address: String,
    token: String,
}

/// What ends the events of a run.
const DONE: &[u8] = b"\"type\":\"done\"";

impl Web {
    /// Starts it and waits for its opening link.
    pub(super) fn start(process: &Process, home: &Path) -> Result<Self> {
        let mut child = process.command().spawn_to_talk()?;
        let output = child.stdout.take().context("a pipe was asked for")?;
        let mut web = Self { child, address: String::new(), token: String::new() };
        let mut link = String::new();
        BufReader::new(output).read_line(&mut link)?;
        let host = link.split("//").nth(1).and_then(|rest| rest.split('/').next());
        host.with_context(|| format!("`{link}` is no link"))?.trim().clone_into(&mut web.address);
        let token = home.join("web-token");
        let token = std::fs::read_to_string(&token)
            .with_context(|| format!("cannot read `{}`", token.display()))?;
        token.trim().clone_into(&mut web.token);
        Ok(web)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Starts a session and gives its id.
    pub(super) fn start_session(&self) -> Result<String> {
        let answer = self.call("session.start", &json!({}))?;
        let id = answer["result"]["sessionId"].as_str();
        Ok(id.with_context(|| format!("no session was started: {answer}"))?.to_owned())
    }

    /// Sends a message to a session and reads its events to the end of the run.
    pub(super) fn send(&self, session: &str) -> Result<Heard> {
        let mut events = self.open(&format!("GET /events?sessionId={session}"), "")?;
        let head = read_until(&mut events, b": connected", &mut |_| {})?;
        ensure!(head.starts_with(b"HTTP/1.1 200"), "`{}`", String::from_utf8_lossy(&head));
        let params = json!({"sessionId": session, "message": "hi"});
        std::thread::scope(|scope| {
            let sent = scope.spawn(|| self.call("session.send", &params));
            let mut first = None;
            let text = read_until(&mut events, DONE, &mut |now| first = first.or(Some(now)))?;
            let end = Instant::now();
            let answer = sent.join().ok().context("the sending thread failed")??;
            ensure!(answer["result"]["success"] == true, "the run failed: {answer}");
            Ok(Heard { text, first: first.unwrap_or(end), end })
        })
    }

    fn call(&self, method: &str, params: &Value) -> Result<Value> {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut stream = self.open("POST /api", &call.to_string())?;
        let mut text = Vec::new();
        stream.read_to_end(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let (head, body) = text.split_once("\r\n\r\n").context("no HTTP answer came")?;
        let start = body.find('{').with_context(|| format!("`{head}` has no JSON"))?;
        let end = body.rfind('}').map_or(body.len(), |at| at + 1);
        serde_json::from_str(&body[start..end]).with_context(|| format!("`{method}`: {text}"))
    }

    fn open(&self, what: &str, body: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.address)
            .with_context(|| format!("cannot connect to `{}`", self.address))?;
        stream.set_nodelay(true)?;
        let (host, token, length) = (&self.address, &self.token, body.len());
        let head = format!(
            "{what} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n"
        );
        stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
        Ok(stream)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        // It serves until it is told to end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads until `mark` is near the end of what came; `on_piece` is told when each piece came.
fn read_until(
    stream: &mut impl Read,
    mark: &[u8],
    on_piece: &mut impl FnMut(Instant),
) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut piece = vec![0; 256 * 1024];
    loop {
        let length = stream.read(&mut piece)?;
        on_piece(Instant::now());
        ensure!(length > 0, "the stream ended after `{}`", String::from_utf8_lossy(&text));
        text.extend_from_slice(&piece[..length]);
        let near_end = text.len().saturating_sub(2048);
        if contains(&text[near_end..], mark) {
            return Ok(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_stops_at_the_mark_or_says_that_it_did_not_come() {
        let mut stream = &b"event {\"type\":\"done\"}"[..];
        let mut pieces = 0;
        let text = read_until(&mut stream, DONE, &mut |_| pieces += 1).unwrap();
        assert_eq!((text.len(), pieces), (21, 1));
        let error = read_until(&mut &b"half"[..], DONE, &mut |_| {}).unwrap_err();
        assert_eq!(error.to_string(), "the stream ended after `half`");
    }
}
