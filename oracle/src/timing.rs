//! How long the judge takes: over the everyday list, and over long scripts made of it.

use std::time::{Duration, Instant};

use crate::everyday::Everyday;
use crate::rng::Rng;
use crate::verdict::{self, Scene};

/// How often each everyday line is judged.
const ROUNDS: usize = 5;
/// How many long scripts of a size are made.
const LONG: u64 = 12;

/// Times of scripts of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    /// What was judged.
    pub(crate) what: &'static str,
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
    pub(crate) worst: Duration,
}

/// Measures.
pub(crate) fn measure(everyday: &Everyday, seed: u64) -> Vec<Times> {
    let lines: Vec<&str> = everyday.harmless.iter().map(String::as_str).collect();
    let short = (0..ROUNDS).flat_map(|_| lines.iter().map(|line| once(line))).collect();
    let long = |bytes: usize| {
        (0..LONG).map(|at| once(&long_script(everyday, bytes, &mut Rng::new(seed, at)))).collect()
    };
    vec![
        times("an everyday line", short),
        times("a script of 4 KiB", long(4 << 10)),
        times("a script of 64 KiB", long(64 << 10)),
        times("4 KiB that open and never close", steep(4 << 10)),
        times("64 KiB that open and never close", steep(64 << 10)),
    ]
}

fn once(script: &str) -> Duration {
    let start = Instant::now();
    std::hint::black_box(verdict::of(script, Scene::Deny, verdict::World::Paper));
    start.elapsed()
}

fn times(what: &'static str, mut all: Vec<Duration>) -> Times {
    all.sort();
    let at = |share: usize| all.get((all.len() * share / 100).min(all.len().saturating_sub(1)));
    let get = |share| at(share).copied().unwrap_or_default();
    Times { what, median: get(50), p99: get(99), worst: get(100) }
}

/// A script of about `bytes` bytes.
pub(crate) fn long_script(everyday: &Everyday, bytes: usize, rng: &mut Rng) -> String {
    let mut script = String::new();
    while script.len() < bytes {
        let line = &everyday.harmless[rng.below(everyday.harmless.len())];
        script.push_str(line);
        script.push_str(rng.pick(&["\n", "\n", " && true\n", "; true\n", " || true\n"]));
    }
    script
}

/// Scripts that are hard for a parser: much that opens and nothing that closes.
fn steep(bytes: usize) -> Vec<Duration> {
    const OPENERS: &[&str] = &[
        "(",
        "$(",
        "{ ",
        "`",
        "\"$(",
        "${x:-",
        "$((",
        "if ",
        "while ",
        "for x in ",
        "case x in ",
        "a | ",
        "a && ",
        "<(",
        "cat <<E\n",
        "[[ ( ",
        "{a,",
        "f() {",
        "! ",
        "\\\n",
        "'",
        "\"",
        "a=(",
        "<<",
        "time ",
        "$'",
        "x[",
        "; ",
        "a ",
        "a;b&c|d\n",
    ];
    OPENERS.iter().map(|opener| once(&opener.repeat(bytes / opener.len()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_is_never_below_the_median() {
        let times = times("x", (1..=200).map(Duration::from_micros).collect());
        assert_eq!(times.median, Duration::from_micros(101));
        assert_eq!(times.p99, Duration::from_micros(199));
        assert_eq!(times.worst, Duration::from_micros(200));
    }

    #[test]
    fn long_scripts_have_the_size_asked_for() {
        let script = long_script(&Everyday::read(), 4096, &mut Rng::new(1, 1));
        assert!((4096..6000).contains(&script.len()), "{}", script.len());
    }
}
