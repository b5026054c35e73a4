//! Failures of the vendor as hosts see them: `system/api_retry`, and the synthetic answer
//! that says why there is none (agent-sdk.md 2.13-I).

use ostler_host::Failure;
use ostler_protocol::{Block, ErrorKind, Usage};
use serde_json::json;

use super::{Projector, assistant_message, result::is_ours};
use crate::fit;

impl Projector {
    pub(super) fn retry(
        &mut self,
        attempt: u32,
        max: u32,
        delay_ms: u64,
        failure: &Failure,
    ) -> String {
        let error = match failure.kind {
            ErrorKind::Overloaded => "overloaded",
            _ => error_name(failure),
        };
        self.system(json!({
            "subtype": "api_retry", "attempt": attempt.saturating_sub(1), "max_retries": max.saturating_sub(1),
            "retry_delay_ms": delay_ms, "error_status": failure.status, "error": error,
        }))
    }

    /// The synthetic answer that says why there is none (agent-sdk.md 2.13-I).
    pub(super) fn run_failed(&mut self, failure: &Failure, uuid: &str, out: &mut Vec<String>) {
        self.count_waiting();
        let uuid = if uuid.is_empty() { self.ids.uuid() } else { uuid.to_owned() };
        let block = Block::text(failure_text(failure));
        let message = assistant_message(
            &self.ids.uuid(),
            "<synthetic>",
            &block,
            Some("stop_sequence"),
            Usage::default(),
        );
        let frame = json!({
            "type": "assistant",
            "message": message,
            "parent_tool_use_id": null,
            "session_id": self.options.session_id,
            "uuid": uuid,
            "error": error_name(failure),
        });
        out.push(fit::line(frame));
    }
}

/// The line that the log holds about a failure; the log cannot hold one of its own.
pub(super) fn failure_text(failure: &Failure) -> String {
    match failure.status {
        None if is_ours(failure) => failure.message.clone(),
        Some(status) => format!("API Error: {status} {}", failure.message),
        None => format!("API Error: {}", failure.message),
    }
}

/// The SDK's name of a failure (agent-sdk.md 2.13-I, design.md 8 (f)).
fn error_name(failure: &Failure) -> &'static str {
    match failure.kind {
        ErrorKind::Auth | ErrorKind::NotConfigured => "authentication_failed",
        ErrorKind::Billing => "billing_error",
        ErrorKind::RateLimit => "rate_limit",
        ErrorKind::Server | ErrorKind::Overloaded | ErrorKind::Network | ErrorKind::Stalled => {
            "server_error"
        }
        ErrorKind::TooLarge => "invalid_request",
        ErrorKind::ModelNotFound => "model_not_found",
        _ => "unknown",
    }
}
