//! Bash: runs a command in the shell. The command is judged as it is written, so nothing
//! here adds to it or changes what it means.

mod script;

use std::{
    ffi::OsString,
    path::Path,
    time::{Duration, Instant},
};

use ostler_protocol::Access;
use ostler_sandbox::{Captured, Command, Error, Exit, Stream};
use ostler_stdx::{AbsPath, bound_middle};
use ostler_tool::{Concurrency, Progress, ShellFolder, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    args::{absolute, flag, number},
    bash::script::Report,
    disk::Place,
    hands::Hands,
    plain::strip_controls,
};

/// The shortest time between two reports of progress.
const BETWEEN_REPORTS: Duration = Duration::from_millis(200);
/// Bytes of the newest output that a report shows.
const TAIL: usize = 500;

/// Runs commands.
#[derive(Debug)]
pub(crate) struct Bash(pub(crate) Hands);

/// Arguments of Bash.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The command.
    command: String,
    /// Milliseconds after which it is stopped (default 120000, at most 600000).
    #[serde(default, deserialize_with = "number")]
    timeout: Option<u64>,
    /// What the command does, in a few words for the person who may have to allow it.
    #[serde(default)]
    description: Option<String>,
    /// Not available in this version: a call that sets it is refused.
    #[serde(default, deserialize_with = "flag")]
    run_in_background: Option<bool>,
    /// The folder to run in, as other hosts send it.
    #[schemars(skip)]
    #[serde(default)]
    workdir: Option<String>,
    /// Taken and not used here: whoever judges the call reads it.
    #[schemars(skip)]
    #[serde(default, rename = "dangerouslyDisableSandbox", deserialize_with = "flag")]
    _unsandboxed: Option<bool>,
}

impl Bash {
    fn folder(&self, args: &Args, cwd: &AbsPath) -> AbsPath {
        args.workdir
            .as_deref()
            .map_or_else(|| cwd.clone(), |path| absolute(path, cwd, self.0.home.as_ref()))
    }
}

impl Tool for Bash {
    const NAME: &'static str = "Bash";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("bash.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        vec![Access::Shell { command: args.command.clone(), cwd: self.folder(args, cwd) }]
    }

    fn title(&self, args: &Args) -> String {
        args.description
            .clone()
            .unwrap_or_else(|| args.command.lines().next().unwrap_or_default().to_owned())
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        if args.run_in_background == Some(true) {
            let text = "background commands are not available in this version: run it without run_in_background, \
                        with a timeout that it keeps";
            return Err(ToolError::Tell(text.to_owned()));
        }
        let limits = &self.0.limits;
        let timeout = Duration::from_millis(
            args.timeout.unwrap_or(limits.command_ms).clamp(1, limits.command_max_ms),
        );
        let shell_folder = cx.state.get::<ShellFolder>();
        let cwd = self.folder(&args, &shell_folder.or(&cx.cwd));
        let report = Report::new()
            .map_err(|error| ToolError::Tell(format!("cannot run a command: {error}")))?;
        let exit = self.run_shell(&args.command, &cwd, timeout, &report, &cx).await?;
        if exit.cancelled {
            return Err(ToolError::Cancelled);
        }
        let note = if args.workdir.is_none() {
            follow(&report, &shell_folder, &cwd, &cx.cwd)
        } else {
            None
        };
        Ok(told(&exit, timeout, note, limits.shown_bytes))
    }
}

impl Bash {
    /// Runs it in the shell that is set up, or in `sh` if that is not there.
    async fn run_shell(
        &self,
        command: &str,
        cwd: &AbsPath,
        timeout: Duration,
        report: &Report,
        cx: &ToolCx,
    ) -> Result<Exit, ToolError> {
        let hands = &self.0;
        let mut missing = None;
        for shell in [hands.shell.clone(), OsString::from("sh"), OsString::from("/bin/sh")] {
            let command = Command::new(&shell, cwd.clone())
                .args(report.args(command))
                .env(hands.env.clone())
                .timeout(timeout);
            let mut progress = Reports::new(cx.progress.clone());
            let exit = hands
                .supervisor
                .run(&command, &cx.cancel, |stream, bytes| progress.saw(stream, bytes))
                .await;
            match exit {
                Ok(exit) => return Ok(exit),
                Err(error @ Error::NotFound { .. }) => missing = missing.or(Some(error)),
                Err(error) => return Err(ToolError::Tell(error.to_string())),
            }
        }
        let error = missing.map_or_else(String::new, |error| error.to_string());
        Err(ToolError::Tell(format!("there is no shell to run the command: {error}")))
    }
}

/// Takes over the folder in which the command ended; gives a note if that is not allowed.
fn follow(
    report: &Report,
    folder: &ShellFolder,
    cwd: &AbsPath,
    project: &AbsPath,
) -> Option<String> {
    let ended = report.folder()?;
    let real = |path: &AbsPath| Place::resolve(path).unwrap_or_else(|_| path.clone());
    if ended == real(cwd) {
        return None;
    }
    if real(&ended).is_within(&real(project)) && Path::new(ended.as_path()).is_dir() {
        // Shown by the project's own name where the project is reached through a link.
        let below = ended
            .strip_prefix(real(project))
            .map_or_else(|_| ended.clone(), |below| project.join(below));
        folder.set(Some(below));
        return None;
    }
    folder.set(None);
    Some(format!("Shell cwd was reset to {project}: `{ended}` is outside of the project"))
}

fn told(exit: &Exit, timeout: Duration, note: Option<String>, cap: usize) -> ToolOutput {
    let mut text = String::new();
    match (exit.timed_out, exit.code, exit.signal) {
        (true, _, _) => text.push_str(&format!("Command timed out after {}\n", spoken(timeout))),
        (false, Some(0), _) => {}
        (false, Some(code), _) => text.push_str(&format!("Exit code {code}\n")),
        (false, None, Some(signal)) => text.push_str(&format!("Ended by signal {signal}\n")),
        (false, None, None) => text.push_str("Did not end\n"),
    }
    text.push_str(&bounded(&exit.combined, cap));
    if let Some(note) = &note {
        text.push_str(if text.is_empty() || text.ends_with('\n') { "" } else { "\n" });
        text.push_str(note);
    }
    let text = match text.trim_end() {
        "" => "(Bash completed with no output)".to_owned(),
        text => text.to_owned(),
    };
    let stderr = bounded(&exit.stderr, cap);
    let stderr = [Some(stderr), note]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>();
    let mut structured = json!({
        "stdout": bounded(&exit.stdout, cap),
        "stderr": stderr.join("\n"),
        "interrupted": exit.timed_out,
        "isImage": false,
        "noOutputExpected": false,
    });
    if exit.timed_out {
        structured["timedOutAfterMs"] =
            Value::from(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    }
    ToolOutput::text(text, structured)
}

/// Output as plain text within the cap: two thirds of it from the start.
fn bounded(output: &Captured, cap: usize) -> String {
    let text = strip_controls(&output.to_text());
    let hint = match output.omitted() {
        0 => String::new(),
        _ => format!("{} bytes were written in all", output.total()),
    };
    let bounded = bound_middle(text.trim_end(), cap - cap / 3, cap / 3, &hint);
    bounded.text
}

fn spoken(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (seconds, 0) => format!("{seconds} s"),
        _ => format!("{} ms", time.as_millis()),
    }
}

/// Tells now and then how much output there is.
struct Reports {
    progress: Progress,
    bytes: u64,
    tail: Vec<u8>,
    last: Option<Instant>,
}

impl Reports {
    fn new(progress: Progress) -> Self {
        Self { progress, bytes: 0, tail: Vec::new(), last: None }
    }

    fn saw(&mut self, _: Stream, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let newest = &bytes[bytes.len().saturating_sub(TAIL)..];
        let excess = (self.tail.len() + newest.len()).saturating_sub(TAIL);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend_from_slice(newest);
        let now = Instant::now();
        if self.last.is_none_or(|last| now - last >= BETWEEN_REPORTS) {
            self.last = Some(now);
            self.progress.report(self.bytes, &strip_controls(&String::from_utf8_lossy(&self.tail)));
        }
    }
}
