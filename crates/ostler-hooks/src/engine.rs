//! Runs the hooks of an event: those that match, side by side, each within its time, and
//! combines what they say. A hook can fail, hang or die in any way; whoever waits here waits
//! no longer than the longest time limit and the moment that killing takes.

mod one;

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard},
    time::Duration,
};

use futures::StreamExt as _;
use ostler_sandbox::Supervisor;
use ostler_stdx::{AbsPath, Cancel, IdGen};
use serde_json::{Map, Value};
use tokio::{sync::Semaphore, task::JoinSet};

use crate::{
    Answer, AskModel, Callbacks, Event, Hook, Outcome,
    combine::combine,
    hook::Action,
    run::{Commands, Executors, Posts},
};

/// Hooks of one event that run at the same time; more take turns.
const SIDE_BY_SIDE: usize = 16;

/// Hooks that may run in the background of a session; more are refused.
const IN_BACKGROUND: usize = 16;

/// Everything that hooks are run with.
#[derive(Debug)]
pub struct EngineParts {
    /// The hooks of the settings.
    pub hooks: Vec<Hook>,
    /// Starts their commands.
    pub supervisor: Supervisor,
    /// What commands get: an environment without credentials.
    pub env: BTreeMap<OsString, OsString>,
    /// What headers may name with leave of the hook (`allowedEnvVars`).
    pub variables: HashMap<String, String>,
    /// The project folder.
    pub project: AbsPath,
    /// Whom `prompt` hooks ask.
    pub model: Option<Arc<dyn AskModel>>,
    /// Who is told of every run.
    pub observer: Arc<dyn Observer>,
    /// Names for runs.
    pub ids: IdGen,
}

/// Whether a call fits a permission rule (`if`).
pub type Fits = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// An event that happened.
#[derive(Clone)]
pub struct Firing {
    /// Which.
    pub event: Event,
    /// What matchers are compared with.
    pub subject: Option<String>,
    /// The whole input (see [`crate::Common::input`]).
    pub input: Map<String, Value>,
    /// The call that it is about.
    pub tool_use_id: Option<String>,
    /// Whether the call fits a rule; a hook with `if` does not run without.
    pub fits: Option<Fits>,
    /// Longest time for every hook, whatever it says.
    pub limit: Option<Duration>,
    /// Stops its hooks.
    pub cancel: Cancel,
}

impl std::fmt::Debug for Firing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Firing").field("event", &self.event).finish_non_exhaustive()
    }
}

/// One run of a hook.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its own id.
    pub id: String,
    /// The hook.
    pub hook: Arc<Hook>,
    /// The event.
    pub event: Event,
    /// The call that it is about.
    pub tool_use_id: Option<String>,
}

/// How a run ended, in the words of agent-sdk.md 3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// It answered, whatever the answer.
    Success,
    /// It failed or took too long.
    Error,
    /// It was stopped.
    Cancelled,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// How.
    pub outcome: RunOutcome,
    /// What it wrote; empty if the hook wants it hidden.
    pub stdout: String,
    /// Its errors.
    pub stderr: String,
    /// Its exit code, if it was a command that ended by itself.
    pub exit_code: Option<i32>,
    /// How long it ran.
    pub ms: u64,
    /// Why it failed.
    pub problem: Option<String>,
    /// Why it stands in the way, if it does.
    pub blocked: Option<String>,
}

/// What a hook said that nobody waited for.
#[derive(Debug, Clone)]
pub struct Late {
    /// Its answer.
    pub answer: Answer,
    /// Whether the model is to be woken because it blocks (`asyncRewake`).
    pub wakes: bool,
}

/// Is told of every run. Must not block.
pub trait Observer: Send + Sync + std::fmt::Debug {
    /// A run starts.
    fn started(&self, run: &Run);
    /// A run ended.
    fn ended(&self, run: &Run, end: RunEnd);
    /// A run that nobody waited for said this.
    fn late(&self, run: &Run, late: Late);
}

/// The hooks of a session. Clones are the same engine.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settled: RwLock<Vec<Arc<Hook>>>,
    registered: RwLock<Registered>,
    executors: Executors,
    observer: Arc<dyn Observer>,
    ids: Mutex<IdGen>,
    /// Hooks that ran and run once only.
    spent: Mutex<Vec<Arc<Hook>>>,
    background: Mutex<JoinSet<()>>,
    room: Arc<Semaphore>,
    /// The session's end.
    end: Cancel,
}

/// Hooks that somebody registered to be called back.
#[derive(Debug, Default, Clone)]
struct Registered {
    hooks: Vec<Arc<Hook>>,
    callbacks: Option<Arc<dyn Callbacks>>,
    /// Others were registered in their place.
    replaced: Cancel,
}

impl Engine {
    /// An engine. Starts nothing.
    #[must_use]
    pub fn new(parts: EngineParts) -> Self {
        Self(Arc::new(Inner {
            settled: RwLock::new(parts.hooks.into_iter().map(Arc::new).collect()),
            registered: RwLock::default(),
            executors: Executors {
                commands: Commands {
                    supervisor: parts.supervisor,
                    env: parts.env,
                    project: parts.project,
                },
                posts: Posts::new(parts.variables),
                model: parts.model,
            },
            observer: parts.observer,
            ids: Mutex::new(parts.ids),
            spent: Mutex::default(),
            background: Mutex::default(),
            room: Arc::new(Semaphore::new(IN_BACKGROUND)),
            end: Cancel::new(),
        }))
    }

    /// Replaces the hooks of the settings; those that run go on.
    pub fn settle(&self, hooks: Vec<Hook>) {
        let hooks = hooks.into_iter().map(Arc::new).collect();
        *self.0.settled.write().unwrap_or_else(PoisonError::into_inner) = hooks;
    }

    fn settled(&self) -> RwLockReadGuard<'_, Vec<Arc<Hook>>> {
        self.0.settled.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the hooks that are called back. Open calls of the old ones are stopped.
    pub fn register(&self, hooks: Vec<Hook>, callbacks: Arc<dyn Callbacks>) {
        let new = Registered {
            hooks: hooks.into_iter().map(Arc::new).collect(),
            callbacks: Some(callbacks),
            replaced: Cancel::new(),
        };
        let mut held = self.0.registered.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *held, new);
        drop(held);
        old.replaced.cancel();
    }

    /// Whether any hook waits for an event; what it costs to raise one can be spared else.
    #[must_use]
    pub fn has(&self, event: Event) -> bool {
        let has = |hooks: &[Arc<Hook>]| hooks.iter().any(|hook| hook.event == event);
        has(&self.settled()) || has(&self.registered().hooks)
    }

    /// Whether there are hooks at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.settled().is_empty() && self.registered().hooks.is_empty()
    }

    fn registered(&self) -> Registered {
        self.0.registered.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs the hooks of an event and combines their answers. Dropping the future stops
    /// them; those in the background go on.
    pub async fn fire(&self, firing: Firing) -> Outcome {
        let registered = self.registered();
        let mut waited_for = Vec::new();
        for hook in self.choose(&firing, &registered) {
            let run = self.run_of(&firing, &hook);
            if hook.in_background {
                self.start_in_background(run, &firing, &registered);
            } else {
                waited_for.push(self.clone().wait_for(run, firing.clone(), registered.clone()));
            }
        }
        let answers: Vec<_> =
            futures::stream::iter(waited_for).buffered(SIDE_BY_SIDE).collect().await;
        combine(answers)
    }

    /// The hooks that match; of those that do the same the first.
    fn choose(&self, firing: &Firing, registered: &Registered) -> Vec<Arc<Hook>> {
        let mut chosen: Vec<Arc<Hook>> = Vec::new();
        for hook in self.settled().iter().chain(&registered.hooks) {
            let fits = hook
                .filter
                .as_ref()
                .is_none_or(|rule| firing.fits.as_ref().is_some_and(|fits| fits(rule)));
            let is_for = hook.event == firing.event
                && hook.matcher.matches(firing.subject.as_deref())
                && fits
                && !chosen.iter().any(|other| other.action == hook.action);
            if is_for && self.may_run(hook) {
                chosen.push(Arc::clone(hook));
            }
        }
        chosen
    }

    fn may_run(&self, hook: &Arc<Hook>) -> bool {
        if !hook.once {
            return true;
        }
        let mut spent = lock(&self.0.spent);
        let is_new = !spent.iter().any(|other| Arc::ptr_eq(other, hook));
        if is_new {
            spent.push(Arc::clone(hook));
        }
        is_new
    }

    fn run_of(&self, firing: &Firing, hook: &Arc<Hook>) -> Run {
        Run {
            id: lock(&self.0.ids).uuid(),
            hook: Arc::clone(hook),
            event: firing.event,
            tool_use_id: firing.tool_use_id.clone(),
        }
    }

    /// Stops everything in the background; nothing of it is left afterwards.
    pub async fn shutdown(&self) {
        self.0.end.cancel();
        let mut background = std::mem::take(&mut *lock(&self.0.background));
        // Each ends within its killing time; what does not is dropped, which kills it.
        let all = async { while background.join_next().await.is_some() {} };
        tokio::time::timeout(one::KILLING, all).await.unwrap_or_default();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_callback(hook: &Hook) -> bool {
    matches!(hook.action, Action::Callback { .. })
}

#[cfg(test)]
mod tests;
