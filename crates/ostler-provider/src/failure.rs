//! From what a vendor answered to what to do about it.
//!
//! Every vendor words its errors differently; the words are judged here and nowhere else.
//! A key never appears in a failure, even if the vendor repeats it.

use ostler_protocol::ErrorKind;
use ostler_stdx::floor_char_boundary;
use serde_json::Value;

use crate::Failure;

/// Most bytes of a vendor's words that are kept.
const MAX_MESSAGE: usize = 2_000;

/// A refusal as it came over HTTP.
#[derive(Debug, Clone, Copy)]
pub struct Refused<'a> {
    /// The provider's id.
    pub provider: &'a str,
    /// Where the request went.
    pub base_url: &'a str,
    /// The model that was asked.
    pub model: &'a str,
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: &'a str,
    /// The pause that the vendor asked for.
    pub retry_after_ms: Option<u64>,
}

impl Refused<'_> {
    /// Judges the refusal.
    #[must_use]
    pub fn failure(&self) -> Failure {
        if looks_like_html(self.body) {
            return self.html();
        }
        let (class, said) = error_words(self.body);
        let kind = kind(self.status, &class, &said);
        let said = if said.is_empty() { "no explanation".to_owned() } else { said };
        let message = cap(&format!("{} answered {}: {said}", self.provider, self.status));
        let hint = hint(kind, self.provider, self.model, self.retry_after_ms);
        Failure {
            kind,
            message,
            hint,
            status: Some(self.status),
            retry_after_ms: self.retry_after_ms,
        }
    }

    fn html(&self) -> Failure {
        let Self { provider, base_url, status, .. } = *self;
        let kind = match status {
            200..=299 => ErrorKind::BadStream,
            413 => ErrorKind::TooLarge,
            429 => ErrorKind::RateLimit,
            500.. => ErrorKind::Server,
            _ => ErrorKind::BadRequest,
        };
        Failure {
            kind,
            message: cap(&format!(
                "{provider} answered {status} with an HTML page from `{base_url}`"
            )),
            hint: Some("is the base URL right, or does a proxy answer in its place?".to_owned()),
            status: Some(status),
            retry_after_ms: self.retry_after_ms,
        }
    }
}

/// The failure for an error event in the middle of an answer.
pub(crate) fn mid_stream(provider: &str, model: &str, class: &str, said: &str) -> Failure {
    let kind = match kind(0, class, said) {
        ErrorKind::BadStream => ErrorKind::Server,
        kind => kind,
    };
    let said = if said.is_empty() { class } else { said };
    Failure {
        kind,
        message: cap(&format!("{provider} broke off its answer: {said}")),
        hint: hint(kind, provider, model, None),
        status: None,
        retry_after_ms: None,
    }
}

/// A failure without an HTTP answer.
pub(crate) fn plain(kind: ErrorKind, message: impl Into<String>, hint: &str) -> Failure {
    let hint = (!hint.is_empty()).then(|| hint.to_owned());
    Failure { kind, message: cap(&message.into()), hint, status: None, retry_after_ms: None }
}

/// The answer's body ended before the answer did.
pub(crate) fn cut(provider: &str) -> Failure {
    let message = format!("the connection to {provider} broke before the answer was whole");
    plain(ErrorKind::Network, message, "check the network, or a proxy's time limit")
}

/// An event is not what its wire says.
pub(crate) fn bad_event(provider: &str, data: &str, error: &serde_json::Error) -> Failure {
    let start = &data[..floor_char_boundary(data, 200)];
    let message = format!("{provider} sent an event that makes no sense ({error}): {start}");
    plain(ErrorKind::BadStream, message, "is the base URL that of the right kind of server?")
}

/// Class and words of an error body: the shapes of the vendors, else the body as it is.
fn error_words(body: &str) -> (String, String) {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return (String::new(), body.trim().to_owned());
    };
    // Some servers send a list of one error.
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").unwrap_or(value);
    let text = |field: &str| error.get(field).and_then(Value::as_str).map(str::to_owned);
    let class = [text("type"), text("code"), text("status")];
    let class = class.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let said = text("message")
        .or_else(|| text("detail"))
        .or_else(|| error.as_str().map(str::to_owned))
        .unwrap_or_else(|| body.trim().to_owned());
    (class, said)
}

fn kind(status: u16, class: &str, said: &str) -> ErrorKind {
    let said = said.to_lowercase();
    let either = |words: &[&str]| words.iter().any(|w| said.contains(w) || class.contains(w));
    let too_large = either(&[
        "prompt is too long",
        "context_length",
        "context length",
        "context window",
        "maximum context",
        "exceeds the available context size",
        "request_too_large",
        "too many tokens",
        "input is too long",
    ]) || (said.contains("requestsize") && said.contains("limit"));
    let money = either(&[
        "insufficient_quota",
        "exceeded your current quota",
        "billing",
        "credit balance",
        "insufficient balance",
        "insufficient credit",
        "payment required",
        "monthly limit",
        "spending limit",
    ]);
    let about_model = said.contains("model") || class.contains("model_not_found");
    match status {
        // A redirect, which is not followed.
        300..=399 => ErrorKind::NotFound,
        401 => ErrorKind::Auth,
        402 => ErrorKind::Billing,
        403 if money => ErrorKind::Billing,
        403 => ErrorKind::Auth,
        404 if about_model => ErrorKind::ModelNotFound,
        404 => ErrorKind::NotFound,
        413 => ErrorKind::TooLarge,
        429 if money => ErrorKind::Billing,
        429 => ErrorKind::RateLimit,
        529 => ErrorKind::Overloaded,
        408 => ErrorKind::Network,
        503 if either(&["overloaded"]) => ErrorKind::Overloaded,
        500..=599 => ErrorKind::Server,
        _ if too_large => ErrorKind::TooLarge,
        _ if money => ErrorKind::Billing,
        400..=499 if class.contains("model_not_found") => ErrorKind::ModelNotFound,
        400..=499 => ErrorKind::BadRequest,
        _ => by_class(class),
    }
}

/// The kind by the vendor's own class, where there is no status.
fn by_class(class: &str) -> ErrorKind {
    let table = [
        ("overloaded", ErrorKind::Overloaded),
        ("rate_limit", ErrorKind::RateLimit),
        ("authentication", ErrorKind::Auth),
        ("permission", ErrorKind::Auth),
        ("not_found", ErrorKind::NotFound),
        ("invalid_request", ErrorKind::BadRequest),
        ("timeout", ErrorKind::Network),
        ("api_error", ErrorKind::Server),
        ("server_error", ErrorKind::Server),
    ];
    table.iter().find(|(word, _)| class.contains(word)).map_or(ErrorKind::BadStream, |(_, k)| *k)
}

fn hint(
    kind: ErrorKind,
    provider: &str,
    model: &str,
    retry_after_ms: Option<u64>,
) -> Option<String> {
    let variable = provider.to_uppercase().replace('-', "_");
    Some(match kind {
        ErrorKind::Auth => {
            format!("check the key: set `{variable}_API_KEY`, or run `ostler login {provider}`")
        }
        ErrorKind::Billing => {
            "add credit or raise the limit at the vendor, or choose another model".to_owned()
        }
        ErrorKind::RateLimit => match retry_after_ms {
            Some(ms) => format!("the limit resets in {}; wait, or choose another model", span(ms)),
            None => "wait a little, or choose another model".to_owned(),
        },
        ErrorKind::ModelNotFound => {
            format!("does `{provider}` have `{model}`? `ostler models` lists what is known")
        }
        ErrorKind::NotFound => "is the base URL right?".to_owned(),
        ErrorKind::TooLarge => "compact the conversation, or start a new session".to_owned(),
        ErrorKind::Overloaded | ErrorKind::Server => {
            "try again later, or choose another model".to_owned()
        }
        _ => return None,
    })
}

/// A span of time for people: the two largest units.
pub(crate) fn span(ms: u64) -> String {
    let seconds = ms.div_ceil(1000);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        86_400..31_536_000 => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
        _ => "more than a year".to_owned(),
    }
}

fn looks_like_html(body: &str) -> bool {
    let start: String = body.trim_start().chars().take(15).collect::<String>().to_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head")
}

fn cap(text: &str) -> String {
    text[..floor_char_boundary(text, MAX_MESSAGE)].to_owned()
}

#[cfg(test)]
mod tests;
