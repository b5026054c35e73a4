//! Hooks of what merely happened: they stand in nobody's way and nothing waits for them.
//! One table says which events a session's own events raise.

use std::{collections::HashMap, sync::Arc};

use futures::future::BoxFuture;
use ostler_core::{Answer, AnswerSource, AskedEvent, SessionEvent, Sink};
use ostler_hooks::{Event, PermissionAnswer};
use ostler_permission::PermissionUpdate;
use ostler_protocol::{PlannedTask, RequestId, TodoStatus};
use ostler_stdx::{AbsPath, Cancel};
use serde_json::{Value, json};

use super::{FOLLOWING, Happened, SessionHooks, lock, texts};
use crate::{hub::SessionHub, live::LiveSession};

/// The session's hub, with hooks that see what passes.
#[derive(Debug)]
pub(crate) struct Followed {
    pub(crate) hub: Arc<SessionHub>,
    pub(crate) hooks: Arc<SessionHooks>,
}

impl Sink for Followed {
    fn emit(&self, event: SessionEvent) {
        if !self.hooks.engine.is_empty() {
            self.hooks.saw(&event);
        }
        self.hub.emit(event);
    }

    fn ready(&self) -> Option<BoxFuture<'static, ()>> {
        self.hub.ready()
    }
}

/// What must be known of earlier events.
#[derive(Debug, Default)]
pub(super) struct Known {
    tasks: Vec<PlannedTask>,
    model: Option<String>,
    folder: Option<AbsPath>,
    /// Requests that hooks are asked about.
    asking: HashMap<RequestId, Cancel>,
}

impl SessionHooks {
    /// Begins with what a session that is loaded had.
    pub(crate) fn know(&self, tasks: Vec<PlannedTask>, model: String) {
        let mut known = lock(&self.followed);
        (known.tasks, known.model) = (tasks, Some(model));
    }

    /// Sees an event of the session; what it raises runs by itself.
    fn saw(self: &Arc<Self>, event: &SessionEvent) {
        match event {
            SessionEvent::Asked(asked) => self.ask(asked),
            SessionEvent::Answered { request_id, .. }
            | SessionEvent::Withdrawn { request_id, .. } => {
                if let Some(asking) = lock(&self.followed).asking.remove(request_id) {
                    asking.cancel();
                }
            }
            SessionEvent::UserMessage { content, synthetic: false, .. } => {
                if let Some(session) = self.session() {
                    session.note_prompt(&content.text());
                }
            }
            _ => {}
        }
        let raised = raised(event, &mut lock(&self.followed), &self.project);
        for (event, happened) in raised {
            if !self.has(&[event]) {
                continue;
            }
            let hooks = Arc::clone(self);
            self.follow(async move {
                let happened = happened.until(hooks.end.child());
                let outcome = hooks.fire(event, happened).await;
                hooks.keep(texts(event, None, outcome.context));
            });
        }
    }

    /// Does something beside the session, until it ends.
    pub(super) fn follow(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut following = lock(&self.following);
        // Those that ended are let go of here, so that the set stays small.
        while following.try_join_next().is_some() {}
        if following.len() < FOLLOWING {
            following.spawn(work);
        }
    }

    /// Asks the hooks what a person is asked at the same time; the first answer counts.
    fn ask(self: &Arc<Self>, asked: &AskedEvent) {
        if !self.has(&[Event::PermissionRequest]) {
            return;
        }
        let cancel = self.end.child();
        lock(&self.followed).asking.insert(asked.request_id.clone(), cancel.clone());
        let fields = json!({
            "tool_name": asked.tool_name,
            "tool_input": asked.args,
            "tool_use_id": asked.tool_call_id,
            "permission_suggestions": asked.question.suggestions,
        });
        let mut happened = Happened::of(fields).on(&asked.tool_name).until(cancel);
        happened.tool_use_id = Some(asked.tool_call_id.0.clone());
        let (hooks, request_id) = (Arc::clone(self), asked.request_id.clone());
        let (name, args) = (asked.tool_name.clone(), asked.args.clone());
        self.follow(async move {
            let Some(session) = hooks.session() else { return };
            happened.fits = session.fits(&name, &args);
            let outcome = hooks.fire(Event::PermissionRequest, happened).await;
            let Some(answer) = outcome.permission else { return };
            let answer = match answer {
                PermissionAnswer::Allow { updated_input, updates } => {
                    apply(&session, &updates).await;
                    Answer::Allow {
                        updated_input,
                        decision: AnswerSource::Hook.name().to_owned(),
                        edited_rule: None,
                    }
                }
                PermissionAnswer::Deny { message, interrupt } => {
                    let reason = message.clone();
                    Answer::Deny { message, reason, interrupt, source: AnswerSource::Hook }
                }
            };
            // Somebody else may have been faster.
            session.handle.answer(request_id, answer).await;
        });
    }
}

/// Applies the permission updates of a hook; one that makes no sense is said and left out.
pub(super) async fn apply(session: &LiveSession, updates: &[Value]) {
    for update in updates {
        let parsed = serde_json::from_value::<PermissionUpdate>(update.clone());
        let done = match parsed {
            Ok(update) => session.apply_update(&update).await.map_err(|error| error.message),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = done {
            session.hub.notice(format!("a hook's permission update was left out: {why}"));
        }
    }
}

/// The hook events that a session's event raises: the one table of them.
fn raised(event: &SessionEvent, known: &mut Known, project: &AbsPath) -> Vec<(Event, Happened)> {
    match event {
        SessionEvent::Asked(asked) => {
            let kind = "permission_prompt";
            let message = format!("Ostler needs your permission to use {}", asked.tool_name);
            let fields = json!({
                "message": message,
                "title": asked.question.title,
                "notification_type": kind,
            });
            vec![(Event::Notification, Happened::of(fields).on(kind))]
        }
        SessionEvent::RunFailed { failure, .. } => {
            let fields = json!({
                "error": failure.kind.name(),
                "error_details": failure.message,
            });
            vec![(Event::StopFailure, Happened::of(fields))]
        }
        SessionEvent::RunEnded(end) => {
            let fields = json!({
                "reason": end.reason.name(),
                "last_assistant_message": end.text,
                "duration_ms": end.ms,
            });
            vec![(Event::TurnEnd, Happened::of(fields))]
        }
        SessionEvent::FolderChanged(folder) => {
            let new = folder.clone().unwrap_or_else(|| project.clone());
            let old = known.folder.replace(new.clone()).unwrap_or_else(|| project.clone());
            let fields = json!({"old_cwd": old.to_text(), "new_cwd": new.to_text()});
            vec![(Event::CwdChanged, Happened::of(fields))]
        }
        SessionEvent::ModelChanged { model, .. } => {
            let old = known.model.replace(model.clone());
            let fields = json!({"from_model": old, "to_model": model, "requested_model": model});
            vec![(Event::PostModelSwitch, Happened::of(fields))]
        }
        SessionEvent::PlanChanged(tasks) => {
            let old = std::mem::replace(&mut known.tasks, tasks.clone());
            planned(&old, tasks)
        }
        _ => Vec::new(),
    }
}

/// Planned tasks that are new, or done now.
fn planned(old: &[PlannedTask], new: &[PlannedTask]) -> Vec<(Event, Happened)> {
    let done = |task: &PlannedTask| task.status == TodoStatus::Completed;
    let mut raised = Vec::new();
    for task in new {
        let before = old.iter().find(|other| other.id == task.id);
        let mut raise = |event| {
            let fields = json!({
                "task_id": task.id,
                "task_subject": task.subject,
                "task_description": task.description,
            });
            raised.push((event, Happened::of(fields)));
        };
        if before.is_none() {
            raise(Event::TaskCreated);
        }
        if done(task) && !before.is_some_and(done) {
            raise(Event::TaskCompleted);
        }
    }
    raised
}
