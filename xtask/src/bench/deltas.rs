//! A long answer in small pieces through each door: from the first byte that the door gives out
//! to the end, and whether memory stays flat when the answer is ten times as long. The model
//! writes as fast as it is read; pieces that come together may be given out together, so every
//! word is counted, and so are the frames.

use anyhow::{Result, ensure};

use super::Plan;
use super::measure::{Process, children_used, repeat};
use super::memory;
use super::model::Model;
use super::project::{MODEL, Project};
use super::reply::{self, WORD};
use super::report::Row;
use super::stats::median;
use super::talk::Talk;
use super::web::Web;

/// Pieces of the answer.
fn count(plan: &Plan) -> usize {
    if plan.small { 500 } else { 20_000 }
}

pub(super) fn deltas(plan: &Plan) -> Result<Vec<Row>> {
    let mut rows = print(plan)?;
    rows.extend(serve(plan)?);
    rows.extend(web(plan)?);
    Ok(rows)
}

fn frames(project: &Project, plan: &Plan, model: &Model) -> Process {
    let format = ["--output-format", "stream-json", "--include-partial-messages"];
    project.prompt(&plan.binary, model).args(format)
}

/// `-p` with frames of the Agent SDK, one a piece.
fn print(plan: &Plan) -> Result<Vec<Row>> {
    let (project, long) = (Project::new()?, count(plan) * 10);
    let mut peaks = Vec::new();
    let mut rows = Vec::new();
    for deltas in [count(plan), long] {
        let model = Model::start(vec![reply::words(deltas)])?;
        let runs = plan.runs.min(if deltas == long { 3 } else { 7 });
        let process = frames(&project, plan, &model);
        // The launcher counts lines only: what stands in them is looked at once.
        check(&process.command().drained()?.text, deltas)?;
        let samples = repeat(&process, runs)?;
        ensure!(samples.iter().all(|sample| sample.lines > 5), "frames are missing");
        peaks.push(median(samples.iter().map(|sample| sample.peak_kib as f64))?);
        if deltas != long {
            let took = samples.iter().map(|s| s.wall.saturating_sub(s.first).as_secs_f64() * 1e3);
            rows.push(Row::new(PRINT, "first byte to end", median(took)?, "ms"));
            let cpu = samples.iter().map(|sample| sample.cpu.as_secs_f64() * 1e3);
            rows.push(Row::new(PRINT, "cpu", median(cpu)?, "ms"));
            let lines = samples.iter().map(|sample| sample.lines as f64);
            rows.push(Row::new(PRINT, "frames written", median(lines)?, ""));
            rows.push(Row::new(PRINT, "peak memory", peaks[0] / 1024.0, "MiB"));
        }
    }
    rows.push(Row::new(PRINT, "peak, ten times as long", peaks[1] / peaks[0], "x"));
    Ok(rows)
}

const PRINT: &str = "-p stream-json";

/// Events on standard output.
fn serve(plan: &Plan) -> Result<Vec<Row>> {
    let (project, deltas) = (Project::new()?, count(plan));
    let model = Model::start(vec![reply::words(deltas)])?;
    let process = project.ostler(&plan.binary, &model).arg("serve");
    let mut figures = Figures::default();
    for _ in 0..plan.runs.min(7) {
        let before = children_used()?.0;
        let mut talk = Talk::start(&process)?;
        let session = talk.start_session()?;
        let heard = talk.send(&session)?;
        check(&heard.text, deltas)?;
        figures.took.push((heard.end - heard.first).as_secs_f64() * 1e3);
        figures.peak(talk.pid())?;
        talk.end()?;
        figures.cpu.push((children_used()?.0 - before).as_secs_f64() * 1e3);
    }
    figures.rows("serve")
}

/// Server-sent events.
fn web(plan: &Plan) -> Result<Vec<Row>> {
    let (project, deltas) = (Project::new()?, count(plan));
    let model = Model::start(vec![reply::words(deltas)])?;
    let process = project.ostler(&plan.binary, &model).args(["web", "--no-open", "-m", MODEL]);
    let mut figures = Figures::default();
    for _ in 0..plan.runs.min(7) {
        let before = children_used()?.0;
        let web = Web::start(&process, &project.home())?;
        let session = web.start_session()?;
        let heard = web.send(&session)?;
        check(&heard.text, deltas)?;
        figures.took.push((heard.end - heard.first).as_secs_f64() * 1e3);
        figures.peak(web.pid())?;
        drop(web);
        figures.cpu.push((children_used()?.0 - before).as_secs_f64() * 1e3);
    }
    figures.rows("web")
}

#[derive(Debug, Default)]
struct Figures {
    took: Vec<f64>,
    cpu: Vec<f64>,
    peaks: Vec<f64>,
}

impl Figures {
    fn peak(&mut self, pid: u32) -> Result<()> {
        if memory::is_told() {
            self.peaks.push(memory::peak_kib(pid)? as f64 / 1024.0);
        }
        Ok(())
    }

    fn rows(self, subject: &str) -> Result<Vec<Row>> {
        let mut rows = vec![
            Row::new(subject, "first byte to end", median(self.took)?, "ms"),
            Row::new(subject, "cpu", median(self.cpu)?, "ms"),
        ];
        if !self.peaks.is_empty() {
            rows.push(Row::new(subject, "peak memory", median(self.peaks)?, "MiB"));
        }
        Ok(rows)
    }
}

/// The deltas bring every word, however the door put them together.
fn check(text: &[u8], deltas: usize) -> Result<()> {
    let text = String::from_utf8_lossy(text);
    let brought = text.lines().filter(|line| line.contains("\"text_delta\""));
    let words: usize = brought.map(|line| line.matches(WORD).count()).sum();
    ensure!(words == deltas, "{words} words came, {deltas} were sent");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_in_deltas_only() {
        let text = "{\"type\":\"text_delta\",\"delta\":\"word word \"}\n{\"type\":\"text\",\"content\":\"word word \"}\n";
        assert!(check(text.as_bytes(), 2).is_ok());
        assert!(check(text.as_bytes(), 3).is_err());
    }
}
