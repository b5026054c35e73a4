//! WebSearch: asks the search engine that the person set up. Without one it says how to
//! set one up; it never reads the pages of an engine that did not agree to it.

mod engine;

use std::time::{Duration, Instant};

use ostler_protocol::Access;
use ostler_stdx::{AbsPath, floor_char_boundary};
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use reqwest::{Url, header::HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    args::number,
    hands::Limits,
    plain::strip_controls,
    web::{Client, SearchEngine, unreached, within},
    web_search::engine::Hit,
};

/// Bytes of an answer that are read.
const ANSWER: usize = 5 << 20;
/// Bytes of a title, address or excerpt that are shown.
const TITLE: usize = 300;
const ADDRESS: usize = 1000;
const EXCERPT: usize = 1000;
/// Characters of a query.
const QUERY: usize = 400;
/// Domains that one call may name.
const DOMAINS: usize = 20;

/// Searches the web.
#[derive(Debug)]
pub(crate) struct WebSearch {
    pub(crate) client: Client,
    pub(crate) limits: Limits,
}

/// Arguments of WebSearch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// What to search for.
    query: String,
    /// Only pages of these domains and their subdomains, such as `docs.rs`.
    #[serde(default)]
    allowed_domains: Vec<String>,
    /// No pages of these domains and their subdomains.
    #[serde(default)]
    blocked_domains: Vec<String>,
    /// How many pages to list (default 8, at most 20).
    #[serde(default, deserialize_with = "number")]
    count: Option<u64>,
}

impl Tool for WebSearch {
    const NAME: &'static str = "WebSearch";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("web_search.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, args: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Network { url: args.query.clone(), host: String::new() }]
    }

    fn title(&self, args: &Args) -> String {
        format!("Search the web for {}", args.query.trim())
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let begin = Instant::now();
        let wanted = Wanted::new(&args)?;
        let Some(engine) = &self.client.settings().search else {
            return Err(ToolError::Tell(NOT_SET_UP.to_owned()));
        };
        let answer = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
            answer = self.ask(engine, &wanted) => answer?,
        };
        let hits = engine::hits(engine, &answer).ok_or_else(|| {
            ToolError::Tell(format!(
                "{} gave an answer without a list of results: is its address right?",
                engine::name(engine)
            ))
        })?;
        Ok(shown(&args.query, &wanted.choose(hits), &cx.call_id, begin, self.limits.shown_bytes))
    }
}

const NOT_SET_UP: &str = "no search engine is set up: tell the person to set `BRAVE_API_KEY` to a key of \
     Brave Search, or `OSTLER_SEARXNG_URL` to a SearXNG instance of their own that answers in JSON; \
     until then fetch pages whose address is known with WebFetch";

/// What a call wants, checked.
#[derive(Debug)]
struct Wanted {
    query: String,
    allowed: Vec<String>,
    blocked: Vec<String>,
    count: usize,
}

impl Wanted {
    fn new(args: &Args) -> Result<Self, ToolError> {
        let query = args.query.trim();
        if query.is_empty() {
            return Err(ToolError::Invalid(
                "WebSearch: query is empty: say what to search for".to_owned(),
            ));
        }
        if query.chars().count() > QUERY {
            return Err(ToolError::Invalid(format!(
                "WebSearch: query has more than {QUERY} characters: name the words that matter"
            )));
        }
        let domains = |name: &str, domains: &[String]| {
            if domains.len() > DOMAINS {
                let text =
                    format!("WebSearch: {name} has more than {DOMAINS} domains: leave some out");
                return Err(ToolError::Invalid(text));
            }
            domains.iter().map(|domain| bare(name, domain)).collect::<Result<Vec<_>, _>>()
        };
        let allowed = domains("allowed_domains", &args.allowed_domains)?;
        let blocked = domains("blocked_domains", &args.blocked_domains)?;
        let count = usize::try_from(args.count.unwrap_or(8).clamp(1, 20)).unwrap_or(8);
        Ok(Self { query: query.to_owned(), allowed, blocked, count })
    }

    /// The query as the engine gets it: engines find more of a domain if they are told.
    fn told(&self) -> String {
        let sites: Vec<_> = self.allowed.iter().map(|domain| format!("site:{domain}")).collect();
        match sites.as_slice() {
            [] => self.query.clone(),
            [site] => format!("{} {site}", self.query),
            sites => format!("{} ({})", self.query, sites.join(" OR ")),
        }
    }

    /// How many pages the engine is asked for: some may be left out here.
    fn asked(&self) -> usize {
        if self.allowed.is_empty() && self.blocked.is_empty() { self.count } else { 20 }
    }

    fn choose(&self, hits: Vec<Hit>) -> Vec<Hit> {
        let is_wanted = |hit: &Hit| {
            let url = Url::parse(&hit.url).ok();
            let Some(host) = url.as_ref().and_then(Url::host_str) else { return false };
            let host = host.trim_end_matches('.');
            let below = |domains: &[String]| domains.iter().any(|domain| within(host, domain));
            (self.allowed.is_empty() || below(&self.allowed)) && !below(&self.blocked)
        };
        hits.into_iter().filter(is_wanted).take(self.count).collect()
    }
}

/// A domain from how people write one, such as `*.docs.rs` or `https://docs.rs/`.
fn bare(argument: &str, domain: &str) -> Result<String, ToolError> {
    let name = domain.trim();
    let name =
        name.strip_prefix("https://").or_else(|| name.strip_prefix("http://")).unwrap_or(name);
    let name = name.strip_prefix("*.").unwrap_or(name).trim_end_matches(['/', '.']);
    let host = url::Host::parse(name).ok().filter(|_| name.contains('.'));
    host.map(|host| host.to_string()).ok_or_else(|| {
        ToolError::Invalid(format!(
            "WebSearch: `{domain}` in {argument} is not a domain, such as `docs.rs`"
        ))
    })
}

impl WebSearch {
    async fn ask(&self, engine: &SearchEngine, wanted: &Wanted) -> Result<Value, ToolError> {
        let name = engine::name(engine);
        let url =
            engine::address(engine, &wanted.told(), wanted.asked()).map_err(ToolError::Tell)?;
        let mut request = self
            .client
            .ask_own(&url)?
            .header("accept", "application/json")
            .timeout(Duration::from_secs(self.limits.fetch_seconds));
        if let Some((header, key)) = engine::key(engine) {
            let mut key = HeaderValue::from_str(key.trim()).map_err(|_| {
                ToolError::Tell(format!("the key of {name} holds characters that no key has"))
            })?;
            key.set_sensitive(true);
            request = request.header(header, key);
        }
        let mut response = request.send().await.map_err(|error| unreached(&url, error))?;
        let status = response.status();
        if !status.is_success() {
            let advice = match status.as_u16() {
                401 => "its key is not valid",
                // The default of an instance.
                403 if matches!(engine, SearchEngine::Searxng { .. }) => {
                    "does its `search.formats` setting name `json`?"
                }
                402 | 403 | 422 => "its key or plan does not allow it",
                429 => "too many searches, try again later",
                _ => "try again later",
            };
            return Err(ToolError::Tell(format!("{name} answered {status}: {advice}")));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreached(&url, error))? {
            if body.len() + chunk.len() > ANSWER {
                return Err(ToolError::Tell(format!("the answer of {name} is larger than 5 MB")));
            }
            body.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&body).map_err(|_| {
            ToolError::Tell(format!("the answer of {name} is not JSON: is its address right?"))
        })
    }
}

fn shown(query: &str, hits: &[Hit], call_id: &str, begin: Instant, cap: usize) -> ToolOutput {
    let mut text = String::new();
    let mut listed = Vec::new();
    for hit in hits {
        let (title, url) = (clean(&hit.title, TITLE), clean(&hit.url, ADDRESS));
        let entry = format!(
            "{}. {title}\n   {url}\n   {}\n",
            listed.len() + 1,
            clean(&hit.excerpt, EXCERPT)
        );
        if text.len() + entry.len() > cap {
            text.push_str("[more were found: ask for fewer with count, or search more closely]\n");
            break;
        }
        text.push_str(&entry);
        listed.push(json!({ "title": title, "url": url }));
    }
    let text = if listed.is_empty() {
        "nothing was found: try other words, or fewer".to_owned()
    } else {
        format!(
            "{}\n\nRead a page with WebFetch before relying on it; name the pages used.",
            text.trim_end()
        )
    };
    let structured = json!({
        "query": query,
        "results": [{ "tool_use_id": call_id, "content": listed }],
        "durationSeconds": begin.elapsed().as_secs_f64(),
    });
    ToolOutput::text(text, structured)
}

/// One line of bounded, plain text.
fn clean(text: &str, cap: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let text = strip_controls(&words.join(" "));
    match floor_char_boundary(&text, cap) {
        end if end < text.len() => format!("{}...", &text[..end]),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(allowed: &[&str], blocked: &[&str]) -> Result<Wanted, ToolError> {
        let owned = |domains: &[&str]| domains.iter().map(|&domain| domain.to_owned()).collect();
        Wanted::new(&Args {
            query: " q ".to_owned(),
            allowed_domains: owned(allowed),
            blocked_domains: owned(blocked),
            count: None,
        })
    }

    #[test]
    fn domains_are_exact_or_below() {
        let hit =
            |url: &str| Hit { title: String::new(), url: url.to_owned(), excerpt: String::new() };
        let hits = || {
            [
                "https://a.test/1",
                "https://b.a.test./2",
                "https://xa.test/3",
                "https://a.test.evil/4",
            ]
            .map(hit)
            .to_vec()
        };
        let urls = |wanted: Wanted| {
            wanted.choose(hits()).into_iter().map(|hit| hit.url).collect::<Vec<_>>()
        };
        assert_eq!(
            urls(wanted(&["*.A.test"], &[]).unwrap()),
            ["https://a.test/1", "https://b.a.test./2"]
        );
        assert_eq!(
            urls(wanted(&[], &["https://a.test/"]).unwrap()),
            ["https://xa.test/3", "https://a.test.evil/4"]
        );
        assert_eq!(urls(wanted(&["a.test"], &["b.a.test"]).unwrap()), ["https://a.test/1"]);
        assert_eq!(
            wanted(&["a.test", "b.test"], &[]).unwrap().told(),
            "q (site:a.test OR site:b.test)"
        );
        for bad in ["", "a test.x", "com", "a.test/path"] {
            assert!(wanted(&[bad], &[]).is_err(), "{bad}");
        }
    }
}
