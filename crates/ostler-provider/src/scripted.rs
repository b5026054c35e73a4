//! The scripted provider: a scenario played in process.
//!
//! It checks every request as the strictest vendor would, so that a run against it proves
//! that real vendors take the same requests. It is always labelled as scripted.

use std::{iter, path::Path, sync::Arc, time::Duration};

use futures::stream;
use ostler_protocol::{Block, ErrorKind};
use ostler_stdx::Cancel;

use crate::{
    BlockKind, Failure, ModelEvent, ModelInfo, ModelRequest, ModelStream, Provider, Refused,
    RetryPolicy,
    blocks::parse_input,
    failure::plain,
    retry,
    scenario::{Played, Refusal, Scenario, ScenarioError, Script, Step, Vars},
    validate,
};

/// The provider that plays a scenario.
#[derive(Debug)]
pub struct Scripted {
    script: Arc<Script>,
    retry: RetryPolicy,
    idle: Duration,
}

impl Scripted {
    /// Plays `scenario`, with retries that hardly wait.
    #[must_use]
    pub fn new(scenario: Scenario) -> Self {
        let script = Arc::new(Script::new(scenario));
        Self { script, retry: RetryPolicy::immediate(), idle: Duration::from_secs(180) }
    }

    /// Plays the scenario of a file.
    ///
    /// # Errors
    /// [`ScenarioError`] if it cannot be loaded.
    pub fn load(path: &Path, vars: &Vars) -> Result<Self, ScenarioError> {
        Scenario::load(path, vars).map(Self::new)
    }

    /// The same with another retry policy.
    #[must_use]
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// The same with another limit on silence; zero is none.
    #[must_use]
    pub fn with_idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// What is being played, to ask what was not.
    #[must_use]
    pub fn script(&self) -> &Script {
        &self.script
    }
}

impl Provider for Scripted {
    fn id(&self) -> &str {
        "scripted"
    }

    fn model(&self, _model: &str) -> ModelInfo {
        ModelInfo {
            context_window: Some(200_000),
            max_output: Some(32_000),
            images: true,
            scripted: true,
        }
    }

    fn stream(&self, request: ModelRequest, cancel: Cancel) -> ModelStream {
        let script = Arc::clone(&self.script);
        let idle = self.idle;
        let start = Box::new(move || attempt(&script, &request, idle));
        retry::drive(self.retry, cancel, start)
    }
}

/// One moment of an answer.
struct Beat {
    delay: Duration,
    act: Act,
}

enum Act {
    Tell(ModelEvent),
    Pause,
    Stall,
}

type Beats = Box<dyn Iterator<Item = Beat> + Send>;

fn attempt(script: &Script, request: &ModelRequest, idle: Duration) -> ModelStream {
    let beats = answer(script, request);
    Box::pin(stream::unfold((beats, false), move |(mut beats, ended)| async move {
        if ended {
            return None;
        }
        loop {
            let beat = beats.next()?;
            let silent = if idle.is_zero() { beat.delay } else { beat.delay.min(idle) };
            if !silent.is_zero() {
                tokio::time::sleep(silent).await;
            }
            let event = match beat.act {
                _ if silent < beat.delay => stalled(idle),
                Act::Pause => continue,
                Act::Stall if idle.is_zero() => std::future::pending().await,
                Act::Stall => {
                    tokio::time::sleep(idle).await;
                    stalled(idle)
                }
                Act::Tell(event) => event,
            };
            let last = matches!(event, ModelEvent::Done { .. } | ModelEvent::Failed(_));
            return Some((event, (beats, last)));
        }
    }))
}

/// What the scenario answers to a request that a vendor would take.
fn answer(script: &Script, request: &ModelRequest) -> Beats {
    if let Some(what) = validate::too_long(request) {
        let hint = "put a long text in a file and name the file in the prompt";
        return failed(plain(ErrorKind::TooLarge, what, hint));
    }
    if let Err(problems) = validate::check(request) {
        return failed(plain(
            ErrorKind::BadRequest,
            format!("a vendor would refuse this request: {}", problems.join("; ")),
            "this is a fault of Ostler; please report it with the session's log",
        ));
    }
    match script.next(request) {
        Ok(played) => beats(played),
        Err(no_reply) => failed(plain(
            ErrorKind::BadRequest,
            no_reply.to_string(),
            "the model is scripted: it answers what its scenario foresees",
        )),
    }
}

fn stalled(idle: Duration) -> ModelEvent {
    let message = format!("the scripted model was silent for {} ms", idle.as_millis());
    ModelEvent::Failed(plain(ErrorKind::Stalled, message, ""))
}

fn tell(event: ModelEvent) -> Beat {
    Beat { delay: Duration::ZERO, act: Act::Tell(event) }
}

fn failed(failure: Failure) -> Beats {
    Box::new(iter::once(tell(ModelEvent::Failed(failure))))
}

fn beats(played: Played) -> Beats {
    let Played { message_id, model, steps, usage, stop_reason } = played;
    let refused_at_once = matches!(steps.first(), Some(Step::Error(_)));
    let at_start = ostler_protocol::Usage { output_tokens: 0, ..usage };
    let started =
        ModelEvent::Started { message_id, model: model.clone(), request_id: None, usage: at_start };
    let started = (!refused_at_once).then(|| tell(started));
    let mut index = 0;
    let body = steps.into_iter().flat_map(move |step| {
        let here = index;
        index += u32::from(is_block(&step));
        step_beats(step, here, &model)
    });
    let done = tell(ModelEvent::Done { stop_reason, usage });
    Box::new(started.into_iter().chain(body).chain(iter::once(done)))
}

fn is_block(step: &Step) -> bool {
    matches!(
        step,
        Step::Text { .. } | Step::RepeatText { .. } | Step::Thinking { .. } | Step::ToolUse { .. }
    )
}

fn step_beats(step: Step, index: u32, model: &str) -> Beats {
    match step {
        Step::Text { text, pace } => {
            let deltas = pace.pieces(&text).into_iter().map(str::to_owned).collect::<Vec<_>>();
            let deltas = deltas.into_iter().map(move |text| ModelEvent::TextDelta { index, text });
            block(index, BlockKind::Text, pace.delay, deltas, Block::Text { text })
        }
        Step::RepeatText { text, count, delay } => {
            let whole = Block::Text { text: text.repeat(count) };
            let deltas = iter::repeat_n(text, count);
            let deltas = deltas.map(move |text| ModelEvent::TextDelta { index, text });
            block(index, BlockKind::Text, delay, deltas, whole)
        }
        Step::Thinking { thinking, signature, pace } => {
            let deltas = pace.pieces(&thinking).into_iter().map(str::to_owned).collect::<Vec<_>>();
            let deltas =
                deltas.into_iter().map(move |text| ModelEvent::ThinkingDelta { index, text });
            let whole = Block::Thinking { thinking, signature };
            block(index, BlockKind::Thinking, pace.delay, deltas, whole)
        }
        Step::ToolUse { id, name, input, pace } => {
            let id = id.unwrap_or_default();
            let deltas = pace.pieces(&input).into_iter().map(str::to_owned).collect::<Vec<_>>();
            let deltas = deltas.into_iter().map(move |json| ModelEvent::InputDelta { index, json });
            let parsed = parse_input(&input);
            let whole = Block::ToolUse { id: id.clone(), name: name.clone(), input: parsed };
            block(index, BlockKind::ToolUse { id, name }, pace.delay, deltas, whole)
        }
        Step::Delay(delay) => Box::new(iter::once(Beat { delay, act: Act::Pause })),
        Step::Error(refusal) => failed(refused(&refusal, model)),
        Step::Stall => Box::new(iter::once(Beat { delay: Duration::ZERO, act: Act::Stall })),
        Step::Cut { .. } => {
            failed(plain(ErrorKind::Network, "the connection to the scripted model was cut", ""))
        }
        // A script decides these before it plays.
        Step::Usage(_) | Step::StopReason(_) => Box::new(iter::empty()),
    }
}

fn block(
    index: u32,
    kind: BlockKind,
    delay: Duration,
    deltas: impl Iterator<Item = ModelEvent> + Send + 'static,
    whole: Block,
) -> Beats {
    let started = iter::once(tell(ModelEvent::BlockStarted { index, kind }));
    let deltas = deltas.map(move |event| Beat { delay, act: Act::Tell(event) });
    let done = iter::once(tell(ModelEvent::BlockDone { index, block: whole }));
    Box::new(started.chain(deltas).chain(done))
}

fn refused(refusal: &Refusal, model: &str) -> Failure {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "seconds of a pause; `as` saturates"
    )]
    let retry_after_ms = refusal.retry_after.map(|seconds| (seconds * 1000.0) as u64);
    let body = refusal.body_text();
    Refused {
        provider: "scripted",
        base_url: "scripted:",
        model,
        status: refusal.status,
        body: &body,
        retry_after_ms,
    }
    .failure()
}

#[cfg(test)]
mod tests;
