//! What a provider needs to be opened. Everything is handed in; nothing is read here.

use std::{fmt, sync::Arc, time::Duration};

use secrecy::SecretString;

use crate::{Provider, RetryPolicy, catalogue::ProviderRow, vendor::Vendor};

/// The format that a vendor speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Chat Completions.
    Chat,
}

/// How the key is sent on the Messages wire; Chat Completions knows only `Bearer`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyHeader {
    /// `x-api-key`.
    #[default]
    ApiKey,
    /// `authorization: Bearer` (`ANTHROPIC_AUTH_TOKEN`, `CLAUDE_CODE_OAUTH_TOKEN`).
    Bearer,
}

/// Limits on silence; zero is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the request to the head of the answer.
    pub header: Duration,
    /// Between two reads of the body; any byte counts.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { header: Duration::from_secs(300), idle: Duration::from_secs(180) }
    }
}

/// How to reach a provider.
#[derive(Clone)]
pub struct ProviderConfig {
    /// Its id, such as `anthropic`.
    pub id: String,
    /// The format that it speaks.
    pub wire: Wire,
    /// Without `/v1` for [`Wire::Messages`], with it for [`Wire::Chat`].
    pub base_url: String,
    /// The credential, if it wants one.
    pub key: Option<SecretString>,
    /// How the credential is sent.
    pub key_header: KeyHeader,
    /// The address of an HTTP proxy, if one is to be used.
    pub proxy: Option<String>,
    /// The `user-agent` header.
    pub user_agent: String,
    /// Limits on silence.
    pub timeouts: Timeouts,
    /// When a request is made again.
    pub retry: RetryPolicy,
}

impl ProviderConfig {
    /// A provider with the usual limits and no key.
    #[must_use]
    pub fn new(id: impl Into<String>, wire: Wire, base_url: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            wire,
            base_url: base_url.into(),
            key: None,
            key_header: KeyHeader::default(),
            proxy: None,
            user_agent: concat!("ostler/", env!("CARGO_PKG_VERSION")).to_owned(),
            timeouts: Timeouts::default(),
            retry: RetryPolicy::default(),
        }
    }

    /// A provider as the catalogue has it.
    #[must_use]
    pub fn of(row: &ProviderRow) -> Self {
        Self::new(row.id, row.wire, row.base_url)
    }

    /// The same with a key.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(SecretString::from(key.into()));
        self
    }
}

impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderConfig")
            .field("id", &self.id)
            .field("wire", &self.wire)
            .field("base_url", &self.base_url)
            .field("has_key", &self.key.is_some())
            .finish_non_exhaustive()
    }
}

/// Opens a provider. Nothing is connected or loaded before the first request.
#[must_use]
pub fn open(config: ProviderConfig) -> Arc<dyn Provider> {
    Arc::new(Vendor::new(config))
}
