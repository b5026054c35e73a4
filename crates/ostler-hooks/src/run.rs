//! Runs one hook, whatever its kind, until it answers or is told to stop. Time limits are
//! the engine's; here nothing outlives the cancel.

mod command;
mod http;

use std::sync::Arc;

use futures::future::BoxFuture;
use ostler_stdx::Cancel;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

pub(crate) use command::Commands;
pub(crate) use http::Posts;

use crate::{Action, Answer, Event, Hook, answer};

/// Most bytes of a hook's reply; a longer one is a failure.
pub(crate) const REPLY_CAP: usize = 4 << 20;

/// Asks a model one question; the host has the session's provider.
pub trait AskModel: Send + Sync + std::fmt::Debug {
    /// The words of the model's answer, or why there is none. Ends when cancelled.
    fn ask(
        &self,
        question: String,
        model: Option<String>,
        cancel: Cancel,
    ) -> BoxFuture<'static, Result<String, String>>;
}

/// Calls back whoever registered hooks by id (`hook_callback`, agent-sdk.md 2.12).
pub trait Callbacks: Send + Sync + std::fmt::Debug {
    /// The output object of the callback, or why there is none. Ends when cancelled.
    fn call(
        &self,
        id: String,
        input: Map<String, Value>,
        tool_use_id: Option<String>,
        cancel: Cancel,
    ) -> BoxFuture<'static, Result<Value, String>>;
}

/// How one hook ended.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit_code: Option<i32>,
    /// What it answered, or why it failed.
    pub(crate) result: Option<Result<Answer, String>>,
}

impl Done {
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self { result: Some(Err(why.into())), ..Self::default() }
    }
}

/// What a hook is run with.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) hook: Arc<Hook>,
    pub(crate) event: Event,
    pub(crate) input: Arc<Map<String, Value>>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) cancel: Cancel,
}

/// Everything that hooks are run with.
#[derive(Debug)]
pub(crate) struct Executors {
    pub(crate) commands: Commands,
    pub(crate) posts: Posts,
    pub(crate) model: Option<Arc<dyn AskModel>>,
}

impl Executors {
    /// Runs a hook. `detached` is told when a command says that it goes on by itself.
    pub(crate) async fn run(
        &self,
        job: Job,
        callbacks: Option<Arc<dyn Callbacks>>,
        detached: oneshot::Sender<Answer>,
    ) -> Done {
        match &job.hook.action {
            Action::Command(action) => self.commands.run(action, &job, detached).await,
            Action::Http(action) => self.posts.run(action, &job).await,
            Action::Prompt { prompt, model } => self.ask(prompt, model.clone(), &job).await,
            Action::Callback { id } => match callbacks {
                Some(callbacks) => call_back(&*callbacks, id, job.clone()).await,
                None => Done::failed("nobody is there to call back"),
            },
            Action::Unavailable { kind } => Done::failed(format!(
                "hooks of type `{kind}` are not available in this version; use `command`, `http` or `prompt`"
            )),
        }
    }

    async fn ask(&self, prompt: &str, model: Option<String>, job: &Job) -> Done {
        let Some(asker) = &self.model else {
            return Done::failed("there is no model that could be asked");
        };
        let input = serde_json::to_string(&*job.input).unwrap_or_default();
        let question = if prompt.contains("$ARGUMENTS") {
            prompt.replace("$ARGUMENTS", &input)
        } else {
            format!("{prompt}\n\n{input}")
        };
        match asker.ask(question, model, job.cancel.clone()).await {
            Ok(text) => {
                let answer = answer::of_model(job.event, &text);
                Done { stdout: text, result: Some(Ok(answer)), ..Done::default() }
            }
            Err(why) => Done::failed(why),
        }
    }
}

async fn call_back(callbacks: &dyn Callbacks, id: &str, job: Job) -> Done {
    let input = (*job.input).clone();
    match callbacks.call(id.to_owned(), input, job.tool_use_id, job.cancel).await {
        Ok(value) => {
            let result = match &value {
                Value::Object(object) => answer::decode(job.event, object),
                Value::Null => Ok(Answer::default()),
                _ => Err("the callback's answer is not an object".to_owned()),
            };
            Done { stdout: value.to_string(), result: Some(result), ..Done::default() }
        }
        Err(why) => Done::failed(why),
    }
}
