//! A scenario being played: which replies are used up, and the ids that it gives out.

use std::{
    fmt::Write as _,
    sync::{Mutex, PoisonError},
};

use ostler_protocol::{Block, Role, Usage};
use ostler_stdx::floor_char_boundary;

use super::{Reply, Scenario, Step, predicate::View};
use crate::{ModelRequest, StopReason};

/// A scenario with the memory of what was played. Shared by all requests to it.
#[derive(Debug)]
pub struct Script {
    scenario: Scenario,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used: Vec<bool>,
    replies: u64,
    calls: u64,
}

/// A reply made ready for one request: ids given, usage and stop reason decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// The answer's id.
    pub message_id: String,
    /// The model that answers.
    pub model: String,
    /// What to send, without [`Step::Usage`] and [`Step::StopReason`]; every tool call has
    /// an id.
    pub steps: Vec<Step>,
    /// Tokens: the scenario's, or four bytes a token.
    pub usage: Usage,
    /// Why it stops: the scenario's, or what the steps imply.
    pub stop_reason: StopReason,
}

/// No reply of the scenario answers the request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("scenario `{scenario}` has no reply for this request; it ends with {request}; {left}")]
pub struct NoReply {
    /// The scenario's name.
    pub scenario: String,
    /// What the request ends with.
    pub request: String,
    /// Which replies are left and what they wait for.
    pub left: String,
}

impl Script {
    /// A script at its start.
    #[must_use]
    pub fn new(scenario: Scenario) -> Self {
        let used = vec![false; scenario.replies.len()];
        Self { scenario, state: Mutex::new(State { used, ..State::default() }) }
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Plays the first reply that is left and answers `request`.
    ///
    /// # Errors
    /// [`NoReply`] if there is none.
    pub fn next(&self, request: &ModelRequest) -> Result<Played, NoReply> {
        let view = View::of(request);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(at, reply): &(usize, &Reply)| {
            (reply.repeat || !state.used[*at]) && reply.when.holds(&view)
        };
        let found = self.scenario.replies.iter().enumerate().find(fits);
        let Some((at, reply)) = found else {
            return Err(self.no_reply(&view, &state.used));
        };
        state.used[at] = true;
        Ok(self.prepare(reply, request, &mut state))
    }

    /// The replies that must be played and were not, as text; empty if there are none.
    #[must_use]
    pub fn unplayed(&self) -> Vec<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let replies = self.scenario.replies.iter().enumerate();
        let left = replies.filter(|(at, reply)| !reply.repeat && !state.used[*at]);
        left.map(|(at, reply)| describe(at, reply)).collect()
    }

    fn prepare(&self, reply: &Reply, request: &ModelRequest, state: &mut State) -> Played {
        state.replies += 1;
        state.calls = state.calls.max(last_call(request));
        let mut steps = Vec::with_capacity(reply.steps.len());
        let mut usage = None;
        let mut stop_reason = None;
        let mut calls = false;
        for step in &reply.steps {
            match step {
                Step::Usage(given) => usage = Some(*given),
                Step::StopReason(given) => stop_reason = Some(given.clone()),
                Step::ToolUse { id, name, input, pace } => {
                    calls = true;
                    let id = id.clone().unwrap_or_else(|| {
                        state.calls += 1;
                        format!("toolu_{:06}", state.calls)
                    });
                    let (name, input) = (name.clone(), input.clone());
                    steps.push(Step::ToolUse { id: Some(id), name, input, pace: *pace });
                }
                other => steps.push(other.clone()),
            }
        }
        let usage = usage.unwrap_or_else(|| estimate(request, &steps));
        let implied = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
        // The number of answers so far keeps ids apart when a later process goes on.
        let before = request.messages.iter().filter(|m| m.role == Role::Assistant).count();
        Played {
            message_id: format!("msg_{:03}_{:06}", before, state.replies),
            model: self.scenario.model.clone().unwrap_or_else(|| request.model.clone()),
            steps,
            usage,
            stop_reason: stop_reason.unwrap_or(implied),
        }
    }

    fn no_reply(&self, view: &View, used: &[bool]) -> NoReply {
        let request = if view.results.is_empty() {
            format!("the words `{}`", short(&view.last_user_text))
        } else {
            let results = view.results.iter().map(|answer| {
                let tool = answer.tool.as_deref().unwrap_or("unknown tool");
                format!("result `{}` of {tool}: `{}`", answer.id, short(&answer.text))
            });
            results.collect::<Vec<_>>().join(", ")
        };
        let request = format!("{request} (turn {})", view.turn);
        let replies = self.scenario.replies.iter().enumerate();
        let left = replies.filter(|(at, reply)| reply.repeat || !used[*at]);
        let left = left.map(|(at, reply)| describe(at, reply)).collect::<Vec<_>>();
        let left = if left.is_empty() {
            "every reply was played; add one, or set `repeat`".to_owned()
        } else {
            format!("left are {}; change a `when`, or add a reply", left.join("; "))
        };
        NoReply { scenario: self.scenario.name.clone(), request, left }
    }
}

fn describe(at: usize, reply: &Reply) -> String {
    let when = &reply.when;
    let mut text = format!("replies[{at}]");
    let texts = [
        ("lastUserText", &when.last_user_text),
        ("toolResultFor", &when.tool_result_for),
        ("toolResultContains", &when.tool_result_contains),
        ("systemContains", &when.system_contains),
        ("model", &when.model),
    ];
    for (name, value) in texts {
        if let Some(value) = value {
            // Writing to a String cannot fail.
            let _ = write!(text, " {name} `{}`", short(value));
        }
    }
    if let Some(is_error) = when.tool_result_is_error {
        let _ = write!(text, " toolResultIsError {is_error}");
    }
    if let Some(turn) = when.turn {
        let _ = write!(text, " turn {turn}");
    }
    text
}

fn short(text: &str) -> String {
    const MAX: usize = 200;
    if text.len() <= MAX {
        return text.to_owned();
    }
    format!("{}...", &text[..floor_char_boundary(text, MAX)])
}

/// The highest number of a made-up call id in the request, so that a resumed session
/// never sees one twice.
fn last_call(request: &ModelRequest) -> u64 {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let numbers = blocks.filter_map(|block| match block {
        Block::ToolUse { id, .. } => id.strip_prefix("toolu_")?.parse().ok(),
        _ => None,
    });
    // Far below the end of the range, so that counting on cannot overflow.
    numbers.filter(|number| *number < u64::MAX / 2).max().unwrap_or(0)
}

fn estimate(request: &ModelRequest, steps: &[Step]) -> Usage {
    let system: usize = request.system.iter().map(|block| block.text.len()).sum();
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let input: usize = blocks.map(block_bytes).sum::<usize>() + system;
    let output: usize = steps.iter().map(step_bytes).sum();
    Usage {
        input_tokens: (input / 4) as u64,
        output_tokens: output.div_ceil(4) as u64,
        ..Usage::default()
    }
}

fn block_bytes(block: &Block) -> usize {
    match block {
        Block::Text { text } => text.len(),
        Block::Thinking { thinking, .. } => thinking.len(),
        Block::ToolUse { name, input, .. } => name.len() + input.to_string().len(),
        Block::ToolResult { content, .. } => content.text().len(),
        Block::RedactedThinking { .. } => 0,
        Block::Image { .. } | Block::Document { .. } | Block::Other(_) => 4000,
    }
}

fn step_bytes(step: &Step) -> usize {
    match step {
        Step::Text { text, .. } => text.len(),
        Step::RepeatText { text, count, .. } => text.len().saturating_mul(*count),
        Step::Thinking { thinking, .. } => thinking.len(),
        Step::ToolUse { name, input, .. } => name.len() + input.len(),
        Step::Usage(_)
        | Step::StopReason(_)
        | Step::Delay(_)
        | Step::Error(_)
        | Step::Stall
        | Step::Cut { .. } => 0,
    }
}
