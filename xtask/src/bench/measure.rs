//! Runs one process and takes its wall time, processor time and peak memory.
//!
//! The kernel only adds up what the children of a process used, and a child's peak memory starts
//! at that of the process it was forked from. So each run has a small launcher of its own (this
//! program, started with [`LAUNCHER_VERB`], which does nothing else): its children are the one
//! process that is measured, and its own size is the least that can be measured.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::sh;

/// The first argument that makes this program a launcher; not a verb for people.
pub(crate) const LAUNCHER_VERB: &str = "__launch";

/// A process to measure. It reads nothing, and what it writes is thrown away.
#[derive(Debug, Clone)]
pub(super) struct Process {
    line: Vec<OsString>,
}

/// What one run of a process took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// From before the start to after the end.
    pub(super) wall: Duration,
    /// User and system time, of its own children too.
    pub(super) cpu: Duration,
    /// The most memory it had at once, in KiB.
    pub(super) peak_kib: u64,
}

impl Process {
    pub(super) fn new(program: &Path) -> Self {
        Self { line: vec![program.as_os_str().to_owned()] }
    }

    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.line.push(arg.as_ref().to_owned());
        self
    }

    /// Runs it once.
    pub(super) fn run(&self) -> Result<Sample> {
        let launcher = own_program()?;
        let said = sh::cmd(launcher).arg(LAUNCHER_VERB).args(&self.line).read_quietly()?;
        Sample::parse(&said).with_context(|| format!("the launcher wrote `{}`", said.trim()))
    }
}

impl Sample {
    /// Reads the line of the launcher: nanoseconds, microseconds, KiB.
    fn parse(line: &str) -> Result<Self> {
        let numbers: Vec<u64> =
            line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        ensure!(numbers.len() == 3, "it should be three numbers");
        Ok(Self {
            wall: Duration::from_nanos(numbers[0]),
            cpu: Duration::from_micros(numbers[1]),
            peak_kib: numbers[2],
        })
    }
}

/// This program, even if a build put another in its place since it was started.
fn own_program() -> Result<PathBuf> {
    let own = Path::new("/proc/self/exe");
    if own.exists() {
        return Ok(own.to_path_buf());
    }
    std::env::current_exe().context("cannot find this program to start it")
}

/// Runs a process `runs` times, after once that does not count.
pub(super) fn repeat(process: &Process, runs: usize) -> Result<Vec<Sample>> {
    process.run()?;
    (0..runs).map(|_| process.run()).collect()
}

/// Runs two processes in turns, so that what else the machine does meets both alike.
pub(super) fn paired(a: &Process, b: &Process, runs: usize) -> Result<Vec<(Sample, Sample)>> {
    a.run()?;
    b.run()?;
    (0..runs).map(|_| Ok((a.run()?, b.run()?))).collect()
}

/// The launcher: runs the line, prints what it took.
pub(crate) fn launch(line: Vec<OsString>) -> ExitCode {
    match launch_and_measure(line) {
        Ok((wall, cpu, peak_kib)) => {
            println!("{} {} {peak_kib}", wall.as_nanos(), cpu.as_micros());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn launch_and_measure(line: Vec<OsString>) -> Result<(Duration, Duration, u64)> {
    let mut words = line.into_iter();
    let program = words.next().context("nothing to launch")?;
    let process = sh::cmd(&program).args(words);
    let start = Instant::now();
    let ended_well = process.muted()?;
    let wall = start.elapsed();
    ensure!(ended_well, "`{}` failed: a failure is not measured", program.to_string_lossy());
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let peak = u64::try_from(usage.max_rss()).unwrap_or_default();
    // macOS counts bytes, the others KiB.
    let peak_kib = if cfg!(target_os = "macos") { peak / 1024 } else { peak };
    Ok((wall, Duration::from_micros(u64::try_from(micros).unwrap_or_default()), peak_kib))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_the_launcher_is_read_or_refused() {
        let sample = Sample::parse("1500000 2500 3072\n").unwrap();
        assert_eq!(sample.wall, Duration::from_micros(1500));
        assert_eq!(sample.cpu, Duration::from_micros(2500));
        assert_eq!(sample.peak_kib, 3072);
        for line in ["", "1 2", "1 2 3 4", "1 2 x"] {
            assert!(Sample::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn launched_process_is_measured() {
        let line = ["rustc", "--version"].map(OsString::from).to_vec();
        let (wall, cpu, peak_kib) = launch_and_measure(line).unwrap();
        assert!(wall > Duration::ZERO && cpu > Duration::ZERO);
        assert!(peak_kib > 500, "{peak_kib}");
    }

    #[test]
    fn failure_is_not_a_figure() {
        let line = ["rustc", "--no-such-option"].map(OsString::from).to_vec();
        let error = launch_and_measure(line).unwrap_err().to_string();
        assert_eq!(error, "`rustc` failed: a failure is not measured");
    }
}
