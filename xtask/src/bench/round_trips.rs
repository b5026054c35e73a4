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

pub(super) fn round_trips(plan: &Plan) -> Result<Vec<Row>> {
    let project = Project::new()?;
    let lines: String = (1..=100).map(|number| format!("line {number}\n")).collect();
    let file = project.file("lines.txt", &lines)?;
    let read = json!({"file_path": file.to_string_lossy()});
    let shell = json!({"command": "true"});
    let mut rows = one(plan, &project, "Read", &read)?;
    rows.extend(one(plan, &project, "Bash", &shell)?);
    Ok(rows)
}

fn one(plan: &Plan, project: &Project, tool: &str, input: &Value) -> Result<Vec<Row>> {
    let model = Model::start(reply::calls(CALLS, tool, input))?;
    let process = project.prompt(&plan.binary, &model).arg("--dangerously-skip-permissions");
    let (mut all, mut first) = (Vec::new(), Vec::new());
    for _ in 0..plan.runs.min(5) {
        ensure!(process.command().drained()?.ended_well, "the run with `{tool}` failed");
        let seen = model.take();
        ensure!(seen.len() == CALLS + 1, "the model was asked {} times", seen.len());
        check(&seen[CALLS].body, tool)?;
        let gaps =
            seen.windows(2).map(|pair| pair[1].read.saturating_duration_since(pair[0].answered));
        let gaps: Vec<f64> = gaps.map(|gap| gap.as_secs_f64() * 1e3).collect();
        first.extend(gaps.first());
        all.extend(gaps);
    }
    Ok(vec![
        Row::new(tool, "per call", median(all)?, "ms"),
        Row::new(tool, "first call", median(first)?, "ms"),
    ])
}

/// Every call has its result in the last request, and none failed.
fn check(body: &[u8], tool: &str) -> Result<()> {
    let request: Value = serde_json::from_slice(body).context("the request is not JSON")?;
    let messages = request["messages"].as_array().context("the request has no messages")?;
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let results: Vec<_> = blocks.filter(|block| block["type"] == "tool_result").collect();
    ensure!(results.len() == CALLS, "`{tool}` gave {} results", results.len());
    let failed = results.iter().find(|result| result["is_error"] == true);
    ensure!(
        failed.is_none(),
        "`{tool}` failed: {}",
        failed.map(ToString::to_string).unwrap_or_default()
    );
    ensure!(tool != "Read" || contains(body, b"line 100"), "the file was not read");
    Ok(())
}
