//! The commands of a session that go on in the background: started, listed, read, stopped.
//!
//! Their output lies in the session's own folder, which no search enters, and is bounded
//! there. Whatever ends a task, the session is told once, and nothing of it keeps running.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ostler_protocol::{BackgroundTask, TaskKind, TaskState, ToolCallId};
use ostler_sandbox::{Background, Command, Error, OutputCap, Piped, Status, Traces};
use ostler_stdx::{AbsPath, Cancel};
use ostler_tool::{Later, Note, SessionState, ToolCx, ToolError};
use tokio::sync::watch;

use crate::{bash::no_shell, hands::Hands, shelter::shelter};

/// The background commands of a session. Kept in [`SessionState`].
#[derive(Debug, Default)]
pub struct Tasks(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    tasks: BTreeMap<u64, Arc<Task>>,
    last: u64,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Task {
    state: watch::Sender<BackgroundTask>,
    /// Absent for those that ended with an earlier process.
    process: Option<Process>,
    /// Cancelled when somebody asked to stop it.
    stop: Cancel,
    /// Who asked to stop it.
    stopped: Mutex<Option<StoppedBy>>,
    /// Somebody waits for its end and will see it: the model need not be told.
    awaited: Mutex<bool>,
}

/// The process of a task.
#[derive(Debug)]
pub(crate) enum Process {
    Background(Background),
    Piped(Piped),
}

impl Process {
    async fn wait(&self) -> Status {
        match self {
            Self::Background(process) => process.wait().await,
            Self::Piped(process) => process.wait().await,
        }
    }

    async fn kill(&self) -> Status {
        match self {
            Self::Background(process) => process.kill().await,
            Self::Piped(process) => process.kill().await,
        }
    }
}

/// Who stops a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoppedBy {
    Model,
    Person,
    Session,
}

/// A command to start.
#[derive(Debug)]
pub(crate) struct NewTask {
    pub(crate) kind: TaskKind,
    pub(crate) title: String,
    pub(crate) command: String,
    pub(crate) cwd: AbsPath,
    pub(crate) timeout: Option<Duration>,
    /// Asks to run outside of the session's sandbox.
    pub(crate) leave: bool,
}

impl Tasks {
    /// Takes over what an earlier process of this session knew.
    pub fn restore(&self, tasks: Vec<BackgroundTask>) {
        let mut inner = self.inner();
        for task in tasks {
            let number = number(&task.id).unwrap_or(inner.last + 1);
            inner.last = inner.last.max(number);
            let (state, _) = watch::channel(task);
            inner.tasks.insert(number, Arc::new(Task::new(state, None)));
        }
    }

    /// All of them, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<BackgroundTask> {
        self.inner().tasks.values().map(|task| task.now()).collect()
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Task>> {
        let inner = self.inner();
        inner.tasks.values().find(|task| task.state.borrow().id == id).map(Arc::clone)
    }

    /// Stops one for a person and waits until nothing of it runs; the model is told.
    /// `None`: there is no such task.
    pub async fn stop(&self, id: &str) -> Option<BackgroundTask> {
        let task = self.get(id)?;
        Some(task.stop(StoppedBy::Person).await)
    }

    /// Stops all that run.
    pub async fn stop_all(&self) {
        let tasks: Vec<_> = self.inner().tasks.values().map(Arc::clone).collect();
        futures::future::join_all(tasks.iter().map(|task| task.stop(StoppedBy::Session))).await;
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> usize {
        self.inner().tasks.values().filter(|task| task.now().is_running()).count()
    }

    fn next(&self) -> u64 {
        let mut inner = self.inner();
        inner.last += 1;
        inner.last
    }
}

impl Task {
    fn new(state: watch::Sender<BackgroundTask>, process: Option<Process>) -> Self {
        Self {
            state,
            process,
            stop: Cancel::new(),
            stopped: Mutex::default(),
            awaited: Mutex::default(),
        }
    }

    /// Resolves when somebody asks to stop it.
    pub(crate) async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    pub(crate) fn now(&self) -> BackgroundTask {
        self.state.borrow().clone()
    }

    /// Waits for its end; the model is not told of it besides.
    pub(crate) async fn ended(&self) -> BackgroundTask {
        *self.awaited.lock().unwrap_or_else(PoisonError::into_inner) = true;
        let _given_up = Awaited(self);
        let mut state = self.state.subscribe();
        // The sender lives as long as `self`, so the wait ends with the task.
        let ended = state.wait_for(|task| !task.is_running()).await.map(|task| task.clone());
        ended.unwrap_or_else(|_| self.now())
    }

    pub(crate) async fn stop(&self, by: StoppedBy) -> BackgroundTask {
        let Some(process) = self.process.as_ref().filter(|_| self.now().is_running()) else {
            return self.now();
        };
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(by);
        self.stop.cancel();
        process.kill().await;
        let mut state = self.state.subscribe();
        let ended = state.wait_for(|task| !task.is_running()).await.map(|task| task.clone());
        ended.unwrap_or_else(|_| self.now())
    }

    /// Whether the model should be told of the end: unless somebody waits for it, or it
    /// stopped the task itself.
    fn tells(&self) -> bool {
        let stopped = *self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let awaited = *self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        !awaited && matches!(stopped, None | Some(StoppedBy::Person))
    }

    /// What the end of the process makes of the task.
    fn finished(&self, status: Status, at_ms: i64) -> BackgroundTask {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let mut task = self.now();
        task.ended_at = Some(at_ms);
        task.exit_code = status.code;
        task.state = match (stopped, status.timed_out, status.code) {
            (true, ..) => TaskState::Stopped,
            (false, false, Some(0)) => TaskState::Completed,
            _ => TaskState::Failed,
        };
        task
    }
}

/// Takes back that somebody waits, if they give up before the end.
struct Awaited<'a>(&'a Task);

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        *self.0.awaited.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

/// A new task's name, and where its output goes.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    id: String,
    pub(crate) file: AbsPath,
}

/// A place for one more task of the call's session.
pub(crate) fn place(hands: &Hands, cx: &ToolCx) -> Result<Place, ToolError> {
    let tasks = cx.state.get::<Tasks>();
    let most = hands.limits.tasks_running;
    if tasks.running() >= most {
        return Err(ToolError::Tell(format!(
            "{most} background commands run already: stop one with TaskStop first"
        )));
    }
    let number = tasks.next();
    let id = format!("bash_{number}");
    let file = hands.tasks.join(format!("{id}.output"));
    std::fs::create_dir_all(&hands.tasks).map_err(|error| {
        ToolError::Tell(format!("cannot make the folder for the command's output: {error}"))
    })?;
    Ok(Place { number, id, file })
}

/// Takes a started process into the session, which is told before anyone else.
pub(crate) async fn enter(
    place: Place,
    new: NewTask,
    process: Process,
    cx: &ToolCx,
) -> (BackgroundTask, Arc<Task>) {
    let task = BackgroundTask {
        id: place.id,
        kind: new.kind,
        title: new.title,
        command: Some(new.command),
        state: TaskState::Running,
        started_at: cx.clock.now_ms(),
        ended_at: None,
        exit_code: None,
        tool_call_id: ToolCallId(cx.call_id.clone()),
        output_file: Some(place.file.to_text()),
    };
    let held = Arc::new(Task::new(watch::channel(task.clone()).0, Some(process)));
    cx.state.get::<Tasks>().inner().tasks.insert(place.number, Arc::clone(&held));
    cx.later.send(Note::Task { task: task.clone(), tell: None }).await;
    (task, held)
}

/// Waits for the end of a task, or ends it for a reason, with whatever it left behind,
/// and tells the session.
pub(crate) async fn conclude(held: &Task, why: Option<String>, later: &Later, now_ms: i64) {
    let Some(process) = &held.process else { return };
    if why.is_some() {
        process.kill().await;
    }
    let status = process.wait().await;
    process.kill().await;
    let mut task = held.finished(status, now_ms);
    let mut told = ending(&task);
    if let Some(why) = &why {
        task.state = TaskState::Stopped;
        told = format!("\"{}\" was stopped: {why}.", task.title);
    }
    // The session knows before anyone who waits goes on.
    let tell = held.tells().then_some(told);
    later.send(Note::Task { task: task.clone(), tell }).await;
    held.state.send_replace(task);
}

/// Starts a command in the background of the call's session.
pub(crate) async fn start(
    hands: &Hands,
    new: NewTask,
    cx: &ToolCx,
) -> Result<BackgroundTask, ToolError> {
    let place = place(hands, cx)?;
    let (process, traces) = spawn(hands, &new, &place.file).await?;
    let (task, held) = enter(place, new, Process::Background(process), cx).await;
    let (later, clock) = (cx.later.clone(), Arc::clone(&cx.clock));
    tokio::spawn(async move {
        if let Some(process) = &held.process {
            process.wait().await;
        }
        conclude(&held, None, &later, clock.now_ms()).await;
        drop(traces);
    });
    Ok(task)
}

async fn spawn(
    hands: &Hands,
    new: &NewTask,
    file: &AbsPath,
) -> Result<(Background, Option<Traces>), ToolError> {
    let half = hands.limits.task_output_bytes / 2;
    let mut missing = None;
    for shell in hands.shells() {
        let mut command = Command::new(&shell, new.cwd.clone())
            .args(["-c", new.command.as_str()])
            .env(hands.env.clone())
            .output_cap(OutputCap { head: half, tail: half });
        if let Some(timeout) = new.timeout {
            command = command.timeout(timeout);
        }
        let inside = shelter(hands.shelter.as_ref(), &new.command, new.leave, command).await?;
        match hands.supervisor.spawn_background(&inside.command, file).await {
            Ok(process) => return Ok((process, inside.traces)),
            Err(error @ Error::NotFound { .. }) => missing = missing.or(Some(error)),
            Err(error) => return Err(ToolError::Tell(error.to_string())),
        }
    }
    Err(no_shell(missing.as_ref()))
}

/// What the model is told of the end.
fn ending(task: &BackgroundTask) -> String {
    let how = match (task.state, task.exit_code) {
        (TaskState::Stopped, _) => "was stopped".to_owned(),
        (TaskState::Completed, _) => "completed".to_owned(),
        (_, Some(code)) => format!("failed with exit code {code}"),
        (_, None) => "failed".to_owned(),
    };
    format!("\"{}\" {how}. Read its output with TaskOutput.", task.title)
}

fn number(id: &str) -> Option<u64> {
    id.rsplit_once('_')?.1.parse().ok()
}

/// The background commands of a session.
#[must_use]
pub fn tasks_of(state: &SessionState) -> Arc<Tasks> {
    state.get::<Tasks>()
}
