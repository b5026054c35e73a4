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

use crate::{sh, workspace};

/// The first argument that makes this program a launcher; not a verb for people.
pub(crate) const LAUNCHER_VERB: &str = "__launch";

/// A process to measure. It reads nothing; of what it writes the lines are counted.
#[derive(Debug, Clone)]
pub(super) struct Process {
    line: Vec<OsString>,
    env: Vec<(&'static str, String)>,
    dir: Option<PathBuf>,
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
    /// From before the start to the first byte that it wrote.
    pub(super) first: Duration,
    /// How many lines it wrote.
    pub(super) lines: u64,
}

impl Process {
    pub(super) fn new(program: &Path) -> Self {
        Self { line: vec![program.as_os_str().to_owned()], env: Vec::new(), dir: None }
    }

    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.line.push(arg.as_ref().to_owned());
        self
    }

    pub(super) fn args<A: AsRef<OsStr>>(self, args: impl IntoIterator<Item = A>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    pub(super) fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    pub(super) fn dir(mut self, dir: &Path) -> Self {
        self.dir = Some(dir.to_owned());
        self
    }

    /// The command itself, for a bench that measures in another way.
    pub(super) fn command(&self) -> sh::Cmd {
        let mut line = self.line.iter();
        let program = line.next().map(OsString::as_os_str).unwrap_or_default();
        self.in_place(sh::cmd(program)).args(line)
    }

    fn in_place(&self, cmd: sh::Cmd) -> sh::Cmd {
        let cmd = self.env.iter().fold(cmd, |cmd, (name, value)| cmd.env(name, value));
        match &self.dir {
            Some(dir) => cmd.dir(dir),
            None => cmd,
        }
    }

    /// Runs it once.
    pub(super) fn run(&self) -> Result<Sample> {
        let launcher = self.in_place(sh::cmd(own_program()?));
        let said = launcher.arg(LAUNCHER_VERB).args(&self.line).read_quietly()?;
        Sample::parse(&said).with_context(|| format!("the launcher wrote `{}`", said.trim()))
    }
}

impl Sample {
    /// Reads the line of the launcher: nanoseconds, microseconds, KiB, nanoseconds, lines.
    fn parse(line: &str) -> Result<Self> {
        let numbers: Vec<u64> =
            line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        ensure!(numbers.len() == 5, "it should be five numbers");
        Ok(Self {
            wall: Duration::from_nanos(numbers[0]),
            cpu: Duration::from_micros(numbers[1]),
            peak_kib: numbers[2],
            first: Duration::from_nanos(numbers[3]),
            lines: numbers[4],
        })
    }
}

impl Sample {
    fn line(&self) -> String {
        let Self { wall, cpu, peak_kib, first, lines } = self;
        let (wall, cpu, first) = (wall.as_nanos(), cpu.as_micros(), first.as_nanos());
        format!("{wall} {cpu} {peak_kib} {first} {lines}")
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
        Ok(sample) => {
            println!("{}", sample.line());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn launch_and_measure(line: Vec<OsString>) -> Result<Sample> {
    let mut words = line.into_iter();
    let program = words.next().context("nothing to launch")?;
    let process = sh::cmd(&program).args(words).dir(&workspace::invoked_from()?);
    let start = Instant::now();
    let drained = process.drained()?;
    let wall = start.elapsed();
    let ended_well = drained.ended_well;
    ensure!(ended_well, "`{}` failed: a failure is not measured", program.to_string_lossy());
    let (cpu, peak_kib) = children_used()?;
    // Counted after the end: it must not keep the process waiting.
    let lines = drained.text.iter().filter(|byte| **byte == b'\n').count();
    let lines = u64::try_from(lines).unwrap_or(u64::MAX);
    Ok(Sample { wall, cpu, peak_kib, first: drained.first - start, lines })
}

/// Processor time of all children that have ended, and the peak memory of the largest, in KiB.
pub(super) fn children_used() -> Result<(Duration, u64)> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let peak = u64::try_from(usage.max_rss()).unwrap_or_default();
    // macOS counts bytes, the others KiB.
    let peak_kib = if cfg!(target_os = "macos") { peak / 1024 } else { peak };
    Ok((Duration::from_micros(u64::try_from(micros).unwrap_or_default()), peak_kib))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_the_launcher_is_read_or_refused() {
        let sample = Sample::parse("1500000 2500 3072 700 12\n").unwrap();
        assert_eq!(sample.wall, Duration::from_micros(1500));
        assert_eq!(sample.cpu, Duration::from_micros(2500));
        assert_eq!((sample.peak_kib, sample.lines), (3072, 12));
        assert_eq!(sample.first, Duration::from_nanos(700));
        assert_eq!(Sample::parse(&sample.line()).unwrap(), sample);
        for line in ["", "1 2 3 4", "1 2 3 4 5 6", "1 2 3 4 x"] {
            assert!(Sample::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn launched_process_is_measured() {
        let line = ["rustc", "--version"].map(OsString::from).to_vec();
        let sample = launch_and_measure(line).unwrap();
        assert!(sample.wall >= sample.first && sample.cpu > Duration::ZERO);
        assert_eq!(sample.lines, 1);
        assert!(sample.peak_kib > 500, "{}", sample.peak_kib);
    }

    #[test]
    fn failure_is_not_a_figure() {
        let line = ["rustc", "--no-such-option"].map(OsString::from).to_vec();
        let error = launch_and_measure(line).unwrap_err().to_string();
        assert_eq!(error, "`rustc` failed: a failure is not measured");
    }
}
