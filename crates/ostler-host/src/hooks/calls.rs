//! Hooks around a tool call: before anything judged it, when it would be asked about where
//! nobody is, when it was refused, and after it ran.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Instant,
};

use futures::future::BoxFuture;
use ostler_core::{Aside, DeniedBy, Gate, GateCall, Ran, Ruled, Ruling, Runner};
use ostler_hooks::{Decision, Event, Fits, Outcome, PermissionAnswer};
use ostler_store::record::Why;
use ostler_tool::{AnyTool, ToolCx, ToolError};
use serde_json::{Map, Value, json};

use super::{Happened, Says, SessionHooks, lock, output, texts};
use crate::{gate::HostGate, rules::SessionRules};

/// Events that the gate raises.
const JUDGED: &[Event] = &[Event::PreToolUse, Event::PermissionRequest, Event::PermissionDenied];

/// Calls of which it is remembered what their hooks saw.
const REMEMBERED: usize = 256;

/// The session's gate with hooks before and after it.
#[derive(Debug, Clone)]
pub(crate) struct HookedGate {
    gate: Arc<HostGate>,
    hooks: Arc<SessionHooks>,
    /// Arguments that `PreToolUse` hooks saw, by call: what a person puts in their place is
    /// seen by them, too.
    seen: Arc<Mutex<HashMap<String, Map<String, Value>>>>,
}

impl HookedGate {
    pub(crate) fn new(gate: Arc<HostGate>, hooks: Arc<SessionHooks>) -> Self {
        Self { gate, hooks, seen: Arc::default() }
    }
}

impl Gate for HookedGate {
    fn judge(&self, call: GateCall) -> BoxFuture<'static, Ruled> {
        if !self.hooks.has(JUDGED) {
            let ruling = self.gate.rule(call, &Says::Nothing);
            return Box::pin(async move { ruling.await.into() });
        }
        let gate = self.clone();
        Box::pin(async move { gate.judge_with_hooks(call).await })
    }
}

impl HookedGate {
    async fn judge_with_hooks(&self, mut call: GateCall) -> Ruled {
        self.hooks.note_place(&call.cx.cwd, call.mode);
        let Some(tool) = self.gate.tool(&call.call.name) else {
            return self.gate.rule(call, &Says::Nothing).await.into();
        };
        let before = self.before(&*tool, &call).await;
        let mut aside = aside(Event::PreToolUse, tool.name(), &before);
        if let Some(ruling) = refusal(&*tool, &call, &before, &mut aside) {
            return Ruled { ruling, args: None, aside };
        }
        let says = says(&before);
        let args = before.input.filter(|_| !call.approved).map(|new| new.apply(&call.call.args));
        if let Some(args) = &args {
            call.call.args.clone_from(args);
        }
        self.remember(&call);
        let mut ruled = Ruled { ruling: self.gate.rule(call.clone(), &says).await, args, aside };
        if matches!(ruled.ruling, Ruling::Deny { by: DeniedBy::NoOne, .. }) {
            self.in_nobodys_place(&*tool, &call, &mut ruled).await;
        }
        self.after_refusal(&*tool, &call, &mut ruled).await;
        ruled
    }

    /// The hooks before a call. After a person's yes only arguments that they did not see
    /// are theirs to refuse.
    async fn before(&self, tool: &dyn AnyTool, call: &GateCall) -> Outcome {
        let id = call.call.id.as_str();
        let is_known = lock(&self.seen).get(id) == Some(&call.call.args);
        if call.approved && is_known {
            return Outcome::default();
        }
        let happened = self.about(tool, call, Value::Null);
        self.hooks.fire(Event::PreToolUse, happened).await
    }

    fn remember(&self, call: &GateCall) {
        let mut seen = lock(&self.seen);
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(call.call.id.0.clone(), call.call.args.clone());
    }

    /// Something about a call, with further fields.
    fn about(&self, tool: &dyn AnyTool, call: &GateCall, more: Value) -> Happened {
        let mut fields = json!({
            "tool_name": tool.name(),
            "tool_input": call.call.args,
            "tool_use_id": call.call.id,
        });
        if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
            fields.extend(more);
        }
        Happened {
            tool_use_id: Some(call.call.id.0.clone()),
            fits: Some(fits(self.gate.rules(), tool, &call.call.args, &call.cx)),
            ..Happened::of(fields).on(tool.name()).until(call.cx.cancel.clone())
        }
    }

    /// Nobody can be asked: the hooks may answer in their place.
    async fn in_nobodys_place(&self, tool: &dyn AnyTool, call: &GateCall, ruled: &mut Ruled) {
        let outcome =
            self.hooks.fire(Event::PermissionRequest, self.about(tool, call, Value::Null)).await;
        ruled.aside.stop = ruled.aside.stop.take().or(outcome.stop);
        match outcome.permission {
            None => {}
            Some(PermissionAnswer::Allow { updated_input, updates }) => {
                if let Some(session) = self.hooks.session() {
                    super::follow::apply(&session, &updates).await;
                }
                let mut call = call.clone();
                call.approved = true;
                if let Some(args) = updated_input {
                    call.call.args.clone_from(&args);
                    ruled.args = Some(args);
                }
                let says = Says::Allow("a hook allows it".to_owned());
                ruled.ruling = self.gate.rule(call, &says).await;
            }
            Some(PermissionAnswer::Deny { message, interrupt }) => {
                let text =
                    message.unwrap_or_else(|| "A hook does not let this call run.".to_owned());
                if interrupt {
                    ruled.aside.stop.get_or_insert_with(|| text.clone());
                }
                ruled.ruling = denied(tool.title(&call.call.args), text, outcome.by);
            }
        }
    }

    async fn after_refusal(&self, tool: &dyn AnyTool, call: &GateCall, ruled: &mut Ruled) {
        let Ruling::Deny { message, by, .. } = &ruled.ruling else { return };
        if matches!(by, DeniedBy::Invalid | DeniedBy::Hook | DeniedBy::Interrupt) {
            return;
        }
        let happened = self.about(tool, call, json!({"reason": message}));
        let outcome = self.hooks.fire(Event::PermissionDenied, happened).await;
        let more = aside(Event::PermissionDenied, tool.name(), &outcome);
        ruled.aside.context.extend(more.context);
        if outcome.retry {
            let text = "the refused call may be tried again".to_owned();
            let text = texts(Event::PermissionDenied, Some(tool.name()), vec![text]);
            ruled.aside.context.extend(text);
        }
        ruled.aside.stop = ruled.aside.stop.take().or(more.stop);
    }
}

/// Whether the call fits a permission rule (`if`).
fn fits(
    rules: &Arc<SessionRules>,
    tool: &dyn AnyTool,
    args: &Map<String, Value>,
    cx: &ToolCx,
) -> Fits {
    let accesses = tool.access(args, &crate::keeping::folder_of(tool.name(), cx));
    let (rules, name, args) = (Arc::clone(rules), tool.name().to_owned(), args.clone());
    let accesses = accesses.unwrap_or_default();
    Arc::new(move |rule| rules.fits(rule, &name, &args, &accesses))
}

/// What hooks want besides.
fn aside(event: Event, tool: &str, outcome: &Outcome) -> Aside {
    Aside { context: texts(event, Some(tool), outcome.context.clone()), stop: outcome.stop.clone() }
}

/// The refusal of a call, if the hooks refuse or put it off.
fn refusal(
    tool: &dyn AnyTool,
    call: &GateCall,
    outcome: &Outcome,
    aside: &mut Aside,
) -> Option<Ruling> {
    let reason = outcome.reason.clone().unwrap_or_else(|| "it gave no reason".to_owned());
    let text = match outcome.decision {
        Some(Decision::Deny) => format!("PreToolUse:{} hook error: {reason}", tool.name()),
        Some(Decision::Defer) => {
            aside.stop.get_or_insert_with(|| reason.clone());
            format!("The call was put off by a hook and not run: {reason}")
        }
        Some(Decision::Allow | Decision::Ask) | None => return None,
    };
    Some(denied(tool.title(&call.call.args), text, outcome.by.clone()))
}

fn denied(title: String, message: String, hook: Option<String>) -> Ruling {
    let why = Why { by: "hook".to_owned(), reason: message.clone(), rule: None, source: hook };
    Ruling::Deny { message, by: DeniedBy::Hook, reason_kind: Some("hook".to_owned()), title, why }
}

fn says(outcome: &Outcome) -> Says {
    let reason = outcome.reason.clone().unwrap_or_default();
    match outcome.decision {
        Some(Decision::Allow) => Says::Allow(reason),
        Some(Decision::Ask) => Says::Ask(reason),
        Some(Decision::Deny | Decision::Defer) | None => Says::Nothing,
    }
}

/// Events that a run of a tool raises.
const RAN: &[Event] = &[Event::PostToolUse, Event::PostToolUseFailure];

/// Runs tools, with hooks after each.
#[derive(Debug)]
pub(crate) struct HookedRunner {
    runner: Arc<dyn Runner>,
    hooks: Arc<SessionHooks>,
    rules: Arc<SessionRules>,
}

impl HookedRunner {
    pub(crate) fn new(
        runner: Arc<dyn Runner>,
        hooks: Arc<SessionHooks>,
        rules: Arc<SessionRules>,
    ) -> Self {
        Self { runner, hooks, rules }
    }
}

impl Runner for HookedRunner {
    fn run(
        &self,
        tool: Arc<dyn AnyTool>,
        args: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Ran> {
        if !self.hooks.has(RAN) {
            return self.runner.run(tool, args, cx);
        }
        let fits = fits(&self.rules, &*tool, &args, &cx);
        let run = self.runner.run(Arc::clone(&tool), args.clone(), cx.clone());
        let hooks = Arc::clone(&self.hooks);
        Box::pin(async move {
            let started = Instant::now();
            let mut ran = run.await;
            let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let (event, more) = match &ran.result {
                Ok(output) => (Event::PostToolUse, json!({"tool_response": output.structured})),
                // Whoever stopped it waits for silence.
                Err(ToolError::Cancelled) => return ran,
                Err(error) => (Event::PostToolUseFailure, json!({"error": error.to_string()})),
            };
            let mut fields = json!({
                "tool_name": tool.name(),
                "tool_input": args,
                "tool_use_id": cx.call_id,
                "duration_ms": ms,
            });
            if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
                fields.extend(more);
            }
            let happened = Happened {
                tool_use_id: Some(cx.call_id.clone()),
                fits: Some(fits),
                ..Happened::of(fields).on(tool.name()).until(cx.cancel.clone())
            };
            let outcome = hooks.fire(event, happened).await;
            after(&hooks, event, &*tool, outcome, &mut ran);
            ran
        })
    }
}

/// What hooks say after a call, put into its result.
fn after(hooks: &SessionHooks, event: Event, tool: &dyn AnyTool, outcome: Outcome, ran: &mut Ran) {
    ran.aside = aside(event, tool.name(), &outcome);
    if outcome.block {
        let reason = outcome.reason.unwrap_or_else(|| "it gave no reason".to_owned());
        ran.aside.context.extend(texts(event, Some(tool.name()), vec![reason]));
    }
    if let (Some(new), Ok(output)) = (outcome.output, &mut ran.result)
        && let Err(why) = output::replace(output, new)
    {
        hooks.say(format!("`updatedToolOutput` for {} was left out: {why}", tool.name()));
    }
}
