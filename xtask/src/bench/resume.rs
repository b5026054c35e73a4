//! Going on with a long session, and listing many. The logs are copies of what the program itself
//! wrote, so that they have its present shape.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Plan;
use super::measure::repeat;
use super::model::Model;
use super::project::{MODEL, Project};
use super::reply;
use super::report::{Row, rows_of};
use super::start::contains;
use super::stats::median;

/// From the start of `run -s ID` on a log of many turns to the whole request.
pub(super) fn resume(plan: &Plan) -> Result<Vec<Row>> {
    let turns = if plan.small { 50 } else { 2_000 };
    let model = Model::start(vec![reply::words(20)])?;
    let project = Project::new()?;
    ensure!(project.prompt(&plan.binary, &model).command().drained()?.ended_well, "no session");
    let log = project.log()?;
    let id = log.file_stem().context("the log has no name")?.to_string_lossy().into_owned();
    let first = std::fs::read_to_string(&log)?;
    let long = longer(&first, turns)?;
    model.take();
    let mut took = Vec::new();
    for _ in 0..plan.runs.min(11) {
        // Each run finds the same log: the one before went on with it.
        std::fs::write(&log, &long)?;
        let process = project.ostler(&plan.binary, &model);
        let command = process.args(["run", "-s", &id, "-m", MODEL, "and now?"]).command();
        let start = Instant::now();
        let done = command.drained()?;
        let seen = model.take();
        ensure!(done.ended_well && seen.len() == 1, "the model was asked {} times", seen.len());
        let request: Value = serde_json::from_slice(&seen[0].body)?;
        let messages = request["messages"].as_array().map_or(0, Vec::len);
        ensure!(messages > turns, "{messages} messages are asked after {turns} turns");
        ensure!(contains(&seen[0].body, b"and now?"), "the prompt is not in the request");
        took.push((seen[0].read - start).as_secs_f64() * 1e3);
    }
    let subject = format!("{turns} turns, {:.1} MiB", long.len() as f64 / 1024.0 / 1024.0);
    Ok(vec![Row::new(&subject, "to whole request", median(took)?, "ms")])
}

/// `session list` over many sessions, once the index knows them.
pub(super) fn list(plan: &Plan) -> Result<Vec<Row>> {
    let sessions = if plan.small { 50 } else { 3_000 };
    let model = Model::start(vec![reply::words(20)])?;
    let project = Project::new()?;
    ensure!(project.prompt(&plan.binary, &model).command().drained()?.ended_well, "no session");
    copies(&project.log()?, sessions)?;
    let list = project.ostler(&plan.binary, &model).args(["session", "list", "--all", "--json"]);
    let rows: Value = serde_json::from_str(&list.command().read_quietly()?)?;
    let listed = rows.as_array().or(rows["sessions"].as_array()).map_or(0, Vec::len);
    ensure!(listed == sessions + 1, "{listed} of {} sessions are listed", sessions + 1);
    rows_of(&format!("{sessions} sessions"), &repeat(&list, plan.runs.min(11))?)
}

/// The one turn of a log again and again, each with ids of its own and hanging on the one before.
fn longer(log: &str, turns: usize) -> Result<String> {
    let lines: Vec<&str> = log.lines().collect();
    let starts = lines.iter().position(|line| line.contains("\"type\":\"user\""));
    let starts = starts.context("the log has no prompt")?;
    // Marks of where to go on reading name places in the file: a copy would lie.
    let turn: Vec<&str> = lines[starts..]
        .iter()
        .copied()
        .filter(|line| !line.contains("\"kind\":\"context\""))
        .collect();
    let mut uuids = Vec::new();
    for line in &turn {
        let record: Value = serde_json::from_str(line)?;
        uuids.extend(record["uuid"].as_str().map(str::to_owned));
    }
    let last = uuids.last().context("the turn has no entry")?.clone();
    let mut text = lines[..starts].join("\n") + "\n";
    let later: Vec<&str> = turn.iter().copied().filter(|line| !is_said_once(line)).collect();
    let (once, later) = (turn.join("\n") + "\n", later.join("\n") + "\n");
    let renamed = |uuid: &str, number: usize| format!("{number:08x}{}", &uuid[8..]);
    for number in 0..turns {
        let mut again = if number == 0 { once.clone() } else { later.clone() };
        for uuid in &uuids {
            again = again.replace(uuid.as_str(), &renamed(uuid, number));
        }
        if number > 0 {
            let parent = format!("\"parentUuid\":\"{}\"", renamed(&last, number - 1));
            again = again.replacen("\"parentUuid\":null", &parent, 1);
        }
        text += &again;
    }
    Ok(text)
}

/// Whether a line says what holds for the whole session.
fn is_said_once(line: &str) -> bool {
    let said = ["\"kind\":\"project\"", "\"kind\":\"frozen\"", "\"kind\":\"pinned\""];
    said.iter().any(|kind| line.contains(kind)) || line.contains("\"type\":\"permission-mode\"")
}

/// So many sessions beside one, each with an id of its own.
fn copies(log: &Path, sessions: usize) -> Result<()> {
    let id = log.file_stem().context("the log has no name")?.to_string_lossy().into_owned();
    let text = std::fs::read_to_string(log)?;
    for number in 0..sessions {
        let other = format!("{number:08x}{}", &id[8..]);
        let path = log.with_file_name(format!("{other}.jsonl"));
        std::fs::write(path, text.replace(&id, &other))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "{\"type\":\"ostler\",\"kind\":\"project\"}\n\
        {\"type\":\"user\",\"parentUuid\":null,\"uuid\":\"11111111-a\"}\n\
        {\"type\":\"ostler\",\"kind\":\"pinned\"}\n\
        {\"type\":\"assistant\",\"parentUuid\":\"11111111-a\",\"uuid\":\"22222222-b\"}\n\
        {\"type\":\"ostler\",\"kind\":\"context\",\"from\":1}\n";

    #[test]
    fn turns_hang_on_each_other_and_no_place_is_named() {
        let text = longer(LOG, 3).unwrap();
        assert_eq!(text.lines().count(), 8);
        assert!(!text.contains("context"), "{text}");
        assert!(text.contains("\"parentUuid\":\"00000001-b\",\"uuid\":\"00000002-a\""), "{text}");
        assert_eq!(text.matches("\"parentUuid\":null").count(), 1);
    }
}
