//! Monitor: a background command whose lines the model is told of as they come.
//!
//! What reaches the model is bounded: few lines at a time, a notification a second at
//! most, and a command that floods is stopped.

use std::{sync::Arc, time::Duration};

use ostler_protocol::{Access, TaskKind};
use ostler_sandbox::{Command, Error, Piped, Traces};
use ostler_stdx::{AbsPath, bound_middle};
use ostler_tool::{Concurrency, Later, Note, ShellFolder, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader},
    time::{Instant, sleep_until},
};

use crate::{
    args::{flag, number},
    bash::no_shell,
    hands::Hands,
    plain::strip_controls,
    shelter::shelter,
    tasks::{self, NewTask, Process, Task},
};

/// How long a monitor runs unless the call says otherwise, and at most.
const TIME_MS: u64 = 300_000;
const TIME_MAX_MS: u64 = 3_600_000;
/// Lines are gathered for so long before the model is told.
const GATHER: Duration = Duration::from_secs(1);
/// Most lines and bytes of one notification.
const LINES: usize = 30;
const LINE_BYTES: usize = 500;
/// So many notifications within a minute are a flood.
const FLOOD: usize = 40;

/// Watches commands.
#[derive(Debug)]
pub(crate) struct Monitor(pub(crate) Hands);

/// Arguments of Monitor.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The command whose lines are told.
    #[serde(default)]
    command: Option<String>,
    /// Not supported: a WebSocket address.
    #[serde(default)]
    ws: Option<serde_json::Value>,
    /// What is watched, in a few words.
    description: String,
    /// Milliseconds after which it is stopped (default 300000, at most 3600000).
    #[serde(default, deserialize_with = "number")]
    timeout_ms: Option<u64>,
    /// Runs until the session ends or TaskStop ends it.
    #[serde(default, deserialize_with = "flag")]
    persistent: Option<bool>,
}

impl Tool for Monitor {
    const NAME: &'static str = "Monitor";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("monitor.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        let command = args.command.clone().unwrap_or_default();
        vec![Access::Shell { command, cwd: cwd.clone() }]
    }

    fn title(&self, args: &Args) -> String {
        args.description.clone()
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        if args.ws.is_some() {
            let text = "Monitor cannot follow a `ws` address: give a `command` that does, such as `websocat`";
            return Err(ToolError::Invalid(text.to_owned()));
        }
        let command = args.command.filter(|command| !command.trim().is_empty());
        let command = command
            .ok_or_else(|| ToolError::Invalid("Monitor: `command` is missing".to_owned()))?;
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let timeout_ms = args.timeout_ms.unwrap_or(TIME_MS).clamp(1, TIME_MAX_MS);
        let persistent = args.persistent.unwrap_or(false);
        let new = NewTask {
            kind: TaskKind::Monitor,
            title: args.description,
            command,
            cwd: cx.state.get::<ShellFolder>().or(&cx.cwd),
            timeout: (!persistent).then(|| Duration::from_millis(timeout_ms)),
            leave: false,
        };
        let started = watch(&self.0, new, &cx).await?;
        let text = format!(
            "Monitor running with ID: {started}. You are told what it writes; TaskStop ends it."
        );
        let mut structured = json!({ "taskId": started, "timeoutMs": timeout_ms });
        if persistent {
            structured["persistent"] = json!(true);
        }
        Ok(ToolOutput::text(text, structured))
    }
}

/// Starts the command and follows it.
async fn watch(hands: &Hands, new: NewTask, cx: &ToolCx) -> Result<String, ToolError> {
    let place = tasks::place(hands, cx)?;
    let stop_at = new.timeout.map(|timeout| Instant::now() + timeout);
    let (mut piped, traces) = spawn(hands, &new).await?;
    let stdout = piped.stdout.take();
    let file = tokio::fs::File::create(&place.file)
        .await
        .map_err(|error| ToolError::Tell(format!("cannot keep the command's output: {error}")))?;
    let (task, held) = tasks::enter(place, new, Process::Piped(piped), cx).await;
    let follow = Follow {
        id: task.id.clone(),
        title: task.title,
        later: cx.later.clone(),
        file,
        room: hands.limits.task_output_bytes,
        held: Arc::clone(&held),
    };
    let (later, clock) = (cx.later.clone(), Arc::clone(&cx.clock));
    tokio::spawn(async move {
        let why = match stdout {
            Some(stdout) => follow.lines(stdout, stop_at).await,
            None => None,
        };
        tasks::conclude(&held, why, &later, clock.now_ms()).await;
        drop(traces);
    });
    Ok(task.id)
}

async fn spawn(hands: &Hands, new: &NewTask) -> Result<(Piped, Option<Traces>), ToolError> {
    let mut missing = None;
    for shell in hands.shells() {
        let command = Command::new(&shell, new.cwd.clone())
            .args(["-c", new.command.as_str()])
            .env(hands.env.clone());
        let inside = shelter(hands.shelter.as_ref(), &new.command, new.leave, command).await?;
        match hands.supervisor.spawn_piped(&inside.command).await {
            Ok(mut piped) => {
                piped.stdin = None;
                return Ok((piped, inside.traces));
            }
            Err(error @ Error::NotFound { .. }) => missing = missing.or(Some(error)),
            Err(error) => return Err(ToolError::Tell(error.to_string())),
        }
    }
    Err(no_shell(missing.as_ref()))
}

/// Follows one command.
struct Follow {
    id: String,
    title: String,
    later: Later,
    file: tokio::fs::File,
    /// Bytes of output that are still kept.
    room: usize,
    held: Arc<Task>,
}

impl Follow {
    /// Tells lines until the output ends or it must stop; gives why it was stopped.
    async fn lines(
        mut self,
        stdout: impl AsyncRead + Unpin,
        stop_at: Option<Instant>,
    ) -> Option<String> {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        let mut gathered = Gathered::default();
        let mut told: Vec<Instant> = Vec::new();
        loop {
            tokio::select! {
                // A line that grows without end is cut where it stands.
                read = read_line(&mut reader, &mut line) => {
                    let ended = read.unwrap_or(true);
                    if !line.is_empty() {
                        self.keep(&line).await;
                        gathered.take(&line);
                        line.clear();
                    }
                    if ended {
                        self.tell(&mut gathered).await;
                        return None;
                    }
                }
                () = until(gathered.due), if gathered.due.is_some() => {
                    self.tell(&mut gathered).await;
                    let now = Instant::now();
                    told.retain(|at| now - *at < Duration::from_secs(60));
                    told.push(now);
                    if told.len() >= FLOOD {
                        return Some("it wrote too much; filter its output, then start it again".to_owned());
                    }
                }
                () = until(stop_at), if stop_at.is_some() => {
                    self.tell(&mut gathered).await;
                    return Some("its time was up".to_owned());
                }
                () = self.held.stopping() => {
                    self.tell(&mut gathered).await;
                    return None;
                }
            }
        }
    }

    async fn keep(&mut self, line: &[u8]) {
        let fits = line.len().min(self.room);
        self.room -= fits;
        // A disk that refuses costs what TaskOutput would show; the model is told anyway.
        let written = self.file.write_all(&line[..fits]).await;
        if written.is_ok() {
            self.file.flush().await.unwrap_or_default();
        }
    }

    async fn tell(&self, gathered: &mut Gathered) {
        if let Some(text) = gathered.text() {
            let text = format!("\"{}\" wrote:\n{text}", self.title);
            self.later.send(Note::Tell { task_id: self.id.clone(), text }).await;
        }
    }
}

/// Lines that the model is not told of yet.
#[derive(Debug, Default)]
struct Gathered {
    lines: Vec<String>,
    more: usize,
    due: Option<Instant>,
}

impl Gathered {
    fn take(&mut self, line: &[u8]) {
        self.due.get_or_insert_with(|| Instant::now() + GATHER);
        if self.lines.len() == LINES {
            self.more += 1;
            return;
        }
        let text = strip_controls(&String::from_utf8_lossy(line));
        self.lines.push(bound_middle(text.trim_end(), LINE_BYTES - 100, 100, "").text);
    }

    /// All of them as text; nothing if there are none.
    fn text(&mut self) -> Option<String> {
        let (lines, more) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.more));
        self.due = None;
        let more = (more > 0).then(|| format!("[{more} more lines: TaskOutput shows them]"));
        let all: Vec<_> = lines.into_iter().chain(more).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }
}

/// Reads to the end of the line, or until it is long; true at the end of the output.
/// What was read stays in `line` if this is dropped.
async fn read_line(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    line: &mut Vec<u8>,
) -> std::io::Result<bool> {
    loop {
        let chunk = reader.fill_buf().await?;
        if chunk.is_empty() {
            return Ok(true);
        }
        let end = chunk.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
        let room = (16 << 10) - line.len();
        let len = end.unwrap_or(chunk.len()).min(room);
        line.extend_from_slice(&chunk[..len]);
        let whole = end == Some(len) || len == room;
        reader.consume(len);
        if whole {
            return Ok(false);
        }
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
