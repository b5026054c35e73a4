//! Makes the hooks of a session from its settings. What does not count, or can never
//! happen in this version, is said and not dropped in silence.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    sync::{Arc, Mutex, OnceLock, atomic::AtomicBool},
};

use ostler_core::HookRun;
use ostler_hooks::{Action, Engine, EngineParts, Hook, Only, Source, parse};
use ostler_protocol::{Mode, SessionId};
use ostler_sandbox::Supervisor;
use ostler_stdx::{AbsPath, Cancel, Clock, IdGen};
use ostler_store::{Settings, Tier};
use tokio::{sync::mpsc, task::JoinSet};

use super::{SessionHooks, asking::SessionModel, common, observe::Told};
use crate::{env::Environment, hub::SessionHub, rules::SessionRules};

/// What hooks are made of.
pub(crate) struct Making<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) warnings: &'a mut Vec<String>,
    pub(crate) id: &'a SessionId,
    pub(crate) transcript: String,
    pub(crate) project: &'a AbsPath,
    pub(crate) mode: Mode,
    pub(crate) effort: Option<String>,
    pub(crate) environment: &'a Environment,
    /// What commands get: without credentials.
    pub(crate) env: BTreeMap<OsString, OsString>,
    pub(crate) supervisor: Supervisor,
    pub(crate) hub: Arc<SessionHub>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) model: SessionModel,
    pub(crate) runs: mpsc::Sender<HookRun>,
}

impl Making<'_> {
    pub(crate) fn make(self) -> Arc<SessionHooks> {
        let mut said = Vec::new();
        let hooks = read(self.settings, &mut said);
        self.warnings.extend(said.iter().cloned());
        // Only with the hook's leave (`allowedEnvVars`), and only in headers.
        let variables: HashMap<String, String> = self
            .environment
            .vars()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let told = Arc::new(Told::new(Arc::clone(&self.hub), self.runs));
        let engine = Engine::new(EngineParts {
            hooks,
            supervisor: self.supervisor,
            env: self.env,
            variables,
            project: self.project.clone(),
            model: Some(Arc::new(self.model)),
            observer: Arc::<Told>::clone(&told),
            ids: IdGen::random(),
        });
        let mut common = common(self.id, self.transcript, self.project, self.mode);
        common.effort = self.effort;
        let hooks = Arc::new(SessionHooks {
            engine,
            hub: self.hub,
            common: Mutex::new(common),
            clock: self.clock,
            project: self.project.clone(),
            session: OnceLock::new(),
            texts: Mutex::default(),
            started: Cancel::new(),
            begun: AtomicBool::new(false),
            following: Mutex::new(JoinSet::new()),
            followed: Mutex::default(),
            said: Mutex::new(said),
            end: Cancel::new(),
        });
        told.belongs_to(&hooks);
        hooks
    }
}

/// The hooks that count, and what is to be said about the others.
pub(super) fn read(settings: &Settings, warnings: &mut Vec<String>) -> Vec<Hook> {
    let sources: Vec<_> = settings
        .hooks
        .iter()
        .map(|hooks| Source {
            file: hooks.file.display().to_string(),
            is_managed: hooks.tier == Tier::Managed,
            hooks: hooks.value.clone(),
        })
        .collect();
    // Which of them may run at all was decided where the settings were merged.
    let parsed = parse(&sources, Only::All);
    warnings.extend(parsed.warnings);
    let mut said = Vec::new();
    for hook in &parsed.hooks {
        let text = remark(hook);
        warnings.extend(text.filter(|text| {
            let is_new = !said.contains(text);
            said.push(text.clone());
            is_new
        }));
    }
    parsed.hooks
}

/// Why a hook will never run, if it will not.
fn remark(hook: &Hook) -> Option<String> {
    let Hook { event, from, name, .. } = hook;
    if !event.is_raised() {
        return Some(format!(
            "`{from}`: `hooks.{}`: this version of Ostler never raises this event, so its hooks do not run",
            event.name()
        ));
    }
    if let Action::Unavailable { kind } = &hook.action {
        return Some(format!(
            "`{from}`: the hook `{name}`: type `{kind}` is not available in this version; use `command`, `http` or `prompt`"
        ));
    }
    let why = SessionRules::check_rule(hook.filter.as_deref()?).err()?;
    Some(format!("`{from}`: the hook `{name}` never runs: `if` is no permission rule: {why}"))
}
