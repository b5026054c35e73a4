//! How soon the program is there: its version, its first request, a whole short answer.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::Plan;
use super::measure::{Process, paired, repeat};
use super::model::Model;
use super::project::Project;
use super::reply;
use super::report::{Row, rows_of};
use super::stats::{median, median_ratio};

fn print_version(plan: &Plan) -> Process {
    Process::new(&plan.binary).arg("--version")
}

/// The least the binary can do: start, print a line, end.
pub(super) fn version(plan: &Plan) -> Result<Vec<Row>> {
    let samples = repeat(&print_version(plan), plan.runs)?;
    ensure!(samples.iter().all(|sample| sample.lines == 1), "the version is one line");
    rows_of("ostler", &samples)
}

/// The same process against itself: a ratio nearer to one than this machine's means nothing.
pub(super) fn noise(plan: &Plan) -> Result<Vec<Row>> {
    let pairs = paired(&print_version(plan), &print_version(plan), plan.runs)?;
    let walls = pairs.iter().map(|(a, b)| (a.wall.as_secs_f64(), b.wall.as_secs_f64()));
    Ok(vec![Row::new("ostler, ostler", "wall ratio", median_ratio(walls)?, "x")])
}

/// From before the process is started to the first byte, and to the last, of what it asks the
/// model for `-p hi`.
pub(super) fn first_request(plan: &Plan) -> Result<Vec<Row>> {
    let model = Model::start(vec![reply::words(1)])?;
    let project = Project::new()?;
    let process = project.prompt(&plan.binary, &model);
    let (mut first, mut whole) = (Vec::new(), Vec::new());
    for run in 0..=plan.runs {
        let command = process.command();
        let start = Instant::now();
        let done = command.drained()?;
        let seen = model.take();
        ensure!(done.ended_well && seen.len() == 1, "the model was asked {} times", seen.len());
        ensure!(contains(&seen[0].body, b"\"hi\""), "the prompt is not in the request");
        // The first run makes the home.
        if run > 0 {
            first.push((seen[0].came - start).as_secs_f64() * 1e3);
            whole.push((seen[0].read - start).as_secs_f64() * 1e3);
        }
    }
    Ok(vec![
        Row::new("ostler -p hi", "to first byte", median(first)?, "ms"),
        Row::new("ostler -p hi", "to whole request", median(whole)?, "ms"),
    ])
}

/// A whole answer of one word, from start to end.
pub(super) fn one_shot(plan: &Plan) -> Result<Vec<Row>> {
    let model = Model::start(vec![reply::words(1)])?;
    let project = Project::new()?;
    let samples = repeat(&project.prompt(&plan.binary, &model), plan.runs)?;
    let asked = model.take().len();
    ensure!(asked == plan.runs + 1, "the model was asked {asked} times");
    ensure!(samples.iter().all(|sample| sample.lines == 1), "the answer is one line");
    rows_of("ostler -p hi", &samples)
}

/// Whether `part` is somewhere in `all`.
pub(super) fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}
