//! Asks a model the question of a `prompt` hook: the session's own, with its own provider,
//! no tools and no history.

use std::sync::Arc;

use futures::{StreamExt as _, future::BoxFuture};
use ostler_hooks::AskModel;
use ostler_protocol::{Block, Message, conversation::Role};
use ostler_provider::{ModelEvent, ModelRequest, Provider};
use ostler_stdx::Cancel;

/// Most tokens of such an answer.
const ANSWER: u64 = 1000;

/// The words that make the answer one that can be read.
const RULES: &str = "You check one step of a coding agent for its user. Answer with one JSON \
object and nothing else: {\"ok\": true}, or {\"ok\": false, \"reason\": \"why\"}.";

/// The session's provider, and the model that answers unless a hook names one.
#[derive(Debug)]
pub(crate) struct SessionModel {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) model: String,
}

impl AskModel for SessionModel {
    fn ask(
        &self,
        question: String,
        model: Option<String>,
        cancel: Cancel,
    ) -> BoxFuture<'static, Result<String, String>> {
        let request = ModelRequest {
            model: model.unwrap_or_else(|| self.model.clone()),
            system: vec![ostler_provider::SystemBlock { text: RULES.to_owned(), cache: false }],
            messages: vec![Message { role: Role::User, content: vec![Block::text(question)] }],
            max_output_tokens: Some(ANSWER),
            ..ModelRequest::default()
        };
        let mut stream = self.provider.stream(request, cancel);
        Box::pin(async move {
            let mut words = String::new();
            while let Some(event) = stream.next().await {
                match event {
                    ModelEvent::TextDelta { text, .. } => words.push_str(&text),
                    ModelEvent::Retrying { .. } => words.clear(),
                    ModelEvent::Done { .. } => return Ok(words),
                    ModelEvent::Failed(failure) => return Err(failure.message),
                    _ => {}
                }
            }
            Err("the model gave no answer".to_owned())
        })
    }
}
