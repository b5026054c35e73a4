//! `cargo xtask run`: from a fresh checkout to the open GUI. It goes on without the page when
//! Node is missing, because every other door works without it.

use std::ffi::OsString;

use anyhow::Result;

use crate::sh::{self, Steps};
use crate::{web, workspace};

/// Build everything and open the GUI.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Build the web page (when it is stale) and the release binary, and open the GUI on the folder you are in. Arguments go to `ostler web`.",
    after_help = "Example:\n  cargo xtask run --port 8080"
)]
pub(crate) struct Args {
    /// Arguments for `ostler web`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    let folder = workspace::invoked_from()?;
    if !web::exists() {
        steps.skip("web page", "this checkout has none");
    } else if let Err(error) = web::check_node() {
        eprintln!("{error}; going on without the web page");
        steps.skip("web page", "Node is missing or too old");
    } else {
        web::build(steps)?;
    }
    steps.run("binary", || sh::cargo(["build", "--release", "-p", "ostler"]).run())?;
    let binary = workspace::binary("release", "ostler")?;
    steps.summary();
    sh::cmd(binary).arg("web").args(&args.args).dir(&folder).exec()
}
