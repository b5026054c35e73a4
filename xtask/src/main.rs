//! Automation of the repository: every chore is one verb of `cargo xtask`, one file each.
//! Nothing of the product depends on it, and no chore lives in a shell script.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to its user"
)]

mod bench;
mod bless;
mod ci;
mod codegen;
mod dist;
mod fuzz;
mod inputs_hash;
mod judge;
mod run;
mod sh;
mod soak;
mod test;
mod tidy;
mod web;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::sh::Steps;

/// Chores of the Ostler repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Build the web page and the binary, and open the GUI on the folder you are in
    Run(run::Args),
    /// Set up what the tests need on this machine, then do all of `ci`
    Test(test::Args),
    /// Every check, in the order that CI does them; no set-up
    Ci(ci::Args),
    /// Write the files that are generated from the protocol, or check them
    Codegen(codegen::Args),
    /// Check what the compiler does not: crate edges, licences, links, headers
    Tidy(tidy::Args),
    /// Build the web page into `web/dist`, when it is stale
    Web(web::Args),
    /// Measure whole processes: time, CPU and peak memory
    Bench(bench::Args),
    /// Run one fuzz target for a while
    Fuzz(fuzz::Args),
    /// Compare what the permission judge says of shell scripts with what they do
    Judge(judge::Args),
    /// Run one of the long checks that CI does not do
    Soak(soak::Args),
    /// Make the release archive
    Dist(dist::Args),
    /// Accept what the code does now: generated files and snapshots
    Bless(bless::Args),
}

fn main() -> ExitCode {
    // The measuring launcher comes first: it must stay small in memory (see bench/measure.rs).
    let mut raw = std::env::args_os();
    if raw.nth(1).is_some_and(|verb| verb == bench::LAUNCHER_VERB) {
        return bench::launch(raw.collect());
    }
    let mut steps = Steps::default();
    let result = dispatch(Cli::parse().verb, &mut steps);
    steps.summary();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(verb: Verb, steps: &mut Steps) -> anyhow::Result<()> {
    match verb {
        Verb::Run(args) => run::run(&args, steps),
        Verb::Test(args) => test::run(&args, steps),
        Verb::Ci(args) => ci::run(&args, steps),
        Verb::Codegen(args) => codegen::run(&args, steps),
        Verb::Tidy(args) => tidy::run(&args, steps),
        Verb::Web(args) => web::run(&args, steps),
        Verb::Bench(args) => bench::run(&args, steps),
        Verb::Fuzz(args) => fuzz::run(&args, steps),
        Verb::Judge(args) => judge::run(&args, steps),
        Verb::Soak(args) => soak::run(&args, steps),
        Verb::Dist(args) => dist::run(&args, steps),
        Verb::Bless(args) => bless::run(&args, steps),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_verb_shows_an_example() {
        let command = Cli::command();
        command.clone().debug_assert();
        for verb in command.get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let example = format!("cargo xtask {}", verb.get_name());
            assert!(help.contains(&example), "`{}` has no example", verb.get_name());
        }
    }
}
