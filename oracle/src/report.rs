//! The figures, as text and as a page of the documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result};
use ostler_permission::Verdict;

use crate::everyday::Everyday;
use crate::generate;
use crate::item::{Item, Origin, verdict_name};
use crate::verdict::{self, Scene};

/// Times of scripts of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Times {
    /// What was judged.
    what: String,
    median: Duration,
    p99: Duration,
    worst: Duration,
}

/// The judge's time beside that of another program, in a sentence.
const COMPARED: &str = "compared";

/// Reads what was measured: a line each, its parts separated by tabs.
fn read_times(text: &str) -> Option<(Vec<Times>, Option<String>)> {
    let (mut times, mut compared) = (Vec::new(), None);
    for line in text.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        match parts[..] {
            [COMPARED, sentence] => compared = Some(sentence.to_owned()),
            [what, median, p99, worst] => {
                let read = |text: &str| Some(Duration::from_nanos(text.parse().ok()?));
                let (median, p99, worst) = (read(median)?, read(p99)?, read(worst)?);
                times.push(Times { what: what.to_owned(), median, p99, worst });
            }
            _ => return None,
        }
    }
    Some((times, compared))
}

/// Everything that was found out.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) count: u64,
    /// Why nothing was run, if that is so.
    pub(crate) not_run: Option<String>,
    pub(crate) items: Vec<Item>,
    /// Which everyday lines ask where every path leads to itself, and marked ones that do not.
    pub(crate) asks: Vec<usize>,
    pub(crate) marked_unasked: Vec<String>,
    pub(crate) times: Vec<Times>,
    pub(crate) compared: Option<String>,
    pub(crate) everyday: Everyday,
}

impl Report {
    /// Judges the everyday list and puts everything together.
    pub(crate) fn new(
        (seed, count): (u64, u64),
        items: Vec<Item>,
        not_run: Option<String>,
        times: &str,
        everyday: Everyday,
    ) -> Result<Self> {
        let verdict = |line: &str| verdict::of(line, Scene::Bare, verdict::World::Paper);
        let asks = everyday.harmless.iter().enumerate();
        let asks = asks.filter(|(_, line)| verdict(line) == Verdict::Ask).map(|(at, _)| at);
        let asks = asks.collect();
        let unasked = everyday.marked.iter().filter(|line| verdict(line) == Verdict::Allow);
        let marked_unasked = unasked.cloned().collect();
        let (times, compared) =
            read_times(times).context("the file of times holds something else")?;
        Ok(Self { seed, count, not_run, items, asks, marked_unasked, times, compared, everyday })
    }

    pub(crate) fn misses(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.is_miss())
    }

    /// The text of a script.
    fn script(&self, item: &Item) -> String {
        match item.origin {
            Origin::Everyday => usize::try_from(item.index)
                .ok()
                .and_then(|at| self.everyday.harmless.get(at).cloned())
                .unwrap_or_default(),
            Origin::Made(_) => generate::script(&self.everyday, self.seed, item.index).text,
        }
    }

    /// Every miss, to be repeated and mended.
    pub(crate) fn list_misses(&self) -> String {
        let mut text = String::new();
        for item in self.misses() {
            let replay = match item.origin {
                Origin::Everyday => format!("everyday:{}", item.index),
                Origin::Made(_) => format!("{}:{}", self.seed, item.index),
            };
            // Writing into a string cannot fail.
            let _fine = writeln!(
                text,
                "MISS {replay} ({}, {}): {:?}\n    {}",
                item.origin.name(),
                item.scene.name(),
                self.script(item),
                item.effects.join("\n    ")
            );
        }
        text
    }

    /// The page. Nothing in it depends on the commit it was made from but the figures.
    pub(crate) fn page(&self, machine: &str) -> String {
        let mut page = String::from(HEAD);
        page.push_str(&self.runs());
        page.push_str(&self.everyday_section());
        page.push_str(&self.ecosystems());
        page.push_str(&self.time_section(machine));
        page
    }

    fn runs(&self) -> String {
        let ran = self.items.iter().filter(|item| item.ran).count();
        let mut text = format!(
            "## Misses\n\n{} generated scripts from seed {}, and the {} everyday lines; {ran} of them were run and watched.\n\n",
            self.count,
            self.seed,
            self.everyday.harmless.len()
        );
        if let Some(why) = &self.not_run {
            text.push_str(&format!("Nothing was run here: {why}.\n\n"));
        }
        text.push_str("| scripts | rules | allowed | asked | denied | run | misses |\n|---|---|---|---|---|---|---|\n");
        let groups: BTreeSet<_> = self.items.iter().map(|item| (item.origin, item.scene)).collect();
        for (origin, scene) in groups {
            let group = |item: &&Item| item.origin == origin && item.scene == scene;
            let count = |verdict| {
                self.items.iter().filter(group).filter(|item| item.verdict == verdict).count()
            };
            text.push_str(&format!(
                "| {} | {} | {} | {} | {} | {} | {} |\n",
                origin.name(),
                scene.name(),
                count(Verdict::Allow),
                count(Verdict::Ask),
                count(Verdict::Deny),
                self.items.iter().filter(group).filter(|item| item.ran).count(),
                self.items.iter().filter(group).filter(|item| item.is_miss()).count(),
            ));
        }
        text.push_str(&format!(
            "\nMisses in all: {} of {ran} scripts that were run ({:.2} %).\n",
            self.misses().count(),
            percent(self.misses().count(), ran)
        ));
        text.push_str(&self.control());
        text
    }

    /// How many scripts that ask do show an effect: the oracle must be able to see some.
    fn control(&self) -> String {
        let asked = self.items.iter().filter(|item| item.ran && item.verdict == Verdict::Ask);
        let mut by_origin: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for item in asked {
            let entry = by_origin.entry(item.origin.name()).or_default();
            entry.0 += 1;
            entry.1 += usize::from(!item.effects.is_empty());
        }
        let mut text = String::from(
            "\nAs a control, some of the scripts that ask were run as well. An effect was seen in:\n\n",
        );
        for (name, (all, seen)) in by_origin {
            text.push_str(&format!("- {name}: {seen} of {all}\n"));
        }
        let within = self.items.iter().filter(|item| !item.within.is_empty()).count();
        text.push_str(&format!(
            "\nWhere everything else is allowed, {within} scripts ran a denied program, or read a denied file, from code that is not in the script (a file of the project, a program of another language). No reading of a script can see that; the sandbox is what holds there.\n\n"
        ));
        text
    }

    fn everyday_section(&self) -> String {
        let (asks, all) = (self.asks.len(), self.everyday.harmless.len());
        format!(
            "## False asks\n\n{asks} of {all} everyday commands that change nothing ask all the same: {:.1} %.\nThey are judged as in a project without files that choose what a program runs or loads (`rust-toolchain`, `go.mod`, `Gemfile.lock` and the like); where there is one, the programs concerned ask.\nThe list was chosen before the judge was tuned with it, and no line is ever taken out; {} more lines turned out to be able to do more than they seem to, {} of which run unasked.\n\n",
            percent(asks, all),
            self.everyday.marked.len(),
            self.marked_unasked.len()
        )
    }

    /// The same for each kind of command, and which ask.
    fn ecosystems(&self) -> String {
        let mut groups: BTreeMap<&str, (usize, Vec<&str>)> = BTreeMap::new();
        for (at, about) in self.everyday.ecosystems.iter().enumerate() {
            let group = groups.entry(about).or_default();
            group.0 += 1;
            if self.asks.contains(&at) {
                group.1.push(&self.everyday.harmless[at]);
            }
        }
        let mut text = String::from("| about | commands | ask | share |\n|---|---|---|---|\n");
        for (about, (all, asks)) in &groups {
            let share = percent(asks.len(), *all);
            text.push_str(&format!("| {about} | {all} | {} | {share:.1} % |\n", asks.len()));
        }
        text.push_str("\nThose that ask:\n\n");
        for command in groups.values().flat_map(|(_, asks)| asks) {
            text.push_str(&format!("- `` {} ``\n", command.replace('\n', "; ")));
        }
        text.push('\n');
        text
    }

    fn time_section(&self, machine: &str) -> String {
        let mut text = format!(
            "## Time\n\nOne judgement, parsing included, in a release build on {machine}.\n\n| script | median | 99 of 100 within | worst |\n|---|---|---|---|\n"
        );
        for times in &self.times {
            text.push_str(&format!(
                "| {} | {} | {} | {} |\n",
                times.what,
                shown(times.median),
                shown(times.p99),
                shown(times.worst)
            ));
        }
        if let Some(compared) = &self.compared {
            text.push_str(&format!("\n{compared}\n"));
        }
        text
    }

    /// A summary for the terminal.
    pub(crate) fn summary(&self) -> String {
        let mut text = self.runs();
        text.push_str(&self.everyday_section());
        for times in &self.times {
            text.push_str(&format!(
                "{:<34} median {:>9}  p99 {:>9}  worst {:>9}\n",
                times.what,
                shown(times.median),
                shown(times.p99),
                shown(times.worst)
            ));
        }
        let verdicts: Vec<String> = [Verdict::Allow, Verdict::Ask, Verdict::Deny]
            .map(|verdict| {
                let count = self.items.iter().filter(|item| item.verdict == verdict).count();
                format!("{count} {}", verdict_name(verdict))
            })
            .to_vec();
        text.push_str(&format!(
            "verdicts: {}; {} misses\n",
            verdicts.join(", "),
            self.misses().count()
        ));
        text
    }
}

/// The beginning of the page.
const HEAD: &str = "# How well commands are judged

Before a shell command runs unasked, Ostler reads it and must be sure that it changes nothing and reads nothing outside the project.
These figures say how often that goes wrong in either direction.
They are made by `cargo xtask judge --page docs/permissions-figures.md`, which generates scripts from a seed, judges each, runs it in a throw-away namespace without network, and compares what its system calls did with the verdict.

- A **miss** is a script that ran unasked and wrote anything (but `/dev/null` and its private `/tmp`), read a file outside the project that its programs do not read by themselves, ran a program that may do anything, or reached for the network; or one that ran a denied program or read a denied file. An attempt counts like the deed. Whether a file is there, and what its name and dates are, is not watched.
- A **false ask** is a question about a command that changes nothing.

The scripts are harmful commands in every place where the shell would run one, behind wrappers and in other spellings; everyday commands with something put into them; harmless commands with random options; and all of these within each other.
`cargo xtask judge --show SEED:NUMBER` repeats one.

";

fn percent(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    share
}

fn shown(time: Duration) -> String {
    let micros = time.as_micros();
    if micros < 10_000 { format!("{micros} µs") } else { format!("{} ms", time.as_millis()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let (times, compared) = read_times("an x\t1\t2\t3\ncompared\tThat is so.\n").unwrap();
        let nanos = Duration::from_nanos;
        let (median, p99, worst) = (nanos(1), nanos(2), nanos(3));
        assert_eq!(times, [Times { what: "an x".to_owned(), median, p99, worst }]);
        assert_eq!(compared.as_deref(), Some("That is so."));
        assert_eq!(read_times("an x\t1\tmany\t3\n"), None);
    }
}
