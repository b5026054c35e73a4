//! `cargo xtask fuzz`: runs a target of the crate `ostler-fuzz` for longer than its tests do.

use anyhow::Result;

use crate::sh::{self, Steps};

/// Run a fuzz target.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Run one target of the crate `ostler-fuzz` in a release build for a while. An input that crashes it is saved below `fuzz/crashes/`.",
    after_help = "Example:\n  cargo xtask fuzz bound_middle --seconds 60\n  cargo xtask fuzz --list"
)]
pub(crate) struct Args {
    /// The target
    #[arg(required_unless_present = "list")]
    target: Option<String>,
    /// How long to run
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Where the random inputs start; the same seed gives the same inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// List the targets
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    match &args.target {
        Some(target) if !args.list => one(steps, target, args.seconds, args.seed),
        _ => {
            for target in targets()? {
                println!("{target}");
            }
            Ok(())
        }
    }
}

/// Runs one target.
pub(crate) fn one(steps: &mut Steps, target: &str, seconds: u64, seed: u64) -> Result<()> {
    let (seconds, seed) = (seconds.to_string(), seed.to_string());
    let fuzz = runner().args([target, "--seconds", &seconds, "--seed", &seed]);
    steps.run(&format!("fuzz {target}"), || fuzz.run())
}

/// The names of all targets.
pub(crate) fn targets() -> Result<Vec<String>> {
    Ok(runner().arg("--list").read()?.lines().map(str::to_owned).collect())
}

fn runner() -> sh::Cmd {
    sh::cargo(["run", "--quiet", "--release", "-p", "ostler-fuzz", "--"])
}
