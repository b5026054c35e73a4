//! One language server that runs: its process, the requests that wait for an answer, what
//! it published, and what it asks of us. Every wait has an end; a server that crashes,
//! hangs or writes nonsense gives an error and never more than bounded memory.

mod inbox;

use std::{ffi::OsString, sync::Arc, time::Duration};

use ostler_sandbox::{Command, Piped};
use ostler_stdx::AbsPath;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::unix::pipe::{Receiver, Sender},
    sync::mpsc,
    task::JoinSet,
};

use self::inbox::Inbox;
use crate::{
    hands::Hands,
    lsp::{
        documents::Documents,
        frames::{Frame, Frames, frame},
    },
};

/// Bytes of one message that are taken.
const MESSAGE: usize = 16 << 20;
/// Messages that wait to be written; who wants to write more waits too.
const QUEUE: usize = 16;
/// A server that nobody asked for so long is ended.
const IDLE: Duration = Duration::from_secs(15 * 60);
/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(60);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error("it did not answer within {0} s")]
    TimedOut(u64),
    #[error("{0}")]
    Ended(String),
    #[error("it answered with an error: {message}")]
    Refused { code: i64, message: String },
    #[error("its answer of {0} MB is too large")]
    TooLarge(usize),
    #[error("its answer is not JSON")]
    NoJson,
}

/// A server that was started. Dropping it kills its whole tree.
#[derive(Debug)]
pub(crate) struct Client {
    /// Its program, for people.
    pub(crate) name: String,
    pub(crate) capabilities: Value,
    pub(crate) documents: tokio::sync::Mutex<Documents>,
    inbox: Arc<Inbox>,
    request: Duration,
    _tasks: JoinSet<()>,
}

impl Client {
    /// Starts a server and greets it.
    pub(crate) async fn start(
        line: &[OsString],
        root: &AbsPath,
        hands: &Hands,
    ) -> Result<Self, Failure> {
        let ended = |why: String| Failure::Ended(why);
        let (program, args) =
            line.split_first().ok_or_else(|| ended("its command is empty".to_owned()))?;
        let command = Command::new(program, root.clone()).args(args).env(hands.env.clone());
        let mut piped = hands
            .supervisor
            .spawn_piped(&command)
            .await
            .map_err(|error| ended(format!("it did not start: {error}")))?;
        let (Some(stdin), Some(stdout)) = (piped.stdin.take(), piped.stdout.take()) else {
            return Err(ended("it has no pipes".to_owned()));
        };
        let (out, queue) = mpsc::channel(QUEUE);
        let inbox = Arc::new(Inbox::new(out, root));
        let mut tasks = JoinSet::new();
        tasks.spawn(write(stdin, queue));
        tasks.spawn(read(piped, stdout, Arc::clone(&inbox)));
        let name = AsRef::<std::path::Path>::as_ref(program).file_name().unwrap_or(program);
        let mut client = Self {
            name: name.to_string_lossy().into_owned(),
            capabilities: Value::Null,
            documents: tokio::sync::Mutex::default(),
            inbox,
            request: Duration::from_millis(hands.limits.lsp_request_ms),
            _tasks: tasks,
        };
        let limit = Duration::from_millis(hands.limits.lsp_start_ms);
        let answer = client.ask("initialize", greeting(root), limit).await?;
        client.capabilities = answer.get("capabilities").cloned().unwrap_or_default();
        client.tell("initialized", json!({})).await?;
        Ok(client)
    }

    /// Why it ended, if it did; whether of itself.
    pub(crate) fn ended(&self) -> Option<(String, bool)> {
        self.inbox.ended()
    }

    /// Sends a request and waits for its answer. If the wait is dropped or takes too
    /// long, the server is told that nobody waits any more.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, Failure> {
        self.ask(method, params, self.request).await
    }

    async fn ask(&self, method: &str, params: Value, limit: Duration) -> Result<Value, Failure> {
        self.inbox.touch();
        let (waiting, answer) = self.inbox.expect();
        let message =
            json!({"jsonrpc": "2.0", "id": waiting.id, "method": method, "params": params});
        let answered = async {
            self.send(&message).await?;
            answer.await.unwrap_or_else(|_| {
                Err(Failure::Ended(self.ended().map_or_else(String::new, |(why, _)| why)))
            })
        };
        match tokio::time::timeout(limit, answered).await {
            Ok(answer) => answer,
            Err(_) => Err(Failure::TimedOut(limit.as_secs())),
        }
    }

    /// Sends a notification.
    pub(crate) async fn tell(&self, method: &str, params: Value) -> Result<(), Failure> {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        match tokio::time::timeout(self.request, self.send(&message)).await {
            Ok(sent) => sent,
            Err(_) => Err(Failure::TimedOut(self.request.as_secs())),
        }
    }

    async fn send(&self, message: &Value) -> Result<(), Failure> {
        let sent = self.inbox.out.send(frame(message.to_string().as_bytes())).await;
        sent.map_err(|_| {
            let why = self.ended().map(|(why, _)| why);
            Failure::Ended(why.unwrap_or_else(|| "it closed its standard input".to_owned()))
        })
    }

    /// What it published about a document since [`Client::listen`], if it did.
    pub(crate) fn published(&self, path: &AbsPath) -> Option<Vec<Value>> {
        self.inbox.published(path)
    }

    /// What it publishes about a document from now on is kept, and nothing from before.
    pub(crate) fn listen(&self, path: &AbsPath) {
        self.inbox.listen(path);
    }

    /// What it publishes about a document is of no interest any more.
    pub(crate) fn forget(&self, path: &AbsPath) {
        self.inbox.forget(path);
    }

    /// Whether it says that it is at work, such as at reading the project; and at what.
    pub(crate) fn busy(&self) -> Option<String> {
        self.inbox.busy()
    }

    /// Waits until `reached` gives something, looking whenever the server said
    /// something; gives up after `limit`.
    pub(crate) async fn wait_for<T>(
        &self,
        limit: Duration,
        mut reached: impl FnMut(&Self) -> Option<T>,
    ) -> Option<T> {
        let mut news = self.inbox.news.subscribe();
        let waited = async {
            loop {
                if let Some(it) = reached(self) {
                    return Some(it);
                }
                if self.ended().is_some() || news.changed().await.is_err() {
                    return None;
                }
            }
        };
        tokio::time::timeout(limit, waited).await.ok().flatten()
    }

    /// How long a request may take.
    pub(crate) fn limit(&self) -> Duration {
        self.request
    }
}

/// What `initialize` says about us. The process id is left out: a server that watches it
/// may stand where our processes are not seen.
fn greeting(root: &AbsPath) -> Value {
    let uri = super::uri(root);
    let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    json!({
        "processId": null,
        "clientInfo": {"name": "ostler", "version": env!("CARGO_PKG_VERSION")},
        "rootPath": root.to_text(),
        "rootUri": uri,
        "workspaceFolders": [{"uri": uri, "name": name}],
        "capabilities": {
            "general": {"positionEncodings": ["utf-16"]},
            "window": {"workDoneProgress": true},
            "workspace": {
                "configuration": true,
                "workspaceFolders": true,
                "symbol": {},
                "didChangeWatchedFiles": {"dynamicRegistration": false},
            },
            "textDocument": {
                "synchronization": {"didSave": true},
                "hover": {"contentFormat": ["markdown", "plaintext"]},
                "definition": {"linkSupport": true},
                "references": {},
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
                "publishDiagnostics": {"versionSupport": true},
                "diagnostic": {},
            },
        },
    })
}

async fn write(mut stdin: Sender, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if stdin.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Reads until the server ends, is of no use any more, or nobody asks it for long.
async fn read(piped: Piped, mut stdout: Receiver, inbox: Arc<Inbox>) {
    let mut frames = Frames::new(MESSAGE);
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = tokio::select! {
            read = stdout.read(&mut chunk) => read,
            () = tokio::time::sleep(LOOK) => {
                if inbox.idle() < IDLE {
                    continue;
                }
                inbox.end("it was not used for a while".to_owned(), false);
                return;
            }
        };
        let Ok(count @ 1..) = read else {
            let status = tokio::time::timeout(Duration::from_secs(1), piped.wait()).await;
            let status = status.unwrap_or_else(|_| piped.status());
            // Its last words may still be on their way.
            drop(tokio::time::timeout(Duration::from_secs(1), piped.kill()).await);
            inbox.end(last_words((status.code, status.signal), &piped.errors()), true);
            return;
        };
        frames.push(&chunk[..count]);
        loop {
            match frames.next() {
                Ok(Some(Frame::Message(body))) => inbox.take(&body),
                Ok(Some(Frame::TooLarge(bytes))) => inbox.fail(&Failure::TooLarge(bytes >> 20)),
                Ok(None) => break,
                Err(garbage) => {
                    inbox.end(garbage.to_string(), true);
                    return;
                }
            }
        }
    }
}

/// How it ended, with what it wrote to standard error last.
fn last_words(end: (Option<i32>, Option<i32>), errors: &str) -> String {
    let how = match end {
        (Some(code), _) => format!("it ended with code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it closed its standard output".to_owned(),
    };
    let errors = crate::plain::strip_controls(errors);
    let said: Vec<&str> = errors.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // What went wrong is mostly said first, and below it where.
    let first = said.iter().find(|line| line.to_lowercase().contains("error")).or(said.last());
    match first {
        Some(line) => format!("{how}: {}", &line[..ostler_stdx::floor_char_boundary(line, 300)]),
        None => how,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_name_the_error() {
        let errors = "info: x\n\u{1b}[31merror: no such component\u{1b}[0m\n  at y\n";
        assert_eq!(
            last_words((Some(1), None), errors),
            "it ended with code 1: error: no such component"
        );
        assert_eq!(last_words((Some(1), None), ""), "it ended with code 1");
        assert_eq!(last_words((None, Some(9)), "a\nb\n"), "it was ended by signal 9: b");
    }
}
