//! The search engines: how each is asked and where its answer holds what. Data only.

use reqwest::Url;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use crate::web::SearchEngine;

/// How one kind of engine speaks.
#[derive(Debug)]
struct Speech {
    name: &'static str,
    path: &'static str,
    /// The name of the parameter for the number of results, if it has one.
    count: Option<&'static str>,
    /// Parameters that are always sent.
    always: &'static [(&'static str, &'static str)],
    /// Where the list of results stands in the answer (RFC 6901).
    results: &'static str,
    /// The name of what a result says of its page.
    excerpt: &'static str,
}

const BRAVE: Speech = Speech {
    name: "Brave Search",
    path: "res/v1/web/search",
    count: Some("count"),
    always: &[("text_decorations", "false")],
    results: "/web/results",
    excerpt: "description",
};
const BRAVE_HOME: &str = "https://api.search.brave.com";

const SEARXNG: Speech = Speech {
    name: "SearXNG",
    path: "search",
    count: None,
    always: &[("format", "json")],
    results: "/results",
    excerpt: "content",
};

/// A page that an engine found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) excerpt: String,
}

fn speech(engine: &SearchEngine) -> &'static Speech {
    match engine {
        SearchEngine::Brave { .. } => &BRAVE,
        SearchEngine::Searxng { .. } => &SEARXNG,
    }
}

/// What the engine is called.
pub(super) fn name(engine: &SearchEngine) -> &'static str {
    speech(engine).name
}

/// The address that asks for `query`, or why there is none.
pub(super) fn address(engine: &SearchEngine, query: &str, count: usize) -> Result<Url, String> {
    let speech = speech(engine);
    let base = match engine {
        SearchEngine::Brave { base_url, .. } => base_url.as_deref().unwrap_or(BRAVE_HOME),
        SearchEngine::Searxng { base_url } => base_url,
    };
    let text = format!("{}/{}", base.trim_end_matches('/'), speech.path);
    let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let mut url = url.ok_or_else(|| {
        format!("the address `{base}` of {} is none: write it as `https://host`", speech.name)
    })?;
    let mut pairs = url.query_pairs_mut();
    pairs.append_pair("q", query);
    if let Some(name) = speech.count {
        pairs.append_pair(name, &count.to_string());
    }
    pairs.extend_pairs(speech.always);
    drop(pairs);
    Ok(url)
}

/// The header that holds the key, if the engine wants one.
pub(super) fn key(engine: &SearchEngine) -> Option<(&'static str, &str)> {
    match engine {
        SearchEngine::Brave { key, .. } => Some(("x-subscription-token", key.expose_secret())),
        SearchEngine::Searxng { .. } => None,
    }
}

/// The pages of an answer, in its order; nothing if it is no answer of this engine.
pub(super) fn hits(engine: &SearchEngine, answer: &Value) -> Option<Vec<Hit>> {
    let speech = speech(engine);
    let results = match answer.pointer(speech.results) {
        Some(results) => results.as_array()?,
        // Brave leaves the list out if it found nothing.
        None if answer.is_object() && matches!(engine, SearchEngine::Brave { .. }) => {
            return Some(Vec::new());
        }
        None => return None,
    };
    let text = |result: &Value, name: &str| {
        result.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let hits = results.iter().map(|result| Hit {
        title: text(result, "title"),
        url: text(result, "url"),
        excerpt: text(result, speech.excerpt),
    });
    Some(
        hits.filter(|hit| hit.url.starts_with("http://") || hit.url.starts_with("https://"))
            .collect(),
    )
}
