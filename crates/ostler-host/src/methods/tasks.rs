//! `tasks.*`: work that goes on in the background of a session.

use std::{
    io::{Read as _, Seek as _, SeekFrom},
    sync::Arc,
};

use ostler_protocol::{
    BackgroundTask, ErrorKind, RpcError, SessionId,
    methods::{TasksOutputParams, TasksOutputResult, TasksStopParams, TasksStopResult},
};

use crate::{
    host::{Host, not_loaded},
    live::LiveSession,
};

/// Most bytes of one answer.
const PAGE: u64 = 64 * 1024;

/// The tasks of a session, oldest first.
pub(super) fn list(host: &Host, id: &SessionId) -> Result<Vec<BackgroundTask>, RpcError> {
    Ok(session(host, id)?.tasks().list())
}

/// What a task wrote.
pub(super) async fn output(
    host: &Host,
    params: TasksOutputParams,
) -> Result<TasksOutputResult, RpcError> {
    let tasks = session(host, &params.session_id)?.tasks();
    let task = tasks
        .list()
        .into_iter()
        .find(|task| task.id == params.task_id)
        .ok_or_else(|| no_task(&params.task_id))?;
    task_output(task, PAGE, params.offset).await
}

/// At most so many bytes of what a task wrote: from a place on, or the newest.
///
/// # Errors
/// `storage` if the file cannot be read.
pub async fn task_output(
    task: BackgroundTask,
    most: u64,
    offset: Option<u64>,
) -> Result<TasksOutputResult, RpcError> {
    let id = task.id.clone();
    let read = move || page(task.output_file.as_deref(), most, offset);
    let read = tokio::task::spawn_blocking(read).await.map_err(std::io::Error::other).flatten();
    read.map_err(|error| {
        RpcError::new(ErrorKind::Storage, format!("the output of `{id}` cannot be read: {error}"))
    })
}

fn page(path: Option<&str>, most: u64, offset: Option<u64>) -> std::io::Result<TasksOutputResult> {
    let Some(path) = path else {
        return Ok(TasksOutputResult { text: String::new(), offset: 0, total: 0 });
    };
    let mut file = std::fs::File::open(path)?;
    let total = file.metadata()?.len();
    let offset = offset.unwrap_or_else(|| total.saturating_sub(most)).min(total);
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(TasksOutputResult { text: String::from_utf8_lossy(&bytes).into_owned(), offset, total })
}

/// Stops a task.
pub(super) async fn stop(
    host: &Host,
    params: TasksStopParams,
) -> Result<TasksStopResult, RpcError> {
    let tasks = session(host, &params.session_id)?.tasks();
    let was = tasks.list().into_iter().find(|task| task.id == params.task_id);
    let was = was.ok_or_else(|| no_task(&params.task_id))?;
    tasks.stop(&params.task_id).await;
    Ok(TasksStopResult { stopped: was.is_running() })
}

fn session(host: &Host, id: &SessionId) -> Result<Arc<LiveSession>, RpcError> {
    host.session(id).ok_or_else(|| not_loaded(id))
}

fn no_task(id: &str) -> RpcError {
    RpcError::new(ErrorKind::NotFound, format!("this session has no background task `{id}`"))
        .hint("`tasks.list` names those that there are")
}
