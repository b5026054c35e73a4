//! The `result` frame (agent-sdk.md 3.3): how a turn ended.

use ostler_host::{Failure, ModelInfo, RunEnd, RunReason};
use ostler_protocol::{ErrorKind, Usage};
use serde_json::{Map, Value, json};

use super::{Projector, failure::failure_text};
use crate::fit;

/// Tokens of one model over all turns.
#[derive(Debug, Default)]
pub(super) struct ModelTotals {
    usage: Usage,
    context_window: u64,
    max_output: u64,
}

impl ModelTotals {
    pub(super) fn add(&mut self, usage: Usage, known: &ModelInfo) {
        self.usage = self.usage.plus(usage);
        // Hosts read numbers here; what is not known is 0.
        self.context_window = known.context_window.unwrap_or(self.context_window);
        self.max_output = known.max_output.unwrap_or(self.max_output);
    }

    fn to_json(&self) -> Value {
        json!({
            "inputTokens": self.usage.input_tokens,
            "outputTokens": self.usage.output_tokens,
            "cacheReadInputTokens": self.usage.cache_read_input_tokens.unwrap_or(0),
            "cacheCreationInputTokens": self.usage.cache_creation_input_tokens.unwrap_or(0),
            "webSearchRequests": 0,
            "costUSD": 0.0,
            "contextWindow": self.context_window,
            "maxOutputTokens": self.max_output,
        })
    }
}

/// Tokens in the shape of the Messages API, every field a number.
pub(super) fn usage(usage: Usage) -> Value {
    let written = usage.cache_creation_input_tokens.unwrap_or(0);
    json!({
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": usage.cache_read_input_tokens.unwrap_or(0),
        "output_tokens": usage.output_tokens,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": written},
    })
}

/// What differs between the ways to end.
struct Verdict {
    subtype: &'static str,
    is_error: bool,
    terminal_reason: &'static str,
    stop_reason: Value,
    /// `result` or `errors`.
    text: Text,
    status: Option<u16>,
}

enum Text {
    Result(String),
    Errors(String),
}

fn verdict(end: &RunEnd) -> Verdict {
    let error = |subtype, terminal_reason, stop_reason, text: &str| Verdict {
        subtype,
        is_error: true,
        terminal_reason,
        stop_reason,
        text: Text::Errors(text.to_owned()),
        status: None,
    };
    match (end.reason, &end.failure) {
        (RunReason::InterruptedStreaming, _) => {
            error("error_during_execution", "aborted_streaming", Value::Null, "interrupted")
        }
        (RunReason::InterruptedTools, _) => {
            error("error_during_execution", "aborted_tools", json!("tool_use"), "interrupted")
        }
        (RunReason::Turns, _) => {
            let text = format!("Reached maximum number of turns ({})", end.responses);
            error("error_max_turns", "max_turns", json!("tool_use"), &text)
        }
        (RunReason::Failed, Some(failure)) if is_ours(failure) => {
            let text = match &failure.hint {
                Some(hint) => format!("{}; {hint}", failure.message),
                None => failure.message.clone(),
            };
            error("error_during_execution", "turn_setup_failed", json!(end.stop_reason), &text)
        }
        (RunReason::Failed, Some(failure)) => Verdict {
            subtype: "success",
            is_error: true,
            terminal_reason: match failure.kind {
                ErrorKind::TooLarge => "prompt_too_long",
                _ => "api_error",
            },
            stop_reason: json!("stop_sequence"),
            text: Text::Result(with_hint(failure)),
            status: failure.status,
        },
        (RunReason::Failed, None) => {
            error("error_during_execution", "model_error", json!(end.stop_reason), &end.text)
        }
        (RunReason::End | RunReason::HookStopped | RunReason::Blocked, _) => Verdict {
            subtype: "success",
            is_error: false,
            terminal_reason: match end.reason {
                RunReason::HookStopped => "hook_stopped",
                _ => "completed",
            },
            stop_reason: json!(end.stop_reason),
            text: Text::Result(end.text.clone()),
            status: None,
        },
    }
}

/// What a host shows; who has no model set up hears how to.
fn with_hint(failure: &Failure) -> String {
    let text = failure_text(failure);
    match &failure.hint {
        Some(hint) if failure.kind == ErrorKind::NotConfigured => format!("{text}; {hint}"),
        _ => text,
    }
}

/// Whether the vendor has no part in the failure.
pub(super) fn is_ours(failure: &Failure) -> bool {
    matches!(failure.kind, ErrorKind::Storage | ErrorKind::Internal | ErrorKind::Loop)
}

impl Projector {
    pub(super) fn result(&mut self, end: &RunEnd, ms: u64) -> String {
        self.count_waiting();
        let verdict = verdict(end);
        self.last_result_failed = verdict.is_error;
        let mut frame = Map::new();
        let mut put = |key: &str, value: Value| frame.insert(key.to_owned(), value);
        put("type", json!("result"));
        put("subtype", json!(verdict.subtype));
        put("is_error", json!(verdict.is_error));
        put("duration_ms", json!(ms));
        put("duration_api_ms", json!(self.api_ms));
        put("num_turns", json!(end.user_messages));
        match verdict.text {
            Text::Result(text) => put("result", json!(text)),
            Text::Errors(text) => put("errors", json!([text])),
        };
        put("stop_reason", verdict.stop_reason);
        put("session_id", json!(self.options.session_id));
        put("total_cost_usd", json!(0.0));
        put("usage", usage(end.usage));
        put("modelUsage", self.model_usage());
        put("permission_denials", self.denials(end));
        put("terminal_reason", json!(verdict.terminal_reason));
        if verdict.subtype == "success" {
            put("api_error_status", json!(verdict.status));
            if let Some(ttft) = self.ttft_ms {
                put("ttft_ms", json!(ttft));
            }
        }
        if let Some(origin) = &end.origin {
            put("origin", origin.clone());
        }
        put("result_index", json!(self.results));
        put("queued_turn_count", json!(0));
        match end.prompt_ids.as_slice() {
            [] => None,
            [only] => put("user_message_uuid", json!(only)),
            all => put("user_message_uuids", json!(all)),
        };
        put("uuid", json!(self.ids.uuid()));
        self.results += 1;
        fit::line(Value::Object(frame))
    }

    fn model_usage(&self) -> Value {
        let models = self.totals.iter();
        Value::Object(models.map(|(model, totals)| (model.clone(), totals.to_json())).collect())
    }

    fn denials(&self, end: &RunEnd) -> Value {
        let all = end.denials.iter().chain(&self.denied).map(|denial| {
            json!({
                "tool_name": denial.tool_name,
                "tool_use_id": denial.tool_call_id.0,
                "tool_input": denial.args,
            })
        });
        Value::Array(all.collect())
    }
}

/// The result of a process that could not start (agent-sdk.md 2.8).
pub(crate) fn start_failure(session_id: &str, uuid: &str, text: &str) -> String {
    fit::line(json!({
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": true,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 0,
        "errors": [text],
        "stop_reason": null,
        "session_id": session_id,
        "total_cost_usd": 0.0,
        "usage": usage(Usage::default()),
        "modelUsage": {},
        "permission_denials": [],
        "uuid": uuid,
    }))
}
