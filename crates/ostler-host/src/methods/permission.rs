//! `permission.*`: what waits for the person, and their answers. Checks in the order of the
//! documented fields; what an answer does is [`crate::prompts`]'.

use std::sync::Arc;

use ostler_core::AskedEvent;
use ostler_permission::split_rule_list;
use ostler_protocol::{
    RequestId, RpcError, SessionId,
    event::PermissionAsked,
    methods::{PermissionAnswerParams, PermissionRejectParams},
    params::invalid,
    session::PermissionDecision,
};
use serde_json::{Map, Value};

use crate::{
    host::Host,
    hub::Known,
    live::LiveSession,
    project::permission_asked,
    prompts::{Decision, resolved, unknown},
    question,
    rules::SessionRules,
};

const METHOD: &str = "permission.answer";

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
    let (session, asked) = find(host, &params.request_id)?;
    is_permission(METHOD, &asked)?;
    if let Some(rules) = &params.edited_rule {
        check_rules(rules)?;
    }
    check_length(METHOD, "reason", params.reason.as_deref())?;
    let decision = match params.decision {
        PermissionDecision::Deny => {
            if params.edited_args.is_some() {
                let expected = "nothing, since the call is denied";
                return Err(invalid(METHOD, "editedArgs", expected, "object"));
            }
            Decision::Deny { reason: params.reason }
        }
        scope => {
            if let Some(args) = &params.edited_args {
                check_args(&session, &asked, args)?;
            }
            Decision::Allow { scope, rules: params.edited_rule, args: params.edited_args }
        }
    };
    session.decide(&params.request_id, params.hash.as_deref(), decision).await
}

/// Refuses a request.
pub(super) async fn reject(host: &Host, params: PermissionRejectParams) -> Result<(), RpcError> {
    let (session, asked) = find(host, &params.request_id)?;
    is_permission("permission.reject", &asked)?;
    check_length("permission.reject", "reason", params.reason.as_deref())?;
    session.decide(&params.request_id, None, Decision::Dismiss { reason: params.reason }).await
}

/// Questions and plans have methods of their own: a bare yes would answer them with nothing.
fn is_permission(method: &str, asked: &AskedEvent) -> Result<(), RpcError> {
    if question::asked(asked).is_none() {
        return Ok(());
    }
    let got = "a question or a plan: use `question.answer` or `question.reject`";
    Err(invalid(method, "requestId", "a permission request", got))
}

fn check_rules(rules: &str) -> Result<(), RpcError> {
    let wrong = |got: &str| invalid(METHOD, "editedRule", "a permission rule", got);
    let list = split_rule_list(rules);
    if list.is_empty() {
        return Err(wrong("nothing"));
    }
    for rule in list {
        SessionRules::check_rule(&rule).map_err(|why| wrong(&format!("`{rule}`: {why}")))?;
    }
    Ok(())
}

/// What the tool itself refuses is told to the person, who can correct it, and not to the
/// model, who did not write it.
fn check_args(
    session: &LiveSession,
    asked: &AskedEvent,
    args: &Map<String, Value>,
) -> Result<(), RpcError> {
    let Some(tool) = session.tools.get(&asked.tool_name) else { return Ok(()) };
    tool.access(args, &session.cwd).map(|_| ()).map_err(|error| {
        invalid(
            METHOD,
            "editedArgs",
            &format!("arguments of {}", asked.tool_name),
            &error.to_string(),
        )
    })
}

pub(super) fn check_length(method: &str, field: &str, words: Option<&str>) -> Result<(), RpcError> {
    match words.map(|words| words.chars().count()) {
        Some(length) if length > REASON_CAP => {
            Err(invalid(method, field, "at most 2000 characters", &format!("{length}")))
        }
        _ => Ok(()),
    }
}

/// A request that waits, and its session.
pub(super) fn find(
    host: &Host,
    id: &RequestId,
) -> Result<(Arc<LiveSession>, AskedEvent), RpcError> {
    for session in host.sessions() {
        match session.hub.request(id) {
            Some(Known::Open(asked)) => return Ok((session, *asked)),
            Some(Known::Over) => return Err(resolved()),
            None => {}
        }
    }
    Err(unknown(id))
}
