//! Why a call would be allowed, asked about or denied in a folder: the same settings, trust,
//! rules and facts as a session there, and nothing is run.
//!
//! The verdict is the gate's own; this only tells it. The stages follow the judge's order
//! and are read off its reason, never worked out a second time.

mod call;
mod place;
#[cfg(test)]
mod tests;

use ostler_permission::{Behavior, Judgement, Reason, ReasonKind, Rules, Verdict};
use ostler_protocol::{ErrorKind, Mode, RpcError};
use ostler_sandbox::Supervisor;
use ostler_stdx::AbsPath;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    gate::{self, Sheltering, Weighed},
    host::Host,
    live::SessionSpec,
    rules::SessionRules,
};

/// A call as it would be judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Map<String, Value>,
    /// The project folder.
    pub cwd: String,
    /// The mode.
    pub mode: Mode,
    /// `allow`, `ask` or `deny`.
    pub verdict: &'static str,
    /// What decided, in words.
    pub reason: String,
    /// The order of judgement, and where it ended.
    pub stages: Vec<Stage>,
    /// The parts of the call, each judged as if it stood alone.
    pub parts: Vec<Part>,
    /// Rules that would allow it, where one would.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested: Option<String>,
    /// Settings that do not count, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One step of the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// Which.
    pub name: &'static str,
    /// What came of it.
    pub outcome: String,
    /// Whether it decided.
    pub decides: bool,
    /// The rule that matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleAt>,
}

/// A rule and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleAt {
    /// As written.
    pub rule: String,
    /// Its file; without one, where else it comes from.
    pub source: String,
    /// Its line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// One part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// A command as written, or what is accessed.
    pub part: String,
    /// What it would do.
    pub effects: Vec<String>,
    /// What would happen to it alone.
    pub verdict: &'static str,
    /// Why.
    pub reason: String,
    /// The rule that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleAt>,
}

/// What is asked about a call.
#[derive(Debug, Clone)]
pub struct Asking {
    /// The call: a rule's form such as `Bash(git status)`, or `Tool {json}`.
    pub call: String,
    /// The project folder.
    pub cwd: AbsPath,
    /// The mode; that of the settings if absent.
    pub mode: Option<Mode>,
}

impl Host {
    /// Judges a call as a session in that folder would, with a person there to ask.
    ///
    /// # Errors
    /// `usage` for a call that is none, a tool that there is not, or arguments that do not
    /// fit it.
    pub fn explain(&self, asking: &Asking) -> Result<Explained, RpcError> {
        let tools = self.builtin_tools()?;
        let (tool, args) = call::parse(&asking.call, &tools, &self.env().home)?;
        let spec = SessionSpec::new(asking.cwd.clone());
        let mut settings = crate::settings::load(self, &spec);
        let rules = SessionRules::new(self, &spec, &mut settings)?;
        let accesses = match tools.get(&tool) {
            Some(known) => known
                .access(&args, &asking.cwd)
                .map_err(|error| RpcError::new(ErrorKind::Usage, error.to_string()))?,
            None => call::mcp_access(&tool),
        };
        let mode = asking.mode.or(settings.default_mode).unwrap_or_default();
        let mode = rules.mode_in_force(mode);
        let supervisor = Supervisor::new(self.exe());
        let hidden = (rules.denied_reads().0, &[][..]);
        let shelter =
            crate::hands::shelter(self, &spec, &settings.sandbox, hidden, &supervisor, "");
        let auto_allow = settings.sandbox.auto_allow_bash_if_sandboxed;
        let call = Weighed { tool: &tool, args: &args, accesses: &accesses, mode, approved: false };
        let judgement = gate::weigh(&rules, &Sheltering { shelter, auto_allow }, &call, true);
        Ok(told(asking, &call, &judgement, &rules, settings.warnings))
    }
}

fn told(
    asking: &Asking,
    call: &Weighed<'_>,
    judgement: &Judgement,
    rules: &SessionRules,
    warnings: Vec<String>,
) -> Explained {
    let steps = rules.explain(call.tool, call.args, call.accesses, call.mode);
    rules.with_rules(|known| Explained {
        tool: call.tool.to_owned(),
        args: call.args.clone(),
        cwd: asking.cwd.to_text(),
        mode: call.mode,
        verdict: verdict_name(judgement.verdict),
        reason: judgement.reason.text.clone(),
        stages: stages(call, judgement, known),
        parts: steps
            .into_iter()
            .map(|step| Part {
                part: step.part,
                effects: step.effects,
                verdict: verdict_name(step.verdict),
                rule: rule_at(&step.reason, list_of(known, &step.reason)),
                reason: step.reason.text,
            })
            .collect(),
        suggested: crate::prompts::suggested_rules(judgement),
        warnings,
    })
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

/// The list that the rule of a reason stands in.
fn list_of(rules: &Rules, reason: &Reason) -> Option<Behavior> {
    let text = reason.rule.as_ref()?;
    let same = |rule: &ostler_permission::Rule| {
        rule.text == *text && rule.file == reason.file && Some(rule.source) == reason.source
    };
    rules.iter().find(|(_, rule)| same(rule)).map(|(behavior, _)| behavior)
}

fn rule_at(reason: &Reason, list: Option<Behavior>) -> Option<RuleAt> {
    let rule = reason.rule.clone()?;
    let line = reason.file.as_ref().zip(list).and_then(|(file, list)| {
        let text = std::fs::read_to_string(file.as_path()).ok()?;
        place::line_of(&text, list, &rule)
    });
    let source = match (&reason.file, reason.source) {
        (Some(file), _) => file.to_text(),
        (None, Some(source)) => source.name().to_owned(),
        (None, None) => return None,
    };
    Some(RuleAt { rule, source, line })
}

/// The order of judgement, and what each step says while nothing is found.
const ORDER: [(At, &str, &str); 8] = [
    (At::Deny, "deny rules", "none matches"),
    (At::ModeDenies, "what the mode denies", "it denies nothing of this"),
    (At::Ask, "ask rules", "none matches"),
    (At::Person, "tools that talk to a person", "this is none"),
    (At::Bypass, "mode `bypassPermissions`", "it is another mode"),
    (At::Safety, "safety checks", "none objects"),
    (At::Allow, "allow rules", "they do not cover all of it"),
    (At::Mode, "the mode's default", ""),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Deny,
    ModeDenies,
    Ask,
    Person,
    Bypass,
    Safety,
    Allow,
    Mode,
}

/// Where the judge's order ended, read off its reason.
fn ended(call: &Weighed<'_>, judgement: &Judgement, rules: &Rules) -> At {
    let reason = &judgement.reason;
    match (reason.kind, judgement.verdict, list_of(rules, reason)) {
        (ReasonKind::Rule, _, Some(Behavior::Allow)) => At::Allow,
        (ReasonKind::Rule, Verdict::Ask, _) => At::Ask,
        (ReasonKind::Rule, ..) => At::Deny,
        (ReasonKind::NoSurface, _, Some(Behavior::Ask | Behavior::Deny)) => At::Ask,
        (ReasonKind::Mode, Verdict::Deny, _) => At::ModeDenies,
        (ReasonKind::Mode, Verdict::Allow, _) if call.mode == Mode::BypassPermissions => At::Bypass,
        (ReasonKind::Safety, ..) => At::Safety,
        (ReasonKind::Interaction, ..) => At::Person,
        (ReasonKind::Mode | ReasonKind::Override | ReasonKind::NoSurface, ..) => At::Mode,
    }
}

fn stages(call: &Weighed<'_>, judgement: &Judgement, rules: &Rules) -> Vec<Stage> {
    let end = ended(call, judgement, rules);
    let reason = &judgement.reason;
    let mut over = false;
    let mut stages = Vec::new();
    for (at, name, nothing) in ORDER {
        let decides = at == end;
        let outcome = match (decides, over) {
            (true, _) => format!("{}: {}", verdict_name(judgement.verdict), reason.text),
            (false, false) => nothing.to_owned(),
            (false, true) => "not reached".to_owned(),
        };
        let rule = if decides { rule_at(reason, list_of(rules, reason)) } else { None };
        over |= decides;
        stages.push(Stage { name, outcome, decides, rule });
    }
    stages
}
