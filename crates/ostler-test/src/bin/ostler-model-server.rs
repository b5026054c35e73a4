//! `ostler-model-server SCENARIO [--port P] [--log FILE] [--var NAME=VALUE]...`
//!
//! Plays a scenario for tests that are not written in Rust. The first line of standard
//! output is the URL; it ends when standard input closes, with status 1 if a request was
//! not clean. `--log` gets one JSON line per request, at the end.

use std::{
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use ostler_provider::scenario::{Scenario, Vars};
use ostler_test::ModelServer;
use serde_json::json;

#[derive(Debug, Default)]
struct Args {
    scenario: Option<PathBuf>,
    port: u16,
    log: Option<PathBuf>,
    vars: Vars,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(problem) => {
            tell(&format!("error: {problem}"));
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let args = args(std::env::args().skip(1))?;
    let file = args.scenario.ok_or("no scenario given; name a `*.scenario.json` file")?;
    let scenario = Scenario::load(&file, &args.vars).map_err(|error| error.to_string())?;
    let server = ModelServer::start_on(scenario, args.port)
        .map_err(|error| format!("cannot listen on port {}: {error}", args.port))?;
    let mut out = io::stdout();
    writeln!(out, "{}", server.url()).and_then(|()| out.flush()).map_err(|e| e.to_string())?;
    let mut rest = Vec::new();
    io::stdin().read_to_end(&mut rest).map_err(|error| error.to_string())?;
    if let Some(log) = args.log {
        write_log(&log, &server).map_err(|e| format!("cannot write `{}`: {e}", log.display()))?;
    }
    let violations = server.violations();
    for violation in &violations {
        tell(violation);
    }
    Ok(if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Nobody can be told if standard error is gone, so that is no error.
fn tell(line: &str) {
    writeln!(io::stderr(), "{line}").ok();
}

fn args(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args::default();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
        match word.as_str() {
            "--port" => {
                args.port = value()?.parse().map_err(|_| "`--port` is 0 to 65535".to_owned())?;
            }
            "--log" => args.log = Some(value()?.into()),
            "--var" => {
                let pair = value()?;
                let (name, value) = pair.split_once('=').ok_or("`--var` is NAME=VALUE")?;
                args.vars.insert(name.to_owned(), value.to_owned());
            }
            flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`")),
            file if args.scenario.is_none() => args.scenario = Some(file.into()),
            other => return Err(format!("one scenario is enough; remove `{other}`")),
        }
    }
    Ok(args)
}

fn write_log(log: &Path, server: &ModelServer) -> io::Result<()> {
    let mut file = std::fs::File::create(log)?;
    for recorded in server.requests() {
        let headers: serde_json::Map<_, _> =
            recorded.headers.into_iter().map(|(name, value)| (name, json!(value))).collect();
        let line = json!({
            "path": recorded.path, "headers": headers, "body": recorded.body,
            "problems": recorded.problems,
        });
        writeln!(file, "{line}")?;
    }
    Ok(())
}
