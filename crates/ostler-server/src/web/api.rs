//! `POST /api`: one JSON-RPC request, one response.
//!
//! A caller that goes away stops its call, but never a run.

use std::sync::Arc;

use axum::{body::Body, response::Response};
use futures::StreamExt as _;
use http::{HeaderMap, StatusCode, header};
use ostler_protocol::{
    ErrorKind, RpcError,
    methods::{Caller, TransportKind},
};
use ostler_rpc::{Call, decode_call, error_line, response_line};
use serde_json::Value;
use tokio::sync::oneshot;

use super::door::{Door, json, no_store, text, unauthorized};
use crate::{
    MAX_CALLS,
    call::{SEND, call, too_many},
};

/// The largest request, images included.
const MAX_BODY_BYTES: usize = 32 << 20;

/// The header that names the window.
const CLIENT: &str = "Ostler-Client";

/// The longest name of a window.
const MAX_CLIENT_CHARS: usize = 128;

/// The name under which the host knows a window; names of other doors are out of its reach.
pub(crate) fn client_of(name: &str) -> Option<String> {
    let sound = (1..=MAX_CLIENT_CHARS).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_graphic());
    sound.then(|| format!("http:{name}"))
}

pub(crate) async fn api(door: &Arc<Door>, headers: &HeaderMap, body: Body) -> Response {
    if !door.knows(headers) {
        return unauthorized();
    }
    let bytes = match read(headers, body).await {
        Ok(bytes) => bytes,
        Err(refusal) => return refusal,
    };
    match decode_call(&bytes) {
        Call::Request { id, method, params } => {
            let answer = answer(door, caller(headers), method, params).await;
            json(StatusCode::OK, response_line(&id, &answer))
        }
        Call::Notification { method, params } => {
            if let Err(error) = answer(door, caller(headers), method, params).await {
                tracing::info!(%error, "a notification failed");
            }
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            no_store(response)
        }
        Call::Invalid { id, error } => json(StatusCode::OK, error_line(id.as_ref(), &error)),
        Call::Garbage(error) => json(StatusCode::BAD_REQUEST, error_line(None, &error)),
    }
}

/// Who asks. Without a name there are answers, but no events.
fn caller(headers: &HeaderMap) -> Caller {
    let name = headers.get(CLIENT).and_then(|name| name.to_str().ok());
    let client = name.and_then(client_of).unwrap_or_else(|| "http:".to_owned());
    Caller { client, transport: TransportKind::Http }
}

async fn answer(
    door: &Arc<Door>,
    caller: Caller,
    method: String,
    params: Option<Value>,
) -> Result<Value, RpcError> {
    let Ok(slot) = Arc::clone(&door.slots).try_acquire_owned() else {
        return Err(too_many(MAX_CALLS));
    };
    if method != SEND {
        return call(&door.host, &caller, &method, params).await;
    }
    let (sender, ended) = oneshot::channel();
    let host = door.host.clone();
    door.spawn(async move {
        let answer = call(&host, &caller, &method, params).await;
        drop(slot);
        if sender.send(answer).is_err() {
            tracing::debug!("nobody waited for the end of a run");
        }
    });
    ended.await.unwrap_or_else(|_| Err(RpcError::new(ErrorKind::Internal, "the server is ending")))
}

/// The body, if it is not too large.
async fn read(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Response> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let length = length.and_then(|length| length.parse::<u64>().ok()).unwrap_or(0);
    if length > MAX_BODY_BYTES as u64 {
        return Err(too_large());
    }
    // What is said to come is not what comes: room is made as it comes.
    let mut bytes = Vec::new();
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| {
            text(StatusCode::BAD_REQUEST, "the request ended before its body did\n")
        })?;
        if bytes.len() + piece.len() > MAX_BODY_BYTES {
            return Err(too_large());
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

fn too_large() -> Response {
    text(StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 32 MiB\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_windows_are_short_and_plain() {
        assert_eq!(client_of("w1").as_deref(), Some("http:w1"));
        for name in ["", "a b", "a\nb", "é", &"x".repeat(129)] {
            assert_eq!(client_of(name), None, "{name}");
        }
    }
}
