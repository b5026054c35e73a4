//! HTTP hooks: the input is posted, the reply's body is the answer. Redirects are not
//! followed, so that headers reach nobody but the address that settings name.

use std::{collections::HashMap, fmt::Write as _, sync::OnceLock, time::Duration};

use futures::StreamExt as _;
use reqwest::{Client, header};

use super::{Done, Job, REPLY_CAP};
use crate::{HttpAction, answer};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// Sends the requests of HTTP hooks.
#[derive(Debug)]
pub(crate) struct Posts {
    client: OnceLock<Result<Client, String>>,
    /// Variables that headers may name.
    variables: HashMap<String, String>,
}

impl Posts {
    pub(crate) fn new(variables: HashMap<String, String>) -> Self {
        Self { client: OnceLock::new(), variables }
    }

    pub(super) async fn run(&self, action: &HttpAction, job: &Job) -> Done {
        let sent = async {
            match self.post(action, job).await {
                Ok((status, body)) => reply(status, body, job),
                Err(why) => Done::failed(why),
            }
        };
        tokio::select! {
            done = sent => done,
            () = job.cancel.cancelled() => Done::failed("it was stopped"),
        }
    }

    async fn post(&self, action: &HttpAction, job: &Job) -> Result<(u16, String), String> {
        let client = self.client.get_or_init(client).as_ref().map_err(Clone::clone)?;
        let body = serde_json::to_vec(&*job.input).unwrap_or_default();
        let mut request = client
            .post(&action.url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .body(body);
        for (name, value) in &action.headers {
            let value = filled(value, |name| {
                let allowed = action.variables.iter().any(|allowed| allowed == name);
                self.variables.get(name).filter(|_| allowed).map(String::as_str)
            });
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|error| innermost(&error))?;
        let status = response.status().as_u16();
        let mut stream = response.bytes_stream();
        let mut bytes = Vec::new();
        while let Some(piece) = stream.next().await {
            let piece = piece.map_err(|error| innermost(&error))?;
            if bytes.len() + piece.len() > REPLY_CAP {
                return Err(format!("its reply is longer than {} MiB", REPLY_CAP >> 20));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
    }
}

fn reply(status: u16, body: String, job: &Job) -> Done {
    let result = match status {
        200..=299 => answer::of_text(job.event, &body),
        300..=399 => Err(format!(
            "the address answered {status}; redirects are not followed, name the address itself"
        )),
        _ => Err(format!("the address answered {status}")),
    };
    Done { stdout: body, result: Some(result), ..Done::default() }
}

fn client() -> Result<Client, String> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another part of the process may have been first.
        rustls::crypto::ring::default_provider().install_default().ok();
    }
    Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        .build()
        .map_err(|error| innermost(&error))
}

/// The cause at the bottom, which says what happened; the outer ones repeat the address.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// A header's value with `$NAME` and `${NAME}` filled in; what may not be used is empty.
fn filled<'v>(text: &str, lookup: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let braced = after.strip_prefix('{').and_then(|after| after.split_once('}'));
        let (name, next) = braced.unwrap_or_else(|| {
            let end = after.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
            after.split_at(end.unwrap_or(after.len()))
        });
        if name.is_empty() {
            out.push('$');
        } else {
            write!(out, "{}", lookup(name).unwrap_or_default()).unwrap_or_default();
        }
        rest = next;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_filled_from_what_they_may_use() {
        let lookup = |name: &str| (name == "TOKEN").then_some("t0k");
        let table = [
            ("Bearer $TOKEN", "Bearer t0k"),
            ("Bearer ${TOKEN}!", "Bearer t0k!"),
            ("$TOKEN-$OTHER-", "t0k--"),
            ("cost: 5$", "cost: 5$"),
            ("$ x ${", "$ x ${"),
            ("plain", "plain"),
        ];
        for (text, expected) in table {
            assert_eq!(filled(text, lookup), expected, "{text}");
        }
    }
}
