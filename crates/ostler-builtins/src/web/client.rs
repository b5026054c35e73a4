//! The HTTP client: judged connections, redirects by hand, bodies with a cap.
//!
//! Permission was given for one host, so a redirect to another one is an answer here and
//! never followed.

use std::{
    error::Error as _,
    sync::{Arc, Once, OnceLock},
    time::Duration,
};

use ostler_tool::{Progress, ToolError};
use reqwest::{
    Proxy, RequestBuilder, Response, StatusCode, Url,
    header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, LOCATION},
    redirect::Policy,
};

use crate::web::{Reach, WebSettings};

/// Redirects that are followed within one host.
const REDIRECTS: usize = 10;
/// The longest address that is taken.
const URL_BYTES: usize = 8 * 1024;
const AGENT: &str = concat!("ostler/", env!("CARGO_PKG_VERSION"));

/// The client, which is built at first use. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: WebSettings,
    /// Connects to judged addresses only.
    judged: Built,
    /// Connects to a proxy, which is the person's own choice.
    proxied: Built,
    /// Connects to a search engine, likewise.
    own: Built,
}

type Built = OnceLock<Result<reqwest::Client, String>>;

/// What a site gave.
#[derive(Debug)]
pub(crate) enum Answer {
    /// An answer whose body was not read yet.
    Page(Page),
    /// It sends elsewhere, where nobody has allowed to go yet.
    Elsewhere {
        /// Where.
        to: Url,
        /// With which status.
        status: StatusCode,
    },
}

/// The head of an answer.
#[derive(Debug)]
pub(crate) struct Page {
    /// Where it came from in the end.
    pub(crate) url: Url,
    /// The status.
    pub(crate) status: StatusCode,
    /// The content type in lower case, with its parameters; empty if none was named.
    pub(crate) content_type: String,
    /// The size that was announced.
    pub(crate) size: Option<u64>,
    response: Response,
}

/// Reads an address and brings it into the one form that is judged and fetched: http or
/// https, with a host, without credentials, fragment, or a dot at the end of the host.
pub(crate) fn normal(text: &str) -> Result<Url, ToolError> {
    let text = text.trim();
    if text.len() > URL_BYTES {
        return Err(tell(format!("the address has {} bytes, more than {URL_BYTES}", text.len())));
    }
    let mut url = Url::parse(text).map_err(|error| {
        tell(format!("`{text}` is not an address: {error}; write it as `https://host/path`"))
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = url.scheme();
        return Err(tell(format!("`{scheme}:` addresses are not fetched: only http and https")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let text = "the address holds a user name or password: they are not sent, leave them out";
        return Err(tell(text.to_owned()));
    }
    url.set_fragment(None);
    if let Some(bare) = url.domain().and_then(|name| name.strip_suffix('.')).map(str::to_owned) {
        url.set_host(Some(&bare))
            .map_err(|error| tell(format!("`{text}` is not an address: {error}")))?;
    }
    Ok(url)
}

impl Client {
    pub(crate) fn new(settings: WebSettings) -> Self {
        let (judged, proxied, own) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self(Arc::new(Inner { settings, judged, proxied, own }))
    }

    pub(crate) fn settings(&self) -> &WebSettings {
        &self.0.settings
    }

    /// Gets a page: every hop is judged, and hops within the host are followed.
    pub(crate) async fn get(&self, url: &Url) -> Result<Answer, ToolError> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let client = self.judged(&url).await?;
            let request = client
                .get(url.clone())
                .header(ACCEPT, "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5")
                .header(ACCEPT_ENCODING, "identity");
            let response = request.send().await.map_err(|error| unreached(&url, error))?;
            let status = response.status();
            let Some(to) = target(&url, &response)? else {
                return Page::new(url, response).map(Answer::Page);
            };
            if let Some(host) = to.host() {
                self.reach().host(&host).map_err(|refused| {
                    tell(format!("`{url}` sends on to where nothing is fetched: {refused}"))
                })?;
            }
            if !same_site(&url, &to) {
                return Ok(Answer::Elsewhere { to, status });
            }
            url = to;
        }
        Err(tell(format!("`{url}` sent on more than {REDIRECTS} times: it leads nowhere")))
    }

    /// Asks a service that the person set up; nothing is judged and no redirect followed.
    pub(crate) fn ask_own(&self, url: &Url) -> Result<RequestBuilder, ToolError> {
        let client = if self.proxy(url).is_some() { self.proxied() } else { self.own() }?;
        Ok(client.get(url.clone()).header(ACCEPT_ENCODING, "identity"))
    }

    fn reach(&self) -> &Reach {
        &self.0.settings.reach
    }

    /// The client that may be used for an address, once that was judged.
    async fn judged(&self, url: &Url) -> Result<&reqwest::Client, ToolError> {
        // A literal address never comes to the resolver.
        if let Some(host) = url.host() {
            self.reach().host(&host).map_err(|refused| tell(refused.to_string()))?;
        }
        if self.proxy(url).is_none() {
            let reach = self.reach().clone();
            return built(&self.0.judged, || base().no_proxy().dns_resolver(reach));
        }
        if let Some(name) = url.domain()
            && let Err(error) = Reach::resolve(self.reach(), name).await
            && error.get_ref().is_some_and(|inner| inner.is::<super::reach::Refused>())
        {
            return Err(tell(error.to_string()));
        }
        self.proxied()
    }

    fn own(&self) -> Result<&reqwest::Client, ToolError> {
        built(&self.0.own, || base().no_proxy())
    }

    fn proxied(&self) -> Result<&reqwest::Client, ToolError> {
        let proxies = &self.0.settings.proxies;
        let bad = |error: reqwest::Error| {
            tell(format!(
                "the proxy address cannot be used: {error}; check `HTTPS_PROXY` and `HTTP_PROXY`"
            ))
        };
        let http = proxies.http.as_deref().map(Proxy::http).transpose().map_err(bad)?;
        let https = proxies.https.as_deref().map(Proxy::https).transpose().map_err(bad)?;
        built(&self.0.proxied, || {
            [http, https]
                .into_iter()
                .flatten()
                .fold(base().no_proxy(), |client, proxy| client.proxy(proxy))
        })
    }

    /// The proxy for an address, if there is one.
    fn proxy(&self, url: &Url) -> Option<&str> {
        let proxies = &self.0.settings.proxies;
        let proxy = if url.scheme() == "https" { &proxies.https } else { &proxies.http };
        let host = url.host_str()?;
        let spared = proxies.no_proxy.split(',').map(str::trim).any(|entry| {
            let name = entry.trim_start_matches("*.").trim_start_matches('.');
            entry == "*" || !name.is_empty() && within(host, name)
        });
        proxy.as_deref().filter(|proxy| !spared && !proxy.is_empty())
    }
}

/// Whether a host is a domain or lies below it, case ignored.
pub(crate) fn within(host: &str, domain: &str) -> bool {
    let (host, domain) = (host.to_ascii_lowercase(), domain.to_ascii_lowercase());
    host == domain || host.strip_suffix(&domain).is_some_and(|rest| rest.ends_with('.'))
}

impl Page {
    fn new(url: Url, response: Response) -> Result<Self, ToolError> {
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        if let Some(encoding) = header(CONTENT_ENCODING)
            && !encoding.eq_ignore_ascii_case("identity")
        {
            return Err(tell(format!(
                "`{url}` answered in `{encoding}` although it was asked not to compress: fetch it with curl in Bash"
            )));
        }
        let content_type = header(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let (status, size) = (response.status(), response.content_length());
        Ok(Self { url, status, content_type, size, response })
    }

    /// The content type without parameters.
    pub(crate) fn kind(&self) -> &str {
        self.content_type.split(';').next().unwrap_or_default().trim()
    }

    /// Reads the body up to a cap; what is larger is refused.
    pub(crate) async fn body(
        mut self,
        cap: u64,
        progress: &Progress,
    ) -> Result<Vec<u8>, ToolError> {
        let large = || {
            tell(format!(
                "`{}` is larger than {} MB: fetch it to a file with curl in Bash and read that in part",
                self.url,
                cap >> 20
            ))
        };
        if self.size.is_some_and(|size| size > cap) {
            return Err(large());
        }
        let mut bytes = Vec::new();
        loop {
            let chunk = self.response.chunk().await.map_err(|error| unreached(&self.url, error))?;
            let Some(chunk) = chunk else { return Ok(bytes) };
            if bytes.len() as u64 + chunk.len() as u64 > cap {
                return Err(large());
            }
            bytes.extend_from_slice(&chunk);
            progress.report(bytes.len() as u64, "");
        }
    }
}

/// Where an answer sends on to, if it does.
fn target(from: &Url, response: &Response) -> Result<Option<Url>, ToolError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(to) = response.headers().get(LOCATION) else { return Ok(None) };
    let to = std::str::from_utf8(to.as_bytes()).ok().and_then(|to| from.join(to).ok());
    let to = to.ok_or_else(|| tell(format!("`{from}` sends on to what is not an address")))?;
    normal(to.as_str())
        .map(Some)
        .map_err(|error| tell(format!("`{from}` sends on to where nothing is fetched: {error}")))
}

/// Whether permission for one address holds for the other: the same host and port, or the
/// same host by TLS.
fn same_site(from: &Url, to: &Url) -> bool {
    let upgrade = from.scheme() == "http" && to.scheme() == "https";
    from.host() == to.host()
        && (from.origin() == to.origin() || upgrade && from.port().is_none() && to.port().is_none())
}

fn base() -> reqwest::ClientBuilder {
    static RING: Once = Once::new();
    RING.call_once(|| {
        // It fails only if the program chose a provider before, which is as good.
        rustls::crypto::ring::default_provider().install_default().ok();
    });
    reqwest::Client::builder()
        .redirect(Policy::none())
        .referer(false)
        .user_agent(AGENT)
        .connect_timeout(Duration::from_secs(10))
}

fn built(
    slot: &Built,
    make: impl FnOnce() -> reqwest::ClientBuilder,
) -> Result<&reqwest::Client, ToolError> {
    let client = slot.get_or_init(|| make().build().map_err(|error| innermost(&error)));
    client.as_ref().map_err(|error| tell(format!("cannot set up connections: {error}")))
}

/// What the model reads when a site cannot be reached.
pub(crate) fn unreached(url: &Url, error: reqwest::Error) -> ToolError {
    let error = error.without_url();
    let host = url.host_str().unwrap_or_default();
    if error.is_timeout() {
        return tell(format!("`{host}` did not answer in time: try again later"));
    }
    tell(format!("cannot fetch `{url}`: {}", innermost(&error)))
}

/// The cause behind the causes, which says most.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    let mut text = error.to_string();
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}

fn tell(text: String) -> ToolError {
    ToolError::Tell(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        let check =
            |text: &str, expected: &str| assert_eq!(normal(text).unwrap().as_str(), expected);
        check(" HTTP://Example.COM.:80/a?b#c ", "http://example.com/a?b");
        check("https://b\u{fc}cher.example", "https://xn--bcher-kva.example/");
        check("http://0x7f.1/", "http://127.0.0.1/");
        for bad in [
            "example.com",
            "ftp://example.com/",
            "file:///etc/passwd",
            "http://",
            "https://user@example.com/",
            "https://:secret@example.com/",
            "https://good.test@evil.test/",
            "javascript:alert(1)",
            "http://[::1",
        ] {
            assert!(normal(bad).is_err(), "{bad}");
        }
        assert!(normal(&format!("http://h/{}", "x".repeat(URL_BYTES))).is_err());
    }

    #[test]
    fn permission_for_one_site_holds_for_no_other() {
        let same = |from: &str, to: &str| same_site(&normal(from).unwrap(), &normal(to).unwrap());
        assert!(same("http://a.test/x", "http://a.test/y"));
        assert!(same("http://a.test/", "https://a.test/"));
        assert!(!same("https://a.test/", "http://a.test/"));
        assert!(!same("http://a.test/", "http://a.test.evil.test/"));
        assert!(!same("http://a.test/", "http://b.a.test/"));
        assert!(!same("http://a.test:8080/", "http://a.test/"));
        assert!(!same("http://a.test:8080/", "https://a.test/"));
    }

    #[test]
    fn a_domain_holds_what_lies_below_it_and_nothing_that_looks_like_it() {
        assert!(within("a.test", "A.test") && within("b.a.test", "a.test"));
        assert!(!within("ba.test", "a.test") && !within("a.test.evil", "a.test"));
    }

    #[test]
    fn proxies_hold_but_for_what_is_spared() {
        let proxies = super::super::Proxies {
            http: Some("http://proxy.test:3128".to_owned()),
            https: None,
            no_proxy: "near.test, .own.test".to_owned(),
        };
        let client = Client::new(WebSettings { proxies, ..WebSettings::default() });
        let proxied = |url: &str| client.proxy(&normal(url).unwrap()).is_some();
        assert!(proxied("http://far.test/"));
        assert!(!proxied("https://far.test/"));
        assert!(!proxied("http://near.test/") && !proxied("http://a.own.test/"));
    }
}
