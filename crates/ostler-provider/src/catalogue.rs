//! Providers, models and aliases as data, from the vendors' public model pages. A model
//! that is not listed has unknown limits; it is asked all the same.

mod resolve;

pub use resolve::{Choice, Known, Unresolved, resolve};

use crate::{ModelInfo, Wire};

/// A provider that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderRow {
    /// Its id.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// The format that it speaks.
    pub wire: Wire,
    /// Where it is, if nothing else is set.
    pub base_url: &'static str,
    /// Variables that hold its key, the first wins.
    pub key_env: &'static [&'static str],
    /// The variable that holds another base URL.
    pub base_url_env: &'static str,
    /// Whether it wants a key; local servers do not (`authMode: none`).
    pub needs_key: bool,
    /// The model that is asked if none is named; local servers have none.
    pub default_model: Option<&'static str>,
    /// Models that we know of.
    pub models: &'static [ModelRow],
}

/// A model that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelRow {
    /// The vendor's id, without a date.
    pub id: &'static str,
    /// Tokens of context.
    pub context_window: u64,
    /// Most tokens of one answer.
    pub max_output: u64,
    /// Whether it takes pictures.
    pub images: bool,
}

const fn row(id: &'static str, context_window: u64, max_output: u64, images: bool) -> ModelRow {
    ModelRow { id, context_window, max_output, images }
}

const fn local(
    id: &'static str,
    name: &'static str,
    base_url: &'static str,
    key_env: &'static [&'static str],
    base_url_env: &'static str,
) -> ProviderRow {
    ProviderRow {
        id,
        name,
        wire: Wire::Chat,
        base_url,
        key_env,
        base_url_env,
        needs_key: false,
        default_model: None,
        models: &[],
    }
}

/// All providers that we know, in the order in which one with a key is looked for.
pub const PROVIDERS: &[ProviderRow] = &[
    ProviderRow {
        id: "anthropic",
        name: "Anthropic",
        wire: Wire::Messages,
        base_url: "https://api.anthropic.com",
        key_env: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        base_url_env: "ANTHROPIC_BASE_URL",
        needs_key: true,
        default_model: Some("claude-sonnet-4-5"),
        models: &[
            row("claude-sonnet-4-5", 200_000, 64_000, true),
            row("claude-opus-4-5", 200_000, 64_000, true),
            row("claude-haiku-4-5", 200_000, 64_000, true),
            row("claude-opus-4-1", 200_000, 32_000, true),
            row("claude-opus-4", 200_000, 32_000, true),
            row("claude-sonnet-4", 200_000, 64_000, true),
        ],
    },
    ProviderRow {
        id: "openai",
        name: "OpenAI",
        wire: Wire::Chat,
        base_url: "https://api.openai.com/v1",
        key_env: &["OPENAI_API_KEY"],
        base_url_env: "OPENAI_BASE_URL",
        needs_key: true,
        default_model: Some("gpt-4o"),
        models: &[
            row("gpt-4o", 128_000, 16_384, true),
            row("gpt-4o-mini", 128_000, 16_384, true),
            row("gpt-4.1", 1_047_576, 32_768, true),
            row("gpt-4.1-mini", 1_047_576, 32_768, true),
            row("gpt-5", 400_000, 128_000, true),
            row("gpt-5-mini", 400_000, 128_000, true),
            row("o3", 200_000, 100_000, true),
            row("o4-mini", 200_000, 100_000, true),
        ],
    },
    ProviderRow {
        id: "openrouter",
        name: "OpenRouter",
        wire: Wire::Chat,
        base_url: "https://openrouter.ai/api/v1",
        key_env: &["OPENROUTER_API_KEY"],
        base_url_env: "OPENROUTER_BASE_URL",
        needs_key: true,
        default_model: Some("anthropic/claude-sonnet-4.5"),
        models: &[
            row("anthropic/claude-sonnet-4.5", 200_000, 64_000, true),
            row("openai/gpt-4o", 128_000, 16_384, true),
            row("openai/gpt-5", 400_000, 128_000, true),
        ],
    },
    ProviderRow {
        id: "deepseek",
        name: "DeepSeek",
        wire: Wire::Chat,
        base_url: "https://api.deepseek.com/v1",
        key_env: &["DEEPSEEK_API_KEY"],
        base_url_env: "DEEPSEEK_BASE_URL",
        needs_key: true,
        default_model: Some("deepseek-chat"),
        models: &[
            row("deepseek-chat", 128_000, 8_192, false),
            row("deepseek-reasoner", 128_000, 64_000, false),
        ],
    },
    local("ollama", "Ollama", "http://127.0.0.1:11434/v1", &["OLLAMA_API_KEY"], "OLLAMA_BASE_URL"),
    local(
        "lmstudio",
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        &["LMSTUDIO_API_KEY"],
        "LMSTUDIO_BASE_URL",
    ),
    local(
        "llamacpp",
        "llama.cpp",
        "http://127.0.0.1:8080/v1",
        &["LLAMACPP_API_KEY"],
        "LLAMACPP_BASE_URL",
    ),
];

/// The beta that opens Anthropic's long window, which `[1m]` asks for.
pub const LONG_WINDOW_BETA: &str = "context-1m-2025-08-07";

/// Tokens of the long window.
pub const LONG_WINDOW: u64 = 1_000_000;

/// Short names of models: alias, provider, model. `default` depends on the provider.
pub const ALIASES: &[(&str, &str, &str)] = &[
    ("sonnet", "anthropic", "claude-sonnet-4-5"),
    ("opus", "anthropic", "claude-opus-4-5"),
    ("haiku", "anthropic", "claude-haiku-4-5"),
];

/// The row of a provider.
#[must_use]
pub fn provider(id: &str) -> Option<&'static ProviderRow> {
    PROVIDERS.iter().find(|row| row.id == id)
}

/// What is known of a model of a provider; an unlisted one has unknown limits.
#[must_use]
pub fn model_info(provider_id: &str, model: &str) -> ModelInfo {
    let row = provider(provider_id).and_then(|provider| model_row(provider, model));
    match row {
        Some(row) => ModelInfo {
            context_window: Some(row.context_window),
            max_output: Some(row.max_output),
            images: row.images,
            scripted: false,
        },
        // A picture that is refused can be taken out again; one that was never sent cannot
        // be seen.
        None => ModelInfo { images: true, ..ModelInfo::default() },
    }
}

fn model_row<'a>(provider: &'a ProviderRow, model: &str) -> Option<&'a ModelRow> {
    let undated = undated(model);
    provider.models.iter().find(|row| row.id == model || row.id == undated)
}

/// The id without a date at its end: vendors give a model one for each of its versions.
fn undated(model: &str) -> &str {
    let digits = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let stem = match model.rsplit_once('-') {
        Some((stem, date)) if digits(date, 8) => stem,
        _ => match model.len().checked_sub(11).and_then(|at| model.split_at_checked(at)) {
            Some((stem, date)) if is_iso_date(date) => stem,
            _ => model,
        },
    };
    stem.strip_suffix("-0").unwrap_or(stem)
}

/// `-2024-08-06`.
fn is_iso_date(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        0 | 5 | 8 => byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

#[cfg(test)]
mod tests;
