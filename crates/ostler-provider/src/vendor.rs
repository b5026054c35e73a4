//! A vendor over HTTP: lowers a request, sends it, lifts what comes back.
//!
//! No failure leaves it but as an event, and no failure shows the key. It follows no
//! redirect, since that would hand the key to another host.

mod client;
mod models;
mod retry_after;

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::stream;
use ostler_protocol::ErrorKind;
use ostler_stdx::{Cancel, IdGen};
use reqwest::{Client, Request, Response, StatusCode, header};

use crate::{
    Failure, ModelEvent, ModelInfo, ModelRequest, ModelStream, Provider, ProviderConfig, Refused,
    Wire, catalogue,
    chat::{self, Dialect},
    failure::{self, plain},
    messages, retry, sse,
    wire::Lifter,
};

pub use models::list_models;

/// Most bytes of a refusal's body that are read.
const MAX_REFUSAL: usize = 64 << 10;

/// A provider behind HTTP.
#[derive(Debug)]
pub(crate) struct Vendor {
    config: Arc<ProviderConfig>,
    client: OnceLock<Result<Client, Failure>>,
}

impl Vendor {
    pub(crate) fn new(config: ProviderConfig) -> Self {
        Self { config: Arc::new(config), client: OnceLock::new() }
    }

    fn prepare(&self, request: &ModelRequest) -> Result<Arc<Call>, Failure> {
        let client = self.client.get_or_init(|| client::build(&self.config)).clone()?;
        let body = match self.config.wire {
            Wire::Messages => messages::lower(request, &self.model(&request.model)),
            Wire::Chat => chat::lower(request, Dialect::of(&self.config.base_url)),
        };
        let http = client::request(&client, &self.config, &request.betas, body.to_string())?;
        let config = Arc::clone(&self.config);
        Ok(Arc::new(Call { config, client, http, model: request.model.clone() }))
    }
}

impl Provider for Vendor {
    fn id(&self) -> &str {
        &self.config.id
    }

    fn model(&self, model: &str) -> ModelInfo {
        catalogue::model_info(&self.config.id, model)
    }

    fn stream(&self, request: ModelRequest, cancel: Cancel) -> ModelStream {
        match self.prepare(&request) {
            Ok(call) => {
                let start = Box::new(move || attempt(Arc::clone(&call)));
                retry::drive(self.config.retry, cancel, start)
            }
            Err(failure) => Box::pin(stream::iter([ModelEvent::Failed(failure)])),
        }
    }
}

/// A request that can be sent again.
struct Call {
    config: Arc<ProviderConfig>,
    client: Client,
    http: Request,
    model: String,
}

enum Phase {
    Send,
    Read(Box<Reading>),
    Ended,
}

struct Reading {
    response: Response,
    decoder: sse::Decoder,
    lift: Box<dyn Lifter>,
}

struct State {
    call: Arc<Call>,
    phase: Phase,
    ready: VecDeque<ModelEvent>,
}

fn attempt(call: Arc<Call>) -> ModelStream {
    let state = State { call, phase: Phase::Send, ready: VecDeque::new() };
    Box::pin(stream::unfold(state, |mut state| async move {
        let event = state.next().await?;
        Some((event, state))
    }))
}

impl State {
    async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                if matches!(event, ModelEvent::Done { .. } | ModelEvent::Failed(_)) {
                    // Dropping the response gives its connection back, or closes it.
                    self.phase = Phase::Ended;
                    self.ready.clear();
                }
                return Some(event);
            }
            match &mut self.phase {
                Phase::Ended => return None,
                Phase::Send => match self.call.send().await {
                    Ok(reading) => self.phase = Phase::Read(Box::new(reading)),
                    Err(failure) => self.ready.push_back(ModelEvent::Failed(failure)),
                },
                Phase::Read(reading) => {
                    let events = self.call.read(reading).await;
                    self.ready.extend(events);
                }
            }
        }
    }
}

impl Call {
    async fn send(&self) -> Result<Reading, Failure> {
        let Some(http) = self.http.try_clone() else {
            // Only a streamed body cannot be cloned, and ours is text.
            return Err(plain(ErrorKind::Internal, "the request cannot be sent again", ""));
        };
        let header = self.config.timeouts.header;
        let answer = within(header, self.client.execute(http)).await;
        let response = match answer {
            None => return Err(self.silent("sent no answer", header)),
            Some(Err(error)) => return Err(self.unreachable(&error)),
            Some(Ok(response)) => response,
        };
        if response.status() != StatusCode::OK || !is_stream(&response) {
            return Err(self.refused(response).await);
        }
        let request_id = ["request-id", "x-request-id"]
            .iter()
            .find_map(|name| Some(response.headers().get(*name)?.to_str().ok()?.to_owned()));
        let lift = self.lift(request_id);
        Ok(Reading { response, decoder: sse::Decoder::default(), lift })
    }

    fn lift(&self, request_id: Option<String>) -> Box<dyn Lifter> {
        let id = &self.config.id;
        match self.config.wire {
            Wire::Messages => Box::new(messages::Lift::new(id, &self.model, request_id)),
            Wire::Chat => {
                let seed = IdGen::random().uuid();
                Box::new(chat::Lift::new(id, &self.model, request_id, &seed))
            }
        }
    }

    /// One read of the body.
    async fn read(&self, reading: &mut Reading) -> Vec<ModelEvent> {
        let Reading { response, decoder, lift } = reading;
        let idle = self.config.timeouts.idle;
        match within(idle, response.chunk()).await {
            None => vec![ModelEvent::Failed(self.silent("went silent", idle))],
            Some(Ok(Some(bytes))) => match decoder.push(&bytes, |data| lift.take(data)) {
                Ok(()) => lift.events(),
                Err(sse::TooLong) => vec![ModelEvent::Failed(plain(
                    ErrorKind::BadStream,
                    format!("{} sent an event without end", self.config.id),
                    "is the base URL that of the right kind of server?",
                ))],
            },
            Some(Ok(None)) => {
                // An event whose empty line is missing counts if it is whole.
                let last = decoder.finish().filter(|data| is_whole(data));
                if let Some(data) = last {
                    lift.take(&data);
                }
                lift.end();
                lift.events()
            }
            Some(Err(error)) => vec![ModelEvent::Failed(self.broken(&error))],
        }
    }

    fn silent(&self, what: &str, limit: Duration) -> Failure {
        let span = if limit < Duration::from_secs(1) {
            format!("{} ms", limit.as_millis())
        } else {
            failure::span(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
        };
        plain(
            ErrorKind::Stalled,
            format!("{} {what} for {span}", self.config.id),
            "check the network; a slow local model may need a longer time limit",
        )
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let ProviderConfig { id, base_url, .. } = &*self.config;
        let hint = format!("is a server running at `{base_url}`, and is the network up?");
        plain(ErrorKind::Network, format!("cannot reach {id}: {}", chain(error)), &hint)
    }

    fn broken(&self, error: &reqwest::Error) -> Failure {
        let mut failure = failure::cut(&self.config.id);
        failure.message = format!("{} ({})", failure.message, chain(error));
        failure
    }

    async fn refused(&self, mut response: Response) -> Failure {
        let status = response.status().as_u16();
        let retry_after_ms = retry_after::retry_after_ms(response.headers());
        let mut body = Vec::new();
        while body.len() < MAX_REFUSAL
            && let Some(Ok(Some(bytes))) = within(self.config.timeouts.idle, response.chunk()).await
        {
            body.extend_from_slice(&bytes);
        }
        let body = client::without_key(&self.config, &String::from_utf8_lossy(&body));
        let refused = Refused {
            provider: &self.config.id,
            base_url: &self.config.base_url,
            model: &self.model,
            status,
            body: &body,
            retry_after_ms,
        };
        refused.failure()
    }
}

/// Waits at most `limit`; zero waits for ever.
async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    if limit.is_zero() {
        return Some(work.await);
    }
    tokio::time::timeout(limit, work).await.ok()
}

/// Some servers forget the type, so only what is surely something else is refused.
fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    kind.is_none_or(|kind| !kind.starts_with("application/json") && !kind.starts_with("text/html"))
}

fn is_whole(data: &str) -> bool {
    data.trim() == "[DONE]" || serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok()
}

/// An error with its causes, each once.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}
