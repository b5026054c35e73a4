//! What a server says: answers to whom they are for, what it publishes, and answers to
//! what it asks. Holds a bounded amount whatever it says.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use ostler_stdx::AbsPath;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use crate::lsp::{client::Failure, frames::frame, path_of};

/// Findings that are kept of one document.
const FINDINGS: usize = 500;
/// Bytes of what it says that are kept.
const MESSAGE: usize = 4000;
/// Kinds of work that are kept at once.
const WORK: usize = 100;

#[derive(Debug)]
pub(super) struct Inbox {
    pub(super) out: mpsc::Sender<Vec<u8>>,
    /// Counts what came, for who waits for something.
    pub(super) news: watch::Sender<u64>,
    root: AbsPath,
    next: AtomicI64,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: HashMap<i64, oneshot::Sender<Result<Value, Failure>>>,
    /// What was published about the documents that are open.
    published: HashMap<AbsPath, Option<Vec<Value>>>,
    /// What it is at work at, by token.
    work: HashMap<String, String>,
    ended: Option<(String, bool)>,
    used: Option<Instant>,
}

/// A request that waits. When it is dropped unanswered, the server is told.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) id: i64,
    inbox: Arc<Inbox>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let unanswered = self.inbox.lock().waiting.remove(&self.id).is_some();
        if unanswered {
            let params = json!({"id": self.id});
            self.inbox
                .answer(&json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": params}));
        }
    }
}

impl Inbox {
    pub(super) fn new(out: mpsc::Sender<Vec<u8>>, root: &AbsPath) -> Self {
        Self {
            out,
            news: watch::Sender::new(0),
            root: root.clone(),
            next: AtomicI64::new(1),
            inner: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new request, and where its answer comes.
    pub(super) fn expect(self: &Arc<Self>) -> (Waiting, oneshot::Receiver<Result<Value, Failure>>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        let mut inner = self.lock();
        match &inner.ended {
            Some((why, _)) => drop(sender.send(Err(Failure::Ended(why.clone())))),
            None => drop(inner.waiting.insert(id, sender)),
        }
        drop(inner);
        (Waiting { id, inbox: Arc::clone(self) }, receiver)
    }

    /// Nothing more comes.
    pub(super) fn end(&self, why: String, of_itself: bool) {
        let waiting = {
            let mut inner = self.lock();
            inner.ended = Some((why.clone(), of_itself));
            std::mem::take(&mut inner.waiting)
        };
        for sender in waiting.into_values() {
            drop(sender.send(Err(Failure::Ended(why.clone()))));
        }
        self.news.send_modify(|count| *count += 1);
    }

    pub(super) fn ended(&self) -> Option<(String, bool)> {
        self.lock().ended.clone()
    }

    /// Whatever waits gets this: it cannot be told which request the message was for.
    pub(super) fn fail(&self, failure: &Failure) {
        for sender in std::mem::take(&mut self.lock().waiting).into_values() {
            drop(sender.send(Err(failure.clone())));
        }
    }

    pub(super) fn touch(&self) {
        self.lock().used = Some(Instant::now());
    }

    pub(super) fn idle(&self) -> Duration {
        self.lock().used.map_or(Duration::ZERO, |used| used.elapsed())
    }

    pub(super) fn published(&self, path: &AbsPath) -> Option<Vec<Value>> {
        self.lock().published.get(path).cloned().flatten()
    }

    pub(super) fn listen(&self, path: &AbsPath) {
        self.lock().published.insert(path.clone(), None);
    }

    pub(super) fn forget(&self, path: &AbsPath) {
        self.lock().published.remove(path);
    }

    pub(super) fn busy(&self) -> Option<String> {
        self.lock().work.values().min().cloned()
    }

    /// Takes one message.
    pub(super) fn take(&self, body: &[u8]) {
        let Ok(Value::Object(mut message)) = serde_json::from_slice(body) else {
            self.fail(&Failure::NoJson);
            return;
        };
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let id = message.remove("id").filter(|id| !id.is_null());
        let params = message.remove("params").unwrap_or_default();
        match (method, id) {
            (Some(method), Some(id)) => self.answer_request(&method, &params, &id),
            (Some(method), None) => self.notice(&method, params),
            (None, Some(id)) => {
                let result = match message.remove("error") {
                    Some(error) => Err(refused(&error)),
                    None => Ok(message.remove("result").unwrap_or_default()),
                };
                let waiting = number(&id).and_then(|id| self.lock().waiting.remove(&id));
                if let Some(sender) = waiting {
                    drop(sender.send(result));
                }
            }
            (None, None) => {}
        }
        self.news.send_modify(|count| *count += 1);
    }

    /// What a server asks of an editor, answered as one that has no settings and changes
    /// nothing.
    fn answer_request(&self, method: &str, params: &Value, id: &Value) {
        let result = match method {
            "workspace/configuration" => {
                let asked = params["items"].as_array().map_or(0, Vec::len).min(100);
                Some(json!(vec![Value::Null; asked]))
            }
            "workspace/workspaceFolders" => {
                let name = self.root.file_name().unwrap_or_default().to_string_lossy();
                Some(json!([{"uri": crate::lsp::uri(&self.root), "name": name}]))
            }
            "workspace/applyEdit" => {
                Some(json!({"applied": false, "failureReason": "edits are not taken"}))
            }
            "window/showDocument" => Some(json!({"success": false})),
            "client/registerCapability"
            | "client/unregisterCapability"
            | "window/workDoneProgress/create"
            | "window/showMessageRequest"
            | "workspace/codeLens/refresh"
            | "workspace/semanticTokens/refresh"
            | "workspace/inlayHint/refresh"
            | "workspace/diagnostic/refresh" => Some(Value::Null),
            _ => None,
        };
        self.answer(&match result {
            Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            None => {
                let error = json!({"code": -32601, "message": format!("`{method}` is not known")});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
        });
    }

    /// A server that reads nothing must not make its reader wait: then it gets no answer.
    fn answer(&self, message: &Value) {
        drop(self.out.try_send(frame(message.to_string().as_bytes())));
    }

    fn notice(&self, method: &str, mut params: Value) {
        match method {
            "textDocument/publishDiagnostics" => {
                let Some(path) = params["uri"].as_str().and_then(path_of) else { return };
                let Value::Array(mut findings) = params["diagnostics"].take() else { return };
                if let Some(published) = self.lock().published.get_mut(&path) {
                    findings.truncate(FINDINGS);
                    findings.iter_mut().for_each(trim);
                    *published = Some(findings);
                }
            }
            "$/progress" => {
                let token = params["token"].to_string();
                let value = &params["value"];
                let mut inner = self.lock();
                if value["kind"] == "end" {
                    inner.work.remove(&token);
                } else if inner.work.len() < WORK || inner.work.contains_key(&token) {
                    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
                    let mut said = inner.work.remove(&token).unwrap_or_default();
                    if value["kind"] == "begin" {
                        said = text("title");
                        said.truncate(ostler_stdx::floor_char_boundary(&said, 80));
                    }
                    inner.work.insert(token, said);
                }
            }
            _ => {}
        }
    }
}

/// Leaves of a finding what is shown.
fn trim(finding: &mut Value) {
    let Value::Object(finding) = finding else { return };
    finding.retain(|key, _| {
        matches!(key.as_str(), "range" | "severity" | "code" | "source" | "message")
    });
    if let Some(Value::String(message)) = finding.get_mut("message") {
        message.truncate(ostler_stdx::floor_char_boundary(message, MESSAGE));
    }
}

fn number(id: &Value) -> Option<i64> {
    id.as_i64().or_else(|| id.as_str()?.parse().ok())
}

fn refused(error: &Value) -> Failure {
    let message = error["message"].as_str().unwrap_or("without a reason");
    let message = &message[..ostler_stdx::floor_char_boundary(message, 500)];
    Failure::Refused { code: error["code"].as_i64().unwrap_or(0), message: message.to_owned() }
}
