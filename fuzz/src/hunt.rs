//! Runs a target on inputs and catches its panics. It stops at the first one: the next would
//! mostly be the same again.

use std::any::Any;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use crate::{Mutator, Target};

/// An input that takes longer is reported like a crash: a hang is one for whoever waits.
const SLOW: Duration = Duration::from_secs(2);

/// What went wrong, and on which input.
#[derive(Debug)]
pub struct Crash {
    /// The input.
    pub input: Vec<u8>,
    /// What the panic said, or how slow it was.
    pub said: String,
}

/// Runs a target on each input of its corpus, then on changed ones, as long as `go_on` says so:
/// it is asked before each, with the number of inputs so far and the one that comes. Gives how
/// many inputs it ran.
///
/// # Errors
/// The first crash, or the first input that took more than two seconds.
pub fn hunt(
    target: &Target,
    corpus: &[Vec<u8>],
    seed: u64,
    mut go_on: impl FnMut(u64, &[u8]) -> bool,
) -> Result<u64, Crash> {
    let mut mutator = Mutator::new(seed);
    let changed = std::iter::repeat_with(|| mutator.input(corpus));
    let mut runs = 0;
    for input in corpus.iter().cloned().chain(changed) {
        if !go_on(runs, &input) {
            break;
        }
        run_one(target, &input)?;
        runs += 1;
    }
    Ok(runs)
}

fn run_one(target: &Target, input: &[u8]) -> Result<(), Crash> {
    let start = Instant::now();
    let said = match catch_unwind(|| (target.run)(input)) {
        Ok(()) if start.elapsed() <= SLOW => return Ok(()),
        Ok(()) => format!("it took {:.1} s", start.elapsed().as_secs_f64()),
        Err(panic) => message(panic.as_ref()),
    };
    Err(Crash { input: input.to_vec(), said })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    text.or(owned).unwrap_or("a panic without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICKY: Target = Target { name: "picky", run: |input| assert!(!input.contains(&b'x')) };

    #[test]
    fn crash_is_found_in_the_corpus_and_by_change() {
        let crash =
            hunt(&PICKY, &[b"ok".to_vec(), b"x".to_vec()], 1, |runs, _| runs < 2).unwrap_err();
        assert_eq!(crash.input, b"x");
        assert!(crash.said.contains("assertion failed"), "{}", crash.said);
        let crash = hunt(&PICKY, &[b"ok".to_vec()], 1, |runs, _| runs < 100_000).unwrap_err();
        assert!(crash.input.contains(&b'x'));
    }

    #[test]
    fn runs_are_counted_and_end_when_told() {
        let calm = Target { name: "calm", run: |_| {} };
        assert_eq!(hunt(&calm, &[Vec::new()], 1, |runs, _| runs < 10).unwrap(), 10);
    }
}
