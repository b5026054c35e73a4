//! The HTTP client and the request, without sending anything.

use std::{sync::Once, time::Duration};

use ostler_protocol::ErrorKind;
use reqwest::{
    Client, Method, Proxy, Request, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT},
    redirect::Policy,
};
use secrecy::ExposeSecret as _;

use crate::{Failure, KeyHeader, ProviderConfig, Wire, failure::plain};

/// Builds the client. For plain HTTP no certificate is loaded: that is most of the time
/// that a first request takes.
pub(super) fn build(config: &ProviderConfig) -> Result<Client, Failure> {
    static RING: Once = Once::new();
    RING.call_once(|| {
        // It fails only if the program chose a provider before, which is as good.
        rustls::crypto::ring::default_provider().install_default().ok();
    });
    let mut builder = Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .connect_timeout(Duration::from_secs(30))
        .tcp_keepalive(Duration::from_secs(30));
    if let Some(proxy) = &config.proxy {
        let proxy = Proxy::all(proxy).map_err(|error| {
            let message = format!("the proxy address cannot be used: {error}");
            plain(ErrorKind::Settings, message, "check `HTTPS_PROXY` and `HTTP_PROXY`")
        })?;
        builder = builder.proxy(proxy);
    }
    let plain_http = config.base_url.starts_with("http://");
    if plain_http && config.proxy.is_none() {
        builder = builder.tls_certs_only([]).http1_only();
    }
    builder.build().map_err(|error| {
        let message = format!("cannot set up the connection: {}", super::chain(&error));
        plain(ErrorKind::Settings, message, "are the certificates of this machine readable?")
    })
}

/// The request with its body and headers.
pub(super) fn request(
    client: &Client,
    config: &ProviderConfig,
    betas: &[String],
    body: String,
) -> Result<Request, Failure> {
    let url = url(config)?;
    let mut request = client
        .request(Method::POST, url)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "text/event-stream")
        .header(USER_AGENT, &config.user_agent)
        .body(body);
    if config.wire == Wire::Messages {
        request = request.header("anthropic-version", "2023-06-01");
        if !betas.is_empty() {
            request = request.header("anthropic-beta", betas.join(","));
        }
    }
    if let Some((name, value)) = key(config)? {
        request = request.header(name, value);
    }
    request.build().map_err(|error| {
        plain(ErrorKind::Settings, format!("the request cannot be built: {error}"), "")
    })
}

fn url(config: &ProviderConfig) -> Result<Url, Failure> {
    let base = config.base_url.trim_end_matches('/');
    let text = match config.wire {
        // People write both, so both hold.
        Wire::Messages => format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base)),
        Wire::Chat => format!("{base}/chat/completions"),
    };
    let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| {
        let message = format!("base URL `{}` of {} is none", config.base_url, config.id);
        plain(ErrorKind::Settings, message, "write it as `https://host/path`")
    })
}

fn key(config: &ProviderConfig) -> Result<Option<(HeaderName, HeaderValue)>, Failure> {
    let Some(key) = &config.key else { return Ok(None) };
    let bearer = config.wire == Wire::Chat || config.key_header == KeyHeader::Bearer;
    let (name, text) = if bearer {
        (AUTHORIZATION, format!("Bearer {}", key.expose_secret().trim()))
    } else {
        (HeaderName::from_static("x-api-key"), key.expose_secret().trim().to_owned())
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        let message = format!("the key of {} holds characters that no key has", config.id);
        plain(ErrorKind::Auth, message, "copy it again, without line breaks")
    })?;
    value.set_sensitive(true);
    Ok(Some((name, value)))
}
