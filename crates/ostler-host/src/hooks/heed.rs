//! What a `PreToolUse` hook's word changes in the judge's (design: permission order): a
//! rule that denies or asks and a mode that denies stand whatever a hook says; beyond
//! these a hook's "ask" asks, and its "allow" is enough. Pure.

use ostler_permission::{Judgement, ReasonKind, Verdict};

/// What hooks say of a call that they do not deny.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Says {
    /// Nothing.
    #[default]
    Nothing,
    /// It may run.
    Allow(String),
    /// The person decides, for this reason.
    Ask(String),
}

/// A judgement after hooks had their say, and whether it is theirs.
#[derive(Debug)]
pub(crate) struct Heeded {
    pub(crate) judgement: Judgement,
    pub(crate) by_hook: bool,
}

/// Puts the judge's word and that of the hooks together. `can_ask` says whether anybody
/// would answer a question in this mode.
pub(crate) fn heed(mut judgement: Judgement, says: &Says, can_ask: bool) -> Heeded {
    // An ask rule stays one where nobody is there to ask.
    let is_rule = judgement.reason.rule.is_some() || judgement.reason.kind == ReasonKind::Rule;
    let would_ask = match judgement.verdict {
        Verdict::Ask => true,
        Verdict::Deny => judgement.reason.kind == ReasonKind::NoSurface,
        Verdict::Allow => false,
    };
    let by_hook = match says {
        Says::Nothing => false,
        Says::Allow(_) => would_ask && !is_rule,
        // A question that is asked anyway is asked with the hook's words.
        Says::Ask(_) => judgement.verdict == Verdict::Allow || (would_ask && !is_rule),
    };
    if !by_hook {
        return Heeded { judgement, by_hook };
    }
    match says {
        Says::Nothing => {}
        Says::Allow(reason) => {
            judgement.verdict = Verdict::Allow;
            judgement.reason.text = or(reason, "a hook allows it");
        }
        Says::Ask(reason) => {
            let reason = or(reason, "a hook asks");
            if can_ask {
                judgement.verdict = Verdict::Ask;
                judgement.reason.text = reason;
            } else {
                judgement.verdict = Verdict::Deny;
                judgement.reason.kind = ReasonKind::NoSurface;
                judgement.reason.text = format!(
                    "The call needs a person's approval ({reason}), and nobody can be asked."
                );
            }
        }
    }
    Heeded { judgement, by_hook }
}

fn or(reason: &str, usual: &str) -> String {
    if reason.trim().is_empty() { usual.to_owned() } else { reason.to_owned() }
}
