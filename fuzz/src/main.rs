//! Runs one target for a while: `ostler-fuzz TARGET --seconds N [--seed N]`, or `--list`. It is
//! started by `cargo xtask fuzz`; a crash is printed and saved, and ends the run.
#![expect(clippy::print_stdout, reason = "a command-line tool talks to its user")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ostler_fuzz::{TARGETS, corpus, hunt, save_crash, target};

/// How to call it.
const USAGE: &str = "usage: ostler-fuzz TARGET [--seconds N] [--seed N], or ostler-fuzz --list";

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--list") {
        for target in TARGETS {
            println!("{}", target.name);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let request = parse(&args)?;
    run(&request)
}

/// What to run.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    target: String,
    seconds: u64,
    seed: u64,
}

fn parse(args: &[String]) -> Result<Request> {
    let mut words = args.iter();
    let mut request =
        Request { target: words.next().context(USAGE)?.clone(), seconds: 10, seed: 1 };
    while let Some(option) = words.next() {
        let slot = match option.as_str() {
            "--seconds" => &mut request.seconds,
            "--seed" => &mut request.seed,
            _ => bail!("unknown option `{option}`; {USAGE}"),
        };
        let value = words.next().with_context(|| format!("`{option}` wants a number; {USAGE}"))?;
        *slot = value.parse().with_context(|| format!("`{value}` is not a number; {USAGE}"))?;
    }
    Ok(request)
}

fn run(request: &Request) -> Result<ExitCode> {
    let Some(target) = target(&request.target) else {
        bail!("there is no target `{}`; `--list` shows them", request.target);
    };
    let end = Instant::now() + Duration::from_secs(request.seconds);
    match hunt(target, &corpus(target)?, request.seed, |_| Instant::now() < end) {
        Ok(runs) => {
            println!("{}: {runs} inputs from seed {}, no crash", target.name, request.seed);
            Ok(ExitCode::SUCCESS)
        }
        Err(crash) => {
            let path = save_crash(target, &crash.input)?;
            println!("{}: {}", target.name, crash.said);
            println!("input: {:?}", String::from_utf8_lossy(&crash.input));
            println!("saved to {}; once mended, move it to the corpus", path.display());
            Ok(ExitCode::FAILURE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn arguments_are_read_or_refused() {
        let request = parse(&words("x --seed 5 --seconds 2")).unwrap();
        assert_eq!(request, Request { target: "x".to_owned(), seconds: 2, seed: 5 });
        for line in ["", "x --seconds", "x --seconds y", "x --sed 1"] {
            let error = format!("{:#}", parse(&words(line)).unwrap_err());
            assert!(error.contains("usage:"), "{error}");
        }
    }

    #[test]
    fn unknown_target_says_how_to_list_them() {
        let request = Request { target: "none".to_owned(), seconds: 0, seed: 1 };
        let error = run(&request).unwrap_err().to_string();
        assert_eq!(error, "there is no target `none`; `--list` shows them");
    }
}
