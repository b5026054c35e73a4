//! What a running tool is given: where it is, when to stop, whom to tell, and the
//! state that its session keeps for it.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use ostler_stdx::{AbsPath, Cancel, Clock};

use crate::{later::Later, outputs::Outputs};

/// Everything that a call gets besides its arguments.
#[derive(Debug, Clone)]
pub struct ToolCx {
    /// The session's working folder: where relative paths start.
    pub cwd: AbsPath,
    /// The session, as text.
    pub session_id: String,
    /// The call, as the model named it.
    pub call_id: String,
    /// When to stop.
    pub cancel: Cancel,
    /// Whom to tell how it goes.
    pub progress: Progress,
    /// State that lives as long as the session does in this process.
    pub state: SessionState,
    /// Whom to tell what happens after the call has ended.
    pub later: Later,
    /// Where outputs are kept that are too long to show.
    pub outputs: Outputs,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl ToolCx {
    /// A context for a call in a folder that nobody listens to: for tests and benches.
    #[must_use]
    pub fn quiet(cwd: AbsPath) -> Self {
        Self {
            cwd,
            session_id: "session".to_owned(),
            call_id: "call".to_owned(),
            cancel: Cancel::new(),
            progress: Progress::none(),
            state: SessionState::default(),
            later: Later::none(),
            outputs: Outputs::none(),
            clock: Arc::new(ostler_stdx::SystemClock),
        }
    }
}

/// Takes progress of a running call; never blocks, may drop what comes too fast.
#[derive(Clone)]
pub struct Progress(Arc<Report>);

type Report = dyn Fn(u64, &str) + Send + Sync;

impl Progress {
    /// A sink that calls `report(bytes so far, newest text)`.
    pub fn new(report: impl Fn(u64, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    /// A sink that drops everything.
    #[must_use]
    pub fn none() -> Self {
        Self::new(|_, _| {})
    }

    /// Tells how many bytes came so far and the newest of them.
    pub fn report(&self, bytes: u64, tail: &str) {
        (self.0)(bytes, tail);
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

/// State of a session by type: a tool family keeps one value of its own type here.
#[derive(Clone, Default)]
pub struct SessionState(Arc<Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl SessionState {
    /// The value of this type, made at first use.
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // The key is the value's own type, so the downcast holds.
        Arc::clone(value).downcast::<T>().unwrap_or_else(|_| Arc::new(T::default()))
    }
}

impl std::fmt::Debug for SessionState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionState")
    }
}

/// Which files the session has seen, by hash of their content: an edit of a file that
/// changed since is refused. Kept in [`SessionState`].
#[derive(Debug, Default)]
pub struct FileReads(Mutex<HashMap<AbsPath, u64>>);

impl FileReads {
    /// Notes that the session has seen this content.
    pub fn saw(&self, path: &AbsPath, content_hash: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), content_hash);
    }

    /// The hash of the content that the session saw last, if it saw the file.
    #[must_use]
    pub fn last_seen(&self, path: &AbsPath) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied()
    }
}

/// The folder in which the session's shell stands, if a command moved it away from the
/// session's working folder. Kept in [`SessionState`].
///
/// The shell tool starts there. Whoever judges its calls gives `access` this folder as
/// `cwd` (by [`ShellFolder::or`]), so that what is judged is what runs.
#[derive(Debug, Default)]
pub struct ShellFolder(Mutex<Option<AbsPath>>);

impl ShellFolder {
    /// Where the shell stands: `cwd` unless a command moved it.
    #[must_use]
    pub fn or(&self, cwd: &AbsPath) -> AbsPath {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_else(|| cwd.clone())
    }

    /// Moves the shell; `None` moves it back to the working folder.
    pub fn set(&self, folder: Option<AbsPath>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = folder;
    }
}
