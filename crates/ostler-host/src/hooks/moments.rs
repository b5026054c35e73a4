//! What a run waits for: hooks on the person's message, on the results of an answer, and
//! when the model has no more to do.

use std::sync::{Arc, atomic::Ordering};

use futures::future::BoxFuture;
use ostler_core::{Advice, Adviser, Aside, Moderation, Moment, Moments, SettledCall};
use ostler_hooks::{Event, Outcome};
use ostler_stdx::Cancel;
use serde_json::{Value, json};

use super::{Happened, SessionHooks, lock, texts};

/// Hooks as the session's task knows them.
#[derive(Debug)]
pub(crate) struct HookAdviser(pub(crate) Arc<SessionHooks>);

impl Adviser for HookAdviser {
    fn moments(&self) -> Moments {
        let hooks = &self.0;
        let waits = !hooks.begun.load(Ordering::Relaxed);
        if hooks.engine.is_empty() {
            return Moments { prompt: waits, ..Moments::default() };
        }
        Moments {
            prompt: waits
                || hooks.has(&[Event::UserPromptSubmit, Event::TurnStart])
                || !lock(&hooks.texts).is_empty(),
            batch: hooks.has(&[Event::PostToolBatch]),
            stop: hooks.has(&[Event::Stop]),
        }
    }

    fn advise(&self, moment: Moment, at: Moderation) -> BoxFuture<'static, Advice> {
        let hooks = Arc::clone(&self.0);
        Box::pin(async move {
            hooks.note_place(&at.cwd, at.mode);
            match moment {
                Moment::Prompt { text, prompt_id, begins } => {
                    hooks.on_prompt(text, prompt_id, begins, at.cancel).await
                }
                Moment::Batch { calls } => hooks.on_batch(&calls, at.cancel).await,
                Moment::Stop { text, returns } => hooks.on_stop(text, returns, at.cancel).await,
            }
        })
    }
}

impl SessionHooks {
    async fn on_prompt(
        &self,
        text: String,
        prompt_id: String,
        begins: bool,
        cancel: Cancel,
    ) -> Advice {
        lock(&self.common).prompt_id = Some(prompt_id);
        tokio::select! {
            () = self.started.cancelled() => self.begun.store(true, Ordering::Relaxed),
            () = cancel.cancelled() => return Advice::default(),
        }
        let happened = Happened::of(json!({"prompt": text})).until(cancel.clone());
        let outcome = self.fire(Event::UserPromptSubmit, happened).await;
        let mut advice = advice(Event::UserPromptSubmit, &outcome);
        advice.hides_prompt = outcome.suppress_prompt;
        advice.title = outcome.title;
        if begins && advice.block.is_none() && advice.aside.stop.is_none() {
            let happened = Happened::of(json!({"prompt": text})).until(cancel);
            let turn = self.fire(Event::TurnStart, happened).await;
            advice.aside.context.extend(texts(Event::TurnStart, None, turn.context));
            advice.aside.stop = turn.stop;
        }
        if advice.block.is_none() {
            // Nothing is waited for any more, so that these reach the model.
            let mut context = self.kept();
            context.append(&mut advice.aside.context);
            advice.aside.context = context;
        }
        advice
    }

    async fn on_batch(&self, calls: &[SettledCall], cancel: Cancel) -> Advice {
        let calls: Vec<Value> = calls
            .iter()
            .map(|call| {
                json!({
                    "tool_name": call.name,
                    "tool_input": call.args,
                    "tool_use_id": call.id,
                    "tool_response": call.content,
                })
            })
            .collect();
        let happened = Happened::of(json!({"tool_calls": calls})).until(cancel);
        let outcome = self.fire(Event::PostToolBatch, happened).await;
        advice(Event::PostToolBatch, &outcome)
    }

    async fn on_stop(&self, text: String, returns: u32, cancel: Cancel) -> Advice {
        let fields = json!({
            "stop_hook_active": returns > 0,
            "last_assistant_message": text,
        });
        let outcome = self.fire(Event::Stop, Happened::of(fields).until(cancel)).await;
        advice(Event::Stop, &outcome)
    }
}

/// What the hooks of an event mean for the run.
fn advice(event: Event, outcome: &Outcome) -> Advice {
    let reason = || outcome.reason.clone().unwrap_or_else(|| "the hook gave no reason".to_owned());
    let block = outcome.block.then(reason);
    let block = match event {
        // The person reads it, not the model.
        Event::UserPromptSubmit => block,
        _ => block.and_then(|reason| texts(event, None, vec![reason]).pop()),
    };
    Advice {
        aside: Aside {
            context: texts(event, None, outcome.context.clone()),
            stop: outcome.stop.clone(),
        },
        block,
        ..Advice::default()
    }
}
