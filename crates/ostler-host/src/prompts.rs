//! How a request to the person ends, whichever door brings the answer.
//!
//! One answer is carried out at a time: what it stores is stored before the call runs, and
//! of two answers the second finds the request over. A door says what the person wants; it
//! never stores a rule or resolves a request by itself.

use ostler_core::{Answer, AnswerSource, AskedEvent};
use ostler_permission::{Judgement, PermissionUpdate, ReasonKind, split_rule_list};
use ostler_protocol::{
    ErrorKind, RequestId, RpcError, event::PermissionSuggestion, session::PermissionDecision,
};
use serde_json::{Map, Value};

use crate::{hub::Known, live::LiveSession, project::shown_hash};

/// What the person says to a request for permission.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// The call may run.
    Allow {
        /// For how long; [`PermissionDecision::Deny`] counts as [`Decision::Deny`].
        scope: PermissionDecision,
        /// The rules to keep in place of the suggested ones, as a list.
        rules: Option<String>,
        /// Other arguments, judged again from the start.
        args: Option<Map<String, Value>>,
    },
    /// It may not.
    Deny {
        /// Why; the model reads it.
        reason: Option<String>,
    },
    /// The person closed the request without deciding; it does not run.
    Dismiss {
        /// Why; the model reads it.
        reason: Option<String>,
    },
}

impl LiveSession {
    /// Carries out what the person says to a request for permission.
    ///
    /// # Errors
    /// `already_resolved`; `stale` if `hash` is not the one of what waits; `storage`,
    /// `damaged` or `usage` if the rule could not be kept: then the request still waits.
    pub async fn decide(
        &self,
        id: &RequestId,
        hash: Option<&str>,
        decision: Decision,
    ) -> Result<(), RpcError> {
        self.carry_out(id, |asked| {
            if hash.is_some_and(|hash| hash != shown_hash(asked)) {
                let text = "what would run is not what was shown; nothing was run";
                return Err(
                    RpcError::new(ErrorKind::Stale, text).with("current", shown_hash(asked))
                );
            }
            self.answer_of(asked, decision)
        })
        .await
    }

    /// Carries out the answer of a host that applies permission updates itself; gives what
    /// was wrong with updates that had to be left out.
    ///
    /// # Errors
    /// `already_resolved`: then no update was applied.
    pub async fn answer_with(
        &self,
        id: &RequestId,
        updates: &[PermissionUpdate],
        answer: Answer,
    ) -> Result<Vec<String>, RpcError> {
        let _one = self.hub.answering().await;
        self.open_request(id)?;
        let mut problems = Vec::new();
        for update in updates {
            if let Err(error) = self.apply_update(update).await {
                problems.push(error.message);
            }
        }
        self.resolve(id, answer).await?;
        Ok(problems)
    }

    /// Makes an answer of a request that waits, and gives it, with no other between.
    pub(crate) async fn carry_out(
        &self,
        id: &RequestId,
        answer: impl FnOnce(&AskedEvent) -> Result<Answer, RpcError>,
    ) -> Result<(), RpcError> {
        let _one = self.hub.answering().await;
        let asked = self.open_request(id)?;
        self.resolve(id, answer(&asked)?).await
    }

    fn open_request(&self, id: &RequestId) -> Result<AskedEvent, RpcError> {
        match self.hub.request(id) {
            Some(Known::Open(asked)) => Ok(*asked),
            Some(Known::Over) => Err(resolved()),
            None => Err(unknown(id)),
        }
    }

    async fn resolve(&self, id: &RequestId, answer: Answer) -> Result<(), RpcError> {
        if self.handle.answer(id.clone(), answer).await { Ok(()) } else { Err(resolved()) }
    }

    fn answer_of(&self, asked: &AskedEvent, decision: Decision) -> Result<Answer, RpcError> {
        let (scope, rules, args) = match decision {
            Decision::Allow { scope, rules, args } => (scope, rules, args),
            Decision::Deny { reason } => return Ok(denied(reason, AnswerSource::Person)),
            Decision::Dismiss { reason } => return Ok(denied(reason, AnswerSource::Dismissed)),
        };
        if scope == PermissionDecision::Deny {
            return Ok(denied(None, AnswerSource::Person));
        }
        let kept = rules.clone().or_else(|| asked.question.suggested_rule.clone());
        // Where no rule would allow the call, yes is yes to this one call, and is told so.
        let scope = if kept.is_some() { scope } else { PermissionDecision::AllowOnce };
        for rule in kept.iter().flat_map(|rules| split_rule_list(rules)) {
            self.rules.learn(scope, &rule)?;
        }
        Ok(Answer::Allow {
            updated_input: args.filter(|args| *args != asked.args),
            decision: name(scope).to_owned(),
            edited_rule: rules.filter(|_| scope != PermissionDecision::AllowOnce),
        })
    }
}

fn denied(reason: Option<String>, source: AnswerSource) -> Answer {
    Answer::Deny { message: None, reason, interrupt: false, source }
}

/// A request that is over.
pub(crate) fn resolved() -> RpcError {
    let text = "this request is over: it was answered elsewhere, timed out or was withdrawn";
    RpcError::new(ErrorKind::AlreadyResolved, text).with("reason", "resolved")
}

/// A request that was never made here; the code is that of one that is over.
pub(crate) fn unknown(id: &RequestId) -> RpcError {
    RpcError::new(ErrorKind::AlreadyResolved, format!("there is no request `{id}`"))
        .with("reason", "unknown")
        .hint("`permission.pending` and `question.pending` list those that wait")
}

/// A decision's name on the wire and in the log.
fn name(decision: PermissionDecision) -> &'static str {
    match decision {
        PermissionDecision::AllowOnce => "allow-once",
        PermissionDecision::AllowSession => "allow-session",
        PermissionDecision::AllowProject => "allow-project",
        PermissionDecision::AllowAlways => "allow-always",
        PermissionDecision::Deny => "deny",
    }
}

/// What may be offered beside yes and no. Where a rule asks, no rule that allows would ever
/// be reached, so none is offered.
pub(crate) fn suggestions(judgement: &Judgement) -> Vec<&PermissionUpdate> {
    let asks = judgement.reason.kind == ReasonKind::Rule;
    let adds = |update: &PermissionUpdate| matches!(update, PermissionUpdate::AddRules { .. });
    judgement.suggestions.iter().filter(|update| !(asks && adds(update))).collect()
}

/// The rules of the first suggestion, as a list in one text.
pub(crate) fn suggested_rules(judgement: &Judgement) -> Option<String> {
    match suggestions(judgement).first()? {
        PermissionUpdate::AddRules { rules, .. } if !rules.is_empty() => {
            Some(rules.iter().map(|rule| rule.to_text()).collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}

/// The decisions beyond one call that a front end can offer for suggested rules.
pub(crate) fn offers(rules: Option<&str>) -> Vec<PermissionSuggestion> {
    let rules: Vec<String> = rules.map(split_rule_list).unwrap_or_default();
    let scopes = [
        PermissionDecision::AllowSession,
        PermissionDecision::AllowProject,
        PermissionDecision::AllowAlways,
    ];
    let offer = |decision| {
        let rule = move |rule: &String| PermissionSuggestion {
            decision,
            rule: rule.clone(),
            covers: covers(rule),
        };
        rules.iter().map(rule).collect::<Vec<_>>()
    };
    scopes.into_iter().flat_map(offer).collect()
}

/// What a rule allows, in words.
fn covers(rule: &str) -> String {
    let (tool, pattern) = match rule.split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')').unwrap_or(rest)),
        None => (rule, ""),
    };
    if let Some(host) = pattern.strip_prefix("domain:") {
        return format!("every page of {host}");
    }
    match (tool, pattern) {
        (_, "" | "*") => match rule.strip_prefix("mcp__").map(|rest| rest.split_once("__")) {
            Some(None) => format!("every tool of the server {}", rule.trim_start_matches("mcp__")),
            _ => format!("every call of {tool}"),
        },
        ("Bash", pattern) => match pattern.strip_suffix(":*").or(pattern.strip_suffix(" *")) {
            Some(start) => format!("every command that begins with `{start}`"),
            None if pattern.contains('*') => format!("every command like `{pattern}`"),
            None => "exactly this command".to_owned(),
        },
        ("Edit" | "Write", path) => path_covers("changes to", path),
        ("Read" | "Glob" | "Grep" | "LS", path) => path_covers("reading", path),
        (_, pattern) => format!("calls of {tool} like `{pattern}`"),
    }
}

fn path_covers(what: &str, path: &str) -> String {
    match path.strip_suffix("/**") {
        Some(folder) => format!("{what} everything in `{folder}`"),
        None => format!("{what} `{path}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rule_covers_is_said_in_words() {
        for (rule, words) in [
            ("Bash(git push:*)", "every command that begins with `git push`"),
            ("Bash(git push *)", "every command that begins with `git push`"),
            ("Bash(npm test)", "exactly this command"),
            ("Bash(npm * --watch)", "every command like `npm * --watch`"),
            ("Bash", "every call of Bash"),
            ("WebFetch(domain:example.com)", "every page of example.com"),
            ("Edit(./src/**)", "changes to everything in `./src`"),
            ("Read(//etc/hosts)", "reading `//etc/hosts`"),
            ("mcp__db", "every tool of the server db"),
            ("mcp__db__query", "every call of mcp__db__query"),
            ("Agent(explorer)", "calls of Agent like `explorer`"),
        ] {
            assert_eq!(covers(rule), words, "{rule}");
        }
    }

    #[test]
    fn every_rule_is_offered_for_every_scope() {
        assert!(offers(None).is_empty());
        let offers = offers(Some("Bash(make:*), Bash(rm x)"));
        let rows: Vec<_> = offers.iter().map(|o| (name(o.decision), o.rule.as_str())).collect();
        assert_eq!(
            rows,
            [
                ("allow-session", "Bash(make:*)"),
                ("allow-session", "Bash(rm x)"),
                ("allow-project", "Bash(make:*)"),
                ("allow-project", "Bash(rm x)"),
                ("allow-always", "Bash(make:*)"),
                ("allow-always", "Bash(rm x)"),
            ]
        );
    }
}
