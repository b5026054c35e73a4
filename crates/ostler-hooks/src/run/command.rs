//! Command hooks: a process of the session's supervisor, so that its whole tree dies with
//! the hook. The input is written and then closed; the process is waited for and not the
//! end of its output, which a grandchild may hold open. Writes no file.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    time::Duration,
};

use ostler_sandbox::{Command, OutputCap, Stream, Supervisor};
use ostler_stdx::AbsPath;
use serde_json::Value;
use tokio::sync::oneshot;

use super::{Done, Job, REPLY_CAP};
use crate::{Answer, CommandAction, Shell, answer};

/// Between TERM and KILL.
const GRACE: Duration = Duration::from_millis(300);

/// Most bytes of a tool's input in a variable; standard input always has all of it.
const VARIABLE_CAP: usize = 32 << 10;

/// Most bytes of a first line that may say that the hook goes on by itself.
const FIRST_LINE: usize = 4 << 10;

/// Where and with what commands run.
#[derive(Debug)]
pub(crate) struct Commands {
    pub(crate) supervisor: Supervisor,
    /// Without credentials.
    pub(crate) env: BTreeMap<OsString, OsString>,
    pub(crate) project: AbsPath,
}

impl Commands {
    pub(super) async fn run(
        &self,
        action: &CommandAction,
        job: &Job,
        detached: oneshot::Sender<Answer>,
    ) -> Done {
        let mut first_line = FirstLine::new(job, detached);
        let input = serde_json::to_vec(&*job.input).unwrap_or_default();
        let command = self
            .command(action, job)
            .input(input)
            .kill_grace(GRACE)
            .output_cap(OutputCap { head: REPLY_CAP, tail: 0 });
        let see = |stream, bytes: &[u8]| first_line.see(stream, bytes);
        let exit = match self.supervisor.run(&command, &job.cancel, see).await {
            Ok(exit) => exit,
            Err(error) => return Done::failed(error.to_string()),
        };
        let (stdout, stderr) = (exit.stdout.to_text(), exit.stderr.to_text());
        let result = match exit.code {
            Some(_) if exit.stdout.omitted() > 0 => {
                Err(format!("its output is longer than {} MiB", REPLY_CAP >> 20))
            }
            Some(code) => answer::of_exit(job.event, code, &stdout, &stderr),
            None => match exit.signal {
                Some(signal) => Err(format!("it was ended by signal {signal}")),
                None => Err("it did not start".to_owned()),
            },
        };
        Done { stdout, stderr, exit_code: exit.code, result: Some(result) }
    }

    fn command(&self, action: &CommandAction, job: &Job) -> Command {
        let cwd = job.input.get("cwd").and_then(Value::as_str);
        let cwd = cwd.and_then(|cwd| AbsPath::new(cwd).ok()).filter(|cwd| cwd.as_path().is_dir());
        let cwd = cwd.unwrap_or_else(|| self.project.clone());
        let command = match (&action.args, action.shell) {
            (Some(args), _) => Command::new(&action.command, cwd).args(args),
            (None, Shell::Bash) => {
                let shell = if self.has("bash") { "bash" } else { "/bin/sh" };
                Command::new(shell, cwd).args(["-c", &action.command])
            }
            (None, Shell::PowerShell) => {
                Command::new("pwsh", cwd).args(["-NoProfile", "-Command", &action.command])
            }
        };
        command.env(self.variables(action, job))
    }

    fn has(&self, program: &str) -> bool {
        let path = self.env.get(OsStr::new("PATH")).map(OsString::as_os_str).unwrap_or_default();
        std::env::split_paths(path).any(|folder| folder.join(program).is_file())
    }

    /// The variables of a hook: each of ours under both families of names.
    fn variables(&self, action: &CommandAction, job: &Job) -> BTreeMap<OsString, OsString> {
        let mut env = self.env.clone();
        let mut put = |name: &str, value: &str| {
            for family in ["CLAUDE", "OSTLER"] {
                env.insert(format!("{family}_{name}").into(), value.into());
            }
        };
        put("PROJECT_DIR", &self.project.to_text());
        put("HOOK_EVENT", job.event.name());
        let text = |key: &str| job.input.get(key).and_then(Value::as_str);
        put("SESSION_ID", text("session_id").unwrap_or_default());
        put("CWD", text("cwd").unwrap_or_default());
        if let Some(tool) = text("tool_name") {
            put("TOOL_NAME", tool);
        }
        if let Some(input) = job.input.get("tool_input").map(Value::to_string)
            && input.len() <= VARIABLE_CAP
            && !input.contains('\0')
        {
            put("TOOL_INPUT", &input);
        }
        for (name, value) in &action.env {
            if !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0') {
                env.insert(name.into(), value.into());
            }
        }
        env
    }
}

/// Watches for a first line that says that nobody need wait.
struct FirstLine<'a> {
    job: &'a Job,
    seen: Vec<u8>,
    detached: Option<oneshot::Sender<Answer>>,
}

impl<'a> FirstLine<'a> {
    fn new(job: &'a Job, detached: oneshot::Sender<Answer>) -> Self {
        Self { job, seen: Vec::new(), detached: Some(detached) }
    }

    fn see(&mut self, stream: Stream, bytes: &[u8]) {
        if self.detached.is_none() || stream == Stream::Stderr {
            return;
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        self.seen.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
        if end.is_none() && self.seen.len() <= FIRST_LINE {
            return;
        }
        let line = String::from_utf8_lossy(&self.seen);
        let answer = answer::of_text(self.job.event, &line).ok();
        let detached = self.detached.take();
        if let (Some(answer), Some(detached)) =
            (answer.filter(|answer| answer.goes_on.is_some()), detached)
        {
            // Whoever waited may have gone.
            detached.send(answer).unwrap_or_default();
        }
    }
}
