//! `cargo xtask bench`: measures whole processes as a user meets them. Absolute figures belong to
//! the machine they were taken on; what is compared is taken in one run, in turns. A smoke run
//! checks that every bench works and judges no time.

mod cases;
mod deltas;
mod judge;
mod measure;
mod memory;
mod model;
mod project;
mod reply;
mod report;
mod resume;
mod round_trips;
mod search;
mod serve;
mod start;
mod stats;
mod talk;
mod web;

use std::path::PathBuf;

use anyhow::{Context, Result};

pub(crate) use self::judge::{program as judge_times, ratio as judge_ratio};
pub(crate) use self::measure::{LAUNCHER_VERB, launch};
use self::report::{Report, Row};
use crate::sh::{self, Steps};
use crate::workspace;

/// How often each process is measured.
const RUNS: usize = 21;
/// How often in a smoke run.
const SMOKE_RUNS: usize = 3;

/// Measure.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Measure whole processes: wall time, processor time and peak memory, as medians. `--smoke` takes few runs of the debug build and judges no time.",
    after_help = "Example:\n  cargo xtask bench --json bench.json\n  cargo xtask bench --smoke"
)]
pub(crate) struct Args {
    /// A few runs of the debug build, to see that every bench works
    #[arg(long)]
    smoke: bool,
    /// Write the figures here as well
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measure this binary, and build none
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Only benches whose name contains this
    #[arg(long)]
    only: Option<String>,
}

/// What a bench is given.
#[derive(Debug)]
struct Plan {
    /// The binary to measure.
    binary: PathBuf,
    /// How often to run each process.
    runs: usize,
    /// Whether sizes are small, as only a smoke run has them.
    small: bool,
}

/// A bench: add one to [`cases::BENCHES`].
struct Bench {
    name: &'static str,
    run: fn(&Plan) -> Result<Vec<Row>>,
}

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    let profile = if args.smoke { "debug" } else { "release" };
    let binary = match &args.binary {
        Some(binary) => workspace::invoked_from()?.join(binary),
        None => {
            steps.run("binary", || {
                let build = sh::cargo(["build", "-p", "ostler"]);
                if args.smoke { build } else { build.arg("--release") }.run()
            })?;
            workspace::binary(profile, "ostler")?
        }
    };
    let runs = if args.smoke { SMOKE_RUNS } else { RUNS };
    let plan = Plan { binary, runs, small: args.smoke };
    let mut report = Report::of_this_machine(profile, runs);
    for bench in cases::BENCHES {
        if args.only.as_ref().is_some_and(|part| !bench.name.contains(part.as_str())) {
            continue;
        }
        steps.run(&format!("bench {}", bench.name), || {
            report.add(bench.name, (bench.run)(&plan)?)
        })?;
    }
    print!("{}", report.table());
    if let Some(path) = &args.json {
        std::fs::write(path, report.json()?)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

/// The smoke run, as a part of CI; `OSTLER_BENCH_ONLY` narrows it, for tests of CI itself.
pub(crate) fn smoke(steps: &mut Steps) -> Result<()> {
    let only = crate::workspace::env("OSTLER_BENCH_ONLY");
    let only = only.map(|part| part.to_string_lossy().into_owned());
    run(&Args { smoke: true, json: None, binary: None, only }, steps)
}
