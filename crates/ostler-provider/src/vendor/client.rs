//! The HTTP client and the request, without sending anything.

use std::{sync::Once, time::Duration};

use ostler_protocol::ErrorKind;
use reqwest::{
    Client, Method, Proxy, Request, RequestBuilder, Url,
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
    let path = match config.wire {
        Wire::Messages => "messages",
        Wire::Chat => "chat/completions",
    };
    let mut request = common(client.request(Method::POST, url(config, path)?), config)?
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "text/event-stream")
        .body(body);
    if config.wire == Wire::Messages && !betas.is_empty() {
        request = request.header("anthropic-beta", betas.join(","));
    }
    request.build().map_err(unbuilt)
}

/// The request for the list of models.
pub(super) fn list(client: &Client, config: &ProviderConfig) -> Result<Request, Failure> {
    let request = client.request(Method::GET, url(config, "models")?);
    common(request, config)?.build().map_err(unbuilt)
}

/// `body` without the key, which some vendors repeat.
pub(super) fn without_key(config: &ProviderConfig, body: &str) -> String {
    match &config.key {
        Some(key) if key.expose_secret().len() > 3 => body.replace(key.expose_secret(), "[key]"),
        _ => body.to_owned(),
    }
}

fn unbuilt(error: reqwest::Error) -> Failure {
    plain(ErrorKind::Settings, format!("the request cannot be built: {error}"), "")
}

fn common(request: RequestBuilder, config: &ProviderConfig) -> Result<RequestBuilder, Failure> {
    let mut request = request.header(USER_AGENT, &config.user_agent);
    if config.wire == Wire::Messages {
        request = request.header("anthropic-version", "2023-06-01");
    }
    if let Some((name, value)) = key(config)? {
        request = request.header(name, value);
    }
    Ok(request)
}

fn url(config: &ProviderConfig, path: &str) -> Result<Url, Failure> {
    let base = config.base_url.trim_end_matches('/');
    let text = match config.wire {
        // People write both, so both hold.
        Wire::Messages => format!("{}/v1/{path}", base.strip_suffix("/v1").unwrap_or(base)),
        Wire::Chat => format!("{base}/{path}"),
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
