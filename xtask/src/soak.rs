//! `cargo xtask soak`: the checks that take too long for CI. They are run on purpose, and what
//! they find is written down in the documentation with date and command.

use anyhow::{Result, bail};

use crate::fuzz;
use crate::sh::Steps;

/// Run a long check.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Run one of the long checks that CI does not do.",
    after_help = "Example:\n  cargo xtask soak fuzz-all --seconds 300\n  cargo xtask soak fuzz-all --from bound_middle"
)]
pub(crate) struct Args {
    /// Which check; without it, they are listed
    name: Option<String>,
    /// How long each part runs
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Where random inputs start
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Go on with this part of a run that was stopped
    #[arg(long)]
    from: Option<String>,
}

/// A long check.
struct Soak {
    name: &'static str,
    about: &'static str,
    run: fn(&Args, &mut Steps) -> Result<()>,
}

const SOAKS: &[Soak] = &[Soak {
    name: "fuzz-all",
    about: "every fuzz target, `--seconds` each; `--from TARGET` goes on with one",
    run: fuzz_all,
}];

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    let Some(name) = &args.name else {
        print!("{}", list());
        return Ok(());
    };
    match SOAKS.iter().find(|soak| soak.name == name) {
        Some(soak) => (soak.run)(args, steps),
        None => bail!("there is no long check `{name}`; there are:\n{}", list().trim_end()),
    }
}

fn list() -> String {
    SOAKS.iter().map(|soak| format!("  {:<12}  {}\n", soak.name, soak.about)).collect()
}

fn fuzz_all(args: &Args, steps: &mut Steps) -> Result<()> {
    for target in rest(&fuzz::targets()?, args.from.as_deref())? {
        fuzz::one(steps, target, args.seconds, args.seed)?;
    }
    Ok(())
}

/// The parts that are still to do.
fn rest<'a>(parts: &'a [String], from: Option<&str>) -> Result<&'a [String]> {
    let Some(from) = from else {
        return Ok(parts);
    };
    match parts.iter().position(|part| part == from) {
        Some(at) => Ok(&parts[at..]),
        None => bail!("there is no part `{from}`; there are: {}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopped_run_goes_on_where_it_was() {
        let parts = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(rest(&parts, None).unwrap().len(), 3);
        assert_eq!(rest(&parts, Some("b")).unwrap(), &parts[1..]);
        let error = rest(&parts, Some("d")).unwrap_err().to_string();
        assert_eq!(error, "there is no part `d`; there are: a, b, c");
    }

    #[test]
    fn unknown_name_lists_what_there_is() {
        let args = Args { name: Some("none".to_owned()), seconds: 1, seed: 1, from: None };
        let error = run(&args, &mut Steps::default()).unwrap_err().to_string();
        assert!(error.contains("`none`") && error.contains("fuzz-all"), "{error}");
    }
}
