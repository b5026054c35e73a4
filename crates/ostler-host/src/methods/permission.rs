//! `permission.*`: what waits for the person, and their answers.

use std::sync::Arc;

use ostler_core::{Answer, AnswerSource, AskedEvent};
use ostler_protocol::{
    ErrorKind, RequestId, RpcError, SessionId,
    event::PermissionAsked,
    methods::{PermissionAnswerParams, PermissionRejectParams},
    params::invalid,
    session::PermissionDecision,
};

use crate::{
    host::Host,
    live::LiveSession,
    project::{permission_asked, shown_hash},
    question,
    rules::SessionRules,
};

/// Most characters of a person's words.
const REASON_CAP: usize = 2000;

/// The open requests, oldest first.
pub(super) fn pending(host: &Host, session_id: Option<&SessionId>) -> Vec<PermissionAsked> {
    let mut out: Vec<_> = host
        .sessions()
        .into_iter()
        .filter(|session| session_id.is_none_or(|id| *id == session.id))
        .flat_map(|session| {
            let cwd = session.cwd.to_text();
            session
                .hub
                .requests()
                .into_iter()
                .filter(|asked| question::asked(asked).is_none())
                .map(move |asked| permission_asked(&asked, &cwd))
                .collect::<Vec<_>>()
        })
        .collect();
    out.sort_by_key(|asked| asked.asked_at);
    out
}

/// Answers a request; the rule that a decision brings is stored before the call runs.
pub(super) async fn answer(host: &Host, params: PermissionAnswerParams) -> Result<(), RpcError> {
    let method = "permission.answer";
    check_length(method, "reason", params.reason.as_deref())?;
    if let Some(rule) = &params.edited_rule {
        SessionRules::check_rule(rule).map_err(|why| {
            invalid(method, "editedRule", "a permission rule", &format!("`{rule}`: {why}"))
        })?;
    }
    let (session, asked) = find(host, &params.request_id)?;
    if params.hash.as_ref().is_some_and(|hash| *hash != shown_hash(&asked)) {
        return Err(RpcError::new(
            ErrorKind::Stale,
            "what would run is not what was shown; nothing was run",
        )
        .with("current", shown_hash(&asked)));
    }
    let answer = match params.decision {
        PermissionDecision::Deny => Answer::Deny {
            message: None,
            reason: params.reason,
            interrupt: false,
            source: AnswerSource::Person,
        },
        decision => {
            let rule = params.edited_rule.clone().or(asked.question.suggested_rule);
            if let Some(rule) = rule {
                session.rules.learn(decision, &rule)?;
            }
            Answer::Allow {
                updated_input: None,
                decision: decision_name(decision).to_owned(),
                edited_rule: params.edited_rule,
            }
        }
    };
    resolve(&session, params.request_id, answer).await
}

/// Refuses a request.
pub(super) async fn reject(host: &Host, params: PermissionRejectParams) -> Result<(), RpcError> {
    check_length("permission.reject", "reason", params.reason.as_deref())?;
    let (session, _) = find(host, &params.request_id)?;
    let answer = Answer::Deny {
        message: None,
        reason: params.reason,
        interrupt: false,
        source: AnswerSource::Person,
    };
    resolve(&session, params.request_id, answer).await
}

pub(super) fn check_length(method: &str, field: &str, words: Option<&str>) -> Result<(), RpcError> {
    match words.map(|words| words.chars().count()) {
        Some(length) if length > REASON_CAP => {
            Err(invalid(method, field, "at most 2000 characters", &format!("{length}")))
        }
        _ => Ok(()),
    }
}

pub(super) fn find(
    host: &Host,
    id: &RequestId,
) -> Result<(Arc<LiveSession>, AskedEvent), RpcError> {
    host.sessions()
        .into_iter()
        .find_map(|session| {
            let asked = session.hub.requests().into_iter().find(|asked| asked.request_id == *id)?;
            Some((session, asked))
        })
        .ok_or_else(resolved)
}

pub(super) async fn resolve(
    session: &LiveSession,
    id: RequestId,
    answer: Answer,
) -> Result<(), RpcError> {
    if session.handle.answer(id, answer).await { Ok(()) } else { Err(resolved()) }
}

/// A request that was answered before, or never was.
pub(super) fn resolved() -> RpcError {
    RpcError::new(
        ErrorKind::AlreadyResolved,
        "this request is not open: it was answered elsewhere, timed out or never was",
    )
    .with("reason", "resolved")
}

fn decision_name(decision: PermissionDecision) -> &'static str {
    match decision {
        PermissionDecision::AllowOnce => "allow-once",
        PermissionDecision::AllowSession => "allow-session",
        PermissionDecision::AllowProject => "allow-project",
        PermissionDecision::AllowAlways => "allow-always",
        PermissionDecision::Deny => "deny",
    }
}
