//! `cargo xtask judge`: compares what the permission judge says of shell scripts with what they
//! do, and measures how long it takes. The crate `ostler-oracle` does the first, an example of
//! the judge's crate, in a release build, the second.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::sh::{self, Steps};
use crate::{bench, workspace};

/// How many scripts make the figures.
const COUNT: u64 = 20_000;
/// The seed of the figures, and of the sample that CI does.
const SEED: u64 = 20_261_201;
/// How many scripts CI does.
const SAMPLE: u64 = 2_000;

/// Compare verdicts with effects.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Generate shell scripts from a seed, judge each, run it in a throw-away namespace without network, and compare its effects with the verdict. Prints every script that ran unasked and should not have, and how often everyday commands ask; with `--page`, also how long the judge takes in a release build. Needs `bubblewrap` and `strace`; without them the scripts are judged and not run.",
    after_help = "Example:\n  cargo xtask judge --count 2000\n  cargo xtask judge --show 'cat ~/.ssh/id_rsa'\n  cargo xtask judge --page docs/permissions-figures.md"
)]
pub(crate) struct Args {
    /// How many scripts
    #[arg(long, default_value_t = COUNT)]
    count: u64,
    /// Where the scripts start; the same seed gives the same scripts
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// Write the figures here, as a page of the documentation
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Show one script instead, by `SEED:NUMBER` or as text
    #[arg(long, value_name = "SCRIPT")]
    show: Option<String>,
}

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    if let Some(script) = &args.show {
        return oracle().args(["show", script]).run();
    }
    let mut judge = with_seed(args.count, args.seed);
    let times = tempfile::NamedTempFile::new().context("cannot make a temporary file")?;
    if let Some(page) = &args.page {
        let page = workspace::invoked_from()?.join(page);
        steps.run("judge's time", || measure(times.path()))?;
        judge = judge.arg("--need-namespaces").arg("--page").arg(page);
        judge = judge.arg("--times").arg(times.path());
    }
    steps.run("judge", || judge.run())
}

/// The sample that CI does.
pub(crate) fn sample(steps: &mut Steps) -> Result<()> {
    steps.run("judge", || with_seed(SAMPLE, SEED).run())
}

fn with_seed(count: u64, seed: u64) -> sh::Cmd {
    let (count, seed) = (count.to_string(), seed.to_string());
    oracle().args(["run", "--count", &count, "--seed", &seed])
}

fn oracle() -> sh::Cmd {
    sh::cargo(["run", "--quiet", "-p", "ostler-oracle", "--"])
}

fn measure(to: &Path) -> Result<()> {
    let program = bench::judge_times(false)?;
    let times = sh::cmd(&program).read()?;
    let ratio = bench::judge_ratio(&program, 21)?;
    ensure!(!times.is_empty(), "nothing was measured");
    let compared = match ratio {
        Some(ratio) => format!(
            "compared\tAs whole processes, judging a script of 4 KiB takes {ratio:.1} times as long as `bash -n`, which only checks its grammar.\n"
        ),
        None => String::new(),
    };
    std::fs::write(to, times + &compared)
        .with_context(|| format!("cannot write `{}`", to.display()))
}
