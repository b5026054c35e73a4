//! The provider-neutral conversation: messages of typed blocks.
//!
//! It is a superset of the Anthropic Messages shape, because that is what the Agent SDK
//! door shows and the transcript stores; other vendors are lowered to and lifted from it
//! in `ostler-provider`. Blocks that we do not know are kept as they came.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person, and the results of tools.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<Block>,
}

/// One piece of a message (Anthropic Messages API, content blocks).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// Reasoning that the vendor lets us see, with the proof that it wants back.
    Thinking {
        /// The reasoning; empty if the vendor withholds it.
        thinking: String,
        /// The vendor's proof; empty if it gave none.
        #[serde(default)]
        signature: String,
    },
    /// Reasoning that the vendor encrypts; sent back unchanged.
    RedactedThinking {
        /// Opaque.
        data: String,
    },
    /// The model calls a tool.
    ToolUse {
        /// The call's name.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments, an object.
        input: Value,
    },
    /// What a tool call gave.
    ToolResult {
        /// The call that this answers.
        tool_use_id: String,
        /// What it gave: text or blocks.
        #[serde(default)]
        content: ToolResultContent,
        /// Whether the call failed or was refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
    /// A picture.
    Image {
        /// Where its bytes are.
        source: MediaSource,
    },
    /// A document, usually PDF.
    Document {
        /// Where its bytes are.
        source: MediaSource,
    },
    /// A block that this version does not know, kept as it came.
    #[serde(untagged)]
    Other(Value),
}

/// Bytes of a picture or document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MediaSource {
    /// Inline, as base64.
    Base64 {
        /// Such as `image/png`.
        media_type: String,
        /// Standard base64 with padding.
        data: String,
    },
    /// At an address that the vendor fetches.
    Url {
        /// The address.
        url: String,
    },
}

/// The content of a tool result: one text or a list of blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum ToolResultContent {
    /// Text alone.
    Text(String),
    /// Blocks: text and pictures.
    Blocks(Vec<Block>),
}

impl Default for ToolResultContent {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl ToolResultContent {
    /// Bytes of text and data in it, about.
    #[must_use]
    pub fn text_len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blocks(blocks) => blocks.iter().map(Block::text_len).sum(),
        }
    }

    /// The text of all text blocks, joined by newlines.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(|block| match block {
                    Block::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl Block {
    /// Bytes of text and data in it, about.
    #[must_use]
    pub fn text_len(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Thinking { thinking, .. } => thinking.len(),
            Self::ToolUse { input, .. } => input.to_string().len(),
            Self::ToolResult { content, .. } => content.text_len(),
            Self::Image { source } | Self::Document { source } => match source {
                MediaSource::Base64 { data, .. } => data.len(),
                MediaSource::Url { url } => url.len(),
            },
            _ => 0,
        }
    }

    /// A block of words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The result of a tool call as text.
    pub fn tool_result(
        tool_use_id: impl Into<String>,
        text: impl Into<String>,
        is_error: bool,
    ) -> Self {
        Self::ToolResult {
            tool_use_id: tool_use_id.into(),
            content: ToolResultContent::Text(text.into()),
            is_error: Some(is_error),
        }
    }
}

impl Message {
    /// A message of the person.
    #[must_use]
    pub fn user(content: Vec<Block>) -> Self {
        Self { role: Role::User, content }
    }

    /// A message of the model.
    #[must_use]
    pub fn assistant(content: Vec<Block>) -> Self {
        Self { role: Role::Assistant, content }
    }
}

/// Tokens of one provider response, in the Anthropic shape: `input_tokens` are those
/// neither read from nor written to the cache. What a vendor does not say is absent, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Input tokens written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cache_creation_input_tokens: Option<u64>,
    /// Input tokens read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cache_read_input_tokens: Option<u64>,
    /// Part of `output_tokens` that was reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// All input tokens, cache reads and writes included.
    #[must_use]
    pub fn total_input(&self) -> u64 {
        self.input_tokens
            + self.cache_creation_input_tokens.unwrap_or(0)
            + self.cache_read_input_tokens.unwrap_or(0)
    }

    /// The sum of two; a part is absent only if it is in both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
        };
        Self {
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            cache_creation_input_tokens: add(
                self.cache_creation_input_tokens,
                other.cache_creation_input_tokens,
            ),
            cache_read_input_tokens: add(
                self.cache_read_input_tokens,
                other.cache_read_input_tokens,
            ),
            reasoning_tokens: add(self.reasoning_tokens, other.reasoning_tokens),
        }
    }
}
