//! The judge: one call in, one verdict out.
//!
//! Order (design: permission order): deny rules and limits, what the mode denies, ask rules, safety
//! checks, bypass, allow rules, the mode's default. No step looks anything up; no step
//! after an earlier hit can loosen it.

mod accesses;
mod explain;
mod git;
mod matching;
mod script;
#[cfg(test)]
mod tests;

use ostler_protocol::{
    Access, Mode,
    event::{AskSpan, AskTarget},
};
use ostler_stdx::AbsPath;
use serde_json::{Map, Value};

use crate::{
    facts::Facts,
    mode::Cell,
    rules::{Behavior, Rule, RuleSource, Rules, canonical_tool},
    suggest,
    update::PermissionUpdate,
};
use accesses::Seen;
pub use explain::{Explanation, Step, explain};

/// What the suggestions are made from.
pub(crate) mod seen {
    pub(crate) use super::{
        accesses::{Place, Seen, SeenAccess},
        script::ScriptSeen,
    };
}

/// One tool call, to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its final arguments.
    pub args: &'a Map<String, Value>,
    /// What it would do, as the tool itself says.
    pub accesses: &'a [Access],
    /// The mode in force.
    pub mode: Mode,
    /// The rules in force.
    pub rules: &'a Rules,
    /// What is known of the disk.
    pub facts: &'a Facts,
    /// Whether somebody can be asked.
    pub can_ask: bool,
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// Somebody decides.
    Ask,
    /// It does not run.
    Deny,
}

/// What decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonKind {
    /// A rule.
    Rule,
    /// The mode.
    Mode,
    /// A safety check.
    Safety,
    /// The tool talks to a person; its own prompt is the question.
    Interaction,
    /// The call asks to leave the sandbox; said by the host, never by the judge.
    Override,
    /// It would have been asked, but nobody is there or the mode refuses to ask.
    NoSurface,
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What decided.
    pub kind: ReasonKind,
    /// One sentence; for a denial the text that the model reads.
    pub text: String,
    /// The rule that decided, as written.
    pub rule: Option<String>,
    /// Where that rule comes from.
    pub source: Option<RuleSource>,
    /// The file that it stands in, if it does in one.
    pub file: Option<AbsPath>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What happens.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// What a host may offer beside yes and no (`permission_suggestions`).
    pub suggestions: Vec<PermissionUpdate>,
    /// A rule that would allow this and its like, if there is one.
    pub suggested_rule: Option<String>,
    /// The paths and hosts touched, links resolved.
    pub targets: Vec<AskTarget>,
    /// Dangerous parts of a command.
    pub spans: Vec<AskSpan>,
    /// The first path that stands in the way.
    pub blocked_path: Option<AbsPath>,
    /// Whether the call is known to change nothing.
    pub read_only: bool,
    /// Absolute globs that a searching tool must skip, because a rule denies reading them.
    /// A searching tool that is allowed to run must honour them.
    pub excluded: Vec<String>,
}

/// Tools that only talk to a person.
const INTERACTIVE: &[&str] = &["AskUserQuestion", "ExitPlanMode"];

/// Judges one call.
#[must_use]
pub fn judge(call: &Call<'_>) -> Judgement {
    let tool = canonical_tool(call.tool);
    judge_seen(call, tool, &Seen::new(call, tool))
}

fn judge_seen(call: &Call<'_>, tool: &str, seen: &Seen<'_>) -> Judgement {
    let (verdict, reason) = decide_finally(call, tool, seen);
    let asks = verdict != Verdict::Allow;
    let blocked_path = seen.blocked(call).filter(|_| asks);
    let suggestions = if asks { suggest::suggestions(call, tool, seen) } else { Vec::new() };
    Judgement {
        verdict,
        suggested_rule: suggest::rule(&suggestions),
        suggestions,
        reason,
        targets: seen.targets(),
        spans: seen.spans(),
        blocked_path,
        read_only: seen.read_only,
        excluded: seen.excluded(call, tool),
    }
}

/// The verdict on what was seen, with an ask that nobody answers turned into a no.
fn decide_finally(call: &Call<'_>, tool: &str, seen: &Seen<'_>) -> (Verdict, Reason) {
    refuse_unanswerable(call, tool, seen, decide(call, tool, seen))
}

fn decide(call: &Call<'_>, tool: &str, seen: &Seen<'_>) -> (Verdict, Reason) {
    let denied = matching::hits(call, tool, seen, Behavior::Deny);
    if let Some(rule) = denied.sure {
        return (Verdict::Deny, by_rule(denial(call, tool), rule));
    }
    if let Some(text) = seen.beyond_limits(call.rules.limits()) {
        return (Verdict::Deny, reason(ReasonKind::Rule, text));
    }
    let (cell, why) = seen.strictest(call.mode);
    if cell == Cell::No {
        let text = format!("{why}, and `{}` mode changes nothing.", call.mode.name());
        return (Verdict::Deny, reason(ReasonKind::Mode, text));
    }
    if let Some((rule, why)) = denied.maybe {
        return (Verdict::Ask, by_rule(why, rule));
    }
    let asked = matching::hits(call, tool, seen, Behavior::Ask);
    if let Some(rule) = asked.sure {
        return (Verdict::Ask, by_rule(format!("the rule `{}` asks", rule.text), rule));
    }
    if let Some((rule, why)) = asked.maybe {
        return (Verdict::Ask, by_rule(why, rule));
    }
    if INTERACTIVE.contains(&tool) {
        let text = format!("`{tool}` needs an answer from a person");
        return (Verdict::Ask, reason(ReasonKind::Interaction, text));
    }
    if call.mode == Mode::BypassPermissions {
        return (Verdict::Allow, mode_says(call.mode));
    }
    if let Some(why) = seen.unsafe_because(call) {
        return (Verdict::Ask, reason(ReasonKind::Safety, why));
    }
    if let Some(rule) = matching::allowed(call, tool, seen) {
        return (Verdict::Allow, by_rule(format!("the rule `{}` allows it", rule.text), rule));
    }
    match cell {
        Cell::Yes => (Verdict::Allow, mode_says(call.mode)),
        Cell::Ask => (Verdict::Ask, reason(ReasonKind::Mode, why)),
        Cell::Refuse | Cell::No => {
            (Verdict::Deny, reason(ReasonKind::NoSurface, refusal(call, tool, &why)))
        }
    }
}

/// An ask becomes no where nobody answers or the mode does not ask.
fn refuse_unanswerable(
    call: &Call<'_>,
    tool: &str,
    seen: &Seen<'_>,
    (verdict, reason): (Verdict, Reason),
) -> (Verdict, Reason) {
    let never = match call.mode {
        _ if call.rules.limits().asks_nobody => true,
        Mode::DontAsk => true,
        // A question is no effect; only what would touch something is refused.
        Mode::Explore => reason.kind != ReasonKind::Interaction,
        Mode::Default
        | Mode::AcceptEdits
        | Mode::Plan
        | Mode::Review
        | Mode::Auto
        | Mode::BypassPermissions => false,
    };
    // What the mode refuses stays refused when an ask rule or a check speaks of it, too,
    // unless an allow rule has lifted the refusal.
    let refused = || {
        seen.strictest(call.mode).0 == Cell::Refuse && matching::allowed(call, tool, seen).is_none()
    };
    if verdict != Verdict::Ask || (call.can_ask && !never && !refused()) {
        return (verdict, reason);
    }
    let text = refusal(call, tool, &reason.text);
    (Verdict::Deny, Reason { kind: ReasonKind::NoSurface, text, ..reason })
}

fn refusal(call: &Call<'_>, tool: &str, why: &str) -> String {
    let nobody = match call.mode {
        _ if call.rules.limits().asks_nobody => {
            "the settings deny instead of asking (`denyInsteadOfPrompting`)".to_owned()
        }
        Mode::DontAsk | Mode::Explore | Mode::Review => {
            format!("`{}` mode asks nobody", call.mode.name())
        }
        Mode::Default | Mode::AcceptEdits | Mode::Plan | Mode::Auto | Mode::BypassPermissions => {
            "nobody is there to give it".to_owned()
        }
    };
    format!(
        "`{tool}` needs approval here ({why}), and {nobody}. Continue without it, or tell the user what you need and why."
    )
}

fn denial(call: &Call<'_>, tool: &str) -> String {
    let command = call.accesses.iter().find_map(|access| match access {
        Access::Shell { command, .. } => Some(command),
        _ => None,
    });
    match command {
        Some(command) => {
            format!("Permission to use {tool} with command {command} has been denied.")
        }
        None => format!("Permission to use {tool} has been denied."),
    }
}

fn reason(kind: ReasonKind, text: impl Into<String>) -> Reason {
    Reason { kind, text: text.into(), rule: None, source: None, file: None }
}

fn by_rule(text: String, rule: &Rule) -> Reason {
    Reason {
        kind: ReasonKind::Rule,
        text,
        rule: Some(rule.text.clone()),
        source: Some(rule.source),
        file: rule.file.clone(),
    }
}

fn mode_says(mode: Mode) -> Reason {
    reason(ReasonKind::Mode, format!("`{}` mode allows it", mode.name()))
}
