//! A host in a home to throw away, and front ends of both doors.

use std::sync::atomic::{AtomicU64, Ordering};

use ostler_host::{Environment, Host, HostOptions};
use ostler_rpc::{Line, LineReader};
use ostler_server::{Web, WebOptions, serve_stdio, serve_web};
use ostler_test::TempHome;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf, duplex, split},
    task::JoinHandle,
};

/// The last id of a call; calls of all tests share it.
static LAST_ID: AtomicU64 = AtomicU64::new(0);

pub(crate) struct TestHost {
    pub(crate) home: TempHome,
    pub(crate) host: Host,
}

impl TestHost {
    pub(crate) fn new() -> Self {
        let home = TempHome::with_project("=== greet.sh\necho Helo\n").unwrap();
        let vars = home.env().into_iter().map(|(name, value)| (name.into(), value.into()));
        let path = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        let env = Environment::new(vars.chain(path), home.project());
        let mut options = HostOptions::new(env, std::env::current_exe().unwrap());
        // Named here as on a command line: a front end cannot name a scenario file.
        options.model = Some("scripted:test.scenario.json".to_owned());
        Self { home, host: Host::open(options) }
    }

    /// What the model of sessions replies.
    pub(crate) fn replies(&self, replies: Value) {
        let file = self.home.project().join("test.scenario.json");
        std::fs::write(file, json!({"name": "test", "replies": replies}).to_string()).unwrap();
    }

    /// Opens a stdio door.
    pub(crate) fn stdio(&self) -> Lines {
        let (near, far) = duplex(1 << 16);
        let (input, output) = split(far);
        let served = tokio::spawn(serve_stdio(self.host.clone(), input, output));
        let (input, output) = split(near);
        Lines { input: LineReader::new(input), output: Some(output), served }
    }

    /// Opens a web door.
    pub(crate) async fn web(&self) -> Web {
        let options = WebOptions { port: Some(0), ..WebOptions::default() };
        serve_web(self.host.clone(), options).await.unwrap()
    }
}

/// The other end of a stdio door.
pub(crate) struct Lines {
    input: LineReader<ReadHalf<DuplexStream>>,
    output: Option<WriteHalf<DuplexStream>>,
    pub(crate) served: JoinHandle<()>,
}

impl Lines {
    /// Writes bytes as they are.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.output.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    /// Sends a call without waiting, and gives its id.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> u64 {
        let id = LAST_ID.fetch_add(1, Ordering::Relaxed) + 1;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(format!("{line}\n").as_bytes()).await;
        id
    }

    /// The next line, as it is; none at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        match self.input.next().await.unwrap()? {
            Line::Bytes(bytes) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
            Line::TooLong(bytes) => panic!("a line of {bytes} bytes"),
        }
    }

    /// The next line; panics at the end.
    pub(crate) async fn next(&mut self) -> Value {
        serde_json::from_str(&self.line().await.expect("the output has ended")).unwrap()
    }

    /// Lines up to and with the answer to this call.
    pub(crate) async fn until_answer(&mut self, id: u64) -> Vec<Value> {
        let mut lines = vec![self.next().await];
        while lines.last().unwrap()["id"] != id || lines.last().unwrap()["jsonrpc"].is_null() {
            lines.push(self.next().await);
        }
        lines
    }

    /// Lines up to and with an event of this type.
    pub(crate) async fn until_event(&mut self, kind: &str) -> Vec<Value> {
        let mut lines = vec![self.next().await];
        while lines.last().unwrap()["type"] != kind {
            lines.push(self.next().await);
        }
        lines
    }

    /// Calls and gives the answer; events before it are passed over.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.until_answer(id).await.pop().unwrap()
    }

    /// A session with the host's model.
    pub(crate) async fn start(&mut self) -> String {
        let answer = self.call("session.start", json!({})).await;
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Ends the input, and gives what comes until the output ends.
    pub(crate) async fn end(mut self) -> Vec<Value> {
        // The halves of a duplex close together, so the end of the input is said by shutdown.
        let mut output = self.output.take().unwrap();
        output.shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(line) = self.line().await {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        drop(output);
        self.served.await.unwrap();
        rest
    }
}

/// The events of a session.
pub(crate) fn events_of(lines: &[Value], session: &str) -> Vec<Value> {
    let is_of = |line: &&Value| line["seq"].is_u64() && line["sessionId"] == session;
    lines.iter().filter(is_of).cloned().collect()
}

/// The types of events.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["type"].as_str()).collect()
}
