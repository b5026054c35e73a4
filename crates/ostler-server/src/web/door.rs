//! What every request passes through: the checks, then the one place that it is for.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    body::Body,
    extract::{Query, State},
    response::Response,
};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use ostler_host::Host;
use ostler_protocol::{ErrorKind, RpcError};
use ostler_stdx::Cancel;
use serde::Deserialize;
use tokio::{sync::Semaphore, task::JoinSet};

use super::{api, auth::Secrets, events, guard::Guard, page};
use crate::MAX_CALLS;

/// Where a browser may send what, for OPTIONS.
const METHODS: &str = "GET, POST, OPTIONS";
const HEADERS: &str = "Content-Type, Authorization, Last-Event-ID, Ostler-Client";

/// What requests share.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) host: Host,
    pub(crate) secrets: Secrets,
    pub(crate) port: u16,
    /// Cancelled when the door closes.
    pub(crate) stop: Cancel,
    /// Room for calls.
    pub(crate) slots: Arc<Semaphore>,
    guard: Guard,
    streams: AtomicU64,
    tasks: Mutex<JoinSet<()>>,
}

impl Door {
    pub(crate) fn new(host: Host, guard: Guard, secrets: Secrets, port: u16) -> Self {
        Self {
            host,
            secrets,
            port,
            stop: Cancel::new(),
            slots: Arc::new(Semaphore::new(MAX_CALLS)),
            guard,
            streams: AtomicU64::new(0),
            tasks: Mutex::default(),
        }
    }

    /// A number for a stream of its own.
    pub(crate) fn next_stream(&self) -> u64 {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }

    /// Does work that outlives its request, but not the door.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }

    /// Waits for such work.
    pub(crate) async fn finish(&self) {
        let mut tasks =
            std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        while tasks.join_next().await.is_some() {}
    }

    /// Whether the headers show who asks.
    pub(crate) fn knows(&self, headers: &HeaderMap) -> bool {
        self.secrets.allows(headers, self.port)
    }
}

/// What may stand behind the question mark.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked {
    pub(crate) token: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) client: Option<String>,
}

impl Asked {
    fn of(uri: &Uri) -> Self {
        Query::try_from_uri(uri).map(|Query(asked)| asked).unwrap_or_default()
    }
}

/// Answers any request.
pub(crate) async fn handle(State(door): State<Arc<Door>>, request: Request<Body>) -> Response {
    if !door.guard.allows(request.uri(), request.headers()) {
        tracing::info!(path = request.uri().path(), "a foreign Host or Origin was refused");
        return harden(text(StatusCode::FORBIDDEN, "Host or Origin is not that of this server\n"));
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = harden(route(&door, request).await);
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

async fn route(door: &Arc<Door>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    tracing::debug!(method = %parts.method, path, "request");
    if parts.method == Method::OPTIONS {
        return options();
    }
    let reads = parts.method == Method::GET || parts.method == Method::HEAD;
    match path {
        "/api" if parts.method == Method::POST => api::api(door, &parts.headers, body).await,
        "/api" => not_allowed("POST, OPTIONS"),
        "/events" if parts.method == Method::GET => {
            events::events(door, &parts.headers, Asked::of(&parts.uri))
        }
        "/open" | "/" if reads => match Asked::of(&parts.uri).token {
            Some(token) => open(door, &token),
            None => page::page(&parts.method, path),
        },
        "/events" => not_allowed("GET, OPTIONS"),
        path if reads => page::page(&parts.method, path),
        _ => not_allowed("GET, HEAD, OPTIONS"),
    }
}

/// The opening link: a cookie for the browser, a key for the page.
fn open(door: &Door, token: &str) -> Response {
    if !door.secrets.is_token(token) {
        return unauthorized();
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let target = format!("/#k={}", door.secrets.key());
    let cookie = door.secrets.set_cookie(door.port);
    for (name, value) in [(header::LOCATION, target), (header::SET_COOKIE, cookie)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(name, value);
        }
    }
    no_store(response)
}

fn options() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(HEADERS));
    response
}

fn not_allowed(methods: &'static str) -> Response {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "this method is not for this path\n");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    response
}

/// The same for a missing and a wrong secret.
pub(crate) fn unauthorized() -> Response {
    let error = RpcError::new(ErrorKind::Unauthorized, "Unauthorized").hint(
        "open the link that `ostler web` prints, or send its token as `Authorization: Bearer`",
    );
    json(StatusCode::UNAUTHORIZED, ostler_rpc::error_line(None, &error))
}

pub(crate) fn json(status: StatusCode, line: String) -> Response {
    let response = with_type(status, Body::from(line), "application/json");
    no_store(response)
}

pub(crate) fn text(status: StatusCode, text: &'static str) -> Response {
    no_store(with_type(status, Body::from(text), "text/plain; charset=utf-8"))
}

fn with_type(status: StatusCode, body: Body, mime: &'static str) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(mime));
    response
}

pub(crate) fn no_store(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// What holds for every answer: no guessing of types, no referrer, no window or page of
/// another site. The page itself brings a wider policy of its own.
fn harden(mut response: Response) -> Response {
    const ALWAYS: [(&str, &str); 4] = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    response
}
