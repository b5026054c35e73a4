//! Starts processes: the only file here that may. Inside the namespace everything that is left
//! of a script is killed before the next one starts.

use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How often a running script is looked at.
const LOOK: Duration = Duration::from_micros(500);

/// A command to be filled in.
pub(crate) fn command(program: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "an oracle starts what it watches, here only")]
    Command::new(program)
}

/// Runs a program in a folder with nothing to read and nothing shown; an error if it fails.
pub(crate) fn quiet(program: &str, args: &[&str], dir: &str) -> Result<()> {
    let output = command(program)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{program}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{program} {}` failed: {}", args.join(" "), said.trim());
    }
    Ok(())
}

/// Runs a command to its end, or to that of its time; what it started does not outlive it. Only
/// for use inside a namespace of processes of its own: it kills all of them.
pub(crate) fn to_its_end(mut command: Command, out: File, limit: Duration) -> Result<bool> {
    let errors = out.try_clone()?;
    let mut child =
        command.stdin(Stdio::null()).stdout(out).stderr(errors).spawn().context("cannot start")?;
    let status = wait(&mut child, Instant::now() + limit)?;
    // Everything in the namespace but its first process and this one.
    let _nobody_is_left = kill(Pid::from_raw(-1), Signal::SIGKILL);
    match status {
        Some(status) => Ok(status.signal().is_none()),
        None => {
            child.wait()?;
            Ok(false)
        }
    }
}

fn wait(child: &mut Child, end: Instant) -> Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > end {
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}
