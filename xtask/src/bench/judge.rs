//! The permission judge on shell scripts: everyday lines and long ones, and a long one as a whole
//! process against the shell's own check of its grammar.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::Plan;
use super::measure::{Process, paired};
use super::report::Row;
use super::stats::median_ratio;
use crate::{sh, workspace};

pub(super) fn judge(plan: &Plan) -> Result<Vec<Row>> {
    let program = program(plan.small)?;
    let run = sh::cmd(&program);
    let told = if plan.small { run.arg("--few") } else { run }.read_quietly()?;
    let mut rows = Vec::new();
    for line in told.lines() {
        let mut parts = line.split('\t');
        let what = parts.next().unwrap_or_default();
        let mut time = || -> Result<f64> {
            let nanos: f64 = parts.next().context("a time is missing")?.parse()?;
            Ok(nanos / 1e6)
        };
        let [median, _, worst] = [time()?, time()?, time()?];
        rows.push(Row::new(what, "median", median, "ms"));
        rows.push(Row::new(what, "worst", worst, "ms"));
    }
    if let Some(ratio) = ratio(&program, plan.runs)? {
        rows.push(Row::new("a script of 4 KiB, bash -n", "wall ratio", ratio, "x"));
    }
    Ok(rows)
}

/// Judging a script of 4 KiB against `bash -n`, as whole processes; nothing without `bash`.
pub(crate) fn ratio(program: &Path, runs: usize) -> Result<Option<f64>> {
    let Some(bash) = workspace::find_program("bash") else { return Ok(None) };
    let dir = tempfile::tempdir()?;
    let script = dir.path().join("script");
    std::fs::write(&script, sh::cmd(program).args(["--make", "4096"]).read_quietly()?)
        .with_context(|| format!("cannot write `{}`", script.display()))?;
    let ours = Process::new(program).arg(&script);
    let theirs = Process::new(&bash).arg("-n").arg(&script);
    let pairs = paired(&ours, &theirs, runs)?;
    median_ratio(pairs.iter().map(|(a, b)| (a.wall.as_secs_f64(), b.wall.as_secs_f64()))).map(Some)
}

/// The program that measures, built.
pub(crate) fn program(small: bool) -> Result<PathBuf> {
    let build = ["build", "--quiet", "-p", "ostler-permission", "--example", "judge_times"];
    let build = sh::cargo(build);
    let (build, profile) =
        if small { (build, "debug") } else { (build.arg("--release"), "release") };
    build.run()?;
    workspace::binary(profile, "examples/judge_times")
}
