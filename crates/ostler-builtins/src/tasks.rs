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
use ostler_sandbox::{Background, Command, Error, OutputCap, Status};
use ostler_stdx::AbsPath;
use ostler_tool::{Note, SessionState, ToolCx, ToolError};
use tokio::sync::watch;

use crate::{bash::no_shell, hands::Hands};

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
    process: Option<Background>,
    /// Who asked to stop it.
    stopped: Mutex<Option<StoppedBy>>,
    /// Somebody waits for its end and will see it: the model need not be told.
    awaited: Mutex<bool>,
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
}

impl Tasks {
    /// Takes over what an earlier process of this session knew.
    pub fn restore(&self, tasks: Vec<BackgroundTask>) {
        let mut inner = self.inner();
        for task in tasks {
            let number = number(&task.id).unwrap_or(inner.last + 1);
            inner.last = inner.last.max(number);
            let (state, _) = watch::channel(task);
            let task =
                Task { state, process: None, stopped: Mutex::default(), awaited: Mutex::default() };
            inner.tasks.insert(number, Arc::new(task));
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

/// Starts a command in the background of the call's session.
pub(crate) async fn start(
    hands: &Hands,
    new: NewTask,
    cx: &ToolCx,
) -> Result<BackgroundTask, ToolError> {
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
    let process = spawn(hands, &new, &file).await?;
    let task = BackgroundTask {
        id,
        kind: new.kind,
        title: new.title,
        command: Some(new.command),
        state: TaskState::Running,
        started_at: cx.clock.now_ms(),
        ended_at: None,
        exit_code: None,
        tool_call_id: ToolCallId(cx.call_id.clone()),
        output_file: Some(file.to_text()),
    };
    let held = Arc::new(Task {
        state: watch::channel(task.clone()).0,
        process: Some(process),
        stopped: Mutex::default(),
        awaited: Mutex::default(),
    });
    tasks.inner().tasks.insert(number, Arc::clone(&held));
    cx.later.send(Note::Task { task: task.clone(), tell: None }).await;
    let (later, clock) = (cx.later.clone(), Arc::clone(&cx.clock));
    tokio::spawn(async move {
        let Some(process) = &held.process else { return };
        let status = process.wait().await;
        // What it left behind ends with it.
        process.kill().await;
        let task = held.finished(status, clock.now_ms());
        // The session knows before anyone who waits goes on.
        let tell = held.tells().then(|| ending(&task));
        later.send(Note::Task { task: task.clone(), tell }).await;
        held.state.send_replace(task);
    });
    Ok(task)
}

async fn spawn(hands: &Hands, new: &NewTask, file: &AbsPath) -> Result<Background, ToolError> {
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
        match hands.supervisor.spawn_background(&command, file).await {
            Ok(process) => return Ok(process),
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
