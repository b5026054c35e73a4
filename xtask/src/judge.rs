//! `cargo xtask judge`: compares what the permission judge says of shell scripts with what they
//! do. The crate `ostler-oracle` does the work; this starts it in a release build, because it
//! measures the judge's time as well.

use anyhow::Result;

use crate::sh::{self, Steps};

/// The page of the documentation that the figures go to.
const PAGE: &str = "docs/permissions-figures.md";
/// How many scripts make the figures.
const COUNT: u64 = 20_000;
/// The seed of the figures, and of the sample that CI does.
const SEED: u64 = 20_261_201;

/// Compare verdicts with effects.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Generate shell scripts from a seed, judge each, run it in a throw-away namespace without network, and compare its effects with the verdict. Prints every script that ran unasked and should not have, how often everyday commands ask, and how long the judge takes. Needs `bubblewrap` and `strace`; without them the scripts are judged and not run.",
    after_help = "Example:\n  cargo xtask judge --count 2000\n  cargo xtask judge --show 'cat ~/.ssh/id_rsa'\n  cargo xtask judge --write-docs"
)]
pub(crate) struct Args {
    /// How many scripts
    #[arg(long, default_value_t = COUNT)]
    count: u64,
    /// Where the scripts start; the same seed gives the same scripts
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// Write the figures to the documentation
    #[arg(long)]
    write_docs: bool,
    /// Show one script instead, by `SEED:NUMBER` or as text
    #[arg(long, value_name = "SCRIPT")]
    show: Option<String>,
}

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    if let Some(script) = &args.show {
        return oracle().args(["show", script]).run();
    }
    let (count, seed) = (args.count.to_string(), args.seed.to_string());
    let mut run = oracle().args(["run", "--count", &count, "--seed", &seed, "--times"]);
    if args.write_docs {
        run = run.args(["--need-namespaces", "--page", PAGE]);
    }
    steps.run("judge", || run.run())
}

fn oracle() -> sh::Cmd {
    sh::cargo(["run", "--quiet", "--release", "-p", "ostler-oracle", "--"])
}
