//! Bash: runs a command in the shell. The command is judged as it is written, so nothing
//! here adds to it or changes what it means.

mod reports;
mod script;
mod spill;
pub(crate) mod told;

use std::{path::Path, time::Duration};

use ostler_protocol::{Access, TaskKind};
use ostler_sandbox::{Command, Error, Exit};
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, ShellFolder, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    args::{absolute, flag, number},
    bash::{
        reports::Reports,
        script::Report,
        spill::Spill,
        told::{Around, told},
    },
    disk::Place,
    hands::Hands,
    shelter::shelter,
    tasks::{self, NewTask},
};

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
    /// Lets it go on in the background: the call gives a task id at once.
    #[serde(default, deserialize_with = "flag")]
    run_in_background: Option<bool>,
    /// The folder to run in, as other hosts send it.
    #[schemars(skip)]
    #[serde(default)]
    workdir: Option<String>,
    /// Asks to run outside of the session's sandbox.
    #[schemars(skip)]
    #[serde(default, rename = "dangerouslyDisableSandbox", deserialize_with = "flag")]
    outside: Option<bool>,
}

/// One command to run in the foreground.
#[derive(Debug, Clone, Copy)]
struct Run<'a> {
    args: &'a Args,
    cwd: &'a AbsPath,
    timeout: Duration,
    report: &'a Report,
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
        let shell_folder = cx.state.get::<ShellFolder>();
        let cwd = self.folder(&args, &shell_folder.or(&cx.cwd));
        if args.run_in_background == Some(true) {
            return self.go_on(&args, cwd, &cx).await;
        }
        let limits = &self.0.limits;
        let timeout = Duration::from_millis(
            args.timeout.unwrap_or(limits.command_ms).clamp(1, limits.command_max_ms),
        );
        let report = Report::new()
            .map_err(|error| ToolError::Tell(format!("cannot run a command: {error}")))?;
        let mut spill = Spill::new(&cx.outputs, &cx.call_id, limits.shown_bytes);
        let run = Run { args: &args, cwd: &cwd, timeout, report: &report };
        let (exit, confined) = self.run_shell(run, &mut spill, &cx).await?;
        if exit.cancelled {
            return Err(ToolError::Cancelled);
        }
        let note = if args.workdir.is_none() {
            follow(&report, &shell_folder, &cwd, &cx.cwd)
        } else {
            None
        };
        let note = match confined.filter(|_| !exit.is_success()) {
            Some(confined) => {
                Some(note.map_or(confined.clone(), |note| format!("{note}\n{confined}")))
            }
            None => note,
        };
        let kept = spill.finish();
        let command = &args.command;
        Ok(told(&exit, Around { command, timeout, note, kept, cap: limits.shown_bytes }))
    }
}

impl Bash {
    /// Starts it in the background.
    async fn go_on(&self, args: &Args, cwd: AbsPath, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let task = NewTask {
            kind: TaskKind::Shell,
            title: self.title(args),
            command: args.command.clone(),
            cwd,
            timeout: args.timeout.map(Duration::from_millis),
            leave: args.outside.unwrap_or(false),
        };
        let started = tasks::start(&self.0, task, cx).await?;
        let text = format!(
            "Command running in background with ID: {}. You are told when it ends; read its output \
             with TaskOutput, stop it with TaskStop.",
            started.id
        );
        Ok(ToolOutput::text(
            text,
            json!({
                "stdout": "",
                "stderr": "",
                "interrupted": false,
                "isImage": false,
                "noOutputExpected": false,
                "backgroundTaskId": started.id,
            }),
        ))
    }

    /// Runs it in the shell that is set up, or in `sh` if that is not there. Gives a line
    /// about its confinement, if it was confined.
    async fn run_shell(
        &self,
        run: Run<'_>,
        spill: &mut Spill<'_>,
        cx: &ToolCx,
    ) -> Result<(Exit, Option<String>), ToolError> {
        let hands = &self.0;
        let mut missing = None;
        for shell in hands.shells() {
            let text = &run.args.command;
            let command = Command::new(&shell, run.cwd.clone())
                .args(Report::args(text))
                .side(run.report.side())
                .env(hands.env.clone())
                .timeout(run.timeout);
            let leave = run.args.outside.unwrap_or(false);
            let sheltered = shelter(hands.shelter.as_ref(), text, leave, command).await?;
            let mut progress = Reports::new(cx.progress.clone());
            let exit = hands
                .supervisor
                .run(&sheltered.command, &cx.cancel, |_, bytes| {
                    progress.saw(bytes);
                    spill.saw(bytes);
                })
                .await;
            match exit {
                Ok(exit) => return Ok((exit, sheltered.note)),
                Err(error @ Error::NotFound { .. }) => missing = missing.or(Some(error)),
                Err(error) => return Err(ToolError::Tell(error.to_string())),
            }
        }
        Err(no_shell(missing.as_ref()))
    }
}

/// What the model reads where there is no shell at all.
pub(crate) fn no_shell(missing: Option<&Error>) -> ToolError {
    let error = missing.map_or_else(String::new, ToString::to_string);
    ToolError::Tell(format!("there is no shell to run the command: {error}"))
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
