//! Which models a server has, asked only when a person or the search for a local server
//! wants to know.

use std::time::Duration;

use ostler_protocol::ErrorKind;
use serde::Deserialize;

use crate::{Failure, ProviderConfig, Refused, failure::plain};

use super::{chain, client, within};

#[derive(Deserialize)]
struct List {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
}

/// Asks a server for the ids of its models (`GET /v1/models`, the same on both wires).
/// `limit` bounds the whole of it; there is no retry.
///
/// # Errors
/// As for a request: unreachable, refused, or an answer that makes no sense.
pub async fn list_models(config: &ProviderConfig, limit: Duration) -> Result<Vec<String>, Failure> {
    let client = client::build(config)?;
    let request = client::list(&client, config)?;
    let answer = async {
        let response = client.execute(request).await?;
        let status = response.status().as_u16();
        Ok::<_, reqwest::Error>((status, response.text().await?))
    };
    let (status, body) = match within(limit, answer).await {
        None => {
            let message = format!("{} did not list its models in time", config.id);
            return Err(plain(ErrorKind::Stalled, message, "is the server busy?"));
        }
        Some(Err(error)) => {
            let message = format!("cannot reach {}: {}", config.id, chain(&error));
            let hint = format!("is a server running at `{}`?", config.base_url);
            return Err(plain(ErrorKind::Network, message, &hint));
        }
        Some(Ok(answer)) => answer,
    };
    match serde_json::from_str::<List>(&body) {
        Ok(list) if status == 200 => Ok(list.data.into_iter().map(|row| row.id).collect()),
        _ => Err(Refused {
            provider: &config.id,
            base_url: &config.base_url,
            model: "",
            status,
            body: &client::without_key(config, &body),
            retry_after_ms: None,
        }
        .failure()),
    }
}
