//! What a tool call costs beside the model: from the last byte of an answer that calls a tool to
//! the last byte of the request that brings its result. The tool's own work is in it, the model's
//! time is not, since both ends are taken where the model is.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::Plan;
use super::model::Model;
use super::project::Project;
use super::reply;
use super::report::Row;
use super::start::contains;
use super::stats::median;

/// Calls in one run.
const CALLS: usize = 20;

/// Bytes of the file that is edited.
const LARGE: usize = 10_000_000;

pub(super) fn round_trips(plan: &Plan) -> Result<Vec<Row>> {
    let project = Project::new()?;
    let lines: String = (1..=100).map(|number| format!("line {number}\n")).collect();
    let file = project.file("lines.txt", &lines)?;
    let read = json!({"file_path": file.to_string_lossy()});
    let shell = json!({"command": "true"});
    let mut rows = one(plan, &project, "Read", &equal("Read", &read))?;
    rows.extend(one(plan, &project, "Bash", &equal("Bash", &shell))?);
    rows.extend(one(plan, &project, "Edit of 10 MB", &edits(plan, &project)?)?);
    // The same command where the settings confine commands; its first call finds out how.
    let confined = Project::new()?;
    std::fs::create_dir_all(confined.home())?;
    std::fs::write(confined.home().join("settings.json"), r#"{"sandbox":{"enabled":true}}"#)?;
    rows.extend(one(plan, &confined, "Bash, confined", &equal("Bash", &shell))?);
    Ok(rows)
}

/// The same call again and again.
fn equal(tool: &'static str, input: &Value) -> Vec<(&'static str, Value)> {
    vec![(tool, input.clone()); CALLS]
}

/// Looks at a large file, and between them edits of one line in its middle, there and back,
/// so that the next run finds it as it was.
fn edits(plan: &Plan, project: &Project) -> Result<Vec<(&'static str, Value)>> {
    let count = if plan.small { 1_000 } else { LARGE / 20 };
    let lines: String = (0..count).map(|number| format!("this is line {number:06}\n")).collect();
    let file = project.file("large.txt", &lines)?;
    let path = file.to_string_lossy();
    let (plain, changed) = (format!("line {:06}", count / 2), format!("LINE {:06}", count / 2));
    let look = || ("Read", json!({"file_path": path, "limit": 1}));
    let mut calls = vec![look()];
    calls.extend((1..CALLS - 1).map(|at| {
        let (old, new) = if at % 2 == 1 { (&plain, &changed) } else { (&changed, &plain) };
        ("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
    }));
    calls.push(look());
    Ok(calls)
}

fn one(
    plan: &Plan,
    project: &Project,
    subject: &str,
    calls: &[(&'static str, Value)],
) -> Result<Vec<Row>> {
    let answers = calls.iter().enumerate().map(|(at, (tool, input))| reply::call(at, tool, input));
    let model = Model::start(answers.chain([reply::words(1)]).collect())?;
    let process = project.prompt(&plan.binary, &model).arg("--dangerously-skip-permissions");
    let (mut all, mut first) = (Vec::new(), Vec::new());
    for _ in 0..plan.runs.min(5) {
        ensure!(process.command().drained()?.ended_well, "the run with `{subject}` failed");
        let seen = model.take();
        ensure!(seen.len() == CALLS + 1, "the model was asked {} times", seen.len());
        check(&seen[CALLS].body, subject)?;
        let gaps =
            seen.windows(2).map(|pair| pair[1].read.saturating_duration_since(pair[0].answered));
        let gaps: Vec<f64> = gaps.map(|gap| gap.as_secs_f64() * 1e3).collect();
        first.extend(gaps.first());
        all.extend(gaps);
    }
    Ok(vec![
        Row::new(subject, "per call", median(all)?, "ms"),
        Row::new(subject, "first call", median(first)?, "ms"),
    ])
}

/// Every call has its result in the last request, and none failed.
fn check(body: &[u8], subject: &str) -> Result<()> {
    let request: Value = serde_json::from_slice(body).context("the request is not JSON")?;
    let messages = request["messages"].as_array().context("the request has no messages")?;
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let results: Vec<_> = blocks.filter(|block| block["type"] == "tool_result").collect();
    ensure!(results.len() == CALLS, "`{subject}` gave {} results", results.len());
    let failed = results.iter().find(|result| result["is_error"] == true);
    ensure!(
        failed.is_none(),
        "`{subject}` failed: {}",
        failed.map(ToString::to_string).unwrap_or_default()
    );
    ensure!(subject != "Read" || contains(body, b"line 100"), "the file was not read");
    Ok(())
}
