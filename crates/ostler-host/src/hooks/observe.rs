//! Tells the session of every run of a hook: its start at once, its end through the
//! session's task, which writes it before it is shown. Never blocks.

use std::sync::{Arc, OnceLock, Weak};

use ostler_core::{HookRun, SessionEvent, Sink as _};
use ostler_hooks::{Late, Observer, Run, RunEnd, RunOutcome};
use ostler_protocol::{ToolCallId, conversation::ToolResultContent};
use ostler_stdx::bound_middle;
use tokio::sync::mpsc;

use super::{SessionHooks, texts};
use crate::hub::SessionHub;

/// Most bytes of a hook's output that are shown.
const SHOWN: usize = 16 << 10;

/// Is told of runs.
#[derive(Debug)]
pub(super) struct Told {
    hub: Arc<SessionHub>,
    runs: mpsc::Sender<HookRun>,
    hooks: OnceLock<Weak<SessionHooks>>,
}

impl Told {
    pub(super) fn new(hub: Arc<SessionHub>, runs: mpsc::Sender<HookRun>) -> Self {
        Self { hub, runs, hooks: OnceLock::new() }
    }

    pub(super) fn belongs_to(&self, hooks: &Arc<SessionHooks>) {
        self.hooks.set(Arc::downgrade(hooks)).unwrap_or_default();
    }
}

impl Observer for Told {
    fn started(&self, run: &Run) {
        self.hub.emit(SessionEvent::HookStarted(Box::new(begun(run))));
    }

    fn ended(&self, run: &Run, end: RunEnd) {
        let run = HookRun {
            outcome: match end.outcome {
                RunOutcome::Success => "success",
                RunOutcome::Error => "error",
                RunOutcome::Cancelled => "cancelled",
            }
            .to_owned(),
            stdout: shown(&end.stdout),
            stderr: shown(&end.stderr),
            exit_code: end.exit_code,
            ms: end.ms,
            problem: end.problem,
            blocked: end.blocked,
            ..begun(run)
        };
        // Full, or the session has ended: this record is lost, the session goes on.
        self.runs.try_send(run).unwrap_or_default();
    }

    fn late(&self, run: &Run, late: Late) {
        let Some(hooks) = self.hooks.get().and_then(Weak::upgrade) else { return };
        if let Some(text) = late.answer.message {
            hooks.say(text);
        }
        let mut context = late.answer.context;
        if late.wakes {
            context.extend(late.answer.reason);
        }
        let texts = texts(run.event, None, context);
        let Some(session) = hooks.session().filter(|_| late.wakes && !texts.is_empty()) else {
            return hooks.keep(texts);
        };
        let prompt = ostler_core::Prompt {
            uuid: None,
            content: ToolResultContent::Text(texts.join("\n\n")),
            at_ms: hooks.clock.now_ms(),
            client_id: None,
            origin: None,
            note: true,
        };
        hooks.follow(async move {
            // A session that has ended is woken no more.
            session.handle.prompt(prompt).await;
        });
    }
}

fn begun(run: &Run) -> HookRun {
    HookRun {
        id: run.id.clone(),
        name: run.hook.name.clone(),
        event: run.event.name().to_owned(),
        tool_call_id: run.tool_use_id.clone().map(ToolCallId),
        status: run.hook.status.clone(),
        ..HookRun::default()
    }
}

fn shown(text: &str) -> String {
    bound_middle(text, SHOWN * 3 / 4, SHOWN / 4, "").text
}
