//! A client of `ostler serve` that keeps what it reads as bytes until the time is taken: parsing
//! would slow the reader down, and with it the program that is measured.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::measure::Process;
use super::project::MODEL;

/// How an answer's line starts; an event's line has no such member.
const ANSWER: &[u8] = b"{\"jsonrpc\"";

/// A running `ostler serve`; killed when this is dropped, if it has not ended by itself.
#[derive(Debug)]
pub(super) struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    calls: u64,
}

/// What came until the answer to a call.
#[derive(Debug)]
pub(super) struct Heard {
    /// Whole lines, the answer's among them.
    pub(super) text: Vec<u8>,
    /// When the first byte came.
    pub(super) first: Instant,
    /// When the answer was there.
    pub(super) end: Instant,
}

impl Talk {
    pub(super) fn start(process: &Process) -> Result<Self> {
        let mut child = process.command().spawn_to_talk()?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("a pipe was asked for")?;
        Ok(Self { child, input, output, calls: 0 })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Calls a method and reads until its answer.
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Result<(Value, Heard)> {
        self.calls += 1;
        let line = json!({
            "jsonrpc": "2.0", "id": self.calls, "method": method, "params": params,
        });
        let input = self.input.as_mut().context("the input is closed")?;
        input.write_all(format!("{line}\n").as_bytes())?;
        let heard = self.hear().with_context(|| format!("`{method}` was not answered"))?;
        let answer = heard.text.split(|byte| *byte == b'\n').rfind(|line| line.starts_with(ANSWER));
        let mut answer: Value = serde_json::from_slice(answer.context("there is no answer")?)?;
        ensure!(answer["error"].is_null(), "`{method}` failed: {}", answer["error"]);
        ensure!(answer["id"] == self.calls, "the answer belongs to another call: {answer}");
        Ok((answer["result"].take(), heard))
    }

    /// Starts a session and gives its id.
    pub(super) fn start_session(&mut self) -> Result<String> {
        let (provider, model) = MODEL.split_once('/').unwrap_or_default();
        let params = json!({"provider": provider, "model": model});
        let (session, _) = self.call("session.start", &params)?;
        let id = session["sessionId"].as_str();
        Ok(id.with_context(|| format!("no session was started: {session}"))?.to_owned())
    }

    /// Sends a message to a session and reads to the end of its run.
    pub(super) fn send(&mut self, session: &str) -> Result<Heard> {
        let params = json!({"sessionId": session, "message": "hi"});
        let (answer, heard) = self.call("session.send", &params)?;
        ensure!(answer["success"] == true, "the run failed: {answer}");
        Ok(heard)
    }

    fn hear(&mut self) -> Result<Heard> {
        let (mut text, mut first) = (Vec::new(), None);
        let mut piece = vec![0; 256 * 1024];
        loop {
            let length = self.output.read(&mut piece)?;
            let now = Instant::now();
            if length == 0 {
                bail!("it ended after `{}`", String::from_utf8_lossy(&text));
            }
            text.extend_from_slice(&piece[..length]);
            let first = *first.get_or_insert(now);
            if ends_with_answer(&text) {
                return Ok(Heard { text, first, end: now });
            }
        }
    }

    /// Closes the input and waits for the end.
    pub(super) fn end(mut self) -> Result<()> {
        self.input = None;
        ensure!(self.child.wait()?.success(), "`ostler serve` did not end well");
        Ok(())
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // It has ended already, or nobody needs it any more.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Whether the last line is whole and an answer. Looks at the end only.
fn ends_with_answer(text: &[u8]) -> bool {
    let Some(lines) = text.strip_suffix(b"\n") else { return false };
    let start = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    lines[start..].starts_with(ANSWER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_known_by_its_whole_last_line() {
        assert!(ends_with_answer(b"{\"jsonrpc\":\"2.0\",\"id\":1}\n"));
        assert!(ends_with_answer(b"{\"type\":\"done\"}\n{\"jsonrpc\":\"2.0\",\"id\":1}\n"));
        assert!(!ends_with_answer(b"{\"jsonrpc\":\"2.0\",\"id\":1}"));
        assert!(!ends_with_answer(b"{\"type\":\"done\"}\n"));
    }
}
