//! What WebFetch and WebSearch share: their settings, the machines that they may reach,
//! and the HTTP client. No request leaves this crate but through here; none carries
//! cookies or credentials, but for the key of a search engine that the person set up.

mod client;
mod reach;

use std::fmt;

use secrecy::SecretString;

pub(crate) use client::{Answer, Client, Page, normal, unreached, within};
pub use reach::Reach;

/// What the host gives to the tools that reach into the network.
#[derive(Clone, Default)]
pub struct WebSettings {
    /// Which addresses may be reached, and how names become addresses.
    pub reach: Reach,
    /// The proxies, as the environment names them.
    pub proxies: Proxies,
    /// The search engine. Without one WebSearch says how to set one up.
    pub search: Option<SearchEngine>,
}

/// Proxies for requests (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`).
///
/// A proxy sees names, not addresses: a name that this machine cannot resolve is left to
/// it, one that resolves to a refused address is refused all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// The address of the proxy for `http` pages.
    pub http: Option<String>,
    /// The address of the proxy for `https` pages.
    pub https: Option<String>,
    /// Hosts, with their subdomains, that are reached without a proxy, divided by commas;
    /// `*` is all.
    pub no_proxy: String,
}

/// A search engine and how to reach it.
#[derive(Clone)]
pub enum SearchEngine {
    /// Brave Search, which wants a key.
    Brave {
        /// The key (`BRAVE_API_KEY`).
        key: SecretString,
        /// Another address of the service than its own.
        base_url: Option<String>,
    },
    /// A SearXNG instance that answers in JSON. Its address is the person's own choice, so
    /// it may be on this machine.
    Searxng {
        /// The address of the instance, without `/search`.
        base_url: String,
    },
}

impl fmt::Debug for WebSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reach, proxies: _, search } = self;
        // A proxy's address may hold a password.
        f.debug_struct("WebSettings").field("reach", reach).field("search", search).finish()
    }
}

impl fmt::Debug for SearchEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Brave { base_url, .. } => f.debug_tuple("Brave").field(base_url).finish(),
            Self::Searxng { base_url } => f.debug_tuple("Searxng").field(base_url).finish(),
        }
    }
}
