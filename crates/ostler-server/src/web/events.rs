//! `GET /events`: server-sent events, of one session or of one window.
//!
//! A stream of a session has ids and goes on after `Last-Event-ID`; that of a window carries
//! what the window subscribed to and events of the host, without ids. Never holds up
//! a session: who reads too slowly is dropped and comes back.

use std::{convert::Infallible, fmt::Write as _, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    response::Response,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use ostler_host::{
    Published,
    outlet::{Outlet, Slow},
};
use ostler_protocol::SessionId;
use ostler_stdx::Cancel;
use tokio::{
    sync::mpsc,
    time::{Instant, interval_at, timeout},
};

use super::{
    api::client_of,
    door::{Asked, Door, json, no_store, text, unauthorized},
};
use crate::attached::Attached;

/// How often a silent stream says that it is there.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A reader that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes that are collected before they are handed on at once.
const BATCH_BYTES: usize = 64 << 10;

pub(crate) fn events(door: &Arc<Door>, headers: &HeaderMap, asked: Asked) -> Response {
    let by_token = asked.token.as_deref().is_some_and(|token| door.secrets.is_token(token));
    if !by_token && !door.knows(headers) {
        return unauthorized();
    }
    match (asked.session_id, asked.client) {
        (Some(session_id), None) => of_session(door, headers, SessionId(session_id)),
        (None, Some(client)) => match client_of(&client) {
            Some(client) => of_window(door, client),
            None => {
                text(StatusCode::BAD_REQUEST, "`client` is 1 to 128 visible ASCII characters\n")
            }
        },
        _ => text(StatusCode::BAD_REQUEST, "name either `sessionId` or `client`\n"),
    }
}

fn of_session(door: &Arc<Door>, headers: &HeaderMap, session_id: SessionId) -> Response {
    let after = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let after = after.and_then(|id| id.trim().parse().ok());
    let client = format!("stream:{}", door.next_stream());
    match door.host.follow(&client, &session_id, after) {
        Ok(outlet) => stream(door, Source { outlet, ids: true, attached: None }),
        Err(error) => json(StatusCode::NOT_FOUND, ostler_rpc::error_line(None, &error)),
    }
}

fn of_window(door: &Arc<Door>, client: String) -> Response {
    let attached = Attached::new(door.host.clone(), client, Slow::Drop, false);
    let outlet = attached.events().clone();
    stream(door, Source { outlet, ids: false, attached: Some(attached) })
}

/// Where a stream's events come from; the source ends with it.
struct Source {
    outlet: Outlet<Published>,
    ids: bool,
    /// Held, so that it ends with the stream.
    attached: Option<Attached>,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.outlet.close();
        drop(self.attached.take());
    }
}

fn stream(door: &Arc<Door>, source: Source) -> Response {
    let (sender, receiver) = mpsc::channel(4);
    door.spawn(pump(source, sender, door.stop.clone()));
    let pieces = futures::stream::unfold(receiver, |mut receiver| async {
        let piece: Bytes = receiver.recv().await?;
        Some((Ok::<_, Infallible>(piece), receiver))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    no_store(response)
}

/// Hands events on until either side is gone or the door closes.
async fn pump(source: Source, reader: mpsc::Sender<Bytes>, stop: Cancel) {
    let mut heartbeat = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    let mut piece = ": connected\n\n".to_owned();
    loop {
        match timeout(PATIENCE, reader.send(std::mem::take(&mut piece).into())).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = reader.closed() => return,
            _ = heartbeat.tick() => piece.push_str(": ping\n\n"),
            event = source.outlet.next() => match event {
                Some(event) => collect(&source, event, &mut piece),
                None => return,
            },
        }
    }
}

/// This event, and what else is there.
fn collect(source: &Source, first: Published, piece: &mut String) {
    let mut next = Some(first);
    while let Some(event) = next.take() {
        if source.ids {
            // Writing to a string cannot fail.
            writeln!(piece, "id: {}", event.seq).unwrap_or_default();
        }
        write!(piece, "data: {}\n\n", event.json).unwrap_or_default();
        if piece.len() < BATCH_BYTES {
            next = source.outlet.try_next();
        }
    }
}
