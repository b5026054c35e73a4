//! The host: the sessions of this process and what they share.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
};

use ostler_protocol::{
    ErrorKind, Event, EventKind, RpcError, SessionId,
    methods::{Caller, SessionSendResult},
    session::SessionRow,
};
use ostler_stdx::{AbsPath, Clock, IdGen, SystemClock};
use ostler_store::Store;
use tokio::sync::OnceCell;

use crate::{
    env::Environment,
    hub::{OnChange, Published},
    live::{LiveSession, SessionSpec},
    outlet::{Outlet, Slow},
};

/// What a process decides about its host.
#[derive(Debug)]
pub struct HostOptions {
    /// What the process was started with.
    pub env: Environment,
    /// This program, which the supervisor of child processes is started from.
    pub exe: PathBuf,
    /// The model for new sessions.
    pub model: Option<String>,
    /// The machine's policy. No variable and no flag names another one: who could would be
    /// above it.
    pub managed: PathBuf,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl HostOptions {
    /// The usual options of a process.
    #[must_use]
    pub fn new(env: Environment, exe: PathBuf) -> Self {
        Self {
            env,
            exe,
            model: None,
            managed: ostler_store::MANAGED.into(),
            clock: Arc::new(SystemClock),
        }
    }
}

/// The host of this process. Clones are the same host.
#[derive(Debug, Clone)]
pub struct Host(pub(crate) Arc<Inner>);

/// A front end's end of a connection to the host.
#[derive(Debug, Clone)]
pub struct Attachment {
    /// The events that it gets.
    pub events: Outlet<Published>,
    everything: bool,
}

/// The result of the first call with some id; later calls wait for it and get the same.
pub(crate) type FirstResult = OnceCell<Result<SessionSendResult, RpcError>>;

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) options: HostOptions,
    store: Store,
    epoch: String,
    sessions: Mutex<HashMap<SessionId, Arc<LiveSession>>>,
    /// Front ends by client id.
    clients: Mutex<HashMap<String, Attachment>>,
    /// First results by the sender's own id.
    pub(crate) sends: Mutex<HashMap<String, Arc<FirstResult>>>,
    pub(crate) starts: Mutex<HashMap<String, SessionId>>,
    tidied: std::sync::Once,
    /// One loading of a session at a time.
    loading: tokio::sync::Mutex<()>,
}

impl Host {
    /// Opens a host. Touches neither disk nor network.
    #[must_use]
    pub fn open(options: HostOptions) -> Self {
        let store = Store::new(options.env.roots.clone(), Arc::clone(&options.clock));
        Self(Arc::new(Inner {
            options,
            store,
            epoch: IdGen::random().uuid(),
            sessions: Mutex::default(),
            clients: Mutex::default(),
            sends: Mutex::default(),
            starts: Mutex::default(),
            tidied: std::sync::Once::new(),
            loading: tokio::sync::Mutex::new(()),
        }))
    }

    /// What the process was started with.
    #[must_use]
    pub fn env(&self) -> &Environment {
        &self.0.options.env
    }

    /// New with every host process.
    #[must_use]
    pub fn epoch(&self) -> &str {
        &self.0.epoch
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    /// The machine's policy.
    pub(crate) fn managed(&self) -> &std::path::Path {
        &self.0.options.managed
    }

    pub(crate) fn exe(&self) -> PathBuf {
        self.0.options.exe.clone()
    }

    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.0.options.clock)
    }

    /// The time of the host's clock, in ms since the epoch.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.0.options.clock.now_ms()
    }

    /// Today's date where the person is.
    pub(crate) fn today(&self) -> String {
        crate::local_date::local_date(self.now_ms(), self.env().var("TZ"))
    }

    /// The branch of a folder's repository.
    pub(crate) fn git_branch(&self, cwd: &AbsPath) -> Option<String> {
        crate::git::branch(cwd)
    }

    /// The user's own instruction files, in both homes.
    pub(crate) fn home_instructions(&self, spec: &SessionSpec) -> Vec<AbsPath> {
        let user =
            spec.setting_sources.as_ref().is_none_or(|sources| sources.iter().any(|s| s == "user"));
        if !user {
            return Vec::new();
        }
        let roots = &self.env().roots;
        vec![roots.home.join("AGENTS.md"), roots.claude.join("CLAUDE.md")]
    }

    /// What child processes get: the environment without credentials, but with those that
    /// `passEnv` names, and what `env` of the settings adds. Keys of model vendors are
    /// Ostler's own there, too, unless they are named.
    pub(crate) fn child_env(
        &self,
        added: &BTreeMap<OsString, OsString>,
        pass: &[String],
    ) -> BTreeMap<OsString, OsString> {
        let credentials = crate::models::CREDENTIAL_NAMES;
        let mut env = ostler_sandbox::child_env(self.env().vars(), credentials, pass);
        let is_kept = |name: &OsString| {
            let name = name.to_string_lossy();
            pass.iter().any(|pass| *pass == name) || !crate::models::is_vendor_key(&name)
        };
        let added = added.iter().filter(|(name, _)| is_kept(name));
        env.extend(added.map(|(name, value)| (name.clone(), value.clone())));
        let depth = self.env().depth().saturating_add(1).to_string();
        env.insert(crate::nested::DEPTH.into(), depth.into());
        env
    }

    /// Keeps file contents and what old sessions wrote under their caps: once in a process, in the
    /// background, when it is first used.
    pub(crate) fn tidy_blobs(&self, blobs: &ostler_store::Blobs, session_id: &str) {
        let blobs = blobs.clone();
        let limits = ostler_store::OutputLimits::default();
        let outputs = ostler_store::OutputFiles::open(&self.env().roots.home, session_id, limits);
        self.0.tidied.call_once(|| {
            // What cannot be tidied now is tidied by the next process.
            tokio::task::spawn_blocking(move || {
                blobs.prune(ostler_store::Blobs::CAP_BYTES, |_| false);
                if let Ok(outputs) = outputs {
                    outputs.tidy();
                }
            });
        });
    }

    /// Starts a session.
    ///
    /// # Errors
    /// `usage` for a bad model or folder, `busy` for an id in use, `storage`.
    pub fn start(&self, spec: SessionSpec) -> Result<Arc<LiveSession>, RpcError> {
        let session = LiveSession::start(self, spec)?;
        self.register(&session);
        Ok(session)
    }

    /// Loads a session that has a log, or gives the one that is loaded.
    ///
    /// # Errors
    /// `not_found`, `busy` with the owner's pid, `storage`.
    pub async fn resume(
        &self,
        id: &SessionId,
        spec: SessionSpec,
    ) -> Result<Arc<LiveSession>, RpcError> {
        let _one_at_a_time = self.0.loading.lock().await;
        if let Some(session) = self.session(id) {
            return Ok(session);
        }
        let session = LiveSession::resume(self, id, spec)?;
        self.register(&session);
        Ok(session)
    }

    fn register(&self, session: &Arc<LiveSession>) {
        let mut sessions = self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.insert(session.id.clone(), Arc::clone(session));
        drop(sessions);
        let clients = self.0.clients.lock().unwrap_or_else(PoisonError::into_inner);
        for (client, attachment) in clients.iter().filter(|(_, attachment)| attachment.everything) {
            session.hub.subscribe(client, attachment.events.clone(), None);
        }
    }

    /// The newest session of ours in a folder, in either root.
    #[must_use]
    pub fn newest(&self, cwd: &AbsPath) -> Option<SessionId> {
        let newest = |root| self.store().newest_in(cwd, root);
        let found =
            [ostler_store::Root::Native, ostler_store::Root::Claude].into_iter().filter_map(newest);
        found
            .max_by_key(|at| std::fs::metadata(&at.path).and_then(|meta| meta.modified()).ok())
            .map(|at| SessionId(at.id))
    }

    /// The newest session in a folder in one root.
    #[must_use]
    pub fn newest_in(&self, cwd: &AbsPath, root: ostler_store::Root) -> Option<SessionId> {
        self.store().newest_in(cwd, root).map(|at| SessionId(at.id))
    }

    /// Whether a session of this id has a log, in either root.
    #[must_use]
    pub fn has_session(&self, id: &SessionId) -> bool {
        self.store().find(&id.0).is_some()
    }

    /// What a project's present content brings, and whether it is trusted.
    #[must_use]
    pub fn trust_report(&self, project: &AbsPath) -> ostler_store::TrustReport {
        self.store().trust_report(project, &crate::git::is_tracked)
    }

    /// Opens a link with the desktop's own program.
    ///
    /// # Errors
    /// Why no program was started.
    pub async fn open_link(&self, link: &str) -> Result<(), String> {
        let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let supervisor = ostler_sandbox::Supervisor::new(self.exe());
        let command = ostler_sandbox::Command::new(program, self.env().home.clone())
            .arg(link)
            .env(self.env().vars().collect())
            .timeout(std::time::Duration::from_secs(10));
        let done = supervisor.run(&command, &ostler_stdx::Cancel::new(), |_, _| {}).await;
        supervisor.shutdown().await;
        match done {
            Ok(exit) if exit.is_success() => Ok(()),
            Ok(_) => Err(format!("`{program}` failed")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// A session that this process serves.
    #[must_use]
    pub fn session(&self, id: &SessionId) -> Option<Arc<LiveSession>> {
        let sessions = self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(id).filter(|session| !session.handle.is_closed()).map(Arc::clone)
    }

    /// All sessions that this process serves.
    #[must_use]
    pub fn sessions(&self) -> Vec<Arc<LiveSession>> {
        self.0
            .sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .map(Arc::clone)
            .collect()
    }

    /// Connects a front end. With `everything` it is subscribed to every session from now
    /// on (stdio); else to those that it asks for, and to events of the host.
    #[must_use]
    pub fn attach(&self, client: &str, slow: Slow, everything: bool) -> Attachment {
        let attachment = Attachment { events: Outlet::new(slow), everything };
        let mut clients = self.0.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = clients.insert(client.to_owned(), attachment.clone()) {
            old.events.close();
        }
        drop(clients);
        if everything {
            for session in self.sessions() {
                session.hub.subscribe(client, attachment.events.clone(), None);
            }
        }
        attachment
    }

    /// Follows one session as a stream of its own, replaying what came after `after`.
    ///
    /// # Errors
    /// `not_found` if this process does not serve it.
    pub fn follow(
        &self,
        client: &str,
        session_id: &SessionId,
        after: Option<u64>,
    ) -> Result<Outlet<Published>, RpcError> {
        let session = self.session(session_id).ok_or_else(|| not_loaded(session_id))?;
        let outlet = Outlet::new(Slow::Drop);
        session.hub.follow(client, outlet.clone(), after);
        Ok(outlet)
    }

    /// Disconnects a front end, if this is still its connection.
    pub fn detach(&self, client: &str, attachment: &Attachment) {
        let mut clients = self.0.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current =
            clients.get(client).is_some_and(|held| held.events.same(&attachment.events));
        if is_current {
            clients.remove(client);
        }
        drop(clients);
        attachment.events.close();
    }

    /// The connection of a caller.
    pub(crate) fn attachment(&self, caller: &Caller) -> Result<Attachment, RpcError> {
        let clients = self.0.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.get(&caller.client).cloned().ok_or_else(|| {
            RpcError::new(ErrorKind::Usage, "this connection has no event stream")
                .hint("open `GET /events?client=ID` first, with the same id as in the header `Ostler-Client`")
        })
    }

    /// Tells every window that a session's row changed.
    pub(crate) fn on_change(&self) -> OnChange {
        let host: Weak<Inner> = Arc::downgrade(&self.0);
        Arc::new(move |id| {
            if let Some(inner) = host.upgrade() {
                Self(inner).announce(id);
            }
        })
    }

    pub(crate) fn announce(&self, id: &SessionId) {
        let Some(session) = self.session(id).filter(|session| session.spec.projected) else {
            return;
        };
        let row: SessionRow = crate::methods::live_row(self, &session);
        self.broadcast(Some(id), EventKind::SessionChanged { row: Box::new(row) });
    }

    /// Sends an event of the host to every window.
    pub(crate) fn broadcast(&self, session_id: Option<&SessionId>, kind: EventKind) {
        let event =
            Event { session_id: session_id.cloned(), seq: None, epoch: None, run_id: None, kind };
        let json: Arc<str> = serde_json::to_string(&event).unwrap_or_default().into();
        let clients = self.0.clients.lock().unwrap_or_else(PoisonError::into_inner);
        for attachment in clients.values() {
            let published =
                Published { seq: 0, session_id: session_id.cloned(), json: Arc::clone(&json) };
            attachment.events.push(published, json.len());
        }
    }

    /// Ends every session: stops what goes on, writes what must be written, kills what
    /// still runs.
    pub async fn shutdown(&self) {
        let sessions: Vec<_> = {
            let mut sessions = self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.drain().map(|(_, session)| session).collect()
        };
        futures::future::join_all(sessions.iter().map(|session| session.close())).await;
    }
}

pub(crate) fn not_loaded(id: &SessionId) -> RpcError {
    RpcError::new(ErrorKind::NotFound, format!("no session `{id}` is loaded here"))
        .hint("load it with `session.resume`; `session.list` names the sessions that are there")
}

/// The OpenRPC document, made at first use.
pub(crate) fn openrpc() -> &'static serde_json::Value {
    static DOCUMENT: OnceLock<serde_json::Value> = OnceLock::new();
    DOCUMENT.get_or_init(ostler_protocol::codegen::openrpc)
}
