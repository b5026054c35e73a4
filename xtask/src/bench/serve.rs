//! `ostler serve`: how soon it answers, and how much memory it has with and without sessions.

use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::json;

use super::Plan;
use super::memory;
use super::model::Model;
use super::project::Project;
use super::reply;
use super::report::Row;
use super::stats::median;
use super::talk::Talk;

/// Sessions that the idle process has had a run in.
const SESSIONS: usize = 20;

/// From before the start to the answer to the first request.
pub(super) fn first_reply(plan: &Plan) -> Result<Vec<Row>> {
    let model = Model::start(vec![reply::words(1)])?;
    let project = Project::new()?;
    let process = project.ostler(&plan.binary, &model).arg("serve");
    let mut took = Vec::new();
    for run in 0..=plan.runs {
        let start = Instant::now();
        let mut talk = Talk::start(&process)?;
        let (info, heard) = talk.call("host.info", &json!({}))?;
        ensure!(info["version"].is_string(), "the host says nothing of itself: {info}");
        if run > 0 {
            took.push((heard.end - start).as_secs_f64() * 1e3);
        }
        talk.end()?;
    }
    Ok(vec![Row::new("ostler serve", "to first answer", median(took)?, "ms")])
}

/// Memory of a process that does nothing: before any session, and after a run in each of twenty.
pub(super) fn idle_memory(plan: &Plan) -> Result<Vec<Row>> {
    ensure!(memory::is_told(), "this system does not tell the memory of a process");
    let (mut none, mut many) = (Vec::new(), Vec::new());
    for _ in 0..plan.runs.min(5) {
        let model = Model::start(vec![reply::words(1)])?;
        let project = Project::new()?;
        let mut talk = Talk::start(&project.ostler(&plan.binary, &model).arg("serve"))?;
        talk.call("host.info", &json!({}))?;
        none.push(memory::proportional_kib(talk.pid())? as f64 / 1024.0);
        for _ in 0..SESSIONS {
            let session = talk.start_session()?;
            talk.send(&session)?;
        }
        ensure!(model.take().len() == SESSIONS, "not every session asked the model");
        many.push(memory::proportional_kib(talk.pid())? as f64 / 1024.0);
        talk.end()?;
    }
    let (none, many) = (median(none)?, median(many)?);
    let each = (many - none).max(0.0) * 1024.0 / SESSIONS as f64;
    Ok(vec![
        Row::new("ostler serve", "no session", none, "MiB"),
        Row::new("ostler serve", "20 sessions", many, "MiB"),
        Row::new("ostler serve", "each session", each, "KiB"),
    ])
}
