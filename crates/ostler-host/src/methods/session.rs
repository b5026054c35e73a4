//! `session.*`: start, send, stop, look, list.

use std::{path::Path, sync::Arc};

use ostler_core::{Command, Prompt, PromptReply, RunEnd, RunReason};
use ostler_protocol::{
    Block, ErrorKind, RpcError, SessionId,
    conversation::{MediaSource, ToolResultContent},
    methods::{
        OpenBlock, PromptImage, Queued, QueuedMessage, SessionDequeueParams, SessionDequeueResult,
        SessionListParams, SessionListResult, SessionOpenParams, SessionOpenResult,
        SessionRenameParams, SessionResumeResult, SessionSendParams, SessionSendResult,
        SessionSetParams, SessionStartParams, SessionStartResult, SessionStopParams,
    },
    params::invalid,
    session::{
        FinalState, LoopResult, LoopUsage, SessionMeta, SessionRow, SessionState, SessionStatus,
    },
};
use ostler_stdx::AbsPath;
use ostler_store::Row;

use crate::{
    host::Host,
    live::{LiveSession, SessionSpec, storage_error},
    models::refuse_script_file,
    project::{end_message, permission_asked},
    question, transcript,
};

/// First results that are remembered by the sender's own id.
const REMEMBERED: usize = 1000;

pub(super) fn start(
    host: &Host,
    params: SessionStartParams,
) -> Result<SessionStartResult, RpcError> {
    if let Some(session) = remembered_start(host, params.client_id.as_deref()) {
        return Ok(started(&session));
    }
    let cwd = project_folder(host, &params)?;
    if params.model != host.0.options.model {
        let provider = params.provider.as_deref().unwrap_or_default();
        refuse_script_file(provider, params.model.as_deref())?;
    }
    let mut spec = SessionSpec::new(cwd);
    spec.provider = params.provider;
    spec.model = params.model.or_else(|| host.0.options.model.clone());
    spec.mode = params.agent_mode;
    let session = host.start(spec)?;
    if let Some(client_id) = params.client_id {
        let mut starts = host.0.starts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if starts.len() >= REMEMBERED {
            starts.clear();
        }
        starts.insert(client_id, session.id.clone());
    }
    host.announce(&session.id);
    Ok(started(&session))
}

fn remembered_start(host: &Host, client_id: Option<&str>) -> Option<Arc<LiveSession>> {
    let id = host
        .0
        .starts
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .get(client_id?)?
        .clone();
    host.session(&id)
}

fn started(session: &LiveSession) -> SessionStartResult {
    let (provider, model) = session.model();
    let configured = session.is_configured();
    SessionStartResult {
        session_id: session.id.clone(),
        project_path: session.cwd.to_text(),
        provider: configured.then_some(provider),
        model: configured.then_some(model),
    }
}

/// The project folder.
fn project_folder(host: &Host, params: &SessionStartParams) -> Result<AbsPath, RpcError> {
    let Some(path) = &params.project_path else { return Ok(host.env().cwd.clone()) };
    let bad =
        |got: &str| invalid("session.start", "projectPath", "an absolute path of a folder", got);
    let folder = AbsPath::new(Path::new(path)).map_err(|_| bad(&format!("`{path}`")))?;
    if folder.as_path().is_dir() {
        Ok(folder)
    } else if params.allow_missing.unwrap_or(false) {
        Ok(host.env().cwd.clone())
    } else {
        let what = if folder.as_path().exists() {
            "which is not a folder"
        } else {
            "which does not exist"
        };
        Err(bad(&format!("`{path}`, {what}")))
    }
}

/// A session of ours, loaded if it is not.
async fn loaded(host: &Host, id: &SessionId) -> Result<Arc<LiveSession>, RpcError> {
    host.resume(id, SessionSpec::new(host.env().cwd.clone())).await
}

pub(super) async fn send(
    host: &Host,
    params: SessionSendParams,
) -> Result<SessionSendResult, RpcError> {
    let Some(client_id) = params.client_id.clone() else { return send_once(host, params).await };
    let cell = {
        let mut sends = host.0.sends.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if sends.len() >= REMEMBERED {
            sends.retain(|_, cell| !cell.initialized());
        }
        Arc::clone(sends.entry(format!("{}/{client_id}", params.session_id)).or_default())
    };
    cell.get_or_init(|| send_once(host, params)).await.clone()
}

async fn send_once(host: &Host, params: SessionSendParams) -> Result<SessionSendResult, RpcError> {
    let session = loaded(host, &params.session_id).await?;
    if let Some(mode) = params.agent_mode {
        session.set_mode(mode).await?;
    }
    if params.model.is_some() || params.provider.is_some() {
        choose_model(host, &session, params.provider.as_deref(), params.model.as_deref()).await?;
    }
    if let Some(problem) = session.model_problem() {
        return Err(problem);
    }
    let prompt = Prompt {
        uuid: None,
        content: content(params.message, params.images.unwrap_or_default()),
        at_ms: host.now_ms(),
        client_id: params.client_id,
        origin: None,
        note: false,
    };
    match session.prompt(prompt).await? {
        PromptReply::Started(end) => {
            let end = end.await.map_err(|_| {
                RpcError::new(
                    ErrorKind::Internal,
                    "the session ended before its run did; what it did is in its log",
                )
            })?;
            Ok(SessionSendResult::Ended(Box::new(loop_result(&session, &end))))
        }
        PromptReply::Queued(id) => Ok(SessionSendResult::Queued(Queued { queued: true, id })),
        PromptReply::Full => {
            Err(RpcError::new(ErrorKind::Limit, "too many messages wait in this session"))
        }
    }
}

fn content(message: String, images: Vec<PromptImage>) -> ToolResultContent {
    if images.is_empty() {
        return ToolResultContent::Text(message);
    }
    let pictures = images.into_iter().map(|image| Block::Image {
        source: MediaSource::Base64 { media_type: image.media_type, data: image.data },
    });
    let text = (!message.is_empty()).then(|| Block::text(message));
    ToolResultContent::Blocks(pictures.chain(text).collect())
}

fn loop_result(session: &LiveSession, end: &RunEnd) -> LoopResult {
    let facts = session.facts();
    let status = match end.reason {
        RunReason::End | RunReason::HookStopped | RunReason::Blocked => "idle",
        RunReason::Failed => "error",
        RunReason::InterruptedStreaming | RunReason::InterruptedTools | RunReason::Turns => {
            "stopped"
        }
    };
    LoopResult {
        success: end.reason.is_success() || end.reason.is_interrupt(),
        message: end_message(end),
        content: (!end.text.is_empty() && end.failure.is_none()).then(|| end.text.clone()),
        kind: end.failure.as_ref().map(|failure| failure.kind),
        hint: end.failure.as_ref().and_then(|failure| failure.hint.clone()),
        turn_count: facts.turns,
        iteration_count: end.responses,
        final_state: FinalState {
            status: status.to_owned(),
            session_id: session.id.clone(),
            project_path: session.cwd.to_text(),
            turn_count: facts.turns,
            iteration_count: end.responses,
            agent_mode: facts.mode.ipc_name().to_owned(),
        },
        usage: Some(LoopUsage {
            input_tokens: end.usage.total_input(),
            output_tokens: end.usage.output_tokens,
            cache_read_input_tokens: end.usage.cache_read_input_tokens,
            cache_creation_input_tokens: end.usage.cache_creation_input_tokens,
            context_tokens: Some(end.context_tokens),
        }),
    }
}

pub(super) async fn dequeue(
    host: &Host,
    params: SessionDequeueParams,
) -> Result<SessionDequeueResult, RpcError> {
    let session = loaded(host, &params.session_id).await?;
    Ok(SessionDequeueResult { removed: session.handle.dequeue(params.id).await })
}

pub(super) async fn stop(host: &Host, params: SessionStopParams) -> Result<(), RpcError> {
    // A session that is not loaded does nothing that could be stopped.
    if let Some(session) = host.session(&params.session_id) {
        session.handle.interrupt(params.clear_queue.unwrap_or(false)).await;
    }
    Ok(())
}

/// Loaded and stored sessions, newest turn first; the loaded ones as they are now.
pub(super) fn list(host: &Host, params: &SessionListParams) -> Result<SessionListResult, RpcError> {
    let mut rows: Vec<SessionRow> = stored(host);
    let live: Vec<_> =
        host.sessions().into_iter().filter(|session| session.spec.projected).collect();
    rows.extend(live.iter().map(|session| live_row(host, session)));
    rows.retain(|SessionRow { meta, .. }| {
        let status = params
            .status
            .map_or(meta.status != SessionStatus::Deleted, |status| status == meta.status);
        status && params.project_path.as_ref().is_none_or(|path| *path == meta.project_path)
    });
    rows.sort_by(|SessionRow { meta: a, .. }, SessionRow { meta: b, .. }| {
        b.last_turn_at.cmp(&a.last_turn_at).then_with(|| a.id.cmp(&b.id))
    });
    Ok(rows)
}

/// Sessions of ours that this process does not serve.
fn stored(host: &Host) -> Vec<SessionRow> {
    let filter = ostler_store::Filter { ours: true, ..ostler_store::Filter::default() };
    let listing = host.store().list(&filter);
    let is_stored = |row: &Row| host.session(&SessionId::from(row.id.as_str())).is_none();
    listing.rows.into_iter().filter(is_stored).map(stored_row).collect()
}

fn stored_row(row: Row) -> SessionRow {
    SessionRow {
        state: SessionState::Idle,
        pending: 0,
        bytes: row.bytes,
        permission_mode: row.mode.unwrap_or_default(),
        locked_by: None,
        scripted: row.provider.as_deref() == Some("scripted"),
        meta: stored_meta(row),
    }
}

fn stored_meta(row: Row) -> SessionMeta {
    let status = match (row.archived, row.open_run) {
        (true, _) => SessionStatus::Archived,
        (false, true) => SessionStatus::Interrupted,
        (false, false) => SessionStatus::Active,
    };
    SessionMeta {
        id: SessionId(row.id),
        title: row.title,
        project_path: row.project.unwrap_or_default(),
        provider: row.provider.unwrap_or_default(),
        model: row.model,
        status,
        created_at: row.created_ms,
        updated_at: row.updated_ms,
        last_turn_at: row.last_turn_ms,
        turn_count: row.turns.unwrap_or(0),
        parent_id: None,
    }
}

fn live_meta(session: &LiveSession) -> SessionMeta {
    let facts = session.facts();
    let (provider, model) = session.model();
    SessionMeta {
        id: session.id.clone(),
        title: facts.title.or(facts.first_prompt).unwrap_or_else(|| "New session".to_owned()),
        project_path: session.cwd.to_text(),
        provider,
        model: session.is_configured().then_some(model),
        status: SessionStatus::Active,
        created_at: facts.created_at,
        updated_at: facts.last_turn_at,
        last_turn_at: facts.last_turn_at,
        turn_count: facts.turns,
        parent_id: None,
    }
}

/// The row of a loaded session.
pub(crate) fn live_row(host: &Host, session: &LiveSession) -> SessionRow {
    let (state, pending) = session.hub.doing();
    let bytes =
        host.store().find(session.id.as_str()).and_then(|at| std::fs::metadata(at.path).ok());
    SessionRow {
        meta: live_meta(session),
        state,
        pending,
        bytes: bytes.map_or(0, |meta| meta.len()),
        permission_mode: session.mode(),
        locked_by: None,
        scripted: session
            .model
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .is_scripted(),
    }
}

pub(super) async fn resume(host: &Host, id: &SessionId) -> Result<SessionResumeResult, RpcError> {
    let session = loaded(host, id).await?;
    let (_, snapshot) = session.snapshot().await.ok_or_else(|| crate::host::not_loaded(id))?;
    let messages = transcript::messages(&snapshot.entries, &snapshot.tools, &session.tools);
    let meta = live_meta(&session);
    Ok(SessionResumeResult {
        session_id: id.clone(),
        messages: transcript::serialized(&messages),
        provider: meta.provider.clone(),
        model: meta.model.clone(),
        meta,
        agent_mode: snapshot.mode.ipc_name().to_owned(),
        permission_mode: snapshot.mode,
        running: snapshot.running,
    })
}

pub(super) async fn open(
    host: &Host,
    params: SessionOpenParams,
) -> Result<SessionOpenResult, RpcError> {
    let turns = usize::try_from(params.turns.unwrap_or(30)).unwrap_or(usize::MAX);
    match host.session(&params.session_id) {
        Some(session) => open_live(host, &session, turns).await,
        None => open_stored(host, &params.session_id, turns),
    }
}

async fn open_live(
    host: &Host,
    session: &LiveSession,
    turns: usize,
) -> Result<SessionOpenResult, RpcError> {
    let (seq, snapshot) =
        session.snapshot().await.ok_or_else(|| crate::host::not_loaded(&session.id))?;
    let all = transcript::messages(&snapshot.entries, &snapshot.tools, &session.tools);
    let (messages, older) = transcript::last_turns(all, turns);
    let cwd = session.cwd.to_text();
    Ok(SessionOpenResult {
        row: live_row(host, session),
        messages,
        older,
        seq,
        epoch: host.epoch().to_owned(),
        requests: snapshot
            .requests
            .iter()
            .filter(|asked| question::asked(asked).is_none())
            .map(|asked| permission_asked(asked, &cwd))
            .collect(),
        questions: snapshot.requests.iter().filter_map(question::asked).collect(),
        todos: session.todos(),
        tasks: session.tasks().list(),
        queue: snapshot
            .queue
            .into_iter()
            .map(|item| QueuedMessage {
                id: item.id,
                content: item.content.text(),
                queued_at: item.queued_at,
            })
            .collect(),
        open_block: snapshot.open_block.map(|(message_id, block, n, thinking, text)| OpenBlock {
            message_id,
            block,
            n,
            thinking,
            text,
        }),
    })
}

/// A look: registers nothing, takes no lock, needs no provider.
fn open_stored(host: &Host, id: &SessionId, turns: usize) -> Result<SessionOpenResult, RpcError> {
    let replay = host.store().read_all(id.as_str()).map_err(|error| storage_error(&error))?;
    let tools = host.builtin_tools()?;
    let all = transcript::messages(&replay.entries, &replay.tools, &tools);
    let (messages, older) = transcript::last_turns(all, turns);
    let carried = replay.carried;
    let (provider, model) = carried.pinned.map_or((String::new(), None), |(p, m)| (p, Some(m)));
    let owner = host.store().lock_owner(id.as_str());
    let meta = SessionMeta {
        id: id.clone(),
        title: carried.title.or(carried.first_prompt).unwrap_or_else(|| "Untitled".to_owned()),
        project_path: carried.project.unwrap_or_default(),
        provider,
        model,
        status: if carried.open_run.is_some() {
            SessionStatus::Interrupted
        } else {
            SessionStatus::Active
        },
        created_at: replay.created_at_ms.unwrap_or(0),
        updated_at: replay.last_at_ms.unwrap_or(0),
        last_turn_at: replay.last_at_ms.unwrap_or(0),
        turn_count: carried.turns,
        parent_id: None,
    };
    let scripted = meta.provider == "scripted";
    Ok(SessionOpenResult {
        row: SessionRow {
            meta,
            state: SessionState::Idle,
            pending: 0,
            bytes: replay.bytes,
            permission_mode: carried.mode.unwrap_or_default(),
            locked_by: owner,
            scripted,
        },
        messages,
        older,
        seq: 0,
        epoch: host.epoch().to_owned(),
        requests: Vec::new(),
        questions: Vec::new(),
        todos: carried.todos,
        tasks: carried.tasks,
        queue: Vec::new(),
        open_block: None,
    })
}

pub(super) async fn rename(host: &Host, params: SessionRenameParams) -> Result<(), RpcError> {
    let length = params.title.chars().count();
    if !(1..=200).contains(&length) {
        return Err(invalid("session.rename", "title", "1 to 200 characters", &length.to_string()));
    }
    let session = loaded(host, &params.session_id).await?;
    session.with_facts(|facts| facts.title = Some(params.title.clone()));
    session.handle.tell(Command::SetTitle(params.title)).await;
    Ok(())
}

pub(super) async fn set(host: &Host, params: SessionSetParams) -> Result<SessionRow, RpcError> {
    use ostler_protocol::Mode;
    if params.agent_mode == Some(Mode::BypassPermissions) && params.confirm != Some(true) {
        return Err(invalid(
            "session.set",
            "confirm",
            "true to switch to `bypassPermissions`",
            "nothing",
        )
        .hint("in this mode every call runs unless a deny or ask rule names it"));
    }
    let session = loaded(host, &params.session_id).await?;
    if let Some(mode) = params.agent_mode {
        session.set_mode(mode).await?;
    }
    if params.model.is_some() || params.provider.is_some() {
        choose_model(host, &session, params.provider.as_deref(), params.model.as_deref()).await?;
    }
    Ok(live_row(host, &session))
}

/// Chooses provider and model as one pair.
async fn choose_model(
    host: &Host,
    session: &LiveSession,
    provider: Option<&str>,
    model: Option<&str>,
) -> Result<(), RpcError> {
    let current = session.is_configured().then(|| session.model());
    let model = host.choose_model(&session.cwd, provider, model, current.as_ref())?;
    session.set_model(model).await;
    Ok(())
}
