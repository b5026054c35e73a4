//! A model vendor on the loopback interface that plays a scenario over HTTP.
//!
//! It speaks the Messages and the Chat Completions wire, records and checks every request,
//! and fails by real means: statuses, silence, sockets that close in the middle of an
//! event. It runs in a thread of its own, so a test may stop the clock of its runtime.

mod lift;
mod render;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
    serve::ListenerExt as _,
};
use futures::stream;
use ostler_provider::{
    ModelRequest,
    scenario::{Played, Refusal, Scenario, Script, Step},
    validate::Checker,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use render::Op;

/// A format that the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// `POST /v1/messages`.
    Messages,
    /// `POST /v1/chat/completions`.
    Chat,
}

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Its format.
    pub wire: Wire,
    /// Its path, such as `/v1/messages`.
    pub path: String,
    /// Its headers; names are in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Value,
    /// Its body byte for byte.
    pub raw: String,
    /// What it means.
    pub request: ModelRequest,
    /// Why a vendor would refuse it, and why no reply was found.
    pub problems: Vec<String>,
}

/// The running server; dropping it closes it.
#[derive(Debug)]
pub struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    checker: Mutex<Checker>,
    requests: Mutex<Vec<Recorded>>,
}

impl ModelServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// If the port or the thread cannot be had.
    pub fn start(scenario: Scenario) -> io::Result<Self> {
        Self::start_on(scenario, 0)
    }

    /// Starts a server on a given port of 127.0.0.1.
    ///
    /// # Errors
    /// If the port or the thread cannot be had.
    pub fn start_on(scenario: Scenario, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script: Script::new(scenario),
            checker: Mutex::default(),
            requests: Mutex::default(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let app = router(Arc::clone(&shared));
        let thread = thread::Builder::new().name("model-server".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    _ = serve(listener, app) => {}
                }
            });
            runtime.shutdown_background();
        })?;
        Ok(Self { shared, address, stop: Some(stop), thread: Some(thread) })
    }

    /// Its address without a path: the base URL of the Messages wire.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL of the Chat Completions wire.
    #[must_use]
    pub fn chat_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// What was wrong with the requests so far, with their numbers from 1.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        let requests = lock(&self.shared.requests);
        let all = requests.iter().enumerate().flat_map(|(at, recorded)| {
            recorded.problems.iter().map(move |problem| format!("request {}: {problem}", at + 1))
        });
        all.collect()
    }

    /// The replies that nobody asked for.
    #[must_use]
    pub fn unplayed(&self) -> Vec<String> {
        self.shared.script.unplayed()
    }

    /// Says that the next requests may begin differently, as after compaction.
    pub fn invalidate_prefix(&self) {
        lock(&self.shared.checker).invalidate();
    }

    /// Stops comparing the beginnings of requests.
    pub fn ignore_prefixes(&self) {
        lock(&self.shared.checker).ignore_prefixes();
    }

    /// Fails, with a list, if a vendor would have refused a request.
    ///
    /// # Panics
    /// If there is a violation.
    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "requests are not clean:\n{}", violations.join("\n"));
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It fails only if the thread has ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: TcpListener, app: Router) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|socket| {
        // Without it a small delta waits for the client's acknowledgement of the last.
        socket.set_nodelay(true).ok();
    });
    axum::serve(listener, app).await
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/models", get(models))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(shared)
}

async fn models(State(shared): State<Arc<Shared>>) -> Response {
    let id = shared.script.scenario().model.clone().unwrap_or_else(|| "scripted".to_owned());
    let model = json!({
        "type": "model", "object": "model", "id": id, "display_name": id,
        "created_at": "2026-01-01T00:00:00Z", "created": 0, "owned_by": "scripted",
    });
    Json(json!({ "object": "list", "data": [model], "has_more": false })).into_response()
}

async fn count_tokens(body: Bytes) -> Response {
    Json(json!({ "input_tokens": body.len() / 4 })).into_response()
}

async fn messages(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    answer(&shared, Wire::Messages, &headers, &body).await
}

async fn chat(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    answer(&shared, Wire::Chat, &headers, &body).await
}

async fn answer(shared: &Shared, wire: Wire, headers: &HeaderMap, raw: &[u8]) -> Response {
    let body: Value = serde_json::from_slice(raw).unwrap_or(Value::Null);
    let (request, mut problems) = match lift::request(wire, &body) {
        Ok(request) => (request, Vec::new()),
        Err(problem) => (ModelRequest::default(), vec![problem]),
    };
    if problems.is_empty() {
        problems.extend(lock(&shared.checker).next(&request).err().unwrap_or_default());
    }
    let played = shared.script.next(&request);
    problems.extend(played.as_ref().err().map(ToString::to_string));
    record(shared, wire, headers, raw, body.clone(), request, problems);
    match played {
        Ok(mut played) => {
            before_head(&mut played).await;
            if let Some(Step::Error(refusal)) = played.steps.first() {
                return refuse(refusal);
            }
            let streamed = body["stream"] == json!(true);
            let usage = body["stream_options"]["include_usage"] == json!(true);
            if streamed { sse(render::ops(wire, played, usage)) } else { whole(wire, &played) }
        }
        Err(no_reply) => {
            let error = json!({ "type": "invalid_request_error", "message": no_reply.to_string() });
            let body = json!({ "type": "error", "error": error });
            (StatusCode::BAD_REQUEST, Json(body)).into_response()
        }
    }
}

fn record(
    shared: &Shared,
    wire: Wire,
    headers: &HeaderMap,
    raw: &[u8],
    body: Value,
    request: ModelRequest,
    problems: Vec<String>,
) {
    let path = match wire {
        Wire::Messages => "/v1/messages",
        Wire::Chat => "/v1/chat/completions",
    };
    let headers = headers.iter().map(|(name, value)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    lock(&shared.requests).push(Recorded {
        wire,
        path: path.to_owned(),
        headers: headers.collect(),
        body,
        raw: String::from_utf8_lossy(raw).into_owned(),
        request,
        problems,
    });
}

/// Silence at the start of a reply comes before the head of the answer.
async fn before_head(played: &mut Played) {
    while let Some(step) = played.steps.first() {
        match step {
            Step::Delay(delay) => tokio::time::sleep(*delay).await,
            Step::Stall => std::future::pending().await,
            _ => return,
        }
        played.steps.remove(0);
    }
}

fn refuse(refusal: &Refusal) -> Response {
    let body = refusal.body_text();
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    let kind = if body.starts_with('<') {
        "text/html"
    } else if matches!(refusal.body, Value::String(_)) {
        "text/plain"
    } else {
        "application/json"
    };
    let mut response = (status, [(header::CONTENT_TYPE, kind)], body).into_response();
    let after = refusal.retry_after.map(|seconds| HeaderValue::from_str(&seconds.to_string()));
    if let Some(Ok(after)) = after {
        response.headers_mut().insert(header::RETRY_AFTER, after);
    }
    response
}

fn whole(wire: Wire, played: &Played) -> Response {
    let refusal = played.steps.iter().find_map(|step| match step {
        Step::Error(refusal) => Some(refusal),
        _ => None,
    });
    match refusal {
        Some(refusal) => refuse(refusal),
        None => Json(render::whole(wire, played)).into_response(),
    }
}

fn sse(ops: Vec<Op>) -> Response {
    let body = stream::unfold(ops.into_iter(), |mut ops| async move {
        loop {
            match ops.next()? {
                Op::Bytes(bytes) => return Some((Ok(bytes), ops)),
                Op::Delay(delay) => tokio::time::sleep(delay).await,
                Op::Stall => std::future::pending().await,
                Op::Cut => {
                    // The server writes what it has before it waits, and an error closes
                    // the socket without the end of the body.
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    return Some((Err(io::Error::other("cut on purpose")), ops));
                }
            }
        }
    });
    let headers = [
        (header::CONTENT_TYPE.as_str(), "text/event-stream"),
        ("request-id", "req_scripted"),
        ("x-request-id", "req_scripted"),
    ];
    (headers, Body::from_stream(body)).into_response()
}
