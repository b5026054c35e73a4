//! Judges the calls of a session: facts from the disk, the pure judge, and whether
//! somebody can be asked.

use std::sync::Arc;

use futures::future::BoxFuture;
use ostler_builtins::Shelter;
use ostler_core::{DeniedBy, GateCall, Question, Ruling};
use ostler_permission::{Judgement, ReasonKind, Verdict};
use ostler_protocol::{Access, Mode};
use ostler_stdx::{AbsPath, Clock};
use ostler_store::record::Why;
use ostler_tool::{AnyTool, Registry, ToolError};
use serde_json::{Map, Value};

use crate::{
    hooks::{Heeded, Says, heed},
    hub::SessionHub,
    keeping::{Harmless, folder_of},
    live::SessionSpec,
    prompts,
    rules::SessionRules,
    settings::Look,
};

/// Who can be asked when a call needs a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// Front ends of our own protocol, while one looks at the session.
    Watchers,
    /// The door that runs the session: it answers every request.
    Door,
    /// Nobody.
    NoOne,
}

/// Arguments that hold a person's answer. A call that brings them before anyone was asked
/// would answer itself, wherever a host gives the arguments back as they were.
const ANSWERS: &[(&str, &[&str])] =
    &[("AskUserQuestion", &["answers", "response"]), ("ExitPlanMode", &["mode"])];

/// What the session's sandbox changes for the gate.
#[derive(Debug, Clone)]
pub(crate) struct Sheltering {
    pub(crate) shelter: Option<Shelter>,
    /// Confined commands run without a question (`autoAllowBashIfSandboxed`).
    pub(crate) auto_allow: bool,
}

/// The gate of one session.
#[derive(Debug)]
pub(crate) struct HostGate {
    hub: Arc<SessionHub>,
    rules: Arc<SessionRules>,
    harmless: Harmless,
    sheltering: Sheltering,
    tools: Registry,
    surface: Surface,
    ask_timeout_ms: Option<i64>,
    clock: Arc<dyn Clock>,
}

impl HostGate {
    pub(crate) fn new(
        hub: Arc<SessionHub>,
        rules: Arc<SessionRules>,
        harmless: Harmless,
        sheltering: Sheltering,
        tools: Registry,
        spec: &SessionSpec,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            hub,
            rules,
            harmless,
            sheltering,
            tools,
            surface: spec.surface,
            ask_timeout_ms: spec.ask_timeout_ms,
            clock,
        }
    }

    fn can_ask(&self) -> bool {
        match self.surface {
            Surface::Watchers => self.hub.is_watched(),
            Surface::Door => true,
            Surface::NoOne => false,
        }
    }
}

impl HostGate {
    pub(crate) fn rules(&self) -> &Arc<SessionRules> {
        &self.rules
    }

    pub(crate) fn tool(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        self.tools.get(name).map(Arc::clone)
    }

    /// Judges a call of which hooks say this much already.
    pub(crate) fn rule(&self, call: GateCall, says: &Says) -> BoxFuture<'static, Ruling> {
        let Some(tool) = self.tools.get(&call.call.name).map(Arc::clone) else {
            let message = format!(
                "<tool_use_error>Error: No such tool available: {}</tool_use_error>",
                call.call.name
            );
            return ready(invalid(message, call.call.name));
        };
        let title = tool.title(&call.call.args);
        let folder = folder_of(tool.name(), &call.cx);
        let accesses = match tool.access(&call.call.args, &folder) {
            Ok(accesses) => accesses,
            Err(error) => return ready(invalid(input_error(&error), title)),
        };
        let own = |(name, keys): &(&str, &'static [&'static str])| {
            if *name != tool.name() {
                return None;
            }
            keys.iter().find(|key| call.call.args.contains_key(**key))
        };
        // A hook that allows the call may answer it, too.
        if !call.approved
            && !matches!(says, Says::Allow(_))
            && let Some(key) = ANSWERS.iter().find_map(own)
        {
            let text = format!("{}: `{key}` is the person's to give: leave it out", tool.name());
            return ready(invalid(input_error(&ToolError::Invalid(text)), title));
        }
        for text in self.rules.refresh(Look::Seldom) {
            self.hub.notice(text);
        }
        let judgement = weigh(
            &self.rules,
            &self.sheltering,
            &Weighed {
                tool: tool.name(),
                args: &call.call.args,
                accesses: &accesses,
                mode: self.rules.mode_in_force(call.mode),
                approved: call.approved,
            },
            self.can_ask(),
        );
        let Heeded { judgement, by_hook } = heed(judgement, says, self.asks_in(call.mode));
        match judgement.verdict {
            Verdict::Deny => ready(denied(judgement, title)),
            Verdict::Ask if !call.approved => {
                let mut question = self.question(&judgement, title);
                if by_hook {
                    "hook".clone_into(&mut question.why.by);
                    question.reason_kind = Some("hook".to_owned());
                }
                ask(tool, call, question)
            }
            Verdict::Allow | Verdict::Ask => {
                self.rules.approve(&accesses);
                if judgement.read_only {
                    self.harmless.note(call.call.id.as_str());
                }
                let why = if call.approved && judgement.verdict == Verdict::Ask {
                    Why { by: "person".to_owned(), reason: judgement.reason.text, ..Why::default() }
                } else if by_hook {
                    Why { by: "hook".to_owned(), reason: judgement.reason.text, ..Why::default() }
                } else {
                    why(&judgement)
                };
                ready(Ruling::Allow { title, why })
            }
        }
    }
}

impl HostGate {
    /// Whether a question would be answered in this mode.
    fn asks_in(&self, mode: Mode) -> bool {
        let asks_nobody = self.rules.with_rules(|rules| rules.limits().asks_nobody);
        self.can_ask() && !asks_nobody && self.rules.mode_in_force(mode) != Mode::DontAsk
    }

    fn question(&self, judgement: &Judgement, title: String) -> Question {
        let asked_at = self.clock.now_ms();
        Question {
            title,
            reason: Some(judgement.reason.text.clone()),
            reason_kind: reason_kind(judgement.reason.kind).map(str::to_owned),
            suggested_rule: prompts::suggested_rules(judgement),
            suggestions: prompts::suggestions(judgement)
                .into_iter()
                .filter_map(|update| serde_json::to_value(update).ok())
                .collect(),
            targets: judgement.targets.clone(),
            spans: judgement.spans.clone(),
            diffs: Vec::new(),
            blocked_path: judgement.blocked_path.as_ref().map(AbsPath::to_text),
            asked_at,
            expires_at: self.ask_timeout_ms.map(|timeout| asked_at.saturating_add(timeout)),
            why: why(judgement),
        }
    }
}

/// A call whose arguments fit its tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weighed<'a> {
    pub(crate) tool: &'a str,
    pub(crate) args: &'a Map<String, Value>,
    pub(crate) accesses: &'a [Access],
    pub(crate) mode: Mode,
    /// The person has said yes to these very arguments.
    pub(crate) approved: bool,
}

/// The judge's word, and what the session's sandbox makes of it.
pub(crate) fn weigh(
    rules: &SessionRules,
    sheltering: &Sheltering,
    call: &Weighed<'_>,
    can_ask: bool,
) -> Judgement {
    let can_ask = call.approved || can_ask;
    let judge = |can_ask| rules.judge(call.tool, call.args, call.accesses, call.mode, can_ask);
    let (Some(shelter), Some(command)) = (&sheltering.shelter, command_of(call.accesses)) else {
        return judge(can_ask);
    };
    let leave =
        call.args.get("dangerouslyDisableSandbox").and_then(Value::as_bool).unwrap_or(false);
    if shelter.leaves(leave) {
        return outside(judge(can_ask), call.mode, can_ask);
    }
    if sheltering.auto_allow && shelter.takes(command, leave) {
        // Only what the mode itself would ask about: rules and safety checks still do.
        let mut judgement = judge(true);
        if judgement.verdict == Verdict::Ask && judgement.reason.kind == ReasonKind::Mode {
            judgement.verdict = Verdict::Allow;
            judgement.reason.kind = ReasonKind::Override;
            judgement.reason.text = "it runs in the sandbox".to_owned();
            return judgement;
        }
    }
    judge(can_ask)
}

/// The command that a call runs, if it runs one.
fn command_of(accesses: &[Access]) -> Option<&str> {
    accesses.iter().find_map(|access| match access {
        Access::Shell { command, .. } => Some(command.as_str()),
        _ => None,
    })
}

/// A command that asks to leave the sandbox is the person's to allow, whatever rules say
/// (agent-sdk.md 5.7); only bypass mode does not ask.
fn outside(mut judgement: Judgement, mode: Mode, can_ask: bool) -> Judgement {
    if judgement.verdict == Verdict::Allow && mode != Mode::BypassPermissions {
        judgement.verdict = if can_ask { Verdict::Ask } else { Verdict::Deny };
        judgement.reason.kind = ReasonKind::Override;
        judgement.reason.text = "the command asks to run outside of the sandbox".to_owned();
    }
    judgement
}

fn ready(ruling: Ruling) -> BoxFuture<'static, Ruling> {
    Box::pin(std::future::ready(ruling))
}

/// The question with a preview of what would change.
fn ask(
    tool: Arc<dyn AnyTool>,
    call: GateCall,
    mut question: Question,
) -> BoxFuture<'static, Ruling> {
    Box::pin(async move {
        question.diffs = tool.preview(call.call.args, call.cx).await;
        Ruling::Ask(question)
    })
}

fn invalid(message: String, title: String) -> Ruling {
    let why = Why { by: "invalid".to_owned(), ..Why::default() };
    Ruling::Deny { message, by: DeniedBy::Invalid, reason_kind: None, title, why }
}

fn input_error(error: &ToolError) -> String {
    format!("<tool_use_error>InputValidationError: {error}</tool_use_error>")
}

fn denied(judgement: Judgement, title: String) -> Ruling {
    let by = match judgement.reason.kind {
        ReasonKind::Rule => DeniedBy::Rule,
        ReasonKind::Mode => DeniedBy::Mode,
        ReasonKind::Safety | ReasonKind::Interaction | ReasonKind::Override => DeniedBy::Safety,
        ReasonKind::NoSurface => DeniedBy::NoOne,
    };
    Ruling::Deny {
        why: why(&judgement),
        message: judgement.reason.text,
        by,
        reason_kind: reason_kind(judgement.reason.kind).map(str::to_owned),
        title,
    }
}

/// What decided, for the log.
fn why(judgement: &Judgement) -> Why {
    let reason = &judgement.reason;
    let by = match reason.kind {
        ReasonKind::Rule => "rule",
        ReasonKind::Mode => "mode",
        ReasonKind::Safety => "safety",
        ReasonKind::Interaction => "interaction",
        ReasonKind::Override => "sandbox",
        ReasonKind::NoSurface => "no-one",
    };
    let file = reason.file.as_ref().map(AbsPath::to_text);
    Why {
        by: by.to_owned(),
        reason: reason.text.clone(),
        rule: reason.rule.clone(),
        source: file.or_else(|| reason.source.map(|source| source.name().to_owned())),
    }
}

/// The reference's name of a reason (agent-sdk.md 3.4).
fn reason_kind(kind: ReasonKind) -> Option<&'static str> {
    match kind {
        ReasonKind::Rule => Some("rule"),
        ReasonKind::Mode => Some("mode"),
        ReasonKind::Safety => Some("safetyCheck"),
        ReasonKind::Override => Some("sandboxOverride"),
        ReasonKind::Interaction | ReasonKind::NoSurface => None,
    }
}
