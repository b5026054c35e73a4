//! Serves one host over three streams until the input ends and nothing goes on any more.
//!
//! One loop owns everything: it reads lines, follows the session's events and is the only
//! writer, so a line is never torn and an answer never overtakes what it answers. The end
//! of the input means that nothing more comes; it is not an abort (agent-sdk.md 2.6).

mod control;
mod hooks;
mod permission;
mod start;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use ostler_host::{
    Host, LiveSession, Prompt, PromptReply, SessionEvent,
    outlet::{Outlet, Slow},
};
use ostler_protocol::{Block, ErrorKind, conversation::ToolResultContent};
use ostler_stdx::IdGen;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    time::Instant,
};

use crate::{
    args::{SdkArgs, is_uuid},
    frames::{Projector, ProjectorOptions, start_failure},
    wire::{self, Lines, Read},
};
use hooks::Calls;
use permission::Pending;
use start::{Plan, Refusal};

/// While a turn goes on and nothing else is written, the host hears of us this often.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Messages that the session may hold waiting; more wait here.
const WAITING: usize = 64;

/// Goes on, or ends the process with a status.
type Step = Result<(), u8>;

/// Serves the control protocol of the Agent SDKs; gives the exit status (agent-sdk.md 2.7).
pub async fn serve<R, W, E>(host: Host, args: SdkArgs, input: R, output: W, stderr: E) -> u8
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    E: AsyncWrite + Unpin,
{
    let mut door = Door {
        host: host.clone(),
        lines: Lines::new(input),
        out: output,
        err: stderr,
        plan: Plan::default_in(&host),
        calls: Calls::new(),
        open: None,
        ids: IdGen::random(),
        input_ended: false,
        last_write: Instant::now(),
    };
    let code = match Box::pin(door.run(args)).await {
        Ok(()) => door.status(),
        Err(code) => code,
    };
    if let Some(open) = &door.open {
        // Nobody reads on: callbacks of the end could only be waited for in vain.
        open.session.register_hooks(Vec::new(), door.calls.host());
    }
    Box::pin(host.shutdown()).await;
    // Nobody is there to be told if this fails.
    door.out.flush().await.unwrap_or_default();
    door.err.flush().await.unwrap_or_default();
    code
}

struct Door<R, W, E> {
    host: Host,
    lines: Lines<R>,
    out: W,
    err: E,
    /// What the session will be, once the host has had its say.
    plan: Plan,
    /// Hooks that call the host.
    calls: Calls,
    open: Option<Open>,
    ids: IdGen,
    input_ended: bool,
    last_write: Instant,
}

/// The session, once there is one.
struct Open {
    session: Arc<LiveSession>,
    events: Outlet<Arc<SessionEvent>>,
    projector: Projector,
    /// Requests that wait for the host.
    pending: Vec<Pending>,
    /// Prompts without a result.
    outstanding: Vec<String>,
    running: bool,
    /// Prompts that the session has no room for yet.
    backlog: VecDeque<Prompt>,
    /// Content that waits for the next prompt (`shouldQuery: false`).
    held: Vec<Block>,
    /// Until when background commands are waited for, while nothing else goes on.
    tasks_until: Option<Instant>,
}

impl Open {
    fn is_idle(&self) -> bool {
        !self.running
            && self.outstanding.is_empty()
            && self.backlog.is_empty()
            && self.events.is_empty()
    }

    fn has_tasks(&self) -> bool {
        !self.projector.tasks().is_empty()
    }
}

impl<R, W, E> Door<R, W, E>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    E: AsyncWrite + Unpin,
{
    async fn run(&mut self, args: SdkArgs) -> Step {
        match Plan::new(&self.host, args) {
            Ok(plan) => self.plan = plan,
            Err(refusal) => return Err(self.refuse(refusal).await),
        }
        loop {
            let is_idle = self.open.as_ref().is_none_or(Open::is_idle);
            let has_tasks = self.open.as_ref().is_some_and(Open::has_tasks);
            if self.input_ended && is_idle && !has_tasks {
                return Ok(());
            }
            let tasks_until = self.tasks_until(is_idle && has_tasks);
            let events = self.open.as_ref().map(|open| open.events.clone());
            let is_busy = self.open.as_ref().is_some_and(|open| open.running);
            let beat = self.last_write + KEEP_ALIVE;
            tokio::select! {
                read = self.lines.next(), if !self.input_ended => Box::pin(self.on_read(read)).await?,
                word = self.calls.next() => self.on_word(word).await?,
                event = next(events.as_ref()) => match event {
                    Some(event) => self.on_event(&event).await?,
                    // The session's task has gone; its last words were read.
                    None => return Ok(()),
                },
                () = until(tasks_until), if tasks_until.is_some() => self.tasks_are_late().await?,
                () = tokio::time::sleep_until(beat), if is_busy => {
                    self.write(&[json!({"type": "keep_alive"}).to_string()]).await?;
                }
            }
        }
    }

    /// Until when background commands are waited for; the wait begins when nothing but
    /// them goes on.
    fn tasks_until(&mut self, only_tasks: bool) -> Option<Instant> {
        let wait = self.host.env().background_wait();
        let open = self.open.as_mut()?;
        if !only_tasks {
            open.tasks_until = None;
            return None;
        }
        Some(*open.tasks_until.get_or_insert_with(|| Instant::now() + wait))
    }

    /// Background commands have kept the host long enough: without input they are stopped,
    /// else the host hears that the session is idle.
    async fn tasks_are_late(&mut self) -> Step {
        let Some(open) = &mut self.open else { return Ok(()) };
        if self.input_ended {
            // What ends them tells their end as events, which this loop then shows.
            let tasks = open.session.tasks();
            open.tasks_until = Some(Instant::now() + KEEP_ALIVE);
            tokio::spawn(async move { tasks.stop_all().await });
            return Ok(());
        }
        // Far enough away: only a new turn or the end of the input changes anything.
        open.tasks_until = Some(Instant::now() + Duration::from_secs(86_400));
        let lines = open.projector.wait_no_more();
        self.write(&lines).await
    }

    /// The exit status: that of the last result.
    fn status(&self) -> u8 {
        u8::from(self.open.as_ref().is_some_and(|open| open.projector.last_result_failed()))
    }

    async fn on_read(&mut self, read: Read) -> Step {
        match read {
            Read::Line(line) if line.iter().all(u8::is_ascii_whitespace) => Ok(()),
            Read::Line(line) => match wire::parse(&line) {
                Ok(frame) => self.on_frame(frame).await,
                Err(error) => {
                    self.tell(&format!("input line skipped: it is not JSON: {error}")).await
                }
            },
            Read::TooLong => self.tell("input line skipped: it is longer than 256 MiB").await,
            Read::End => self.on_end().await,
        }
    }

    async fn on_frame(&mut self, frame: Value) -> Step {
        match frame["type"].as_str() {
            Some("user") => self.on_user(frame).await,
            Some("control_request") => self.on_request(frame).await,
            Some("control_response") if self.calls.answer(&frame["response"]) => Ok(()),
            Some("control_response") => self.on_response(&frame["response"]).await,
            // Every request of the host is answered at once, so there is nothing to cancel.
            _ => Ok(()),
        }
    }

    /// The end of the input: what still waits for the host is refused, the rest goes on.
    async fn on_end(&mut self) -> Step {
        self.input_ended = true;
        self.calls.fail_all();
        if let Some(open) = &mut self.open {
            open.tasks_until = None;
        }
        self.refuse_pending().await
    }

    async fn on_user(&mut self, frame: Value) -> Step {
        self.begin().await?;
        let role = &frame["message"]["role"];
        if !role.is_null() && *role != "user" {
            let line = format!("user message skipped: `message.role` must be `user`, not {role}");
            return self.tell(&line).await;
        }
        let content = frame.get("message").and_then(|message| message.get("content")).cloned();
        let content = serde_json::from_value(content.unwrap_or_default());
        let Ok(content) = content else {
            return self
                .tell(
                    "user message skipped: `message.content` must be a string or a list of blocks",
                )
                .await;
        };
        let Some(open) = &mut self.open else { return Ok(()) };
        if frame["shouldQuery"] == false {
            open.held.extend(blocks(content));
            return Ok(());
        }
        let content = if open.held.is_empty() {
            content
        } else {
            let mut all = std::mem::take(&mut open.held);
            all.extend(blocks(content));
            ToolResultContent::Blocks(all)
        };
        let given = frame["uuid"].as_str().filter(|uuid| is_uuid(uuid)).map(str::to_owned);
        open.backlog.push_back(Prompt {
            uuid: Some(given.unwrap_or_else(|| self.ids.uuid())),
            content,
            at_ms: self.host.now_ms(),
            client_id: None,
            origin: frame.get("origin").filter(|origin| !origin.is_null()).cloned(),
            note: false,
        });
        self.send_waiting().await
    }

    /// Hands prompts to the session as far as it has room.
    async fn send_waiting(&mut self) -> Step {
        let Some(open) = &mut self.open else { return Ok(()) };
        while open.outstanding.len() < WAITING {
            let Some(prompt) = open.backlog.pop_front() else { return Ok(()) };
            let uuid = prompt.uuid.clone().unwrap_or_default();
            match open.session.prompt(prompt).await {
                Ok(PromptReply::Started(_) | PromptReply::Queued(_)) => open.outstanding.push(uuid),
                Ok(PromptReply::Full) => {}
                Err(error) => {
                    let line = format!("user message skipped: {}", error.message);
                    return self.tell(&line).await;
                }
            }
        }
        Ok(())
    }

    /// Makes the session if there is none.
    async fn begin(&mut self) -> Step {
        if self.open.is_some() {
            return Ok(());
        }
        let session = match self.plan.open(&self.host).await {
            Ok(session) => session,
            Err(refusal) => return Err(self.refuse(refusal).await),
        };
        match session.check_sandbox().await {
            Ok(None) => {}
            Ok(Some(warning)) => self.tell(&warning).await?,
            Err(error) => return Err(self.refuse(Refusal::framed(error.message)).await),
        }
        let events = Outlet::new(Slow::Wait);
        session.hub.raw(events.clone());
        let left_out = std::mem::take(&mut self.plan.args.left_out);
        for warning in left_out.iter().chain(&session.warnings) {
            self.tell(warning).await?;
        }
        let options = ProjectorOptions {
            mcp_servers: self.plan.failed_servers(),
            api_key_source: self.api_key_source(),
            replay_user_messages: self.plan.args.replay_user_messages,
            hook_events: self.plan.args.hook_events,
            session_state: self.host.env().var("CLAUDE_CODE_SDK_READS_SESSION_STATE") == Some("1"),
            ..ProjectorOptions::of(&session, self.plan.args.partial_messages)
        };
        self.open = Some(Open {
            session,
            events,
            projector: Projector::new(options),
            pending: Vec::new(),
            outstanding: Vec::new(),
            running: false,
            backlog: VecDeque::new(),
            held: Vec::new(),
            tasks_until: None,
        });
        Ok(())
    }

    fn api_key_source(&self) -> &'static str {
        if self.host.env().var("ANTHROPIC_API_KEY").is_some() {
            "ANTHROPIC_API_KEY"
        } else {
            "none"
        }
    }

    async fn on_event(&mut self, event: &SessionEvent) -> Step {
        let Some(open) = &mut self.open else { return Ok(()) };
        let mut lines = open.projector.project(event);
        match event {
            SessionEvent::RunStarted { .. } => open.running = true,
            SessionEvent::ModelChanged { .. } => {
                let (model, info) = (open.session.model().1, open.session.model_info());
                let options = open.projector.options_mut();
                (options.model, options.model_info) = (model, info);
            }
            SessionEvent::Dequeued { id } => forget(&mut open.outstanding, id),
            // An answer that is not the host's, or none: its own is no longer waited for.
            SessionEvent::Withdrawn { request_id, .. }
            | SessionEvent::Answered { request_id, .. } => {
                if let Some(at) = open.pending.iter().position(|p| p.request_id == *request_id) {
                    open.pending.remove(at);
                    let cancel =
                        json!({"type": "control_cancel_request", "request_id": request_id});
                    lines.insert(0, cancel.to_string());
                }
            }
            SessionEvent::RunEnded(end) => {
                open.running = false;
                for id in &end.prompt_ids {
                    forget(&mut open.outstanding, &id.0);
                }
                if end.failure.as_ref().is_some_and(|failure| failure.kind == ErrorKind::Storage) {
                    // The log cannot be written: what waits is not taken up.
                    open.outstanding.clear();
                    open.backlog.clear();
                }
            }
            _ => {}
        }
        self.write(&lines).await?;
        match event {
            SessionEvent::Asked(asked) => self.ask(asked).await,
            SessionEvent::RunEnded(_) => self.send_waiting().await,
            _ => Ok(()),
        }
    }

    /// Writes a start-up refusal where a host looks for it; gives the exit status.
    async fn refuse(&mut self, refusal: Refusal) -> u8 {
        if refusal.framed {
            let session_id = self.plan.session_id().unwrap_or_else(|| self.ids.uuid());
            let line = start_failure(&session_id, &self.ids.uuid(), &refusal.text);
            self.write(&[line]).await.unwrap_or_default();
        }
        let line = format!("{}\n", refusal.text);
        self.err.write_all(line.as_bytes()).await.unwrap_or_default();
        1
    }

    /// One line on standard error.
    async fn tell(&mut self, text: &str) -> Step {
        let line = format!("ostler: {text}\n");
        // Nobody may read it.
        self.err.write_all(line.as_bytes()).await.unwrap_or_default();
        self.err.flush().await.unwrap_or_default();
        Ok(())
    }

    async fn send(&mut self, frame: &Value) -> Step {
        self.write(&[frame.to_string()]).await
    }

    /// Writes lines; a host that no longer reads ends the process.
    async fn write(&mut self, lines: &[String]) -> Step {
        if lines.is_empty() {
            return Ok(());
        }
        let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        let status = self.status();
        self.out.write_all(text.as_bytes()).await.map_err(|_| status)?;
        self.out.flush().await.map_err(|_| status)?;
        self.last_write = Instant::now();
        Ok(())
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn next(events: Option<&Outlet<Arc<SessionEvent>>>) -> Option<Arc<SessionEvent>> {
    match events {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

fn forget(ids: &mut Vec<String>, id: &str) {
    if let Some(at) = ids.iter().position(|held| held == id) {
        ids.remove(at);
    }
}

fn blocks(content: ToolResultContent) -> Vec<Block> {
    match content {
        ToolResultContent::Text(text) => vec![Block::text(text)],
        ToolResultContent::Blocks(blocks) => blocks,
    }
}
