//! `cargo xtask ci`: everything that must hold before a change goes in, in a fixed order, cheap
//! checks first. It sets nothing up and asks no network; `cargo xtask test` does that before.

use anyhow::Result;

use crate::sh::{self, Outcome, Steps};
use crate::{bench, codegen, judge, tidy, web};

/// Every check of CI.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Every check of CI, in its order: format, generated files, tidy, clippy, build of the tests, web page, tests, documentation, checks of the web page, a sample of 2,000 scripts that compares the permission judge with effects, and the benches as a smoke test. Stops at the first step that fails.",
    after_help = "Example:\n  cargo xtask ci"
)]
pub(crate) struct Args {}

/// What is known of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetUp {
    /// `cargo xtask test` has set it up: a test that finds a part missing fails.
    Promised,
    /// Perhaps it is not: tests that need more than Rust say so and are left out.
    Unknown,
}

pub(crate) fn run(_: &Args, steps: &mut Steps) -> Result<()> {
    all(steps, SetUp::Unknown)
}

/// All steps.
pub(crate) fn all(steps: &mut Steps, set_up: SetUp) -> Result<()> {
    steps.run("format", || sh::cargo(["fmt", "--all", "--check"]).run())?;
    codegen::check(steps)?;
    tidy::all(steps)?;
    steps.run("clippy", || {
        let clippy = sh::cargo(["clippy", "--workspace", "--all-targets"]);
        clippy.args(["--", "-D", "warnings"]).run()
    })?;
    page(steps)?;
    tests(steps, set_up)?;
    steps.run("rustdoc", || {
        let doc = sh::cargo(["doc", "--no-deps", "--workspace"]);
        doc.env("RUSTDOCFLAGS", "-D warnings").run()
    })?;
    page_checks(steps)?;
    judge::sample(steps)?;
    bench::smoke(steps)
}

/// The page is built before anything embeds it: the browser tests want the real one.
fn page(steps: &mut Steps) -> Result<()> {
    if !web::exists() {
        steps.skip("web page", "this checkout has none");
        return Ok(());
    }
    match web::check_node() {
        Ok(()) => web::build(steps),
        Err(error) => {
            eprintln!("{error}");
            steps.skip("web page", "Node is missing or too old");
            Ok(())
        }
    }
}

/// The seed of the property tests.
const PROPTEST_SEED: &str = "20261201";

fn tests(steps: &mut Steps, set_up: SetUp) -> Result<()> {
    // Where it is installed it saves time; it is never built for this.
    let nextest = sh::cargo(["nextest", "--version"]).works();
    let (build, run): (&[&str], &[&str]) = if nextest {
        (&["nextest", "run", "--workspace", "--no-run"], &["nextest", "run", "--workspace"])
    } else {
        (&["test", "--workspace", "--no-run"], &["test", "--workspace"])
    };
    steps.run("build tests", || sh::cargo([]).args(build).run())?;
    steps.run("tests", || {
        // Random suites are the same in every run; other seeds are for `cargo xtask soak`.
        let tests = sh::cargo([]).args(run).env("PROPTEST_RNG_SEED", PROPTEST_SEED);
        match set_up {
            SetUp::Promised => tests.env("OSTLER_TEST_FULL", "1").run(),
            SetUp::Unknown => tests.run(),
        }
    })?;
    if nextest {
        steps.run("documentation tests", || sh::cargo(["test", "--doc", "--workspace"]).run())?;
    }
    Ok(())
}

fn page_checks(steps: &mut Steps) -> Result<()> {
    for script in ["typecheck", "lint", "test"] {
        steps.step(&format!("web {script}"), || {
            if !web::exists() {
                return Ok(Outcome::Skipped("this checkout has no web page"));
            }
            if !web::dir().join("node_modules").is_dir() {
                return Ok(Outcome::Skipped("packages are not installed"));
            }
            if !web::has_script(script)? {
                return Ok(Outcome::Skipped("no such script in `web/package.json`"));
            }
            web::npm(script).run().map(|()| Outcome::Done)
        })?;
    }
    Ok(())
}
