//! A session that this process serves: its task, its hub, its gate, and how it is made.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    sync::{Arc, Mutex, PoisonError},
};

use ostler_builtins::{Shelter, Tasks};
use ostler_core::{
    Command, Place, Prompt, PromptReply, SessionConfig, SessionHandle, SessionParts,
    SessionSnapshot, mend,
};
use ostler_protocol::{ErrorKind, Mode, RpcError, SessionId};
use ostler_sandbox::Supervisor;
use ostler_stdx::{AbsPath, IdGen};
use ostler_store::{
    Blobs, Checkpoints, Header, Limits, Replay, Root, SessionLog,
    record::{Entry, EntryBody, Own, Record},
};
use ostler_tool::{PlanList, Registry, SessionState, TodoList};
use serde_json::{Map, Value};

use crate::{
    gate::{HostGate, Sheltering, Surface},
    hooks::{Followed, HookAdviser, HookedGate, HookedRunner, Making, SessionHooks, SessionModel},
    host::Host,
    hub::SessionHub,
    keeping::{Harmless, Keeping},
    models::Model,
    outputs::outputs,
    prompt::{self, Surroundings, SystemPrompt},
    rules::SessionRules,
    settings::Look,
};

/// What a door wants a session to be. The default is what the doors of our own protocol want.
#[derive(Debug, Clone)]
pub struct SessionSpec {
    /// The id that it should have.
    pub id: Option<SessionId>,
    /// The project folder.
    pub cwd: AbsPath,
    /// Where its log lies.
    pub root: Root,
    /// Whether it has a log on disk; without one it ends with the process.
    pub persist: bool,
    /// The door, as transcripts call it.
    pub entrypoint: String,
    /// The provider, chosen together with the model.
    pub provider: Option<String>,
    /// The model: an id, an alias, `provider/id` or `scripted:...`.
    pub model: Option<String>,
    /// The mode.
    pub mode: Option<Mode>,
    /// Without a mode, a session that is resumed keeps the one that it had.
    pub keep_mode: bool,
    /// The system prompt.
    pub system: SystemPrompt,
    /// Tools to offer; all if absent.
    pub tools: Option<Vec<String>>,
    /// Tools that are offered only if [`SessionSpec::tools`] names them.
    pub on_demand: &'static [&'static str],
    /// Tools to leave out.
    pub without_tools: Vec<String>,
    /// Rules from the command line: `allow`, `ask` or `deny`, and the rule.
    pub rules: Vec<(ostler_permission::Behavior, String)>,
    /// Further folders that count as inside.
    pub extra_dirs: Vec<AbsPath>,
    /// Which settings files count: `user`, `project`, `local`; all if absent.
    pub setting_sources: Option<Vec<String>>,
    /// Trust the project's content for this run.
    pub trust: bool,
    /// Who can be asked.
    pub surface: Surface,
    /// Most provider answers of a run.
    pub max_responses: Option<u32>,
    /// Waiting messages join the running turn.
    pub join_waiting: bool,
    /// Whether and how the model may reason.
    pub thinking: ostler_provider::Thinking,
    /// How hard it tries.
    pub effort: Option<ostler_provider::Effort>,
    /// Values for the vendor's beta header.
    pub betas: Vec<String>,
    /// Settings from the command line (`--settings`), above those of files.
    pub settings: Option<ostler_store::Overlay>,
    /// What `--managed-settings` adds to the machine's policy.
    pub managed_settings: Option<ostler_store::Overlay>,
    /// Whether front ends of our own protocol can follow it.
    pub projected: bool,
    /// After this an open request counts as denied, in ms; never if absent.
    pub ask_timeout_ms: Option<i64>,
}

impl SessionSpec {
    /// A session of our own protocol in a project folder.
    #[must_use]
    pub fn new(cwd: AbsPath) -> Self {
        Self {
            id: None,
            cwd,
            root: Root::Native,
            persist: true,
            entrypoint: "ostler".to_owned(),
            provider: None,
            model: None,
            mode: None,
            keep_mode: true,
            system: SystemPrompt::Default,
            tools: None,
            on_demand: PLANNED_TASKS,
            without_tools: Vec::new(),
            rules: Vec::new(),
            extra_dirs: Vec::new(),
            setting_sources: None,
            trust: false,
            surface: Surface::Watchers,
            max_responses: None,
            join_waiting: false,
            thinking: ostler_provider::Thinking::Default,
            effort: None,
            betas: Vec::new(),
            settings: None,
            managed_settings: None,
            projected: true,
            ask_timeout_ms: Some(30 * 60 * 1000),
        }
    }
}

/// The tools of planned tasks: hosts of the Agent SDK expect them; elsewhere the to-do list
/// does the same with fewer words.
const PLANNED_TASKS: &[&str] = &["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"];

/// A session that this process serves.
#[derive(Debug)]
pub struct LiveSession {
    /// Its id.
    pub id: SessionId,
    /// Its project folder.
    pub cwd: AbsPath,
    /// Its task.
    pub handle: SessionHandle,
    /// Its events.
    pub hub: Arc<SessionHub>,
    /// Its tools.
    pub tools: Registry,
    /// Lines for standard error: what waits for trust, which settings were skipped.
    pub warnings: Vec<String>,
    pub(crate) rules: Arc<SessionRules>,
    pub(crate) spec: SessionSpec,
    pub(crate) model: Mutex<Model>,
    pub(crate) facts: Mutex<LiveFacts>,
    /// How it reasons from here on, if that was changed.
    thinking: Mutex<Option<ostler_provider::Thinking>>,
    state: SessionState,
    shelter: Option<Shelter>,
    supervisor: Supervisor,
    hooks: Arc<SessionHooks>,
}

/// What lists show of a live session.
#[derive(Debug, Clone, Default)]
pub(crate) struct LiveFacts {
    pub(crate) title: Option<String>,
    pub(crate) first_prompt: Option<String>,
    pub(crate) created_at: i64,
    pub(crate) last_turn_at: i64,
    pub(crate) turns: u32,
    pub(crate) mode: Mode,
}

/// What a log holds already when its session is loaded.
struct Loaded {
    entries: Vec<Entry>,
    replay: Option<Replay>,
}

impl LiveSession {
    /// Makes a session that is new.
    pub(crate) fn start(host: &Host, spec: SessionSpec) -> Result<Arc<Self>, RpcError> {
        let id = spec.id.clone().unwrap_or_else(|| SessionId(IdGen::random().uuid()));
        let header = header(host, &spec, &id);
        let log = if spec.persist {
            host.store().create(spec.root, header)
        } else {
            host.store().create_unsaved(header)
        };
        let log = log.map_err(|error| storage_error(&error))?;
        Self::build(host, spec, log, Loaded { entries: Vec::new(), replay: None })
    }

    /// Loads a session that has a log, and closes what a crash left open in it.
    pub(crate) fn resume(
        host: &Host,
        id: &SessionId,
        mut spec: SessionSpec,
    ) -> Result<Arc<Self>, RpcError> {
        let header = header(host, &spec, id);
        let (mut log, mut replay) =
            host.store().resume(header).map_err(|error| storage_error(&error))?;
        if let Some(project) =
            replay.carried.project.as_ref().and_then(|path| AbsPath::new(path).ok())
        {
            spec.cwd = project;
            log.set_cwd(spec.cwd.clone());
        }
        let mut entries = std::mem::take(&mut replay.entries);
        close_open(host, &mut log, &mut replay, &mut entries)?;
        close_tasks(host, &mut log, &mut replay)?;
        Self::build(host, spec, log, Loaded { entries, replay: Some(replay) })
    }

    fn build(
        host: &Host,
        mut spec: SessionSpec,
        log: SessionLog,
        loaded: Loaded,
    ) -> Result<Arc<Self>, RpcError> {
        let id = SessionId::from(log.session_id());
        let carried =
            loaded.replay.as_ref().map(|replay| replay.carried.clone()).unwrap_or_default();
        let depth = host.env().depth();
        let tightened = crate::nested::tighten(depth, &mut spec)?;
        let mut settings = crate::settings::load(host, &spec);
        settings.check_policy()?;
        settings.warnings.extend(tightened);
        let mode = begin_mode(depth, &spec, carried.mode, &mut settings)?;
        spec.mode = Some(mode);
        let model =
            host.resolve_model(&spec, carried.pinned.as_ref(), settings.model.as_deref())?;
        let projected = spec.projected.then(|| (spec.cwd.to_text(), mode));
        let hub = Arc::new(SessionHub::new(
            id.clone(),
            host.epoch().to_owned(),
            projected,
            host.on_change(),
        ));
        let rules = Arc::new(SessionRules::new(host, &spec, &mut settings)?);
        let supervisor = Supervisor::new(host.exe());
        let (hidden, globs) = rules.denied_reads();
        if settings.sandbox.enabled {
            settings.warnings.extend(settings.sandbox.without_effect());
        }
        let hidden = (hidden, globs.as_slice());
        let shelter =
            crate::hands::shelter(host, &spec, &settings.sandbox, hidden, &supervisor, id.as_str());
        let env = host.child_env(&settings.env, &settings.pass_env);
        let tools = tools(host, &spec, &id, env.clone(), &supervisor, &rules, shelter.clone())?;
        let (runs, hook_runs) = crate::hooks::runs();
        let choice = model.choice(&spec);
        let hooks = Making {
            settings: &settings.found,
            warnings: &mut settings.warnings,
            id: &id,
            transcript: log.path().display().to_string(),
            project: &spec.cwd,
            mode,
            effort: spec.effort.map(|effort| effort.name().to_owned()),
            environment: host.env(),
            env,
            supervisor: supervisor.clone(),
            hub: Arc::clone(&hub),
            clock: host.clock(),
            model: SessionModel {
                provider: Arc::clone(&choice.provider),
                model: choice.model.clone(),
            },
            runs,
        }
        .make();
        hooks.know(carried.plan.clone(), choice.model.clone());
        let state = restored(&carried);
        let harmless = Harmless::default();
        let gate = Arc::new(HostGate::new(
            Arc::clone(&hub),
            Arc::clone(&rules),
            harmless.clone(),
            Sheltering {
                shelter: shelter.clone(),
                auto_allow: settings.sandbox.auto_allow_bash_if_sandboxed,
            },
            tools.clone(),
            &spec,
            host.clock(),
        ));
        let (system, preamble, opening) = beginning(host, &spec, &carried, &model);
        let facts = LiveFacts {
            title: carried.title.clone(),
            first_prompt: carried.first_prompt.clone(),
            created_at: loaded
                .replay
                .as_ref()
                .and_then(|replay| replay.created_at_ms)
                .unwrap_or(host.now_ms()),
            last_turn_at: loaded
                .replay
                .as_ref()
                .and_then(|replay| replay.last_at_ms)
                .unwrap_or(host.now_ms()),
            turns: carried.turns,
            mode,
        };
        let handle = ostler_core::spawn(SessionParts {
            config: SessionConfig {
                cwd: spec.cwd.clone(),
                model: choice,
                system,
                preamble,
                mode,
                max_responses: spec.max_responses,
                join_waiting: spec.join_waiting,
            },
            log,
            entries: loaded.entries,
            cut: carried.cut,
            queue: carried.queue,
            opening,
            tools: tools.clone(),
            state: state.clone(),
            runner: Arc::new(HookedRunner::new(
                Arc::new(Keeping::new(checkpoints(host, id.as_str()), harmless)),
                Arc::clone(&hooks),
                Arc::clone(&rules),
            )),
            outputs: outputs(&host.env().roots.home, id.as_str(), &tools),
            gate: Arc::new(HookedGate::new(gate, Arc::clone(&hooks))),
            adviser: Arc::new(HookAdviser(Arc::clone(&hooks))),
            hook_runs,
            sink: Arc::new(Followed { hub: Arc::clone(&hub), hooks: Arc::clone(&hooks) }),
            clock: host.clock(),
            ids: IdGen::random(),
        });
        let source = if loaded.replay.is_some() { "resume" } else { "startup" };
        let session = Arc::new(Self {
            id,
            cwd: spec.cwd.clone(),
            handle,
            hub,
            tools,
            warnings: settings.warnings,
            rules,
            spec,
            model: Mutex::new(model),
            facts: Mutex::new(facts),
            thinking: Mutex::new(None),
            state,
            shelter,
            supervisor,
            hooks,
        });
        session.hooks.belong_to(&session);
        session.hooks.start(source, session.model().1);
        Ok(session)
    }

    /// The provider and model in force: provider id and the vendor's model id.
    #[must_use]
    pub fn model(&self) -> (String, String) {
        let model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        (model.provider_id().to_owned(), model.id.clone())
    }

    /// Why the session's model cannot be asked, if it cannot.
    #[must_use]
    pub fn model_problem(&self) -> Option<RpcError> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).problem().cloned()
    }

    /// Whether a model is set up.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).is_configured()
    }

    /// The mode in force.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.facts().mode
    }

    pub(crate) fn facts(&self) -> LiveFacts {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        facts.mode = self.hub.mode().unwrap_or(facts.mode);
        facts
    }

    pub(crate) fn with_facts(&self, change: impl FnOnce(&mut LiveFacts)) {
        change(&mut self.facts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Sends a prompt.
    ///
    /// # Errors
    /// `settings` if the sandbox is required and unavailable, `limit` if too many wait, `not_found` if the session has ended.
    pub async fn prompt(&self, prompt: Prompt) -> Result<PromptReply, RpcError> {
        self.follow_settings();
        self.check_sandbox().await?;
        let (text, at_ms) = (prompt.content.text(), prompt.at_ms);
        match self.handle.prompt(prompt).await {
            Some(PromptReply::Full) => {
                Err(RpcError::new(ErrorKind::Limit, "too many messages wait in this session")
                    .hint("wait for the running turn, or take messages out with `session.dequeue`"))
            }
            Some(reply) => {
                self.with_facts(|facts| {
                    facts.turns += 1;
                    facts.last_turn_at = at_ms;
                });
                // What a hook may keep back is shown in lists once it was let through.
                if !self.hooks.sees_prompts() {
                    self.note_prompt(&text);
                }
                Ok(reply)
            }
            None => {
                Err(RpcError::new(ErrorKind::NotFound, format!("session `{}` has ended", self.id)))
            }
        }
    }

    /// The first prompt is what lists show of a session without a title.
    pub(crate) fn note_prompt(&self, text: &str) {
        self.with_facts(|facts| {
            facts.first_prompt.get_or_insert_with(|| text.chars().take(200).collect());
        });
    }

    /// Changes the mode from the next tool call on.
    ///
    /// # Errors
    /// `managed`: the settings forbid the mode.
    pub async fn set_mode(&self, mode: Mode) -> Result<(), RpcError> {
        self.follow_settings();
        self.rules.check_mode(mode)?;
        self.hub.note_mode(mode);
        self.handle.tell(Command::SetMode(mode)).await;
        Ok(())
    }

    /// Follows the settings files, if one changed, and says what does not count in them.
    fn follow_settings(&self) {
        for text in self.rules.refresh(Look::Now) {
            self.hub.notice(text);
        }
        // Hooks are those of the whole turn: they change between two.
        if let Some(settings) = self.rules.changed() {
            for text in self.hooks.follow_settings(&settings) {
                self.hub.notice(text);
            }
        }
    }

    /// Takes settings of a host while the session runs: rules, folders, mode switches and
    /// the model count from now on.
    ///
    /// # Errors
    /// `settings`: a value of a wrong type; nothing is taken then.
    pub async fn apply_settings(
        &self,
        host: &Host,
        keys: &Map<String, Value>,
    ) -> Result<(), RpcError> {
        let loaded = self.rules.apply_settings(keys)?;
        for text in loaded.warnings {
            self.hub.notice(text);
        }
        if let Some(model) = keys.get("model").and_then(Value::as_str) {
            self.change_model(host, Some(model)).await?;
        }
        if let Some(mode) = loaded.default_mode
            && keys.get("permissions").is_some_and(|keys| keys.get("defaultMode").is_some())
        {
            self.set_mode(mode).await?;
        }
        Ok(())
    }

    /// Changes provider and model from the next request on.
    pub(crate) async fn set_model(&self, model: Model) {
        let mut choice = model.choice(&self.spec);
        if let Some(thinking) = *self.thinking.lock().unwrap_or_else(PoisonError::into_inner) {
            choice.thinking = thinking;
        }
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = model;
        self.handle.tell(Command::SetModel(Box::new(choice))).await;
    }

    /// Changes the model from the next request on: one in words, or what the session
    /// would begin with.
    ///
    /// # Errors
    /// `usage` for a choice that makes no sense, `not_configured`.
    pub async fn change_model(&self, host: &Host, model: Option<&str>) -> Result<(), RpcError> {
        let model = match model {
            Some(_) => host.choose_model(&self.cwd, None, model, Some(&self.model()))?,
            None => {
                let settings = crate::settings::load(host, &self.spec);
                host.resolve_model(&self.spec, None, settings.model.as_deref())?
            }
        };
        self.set_model(model).await;
        Ok(())
    }

    /// Changes whether and how the model reasons, from the next request on; `None` goes
    /// back to what the session began with.
    pub async fn set_thinking(&self, thinking: Option<ostler_provider::Thinking>) {
        *self.thinking.lock().unwrap_or_else(PoisonError::into_inner) = thinking;
        let model = self.model.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.set_model(model).await;
    }

    /// What is known of the model in force.
    #[must_use]
    pub fn model_info(&self) -> ostler_provider::ModelInfo {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).info()
    }

    /// Values for the vendor's beta header, as the door gave them.
    #[must_use]
    pub fn betas(&self) -> &[String] {
        &self.spec.betas
    }

    /// How hard the model tries, if the door said so.
    #[must_use]
    pub fn effort(&self) -> Option<ostler_provider::Effort> {
        self.spec.effort
    }

    /// Applies a permission update of a host where it says that it belongs.
    ///
    /// # Errors
    /// The file that could not be written, or the rule or mode that makes no sense.
    pub async fn apply_update(
        &self,
        update: &ostler_permission::PermissionUpdate,
    ) -> Result<(), RpcError> {
        if let Some(mode) = self.rules.apply(update)? {
            self.set_mode(mode).await?;
        }
        Ok(())
    }

    /// Whether the sandbox that the settings ask for is there; the level, if there is one.
    /// What is missing without being required is a line for standard error.
    ///
    /// # Errors
    /// The sandbox is required and unavailable.
    pub async fn check_sandbox(&self) -> Result<Option<String>, RpcError> {
        let Some(shelter) = &self.shelter else { return Ok(None) };
        shelter.check().await.map_err(|why| {
            RpcError::new(ErrorKind::Settings, why)
                .hint("install bubblewrap, or set `sandbox.failIfUnavailable` to false")
        })?;
        Ok(match shelter.level().await {
            Ok(_) => None,
            Err(why) => Some(format!("commands run without a sandbox: {why}")),
        })
    }

    /// By what means commands are confined, or why they are not; `None` if the settings
    /// ask for no sandbox.
    pub async fn sandbox_level(&self) -> Option<Result<String, String>> {
        match &self.shelter {
            Some(shelter) => Some(shelter.level().await),
            None => None,
        }
    }

    /// The session's background tasks.
    #[must_use]
    pub fn tasks(&self) -> Arc<Tasks> {
        self.state.get::<Tasks>()
    }

    /// Puts hooks that are called back in the place of those before; false if the policy of
    /// the machine lets none run but its own.
    pub fn register_hooks(
        &self,
        hooks: Vec<ostler_hooks::Hook>,
        callbacks: Arc<dyn ostler_hooks::Callbacks>,
    ) -> bool {
        let may = !self.rules.only_policy_hooks();
        let hooks = if may { hooks } else { Vec::new() };
        self.hooks.register(hooks, callbacks);
        may
    }

    /// Whether a call fits permission rules, for hooks with `if`.
    pub(crate) fn fits(&self, tool: &str, args: &Map<String, Value>) -> Option<ostler_hooks::Fits> {
        let tool = Arc::clone(self.tools.get(tool)?);
        let accesses = tool.access(args, &self.cwd).unwrap_or_default();
        let (rules, args) = (Arc::clone(&self.rules), args.clone());
        Some(Arc::new(move |rule| rules.fits(rule, tool.name(), &args, &accesses)))
    }

    /// The session's to-do list.
    pub(crate) fn todos(&self) -> Vec<ostler_protocol::Todo> {
        self.state.get::<TodoList>().get()
    }

    /// Looks at the session and at its place in the event stream at the same moment.
    pub async fn snapshot(&self) -> Option<(u64, SessionSnapshot)> {
        let hub = Arc::clone(&self.hub);
        self.handle.snapshot(Place::new(move || hub.seq())).await
    }

    /// Ends the session's task and everything that it runs.
    pub async fn close(&self) {
        self.handle.wind_down().await;
        self.hooks.close().await;
        self.handle.shutdown().await;
        self.supervisor.shutdown().await;
    }
}

/// The mode that a session begins with. One that was asked for and is forbidden is refused;
/// one that was only kept or set falls back, and that is said.
fn begin_mode(
    depth: u32,
    spec: &SessionSpec,
    carried: Option<Mode>,
    settings: &mut crate::settings::Loaded,
) -> Result<Mode, RpcError> {
    if let Some(mode) = spec.mode {
        settings.check_mode(mode)?;
        return Ok(mode);
    }
    let kept = carried.filter(|_| spec.keep_mode);
    let mode = kept.or(settings.default_mode).unwrap_or_default();
    let may = crate::nested::check_mode(depth, mode).and_then(|()| settings.check_mode(mode));
    match may {
        Ok(()) => Ok(mode),
        Err(error) => {
            settings.warnings.push(format!("{}; the mode is `default`", error.message));
            Ok(Mode::Default)
        }
    }
}

fn header(host: &Host, spec: &SessionSpec, id: &SessionId) -> Header {
    Header {
        session_id: id.0.clone(),
        cwd: spec.cwd.clone(),
        version: crate::COMPATIBILITY_VERSION.to_owned(),
        git_branch: host.git_branch(&spec.cwd).unwrap_or_default(),
        entrypoint: spec.entrypoint.clone(),
    }
}

/// Writes what closes a run whose process died, so that the log is whole again.
fn close_open(
    host: &Host,
    log: &mut SessionLog,
    replay: &mut Replay,
    entries: &mut Vec<Entry>,
) -> Result<(), RpcError> {
    let mut ids = IdGen::random();
    let unfinished = replay.journal.take().filter(|tail| !is_written(entries, tail)).map(|tail| {
        mend::Unfinished {
            uuid: ids.uuid(),
            message_id: tail.message_id,
            model: tail.model,
            thinking: tail.thinking,
            text: tail.text,
        }
    });
    let records = mend::mend(entries, unfinished, replay.carried.open_run.as_deref(), &mut ids);
    log.append(&records).map_err(|error| storage_error(&error))?;
    log.clear_journal().map_err(|error| storage_error(&error))?;
    let at_ms = host.now_ms();
    for record in records {
        match record {
            Record::User(user) => entries.push(Entry { at_ms, body: EntryBody::User(user) }),
            Record::Assistant(assistant) => {
                entries.push(Entry { at_ms, body: EntryBody::Assistant(assistant) })
            }
            _ => {}
        }
    }
    Ok(())
}

/// Background tasks died with the process that ran them: the log says so, and the model
/// reads it with the next prompt.
fn close_tasks(host: &Host, log: &mut SessionLog, replay: &mut Replay) -> Result<(), RpcError> {
    let carried = &mut replay.carried;
    let mut ids = IdGen::random();
    let records = ostler_core::tasks_gone(&carried.tasks, &carried.queue, host.now_ms(), &mut ids);
    log.append(&records).map_err(|error| storage_error(&error))?;
    for record in records {
        match record {
            Record::Own(Own::Task { task }) => {
                let known = carried.tasks.iter_mut().find(|known| known.id == task.id);
                if let Some(known) = known {
                    *known = task;
                }
            }
            Record::Own(Own::Queue { items }) => carried.queue = items,
            _ => {}
        }
    }
    Ok(())
}

/// Where the files are kept that calls change.
fn checkpoints(host: &Host, session_id: &str) -> Arc<Checkpoints> {
    let blobs = Blobs::at(&host.env().roots.home);
    host.tidy_blobs(&blobs, session_id);
    Arc::new(Checkpoints::new(blobs, Limits::default()))
}

/// The state that tools of an earlier process kept.
fn restored(carried: &ostler_store::record::Carried) -> SessionState {
    let state = SessionState::default();
    state.get::<Tasks>().restore(carried.tasks.clone());
    state.get::<TodoList>().replace(carried.todos.clone());
    state.get::<PlanList>().change(|list| list.clone_from(&carried.plan));
    state
}

/// Whether the block of a journal stands in the log already: the process died between
/// the write and the emptying.
fn is_written(entries: &[Entry], tail: &ostler_store::JournalTail) -> bool {
    entries.iter().rev().take(8).any(|entry| match &entry.body {
        EntryBody::Assistant(assistant) if assistant.message_id == tail.message_id => {
            match &assistant.block {
                ostler_protocol::Block::Text { text } => {
                    !tail.thinking && text.starts_with(&tail.text)
                }
                ostler_protocol::Block::Thinking { thinking, .. } => {
                    tail.thinking && thinking.starts_with(&tail.text)
                }
                _ => false,
            }
        }
        _ => false,
    })
}

/// What requests begin with: what the log froze, or what is frozen now.
fn beginning(
    host: &Host,
    spec: &SessionSpec,
    carried: &ostler_store::record::Carried,
    model: &Model,
) -> (Vec<ostler_store::record::FrozenBlock>, Option<String>, Vec<Record>) {
    if let Some(system) = &carried.system {
        return (system.clone(), carried.preamble.clone(), Vec::new());
    }
    let around = Surroundings {
        cwd: spec.cwd.clone(),
        git_branch: host.git_branch(&spec.cwd),
        date: host.today(),
        home_instructions: host.home_instructions(spec),
    };
    let system = prompt::system(&spec.system, &around);
    let reads_project =
        spec.setting_sources.as_ref().is_none_or(|sources| sources.iter().any(|s| s == "project"));
    let preamble =
        (spec.system.is_default() && reads_project).then(|| prompt::preamble(&around)).flatten();
    let mut opening = vec![
        Record::Own(Own::Project { path: spec.cwd.to_text() }),
        Record::Own(Own::Frozen { system: system.clone(), preamble: preamble.clone() }),
        Record::PermissionMode(spec.mode.unwrap_or_default()),
    ];
    if model.is_configured() {
        opening.push(Record::Own(Own::Pinned {
            provider: model.provider_id().to_owned(),
            model: model.id.clone(),
        }));
    }
    (system, preamble, opening)
}

/// The tools of a session.
fn tools(
    host: &Host,
    spec: &SessionSpec,
    id: &SessionId,
    env: BTreeMap<OsString, OsString>,
    supervisor: &Supervisor,
    rules: &Arc<SessionRules>,
    shelter: Option<Shelter>,
) -> Result<Registry, RpcError> {
    let mut hands =
        crate::hands::hands(host, env, supervisor.clone(), rules.last_moment(), id.as_str());
    hands.shelter = shelter;
    let mut registry = Registry::default();
    ostler_builtins::register(&mut registry, hands)
        .map_err(|error| RpcError::new(ErrorKind::Internal, error.to_string()))?;
    let named =
        |list: &[String], name: &str| list.iter().any(|entry| entry.eq_ignore_ascii_case(name));
    registry.retain(|name| {
        let offered = match &spec.tools {
            Some(only) => named(only, name),
            None => !spec.on_demand.iter().any(|other| other.eq_ignore_ascii_case(name)),
        };
        offered && !named(&spec.without_tools, name)
    });
    Ok(registry)
}

/// A failure of the store as the protocol tells it.
pub(crate) fn storage_error(error: &ostler_store::Error) -> RpcError {
    let text = error.to_string();
    match error {
        ostler_store::Error::NotFound { .. } => RpcError::new(ErrorKind::NotFound, text)
            .hint("`session.list` names the sessions that are there"),
        ostler_store::Error::Busy { pid, .. } => {
            let error = RpcError::new(ErrorKind::Busy, text)
                .hint("use it in the window or terminal where it is open, or end that process");
            error.with("pid", *pid)
        }
        ostler_store::Error::Damaged { .. } => RpcError::new(ErrorKind::Damaged, text),
        ostler_store::Error::Invalid { .. } => RpcError::new(ErrorKind::Usage, text),
        ostler_store::Error::Storage { .. } => RpcError::new(ErrorKind::Storage, text)
            .hint("free some disk space or mend the folder's permissions"),
    }
}
