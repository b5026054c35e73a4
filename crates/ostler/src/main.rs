//! The `ostler` program: which door, and which exit code. Everything else lies below.

mod args;
mod exit;
mod failpoint;
mod housekeeping;
mod permissions;
mod run;
mod serve;
mod signals;
mod terminal;
mod trace;
mod trust;
mod visible;
mod web;

use std::{ffi::OsString, io::Write as _, process::ExitCode};

use clap::{CommandFactory as _, Parser as _};
use ostler_host::{COMPATIBILITY_VERSION, Environment, Host, HostOptions, VERSION};

use args::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    // The same binary, started under another name, supervises child processes.
    if let Some(code) = ostler_host::supervisor_main() {
        return code;
    }
    // Or takes a PDF apart, within limits.
    if let Some(code) = ostler_host::pdf_main() {
        return code;
    }
    #[cfg(target_os = "linux")]
    ostler_host::hide_own_memory();
    let args: Vec<OsString> = std::env::args_os().collect();
    if matches!(args.get(1).and_then(|arg| arg.to_str()), Some("-v" | "-V" | "--version")) {
        return print_version().into();
    }
    failpoint::install();
    let exit =
        if ostler_agent_sdk::is_wanted(&args) { serve::agent_sdk(&args) } else { dispatch(&args) };
    exit.into()
}

/// One line that starts with the compatibility version (agent-sdk.md 1.2).
fn print_version() -> Exit {
    let line = format!("{COMPATIBILITY_VERSION} (Ostler {VERSION})\n");
    exit::written(std::io::stdout().write_all(line.as_bytes()))
}

fn dispatch(args: &[OsString]) -> Exit {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    match cli.command {
        Some(Command::Run(args)) => run::run(args, false),
        Some(Command::Serve(args)) => serve::stdio(&args),
        Some(Command::Web(args)) => web::web(&args),
        Some(Command::Session(args)) => housekeeping::session(&args),
        Some(Command::Trust(args)) => trust::trust(&args),
        Some(Command::Providers(args)) => housekeeping::providers(&args),
        Some(Command::Permissions(args)) => permissions::permissions(&args),
        Some(Command::Trace(args)) => trace::trace(&args),
        Some(Command::Doctor(args)) => housekeeping::doctor(&args),
        Some(Command::Completions { shell }) => {
            let mut out = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "ostler", &mut out);
            exit::written(std::io::stdout().write_all(&out))
        }
        None if cli.print || !cli.run.prompt.is_empty() && !terminal::is_interactive() => {
            run::run(cli.run, true)
        }
        None => exit::fail(
            Exit::Usage,
            "the terminal interface is not in this version",
            Some("use `ostler run \"...\"` for one prompt, or `ostler web` for the page"),
        ),
    }
}

/// The host of this process.
fn open_host(model: Option<String>) -> Host {
    let exe = std::env::current_exe().unwrap_or_else(|_| "ostler".into());
    let mut options = HostOptions::new(Environment::of_process(), exe);
    options.model = model;
    Host::open(options)
}

/// A runtime on this thread alone: it starts fastest, and work that computes goes to
/// threads of its own.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
