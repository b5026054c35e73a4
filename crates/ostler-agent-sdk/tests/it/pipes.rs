//! A host of the Agent SDK's protocol: pipes, a home to throw away, a scripted model.

use std::path::PathBuf;

use ostler_host::{Environment, Host, HostOptions};
use ostler_test::TempHome;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream},
    task::JoinHandle,
};

/// Tells the runtime's time, which a test can pause and move.
#[derive(Debug)]
struct RuntimeClock(tokio::time::Instant);

impl ostler_stdx::Clock for RuntimeClock {
    fn now_ms(&self) -> i64 {
        1_800_000_000_000 + i64::try_from(self.0.elapsed().as_millis()).unwrap()
    }
}

/// Both ends of a run.
pub(crate) struct Pipes {
    pub(crate) home: TempHome,
    input: Option<DuplexStream>,
    output: BufReader<DuplexStream>,
    errors: DuplexStream,
    door: JoinHandle<u8>,
}

/// What is left when the process has ended.
pub(crate) struct End {
    pub(crate) status: u8,
    pub(crate) frames: Vec<Value>,
    pub(crate) stderr: String,
    pub(crate) home: TempHome,
}

const FILES: &str = "=== greet.sh\necho Helo\n";

impl Pipes {
    /// A process that plays these replies.
    pub(crate) fn start(args: &[&str], replies: Value) -> Self {
        Self::start_in(TempHome::with_project(FILES).unwrap(), args, &[], replies)
    }

    pub(crate) fn start_in(
        home: TempHome,
        args: &[&str],
        env: &[(&str, &str)],
        replies: Value,
    ) -> Self {
        let scenario = home.home().join("test.scenario.json");
        std::fs::write(&scenario, json!({"name": "test", "replies": replies}).to_string()).unwrap();
        let folders =
            home.env().into_iter().map(|(name, path)| (name.into(), path.into_os_string()));
        let more = env.iter().map(|(name, value)| (name.into(), value.into()));
        let path = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        let env = Environment::new(folders.chain(more).chain(path), home.project());
        let mut options = HostOptions::new(env, std::env::current_exe().unwrap());
        options.clock = std::sync::Arc::new(RuntimeClock(tokio::time::Instant::now()));
        let host = Host::open(options);
        let model = format!("--model=scripted:{}", scenario.display());
        let base = [
            "--output-format",
            "stream-json",
            "--verbose",
            "--input-format",
            "stream-json",
            &model,
        ];
        let words: Vec<_> = base.iter().chain(args).map(std::ffi::OsString::from).collect();
        let args = ostler_agent_sdk::parse(&words).unwrap();
        let (input, stdin) = tokio::io::duplex(1 << 20);
        let (stdout, output) = tokio::io::duplex(1 << 20);
        let (stderr, errors) = tokio::io::duplex(1 << 20);
        let door = tokio::spawn(ostler_agent_sdk::serve(host, args, stdin, stdout, stderr));
        Self { home, input: Some(input), output: BufReader::new(output), errors, door }
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        self.send_line(&frame.to_string()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// A prompt as the Python SDK writes it.
    pub(crate) async fn prompt(&mut self, text: &str) {
        self.send(user(text)).await;
    }

    pub(crate) async fn request(&mut self, id: &str, request: Value) {
        self.send(json!({"type": "control_request", "request_id": id, "request": request})).await;
    }

    /// Sends a request and gives its answer; frames before it are dropped.
    pub(crate) async fn asked(&mut self, request: Value) -> Value {
        self.request("host-1", request).await;
        self.until("control_response").await.pop().unwrap()["response"].clone()
    }

    /// Answers a request of the agent.
    pub(crate) async fn answer(&mut self, request: &Value, response: Value) {
        let response = json!({"subtype": "success", "request_id": request["request_id"], "response": response});
        self.send(json!({"type": "control_response", "response": response})).await;
    }

    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let bytes = self.output.read_line(&mut line).await.unwrap();
        assert!(line.len() < 1 << 20, "a line of {bytes} bytes ends a Python host");
        (bytes > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Frames up to and with one of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
            if frames.last().unwrap()["type"] == kind {
                return frames;
            }
        }
        panic!("no frame `{kind}` came: {frames:#?}");
    }

    /// Closes the input.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Closes the input and waits for the end.
    pub(crate) async fn end(mut self) -> End {
        self.close();
        self.wait().await
    }

    /// Waits for the end, whatever the input does.
    pub(crate) async fn wait(mut self) -> End {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        let status = self.door.await.unwrap();
        let mut stderr = String::new();
        self.errors.read_to_string(&mut stderr).await.unwrap();
        End { status, frames, stderr, home: self.home }
    }
}

impl End {
    /// The records of the only session.
    pub(crate) fn transcript(&self) -> Vec<Value> {
        let files = self.transcripts();
        assert_eq!(files.len(), 1);
        let text = std::fs::read_to_string(&files[0]).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn transcripts(&self) -> Vec<PathBuf> {
        transcripts(&self.home)
    }
}

pub(crate) fn transcripts(home: &TempHome) -> Vec<PathBuf> {
    let projects = home.claude_config_dir().join("projects");
    let folders = std::fs::read_dir(projects).into_iter().flatten().flatten();
    folders
        .flat_map(|folder| std::fs::read_dir(folder.path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect()
}

/// A prompt as the Python SDK writes it.
pub(crate) fn user(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null, "session_id": "default"})
}

/// What each frame is, in short: `system/init`, `assistant text`, `user`, `result`.
pub(crate) fn kinds(frames: &[Value]) -> Vec<String> {
    let kind = |frame: &Value| {
        let kind = frame["type"].as_str().unwrap();
        match kind {
            "system" => format!("system/{}", frame["subtype"].as_str().unwrap()),
            "assistant" => {
                format!("assistant {}", frame["message"]["content"][0]["type"].as_str().unwrap())
            }
            "stream_event" => frame["event"]["type"].as_str().unwrap().to_owned(),
            _ => kind.to_owned(),
        }
    };
    frames.iter().map(kind).collect()
}

/// The only frame of a type.
pub(crate) fn only<'a>(frames: &'a [Value], kind: &str) -> &'a Value {
    let mut found = frames.iter().filter(|frame| frame["type"] == kind);
    let first = found.next().unwrap_or_else(|| panic!("no `{kind}` in {frames:#?}"));
    assert_eq!(found.next(), None);
    first
}
