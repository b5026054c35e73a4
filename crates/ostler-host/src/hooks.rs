//! The user's hooks around a session: read from its settings, fired where something
//! happens, their answers given to gate, runner and turn machine in those parts' own words.
//!
//! Only this folder knows both hooks and sessions. Which event is raised where:
//! [`follow`] for what merely happened, [`moments`] for what a run waits for, [`calls`] for
//! tool calls. Nothing here decides what an answer means together with rules: that is
//! [`heed`]'s table.

mod asking;
mod calls;
mod follow;
mod heed;
mod moments;
mod observe;
mod output;
mod read;

use std::sync::{
    Arc, Mutex, OnceLock, PoisonError, Weak,
    atomic::{AtomicBool, Ordering},
};

use ostler_core::{HookRun, SessionEvent, Sink as _};
use ostler_hooks::{Callbacks, Common, Engine, Event, Firing, Fits, Hook, Outcome};
use ostler_protocol::{Mode, SessionId};
use ostler_stdx::{AbsPath, Cancel, Clock};
use serde_json::{Map, Value};
use tokio::{sync::mpsc, task::JoinSet};

pub(crate) use asking::SessionModel;
pub(crate) use calls::{HookedGate, HookedRunner};
pub(crate) use follow::Followed;
pub(crate) use heed::{Heeded, Says, heed};
pub(crate) use moments::HookAdviser;
pub(crate) use read::Making;

use crate::{hub::SessionHub, live::LiveSession};

/// Runs that may wait to be written; a record beyond it is dropped, never waited for.
const RUNS: usize = 1024;

/// How long a session that ends waits for hooks.
const CLOSING: std::time::Duration = std::time::Duration::from_millis(1500);

/// Hooks of things that merely happened, side by side; further ones are not fired.
const FOLLOWING: usize = 64;

/// The hooks of one session.
#[derive(Debug)]
pub(crate) struct SessionHooks {
    engine: Engine,
    hub: Arc<SessionHub>,
    common: Mutex<Common>,
    clock: Arc<dyn Clock>,
    /// The project folder, to come back to.
    project: AbsPath,
    session: OnceLock<Weak<LiveSession>>,
    /// Texts for the model that nothing has carried there yet.
    texts: Mutex<Vec<String>>,
    /// `SessionStart` is over.
    started: Cancel,
    /// Whether nothing waits for `SessionStart` any more.
    begun: AtomicBool,
    following: Mutex<JoinSet<()>>,
    followed: Mutex<follow::Known>,
    /// What was said about hooks that do not count.
    said: Mutex<Vec<String>>,
    end: Cancel,
}

/// Something that happened, for hooks.
#[derive(Default)]
pub(crate) struct Happened {
    pub(crate) subject: Option<String>,
    pub(crate) fields: Map<String, Value>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) fits: Option<Fits>,
    pub(crate) limit: Option<std::time::Duration>,
    pub(crate) cancel: Cancel,
}

impl Happened {
    /// What happened, with its own fields; those that are null are left out.
    pub(crate) fn of(fields: Value) -> Self {
        let fields = match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Self { fields, ..Self::default() }
    }

    /// With what matchers are compared with.
    pub(crate) fn on(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }

    pub(crate) fn until(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }
}

impl SessionHooks {
    /// Whether a hook waits for any of these.
    pub(crate) fn has(&self, events: &[Event]) -> bool {
        !self.engine.is_empty() && events.iter().any(|event| self.engine.has(*event))
    }

    /// Follows settings that changed; gives what is to be said about them.
    pub(crate) fn follow_settings(&self, settings: &ostler_store::Settings) -> Vec<String> {
        let mut warnings = Vec::new();
        self.engine.settle(read::read(settings, &mut warnings));
        let mut said = lock(&self.said);
        let new = warnings.iter().filter(|warning| !said.contains(warning)).cloned().collect();
        *said = warnings;
        new
    }

    /// Puts hooks that are called back in the place of those before.
    pub(crate) fn register(&self, hooks: Vec<Hook>, callbacks: Arc<dyn Callbacks>) {
        self.engine.register(hooks, callbacks);
    }

    /// Whether a hook may keep messages back.
    pub(crate) fn sees_prompts(&self) -> bool {
        self.has(&[Event::UserPromptSubmit])
    }

    /// Names the session that the hooks belong to, once it is there.
    pub(crate) fn belong_to(&self, session: &Arc<LiveSession>) {
        // A second session of the same hooks does not exist.
        self.session.set(Arc::downgrade(session)).unwrap_or_default();
    }

    fn session(&self) -> Option<Arc<LiveSession>> {
        self.session.get()?.upgrade()
    }

    /// Runs the hooks of an event; what they say to the person is shown.
    pub(crate) async fn fire(&self, event: Event, happened: Happened) -> Outcome {
        if !self.has(&[event]) {
            return Outcome::default();
        }
        let input = lock(&self.common).input(event, happened.fields);
        let outcome = self
            .engine
            .fire(Firing {
                event,
                subject: happened.subject,
                input,
                tool_use_id: happened.tool_use_id,
                fits: happened.fits,
                limit: happened.limit,
                cancel: happened.cancel,
            })
            .await;
        for text in &outcome.messages {
            self.say(text.clone());
        }
        outcome
    }

    /// Shows the person what a hook says.
    fn say(&self, text: String) {
        self.hub.emit(SessionEvent::Notice { warn: false, text, key: "notice.hook" });
    }

    /// Keeps a text for the model until something carries it there.
    fn keep(&self, texts: impl IntoIterator<Item = String>) {
        const MOST: usize = 64;
        let mut kept = lock(&self.texts);
        let room = MOST.saturating_sub(kept.len());
        kept.extend(texts.into_iter().take(room));
    }

    /// The texts for the model that were kept.
    fn kept(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.texts))
    }

    fn note_place(&self, cwd: &AbsPath, mode: Mode) {
        let mut common = lock(&self.common);
        common.cwd = cwd.to_text();
        common.permission_mode = Some(mode.sdk_name().to_owned());
    }

    /// Fires `SessionStart`; the first prompt waits for it.
    pub(crate) fn start(self: &Arc<Self>, source: &'static str, model: String) {
        if !self.has(&[Event::SessionStart]) {
            self.begun.store(true, Ordering::Relaxed);
            self.started.cancel();
            return;
        }
        let hooks = Arc::clone(self);
        let fields = serde_json::json!({"source": source, "model": model});
        let happened = Happened::of(fields).on(source).until(self.end.child());
        lock(&self.following).spawn(async move {
            let outcome = hooks.fire(Event::SessionStart, happened).await;
            hooks.keep(texts(Event::SessionStart, None, outcome.context));
            if let (Some(title), Some(session)) = (outcome.title, hooks.session()) {
                session.handle.tell(ostler_core::Command::SetTitle(title)).await;
            }
            hooks.started.cancel();
        });
    }

    /// The session ends: its last hooks run for a moment, and nothing of them is left.
    pub(crate) async fn close(&self) {
        let last = Happened::of(serde_json::json!({"reason": "other"})).on("other");
        let last = Happened { limit: Some(CLOSING), ..last };
        let mut following = std::mem::take(&mut *lock(&self.following));
        let follow = async { while following.join_next().await.is_some() {} };
        let follow = tokio::time::timeout(CLOSING, follow);
        let (_, followed) = futures::join!(self.fire(Event::SessionEnd, last), follow);
        self.end.cancel();
        if followed.is_err() {
            // They were told to stop; what does not is dropped, which kills it.
            following.abort_all();
        }
        self.engine.shutdown().await;
    }
}

/// Texts of hooks as the model reads them, each with where it comes from.
pub(crate) fn texts(event: Event, tool: Option<&str>, context: Vec<String>) -> Vec<String> {
    let from = match tool {
        Some(tool) => format!("{}:{tool}", event.name()),
        None => event.name().to_owned(),
    };
    let text = |text: String| format!("<system-reminder>\n{from} hook: {text}\n</system-reminder>");
    context.into_iter().map(text).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where runs of hooks go to be written.
pub(crate) fn runs() -> (mpsc::Sender<HookRun>, mpsc::Receiver<HookRun>) {
    mpsc::channel(RUNS)
}

/// The common input of a session that begins.
fn common(id: &SessionId, transcript: String, cwd: &AbsPath, mode: Mode) -> Common {
    Common {
        session_id: id.0.clone(),
        transcript_path: transcript,
        cwd: cwd.to_text(),
        permission_mode: Some(mode.sdk_name().to_owned()),
        prompt_id: None,
        effort: None,
    }
}
