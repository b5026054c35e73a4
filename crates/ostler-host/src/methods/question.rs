//! `question.*`: questions and plans that wait for the person, and their answers.

use ostler_core::{Answer, AnswerSource};
use ostler_protocol::{
    RpcError, SessionId,
    event::{QuestionAsked, QuestionKind},
    methods::{QuestionAnswerParams, QuestionPick, QuestionRejectParams},
    params::invalid,
};
use serde_json::{Value, json};

use super::permission::{check_length, find};
use crate::{host::Host, question};

const METHOD: &str = "question.answer";

/// The open questions and plans, oldest first.
pub(super) fn pending(host: &Host, session_id: Option<&SessionId>) -> Vec<QuestionAsked> {
    let mut out: Vec<_> = host
        .sessions()
        .into_iter()
        .filter(|session| session_id.is_none_or(|id| *id == session.id))
        .flat_map(|session| session.hub.requests())
        .filter_map(|asked| question::asked(&asked))
        .collect();
    out.sort_by_key(|asked| asked.asked_at);
    out
}

/// Answers questions, or decides on a plan.
pub(super) async fn answer(host: &Host, params: QuestionAnswerParams) -> Result<(), RpcError> {
    let (session, asked) = find(host, &params.request_id)?;
    let shown = question::asked(&asked).ok_or_else(|| permission(METHOD))?;
    check_length(METHOD, "reason", params.reason.as_deref())?;
    let answer = match shown.kind {
        QuestionKind::Plan if params.approved != Some(true) => {
            if params.approved.is_none() {
                return Err(invalid(
                    METHOD,
                    "approved",
                    "true or false, since this is a plan",
                    "nothing",
                ));
            }
            refused(params.reason)
        }
        QuestionKind::Plan => {
            let mut args = asked.args.clone();
            if let Some(mode) = params.mode {
                if !shown.modes.contains(&mode) {
                    let names: Vec<_> = shown.modes.iter().map(|mode| mode.sdk_name()).collect();
                    return Err(invalid(METHOD, "mode", &names.join(" or "), mode.sdk_name()));
                }
                args.insert("mode".to_owned(), json!(mode.sdk_name()));
            }
            if let Some(plan) = params.edited_plan {
                args.insert("plan".to_owned(), Value::String(plan));
            }
            allowed(args)
        }
        QuestionKind::Question => {
            let answers = answers(params.answers, params.picks)?;
            allowed(question::answered(&asked.args, &shown.questions, answers))
        }
    };
    session.carry_out(&params.request_id, |_| Ok(answer)).await
}

/// Refuses questions or a plan.
pub(super) async fn reject(host: &Host, params: QuestionRejectParams) -> Result<(), RpcError> {
    let (session, asked) = find(host, &params.request_id)?;
    question::asked(&asked).ok_or_else(|| permission("question.reject"))?;
    check_length("question.reject", "reason", params.reason.as_deref())?;
    session.carry_out(&params.request_id, |_| Ok(refused(params.reason))).await
}

/// The request is one for permission.
fn permission(method: &str) -> RpcError {
    let got = "a permission request: use `permission.answer` or `permission.reject`";
    invalid(method, "requestId", "a question or a plan", got)
}

fn allowed(args: serde_json::Map<String, Value>) -> Answer {
    Answer::Allow {
        updated_input: Some(args),
        decision: "allow-once".to_owned(),
        edited_rule: None,
    }
}

fn refused(reason: Option<String>) -> Answer {
    Answer::Deny { message: None, reason, interrupt: false, source: AnswerSource::Person }
}

/// One answer per question: labels, and the person's own words behind them.
fn answers(
    answers: Option<Vec<String>>,
    picks: Option<Vec<QuestionPick>>,
) -> Result<Vec<String>, RpcError> {
    let picks = match (answers, picks) {
        (Some(answers), None) => return Ok(answers),
        (None, Some(picks)) => picks,
        (Some(_), Some(_)) => {
            return Err(invalid(METHOD, "picks", "either `answers` or `picks`", "both"));
        }
        (None, None) => return Err(invalid(METHOD, "answers", "a list of answers", "nothing")),
    };
    let joined = picks.into_iter().map(|pick| {
        check_length(METHOD, "picks.text", pick.text.as_deref())?;
        let words = pick.text.filter(|text| !text.trim().is_empty());
        Ok(pick.labels.into_iter().chain(words).collect::<Vec<_>>().join(", "))
    });
    joined.collect()
}
