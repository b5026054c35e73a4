//! TaskOutput: the state and the output of a background command.

use std::{
    io::{Read as _, Seek as _, SeekFrom},
    time::Duration,
};

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use ostler_protocol::{Access, BackgroundTask, TaskKind, TaskState};
use ostler_stdx::{AbsPath, bound_middle};
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    args::{flag, number},
    files::blocking,
    hands::Hands,
    plain::strip_controls,
    tasks::Tasks,
};

/// Milliseconds that a call waits unless it says otherwise, and at most.
const WAIT_MS: u64 = 30_000;
const WAIT_MAX_MS: u64 = 600_000;

/// Reads background commands.
#[derive(Debug)]
pub(crate) struct TaskOutput(pub(crate) Hands);

/// Arguments of TaskOutput.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The task's id.
    #[serde(alias = "bash_id", alias = "shell_id", alias = "taskId", alias = "agentId")]
    task_id: String,
    /// Whether to wait for the end (default true).
    #[serde(default, deserialize_with = "flag")]
    block: Option<bool>,
    /// Milliseconds to wait at most (default 30000).
    #[serde(default, deserialize_with = "number")]
    timeout: Option<u64>,
    /// The byte of the output to start at.
    #[serde(default, deserialize_with = "number")]
    offset: Option<u64>,
    /// A regular expression: only lines that match it are shown, as the older BashOutput
    /// had it.
    #[schemars(skip)]
    #[serde(default)]
    filter: Option<String>,
}

impl Tool for TaskOutput {
    const NAME: &'static str = "TaskOutput";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("task_output.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, args: &Args) -> String {
        format!("Output of {}", args.task_id)
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let filter = args.filter.as_deref().map(RegexMatcher::new).transpose();
        let filter = filter.map_err(|error| {
            ToolError::Invalid(format!("TaskOutput: `filter` is no regular expression: {error}"))
        })?;
        let tasks = cx.state.get::<Tasks>();
        let task = tasks.get(&args.task_id).ok_or_else(|| unknown(&tasks, &args.task_id))?;
        let wait = Duration::from_millis(args.timeout.unwrap_or(WAIT_MS).min(WAIT_MAX_MS));
        let mut now = task.now();
        if args.block.unwrap_or(true) && now.is_running() {
            tokio::select! {
                ended = tokio::time::timeout(wait, task.ended()) => {
                    now = ended.unwrap_or_else(|_| task.now());
                }
                () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
            }
        }
        let (file, cap) = (now.output_file.clone(), self.0.limits.shown_bytes);
        let offset = args.offset.unwrap_or(0);
        let output = blocking(&cx, move || {
            let output = read(file.as_deref(), offset, cap);
            Ok(match &filter {
                Some(filter) => matching(&output, filter),
                None => output,
            })
        });
        let output = output.await?;
        Ok(told(&now, &output, args.block.unwrap_or(true)))
    }
}

/// Says that there is no such task, and which there are.
pub(crate) fn unknown(tasks: &Tasks, id: &str) -> ToolError {
    let known: Vec<_> = tasks.list().into_iter().map(|task| task.id).collect();
    let known = if known.is_empty() {
        "this session has none".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    };
    ToolError::Tell(format!("no background task `{id}`: {known}"))
}

fn matching(text: &str, filter: &RegexMatcher) -> String {
    let is_match = |line: &&str| filter.is_match(line.as_bytes()).unwrap_or(false);
    text.lines().filter(is_match).collect::<Vec<_>>().join("\n")
}

/// What stands in the file from `offset` on, within the cap.
fn read(file: Option<&str>, offset: u64, cap: usize) -> String {
    let Some(path) = file else { return String::new() };
    let from = |path: &str| -> std::io::Result<(Vec<u8>, u64)> {
        let mut file = std::fs::File::open(path)?;
        let total = file.metadata()?.len();
        file.seek(SeekFrom::Start(offset.min(total)))?;
        let rest = total.saturating_sub(offset);
        // Twice the cap: control sequences go before the text is cut.
        let half = cap as u64;
        let mut bytes = Vec::new();
        file.by_ref().take(half).read_to_end(&mut bytes)?;
        let omitted = rest.saturating_sub(2 * half);
        if omitted > 0 {
            file.seek(SeekFrom::Start(total - half))?;
        }
        file.take(half).read_to_end(&mut bytes)?;
        Ok((bytes, omitted))
    };
    match from(path) {
        Ok((bytes, omitted)) => {
            let text = strip_controls(&String::from_utf8_lossy(&bytes));
            let hint = if omitted > 0 { "give offset to see a part of it" } else { "" };
            bound_middle(text.trim_end(), cap / 3, cap - cap / 3, hint).text
        }
        Err(error) => format!("[the output cannot be read: {error}]"),
    }
}

fn told(task: &BackgroundTask, output: &str, blocked: bool) -> ToolOutput {
    let retrieval = match (task.is_running(), blocked) {
        (false, _) => "success",
        (true, true) => "timeout",
        (true, false) => "not_ready",
    };
    let state = match (task.state, task.exit_code) {
        (TaskState::Running, _) => "running".to_owned(),
        (TaskState::Completed, _) => "completed".to_owned(),
        (TaskState::Failed, Some(code)) => format!("failed with exit code {code}"),
        (TaskState::Failed, None) => "failed".to_owned(),
        (TaskState::Stopped, _) => "stopped".to_owned(),
    };
    let mut text = format!("{} ({}): {state}\n", task.id, task.title);
    text.push_str(if output.is_empty() { "(no output so far)" } else { output });
    let status: Value = serde_json::to_value(task.state).unwrap_or_default();
    let mut row = json!({
        "task_id": task.id,
        "task_type": if task.kind == TaskKind::Agent { "local_agent" } else { "local_bash" },
        "status": status,
        "description": task.title,
        "output": output,
    });
    if let Some(code) = task.exit_code {
        row["exitCode"] = json!(code);
    }
    ToolOutput::text(text, json!({ "retrieval_status": retrieval, "task": row }))
}
