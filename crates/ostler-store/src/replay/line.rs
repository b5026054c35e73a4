//! One line of a transcript, parsed fast: straight into the types of a record, borrowed
//! where possible. Whatever does not fit goes to `lenient`, which takes nearly everything;
//! a line is lost only if it is not JSON.

use std::{borrow::Cow, fmt};

use ostler_protocol::{Block, Usage, conversation::ToolResultContent};
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};
use serde_json::Value;

/// Borrowed text where the JSON has no escapes.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// The fields that a reader needs, of any kind of line.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) uuid: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) parent_uuid: Option<Text<'a>>,
    #[serde(default)]
    pub(super) is_sidechain: Option<bool>,
    #[serde(borrow, default)]
    pub(super) timestamp: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) cwd: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) subtype: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) message: Option<Message<'a>>,
    #[serde(default)]
    pub(super) tool_use_result: Option<Value>,
    #[serde(default)]
    pub(super) is_meta: Option<bool>,
    #[serde(default)]
    pub(super) is_compact_summary: Option<bool>,
    #[serde(default)]
    pub(super) origin: Option<Value>,
    #[serde(default)]
    pub(super) request_id: Option<String>,
    #[serde(default)]
    pub(super) is_api_error_message: Option<bool>,
    #[serde(default)]
    pub(super) error: Option<String>,
    #[serde(default)]
    pub(super) aborted: Option<bool>,
    #[serde(default)]
    pub(super) custom_title: Option<String>,
    #[serde(default)]
    pub(super) last_prompt: Option<String>,
    #[serde(default)]
    pub(super) tag: Option<String>,
    #[serde(default)]
    pub(super) permission_mode: Option<String>,
}

/// The message of a user or assistant line.
#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(default)]
    pub(super) content: Content,
    #[serde(borrow, default)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) model: Option<Text<'a>>,
    #[serde(default)]
    pub(super) stop_reason: Option<String>,
    #[serde(default)]
    pub(super) usage: Option<Tokens>,
}

/// Usage as vendors write it: anything may be missing or null.
#[derive(Debug, Deserialize)]
pub(super) struct Tokens {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    reasoning_tokens: Option<u64>,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        Self {
            input_tokens: tokens.input_tokens.unwrap_or(0),
            output_tokens: tokens.output_tokens.unwrap_or(0),
            cache_creation_input_tokens: tokens.cache_creation_input_tokens,
            cache_read_input_tokens: tokens.cache_read_input_tokens,
            reasoning_tokens: tokens.reasoning_tokens,
        }
    }
}

/// Text or blocks, without the detour of untagged enums through a tree.
#[derive(Debug, Default)]
pub(super) struct Content(pub(super) ToolResultContent);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrBlocks;
        impl<'de> Visitor<'de> for TextOrBlocks {
            type Value = Content;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or blocks")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content(ToolResultContent::Text(text.to_owned())))
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<Content, E> {
                Ok(Content(ToolResultContent::Text(text)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element::<FastBlock>()? {
                    blocks.push(block.0);
                }
                Ok(Content(ToolResultContent::Blocks(blocks)))
            }
        }
        deserializer.deserialize_any(TextOrBlocks)
    }
}

/// A block of a kind that we know.
struct FastBlock(Block);

impl<'de> Deserialize<'de> for FastBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let flat = FlatBlock::deserialize(deserializer)?;
        flat.lift().map(Self).ok_or_else(|| de::Error::custom("a block of another kind"))
    }
}

/// The fields of all kinds of blocks.
#[derive(Deserialize)]
struct FlatBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<Value>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    is_error: Option<bool>,
}

impl FlatBlock<'_> {
    fn lift(self) -> Option<Block> {
        Some(match &*self.kind {
            "text" => Block::Text { text: self.text? },
            "thinking" => Block::Thinking {
                thinking: self.thinking?,
                signature: self.signature.unwrap_or_default(),
            },
            "redacted_thinking" => Block::RedactedThinking { data: self.data? },
            "tool_use" => Block::ToolUse { id: self.id?, name: self.name?, input: self.input? },
            "tool_result" => Block::ToolResult {
                tool_use_id: self.tool_use_id?,
                content: self.content.unwrap_or_default().0,
                is_error: self.is_error,
            },
            // Pictures and documents are rare enough for the lenient way.
            _ => return None,
        })
    }
}
