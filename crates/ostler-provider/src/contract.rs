//! The provider contract: one request in, a stream of events out.
//!
//! A provider never fails out of band: whatever goes wrong is the last event, typed by
//! what to do about it. What a model can do is data in [`ModelInfo`].

use std::pin::Pin;

use futures::Stream;
use ostler_protocol::{Block, ErrorKind, Message, Usage};
use ostler_stdx::Cancel;
use serde_json::Value;

/// A provider: an account with a model vendor, or a script.
pub trait Provider: Send + Sync + std::fmt::Debug {
    /// Its id (design.md 8 (c)).
    fn id(&self) -> &str;

    /// What is known of a model; unknown models have unknown limits, never zero.
    fn model(&self, model: &str) -> ModelInfo;

    /// Asks the model. The stream ends with exactly one [`ModelEvent::Done`] or
    /// [`ModelEvent::Failed`], or without either after `cancel` was cancelled. Retries with
    /// caps happen inside and show as [`ModelEvent::Retrying`].
    fn stream(&self, request: ModelRequest, cancel: Cancel) -> ModelStream;
}

/// The events of one request.
pub type ModelStream = Pin<Box<dyn Stream<Item = ModelEvent> + Send>>;

/// What is known of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelInfo {
    /// Tokens of context.
    pub context_window: Option<u64>,
    /// Most tokens of one answer.
    pub max_output: Option<u64>,
    /// Whether it takes pictures.
    pub images: bool,
    /// Whether its answers are scripted, not a model's.
    pub scripted: bool,
}

/// One request to a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelRequest {
    /// The vendor's own model id.
    pub model: String,
    /// The system prompt in blocks, the stable ones first.
    pub system: Vec<SystemBlock>,
    /// The tools in a stable order.
    pub tools: Vec<ToolSpec>,
    /// The conversation; first message is the user's, roles may repeat.
    pub messages: Vec<Message>,
    /// Most tokens of the answer; `None` leaves it to the provider's default.
    pub max_output_tokens: Option<u64>,
    /// Whether and how the model may reason before it answers.
    pub thinking: Thinking,
    /// How hard it should try.
    pub effort: Option<Effort>,
    /// Names the session to vendors that route their cache by it.
    pub session_id: String,
    /// Values for the vendor's beta header.
    pub betas: Vec<String>,
}

/// A block of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemBlock {
    /// Its text.
    pub text: String,
    /// Whether everything up to here stays the same and may be cached.
    pub cache: bool,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
}

/// Whether a model may reason before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// The vendor's default.
    #[default]
    Default,
    /// Not at all.
    Disabled,
    /// As the model sees fit.
    Adaptive,
    /// At most so many tokens.
    Budget(u64),
}

/// How hard a model should try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    XHigh,
    /// All it has.
    Max,
}

impl Effort {
    /// Its name in settings, flags and hook inputs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// What a block is, known when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// Words.
    Text,
    /// Reasoning.
    Thinking,
    /// A tool call.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// Something that comes whole, with its end.
    Other,
}

/// One event of an answer. Blocks have positions from 0 and never interleave.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// The vendor began to answer.
    Started {
        /// The vendor's id of the answer; made up where there is none.
        message_id: String,
        /// The model that answers.
        model: String,
        /// The vendor's id of the request, for support.
        request_id: Option<String>,
        /// Input tokens, where the vendor tells them at once.
        usage: Usage,
    },
    /// A block begins.
    BlockStarted {
        /// Its position.
        index: u32,
        /// What it is.
        kind: BlockKind,
    },
    /// Some more words.
    TextDelta {
        /// The block's position.
        index: u32,
        /// The words.
        text: String,
    },
    /// Some more reasoning.
    ThinkingDelta {
        /// The block's position.
        index: u32,
        /// The reasoning.
        text: String,
    },
    /// Some more JSON of a tool call's arguments.
    InputDelta {
        /// The block's position.
        index: u32,
        /// The piece of JSON.
        json: String,
    },
    /// A block is whole.
    BlockDone {
        /// Its position.
        index: u32,
        /// The block.
        block: Block,
    },
    /// The request failed and is made again: everything since [`ModelEvent::Started`] is void.
    Retrying {
        /// Which attempt comes next, from 2.
        attempt: u32,
        /// The last attempt that will be made.
        max: u32,
        /// Pause before it.
        delay_ms: u64,
        /// Why.
        failure: Failure,
    },
    /// The answer is whole. Last.
    Done {
        /// Why the model stopped.
        stop_reason: StopReason,
        /// Tokens of this answer.
        usage: Usage,
    },
    /// There is no answer. Last.
    Failed(Failure),
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It had no more to say.
    EndTurn,
    /// It wants tools to run.
    ToolUse,
    /// Its answer reached the cap.
    MaxTokens,
    /// It met a stop sequence.
    StopSequence,
    /// It refuses.
    Refusal,
    /// Another reason, in the vendor's words.
    Other(String),
}

impl StopReason {
    /// The reason of this Messages API name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "end_turn" => Self::EndTurn,
            "tool_use" => Self::ToolUse,
            "max_tokens" => Self::MaxTokens,
            "stop_sequence" => Self::StopSequence,
            "refusal" => Self::Refusal,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The Messages API name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::Refusal => "refusal",
            Self::Other(reason) => reason,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What to do about it.
    pub kind: ErrorKind,
    /// What the vendor said, without secrets, at most 2,000 bytes.
    pub message: String,
    /// What a person can do.
    pub hint: Option<String>,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The pause that the vendor asked for.
    pub retry_after_ms: Option<u64>,
}
