//! Runs one target for a while: `ostler-fuzz TARGET --seconds N [--seed N]`, or `--list`. It is
//! started by `cargo xtask fuzz`; a crash is printed and saved, and ends the run.
#![expect(clippy::print_stdout, reason = "a command-line tool talks to its user")]

use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ostler_fuzz::{Crash, TARGETS, Target, corpus, hunt, save_crash, target};

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

/// How long one input may keep the target busy before the run is given up.
const HANG: Duration = Duration::from_secs(10);

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
    match hunt_watched(*target, request, HANG)? {
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

/// Hunts on a thread of its own, so that an input on which the target never ends is found too.
/// That thread cannot be stopped; it ends with the process.
fn hunt_watched(
    target: Target,
    request: &Request,
    patience: Duration,
) -> Result<Result<u64, Crash>> {
    let corpus = corpus(&target)?;
    let seed = request.seed;
    let end = Instant::now() + Duration::from_secs(request.seconds);
    let current = Arc::new(Mutex::new((0, Vec::new())));
    let seen = Arc::clone(&current);
    // One result, ever.
    let (send, done) = sync_channel(1);
    let hunter = std::thread::spawn(move || {
        let note = |runs: u64, input: &[u8]| {
            let mut current = seen.lock().unwrap_or_else(PoisonError::into_inner);
            current.0 = runs;
            input.clone_into(&mut current.1);
            Instant::now() < end
        };
        // Nobody listens any more once a hang was found.
        drop(send.send(hunt(&target, &corpus, seed, note)));
    });
    let mut before = None;
    loop {
        match done.recv_timeout(patience) {
            Ok(result) => {
                drop(hunter.join());
                return Ok(result);
            }
            Err(RecvTimeoutError::Disconnected) => bail!("the hunt ended without a result"),
            Err(RecvTimeoutError::Timeout) => {
                let (runs, input) = current.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if before == Some(runs) {
                    let said = format!("it did not end within {} s", patience.as_secs_f64());
                    return Ok(Err(Crash { input, said }));
                }
                before = Some(runs);
            }
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

    #[test]
    fn input_on_which_the_target_never_ends_is_found() {
        let target = Target {
            name: "bound_middle",
            run: |_| loop {
                std::thread::park();
            },
        };
        let request = Request { target: target.name.to_owned(), seconds: 60, seed: 1 };
        let patience = Duration::from_millis(20);
        let crash = hunt_watched(target, &request, patience).unwrap().unwrap_err();
        assert_eq!(crash.said, "it did not end within 0.02 s");
        assert_eq!(crash.input, corpus(&target).unwrap()[0]);
    }

    #[test]
    fn watched_hunt_counts_its_inputs() {
        let request = Request { target: "bound_middle".to_owned(), seconds: 0, seed: 1 };
        let result = hunt_watched(TARGETS[0], &request, Duration::from_secs(60)).unwrap();
        assert_eq!(result.unwrap(), 0);
    }
}
