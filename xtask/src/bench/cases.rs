//! The benches. Each gives rows for the report; an error means that what was measured did not do
//! what it should, so that a fast failure is never taken for a good figure.

use anyhow::Result;

use super::measure::{Process, paired, repeat};
use super::report::{Row, rows_of};
use super::stats::median_ratio;
use super::{Bench, Plan};

pub(super) const BENCHES: &[Bench] =
    &[Bench { name: "version", run: version }, Bench { name: "noise", run: noise }];

fn print_version(plan: &Plan) -> Process {
    Process::new(&plan.binary).arg("--version")
}

/// The least the binary can do: start, print a line, end.
fn version(plan: &Plan) -> Result<Vec<Row>> {
    rows_of("ostler", &repeat(&print_version(plan), plan.runs)?)
}

/// The same process against itself: a ratio nearer to one than this machine's means nothing.
fn noise(plan: &Plan) -> Result<Vec<Row>> {
    let pairs = paired(&print_version(plan), &print_version(plan), plan.runs)?;
    let walls = pairs.iter().map(|(a, b)| (a.wall.as_secs_f64(), b.wall.as_secs_f64()));
    Ok(vec![Row::new("ostler, ostler", "wall ratio", median_ratio(walls)?, "x")])
}
