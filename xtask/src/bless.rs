//! `cargo xtask bless`: takes what the code does now as what it should do. It changes only
//! generated files and snapshots; the difference is for a person to read before it is committed.

use anyhow::Result;

use crate::codegen;
use crate::sh::{self, Steps};

/// Accept what the code does now.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Write the generated files and the snapshots of tests anew, and show what changed. Read the difference before you commit it.",
    after_help = "Example:\n  cargo xtask bless -p ostler-core"
)]
pub(crate) struct Args {
    /// Only the snapshots of this crate
    #[arg(short, long)]
    package: Option<String>,
}

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    if args.package.is_none() {
        codegen::write(steps)?;
    }
    steps.run("snapshots", || {
        let test = match &args.package {
            Some(package) => sh::cargo(["test", "-p", package]),
            None => sh::cargo(["test", "--workspace"]),
        };
        test.env("INSTA_UPDATE", "always")
            .env("INSTA_FORCE_PASS", "1")
            .env("OSTLER_BLESS", "1")
            .run()
    })?;
    steps.run("what changed", || sh::cmd("git").args(["--no-pager", "diff", "--stat"]).run())
}
