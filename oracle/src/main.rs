//! Compares what the judge says of shell scripts with what they do. Started by
//! `cargo xtask judge`; scripts run only in namespaces of its own, never on the machine itself.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to its user"
)]

mod allowed;
mod effects;
mod everyday;
mod fixture;
mod generate;
mod inside;
mod item;
mod namespace;
mod process;
mod report;
mod rng;
mod run;
mod trace;
mod verdict;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::everyday::Everyday;
use crate::inside::Part;
use crate::namespace::Shared;
use crate::report::Report;

/// How to call it.
const USAGE: &str = "usage: ostler-oracle run [--count N] [--seed N] [--jobs N] [--page FILE] [--times FILE] [--need-namespaces], or ostler-oracle show SEED:NUMBER|SCRIPT";

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (verb, rest) = args.split_first().context(USAGE)?;
    match (verb.as_str(), rest) {
        ("run", rest) => run(&Request::parse(rest)?),
        ("show", [script]) => show(script),
        ("try", []) => namespace::try_tracing().map(|()| ExitCode::SUCCESS),
        ("inside", numbers) => {
            let numbers: Vec<u64> =
                numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
            let &[seed, count, first, step] = numbers.as_slice() else { bail!(USAGE) };
            inside::run(Part { seed, count, first, step }).map(|()| ExitCode::SUCCESS)
        }
        ("show-inside", [script]) => inside::show(script).map(|()| ExitCode::SUCCESS),
        _ => bail!(USAGE),
    }
}

/// What to do.
#[derive(Debug)]
struct Request {
    count: u64,
    seed: u64,
    jobs: u64,
    page: Option<PathBuf>,
    need_namespaces: bool,
    /// What was measured of the judge's time, as `judge_times` prints it.
    times: Option<PathBuf>,
}

impl Request {
    fn parse(args: &[String]) -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        let mut request = Self {
            count: 20_000,
            seed: 1,
            jobs: cores.min(8),
            page: None,
            need_namespaces: false,
            times: None,
        };
        let mut words = args.iter();
        while let Some(option) = words.next() {
            match option.as_str() {
                "--need-namespaces" => request.need_namespaces = true,
                _ => request.number(option, words.next())?,
            }
        }
        Ok(request)
    }

    fn number(&mut self, option: &str, value: Option<&String>) -> Result<()> {
        let value = value.with_context(|| format!("`{option}` wants a value; {USAGE}"))?;
        let number = || value.parse().with_context(|| format!("`{value}` is not a number"));
        match option {
            "--count" => self.count = number()?,
            "--seed" => self.seed = number()?,
            "--jobs" => self.jobs = number()?.max(1),
            "--page" => self.page = Some(PathBuf::from(value)),
            "--times" => self.times = Some(PathBuf::from(value)),
            _ => bail!("unknown option `{option}`; {USAGE}"),
        }
        Ok(())
    }
}

fn run(request: &Request) -> Result<ExitCode> {
    let everyday = Everyday::read();
    let times = match &request.times {
        Some(file) => std::fs::read_to_string(file)
            .with_context(|| format!("cannot read `{}`", file.display()))?,
        None => String::new(),
    };
    let shared = Shared::make()?;
    let missing = namespace::missing(&shared)?;
    let items = match &missing {
        None => run::traced(&shared, request.seed, request.count, request.jobs)?,
        Some(why) if request.need_namespaces => bail!("scripts cannot be run: {why}"),
        Some(why) => {
            eprintln!(
                "scripts are judged and not run, so only harmful commands are looked for: {why}"
            );
            run::judged_only(request.seed, request.count)
        }
    };
    let report = Report::new((request.seed, request.count), items, missing, &times, everyday)?;
    print!("{}", report.list_misses());
    print!("{}", report.summary());
    if let Some(page) = &request.page {
        std::fs::write(page, report.page(&machine()))
            .with_context(|| format!("cannot write `{}`", page.display()))?;
    }
    Ok(if report.misses().next().is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The machine in a few words.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("a virtual machine with {cores} cores ({})", std::env::consts::ARCH)
}

fn show(which: &str) -> Result<ExitCode> {
    let everyday = Everyday::read();
    let numbers = which.split_once(':').and_then(|(seed, index)| {
        let index: u64 = index.parse().ok()?;
        if seed == "everyday" {
            return everyday.harmless.get(usize::try_from(index).ok()?).cloned();
        }
        Some(generate::script(&everyday, seed.parse().ok()?, index).text)
    });
    let script = numbers.unwrap_or_else(|| which.to_owned());
    println!("{script}\n--");
    let shared = Shared::make()?;
    if let Some(why) = namespace::missing(&shared)? {
        bail!("scripts cannot be run: {why}");
    }
    let status = shared.enter()?.args(["show-inside", &script]).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
