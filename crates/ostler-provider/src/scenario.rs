//! Scenarios: what a scripted model answers, as data.
//!
//! The same file is played in process ([`crate::Scripted`]) and over HTTP by the test
//! server. A scenario reads no environment and no clock; everything that varies comes in
//! as a variable.

mod load;
mod predicate;
mod script;

use std::time::Duration;

use ostler_protocol::Usage;
use serde::Deserialize;
use serde_json::Value;

pub use load::{ScenarioError, Vars};
pub use script::{NoReply, Played, Script};

use crate::StopReason;

/// A whole scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// What it is called in messages.
    pub name: String,
    /// The model that it says it is; `None` says what was asked for.
    pub model: Option<String>,
    /// The replies, in the order in which they are tried.
    pub replies: Vec<Reply>,
}

/// One answer of the scripted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Which requests it answers; an empty one answers every request.
    pub when: When,
    /// Whether it may be played again; otherwise it is used up by its first request.
    pub repeat: bool,
    /// What it consists of.
    pub steps: Vec<Step>,
}

/// Conditions on a request; all that are given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct When {
    /// The person's last words contain this. System reminders do not count as words.
    pub last_user_text: Option<String>,
    /// The request ends with a result for the call of this id, or of a tool of this name.
    pub tool_result_for: Option<String>,
    /// The request ends with a tool result that contains this.
    pub tool_result_contains: Option<String>,
    /// The request ends with a tool result that failed, or with one that did not.
    pub tool_result_is_error: Option<bool>,
    /// The system prompt contains this.
    pub system_contains: Option<String>,
    /// The request is for this model.
    pub model: Option<String>,
    /// Which request it is since the person's last words, from 1.
    pub turn: Option<u64>,
}

/// How a text is cut into deltas.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// Characters of a delta; `None` sends the whole at once.
    pub chunk: Option<usize>,
    /// Pause before each delta.
    pub delay: Duration,
}

/// One part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A block of words.
    Text {
        /// The words.
        text: String,
        /// How they are cut.
        pace: Pace,
    },
    /// A block of words made of `count` equal deltas.
    RepeatText {
        /// One delta.
        text: String,
        /// How many.
        count: usize,
        /// Pause before each.
        delay: Duration,
    },
    /// A block of reasoning.
    Thinking {
        /// The reasoning.
        thinking: String,
        /// Its proof.
        signature: String,
        /// How it is cut.
        pace: Pace,
    },
    /// A tool call.
    ToolUse {
        /// Its id; `None` until a request is answered, then made up.
        id: Option<String>,
        /// The tool.
        name: String,
        /// The arguments as JSON text, which may be broken on purpose.
        input: String,
        /// How the JSON is cut.
        pace: Pace,
    },
    /// The tokens that the reply reports.
    Usage(Usage),
    /// Why it stops.
    StopReason(StopReason),
    /// Silence for a while.
    Delay(Duration),
    /// The request is refused.
    Error(Refusal),
    /// Silence for ever.
    Stall,
    /// The connection breaks.
    Cut {
        /// After so many bytes of the answer's body; `None` is here. In process it is
        /// always here.
        bytes: Option<usize>,
    },
}

/// A refusal: an HTTP status and body, or an error event if the answer has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The body: text as it is, anything else as JSON.
    pub body: Value,
    /// Seconds for the `retry-after` header.
    pub retry_after: Option<f64>,
}

impl Refusal {
    /// The body as it is sent.
    #[must_use]
    pub fn body_text(&self) -> String {
        match &self.body {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// The `error` object of the body, as an event in the middle of a stream carries it.
    #[must_use]
    pub fn error_object(&self) -> Value {
        match self.body.get("error") {
            Some(error) => error.clone(),
            None => serde_json::json!({ "type": "api_error", "message": self.body_text() }),
        }
    }
}

impl Pace {
    /// The pieces of `text`, whole characters only; an empty text has none.
    pub fn pieces(self, text: &str) -> Vec<&str> {
        let Some(chunk) = self.chunk.filter(|chunk| *chunk > 0) else {
            return if text.is_empty() { Vec::new() } else { vec![text] };
        };
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.char_indices().nth(chunk).map_or(rest.len(), |(at, _)| at);
            let (piece, tail) = rest.split_at(end);
            pieces.push(piece);
            rest = tail;
        }
        pieces
    }
}

#[cfg(test)]
mod tests;
