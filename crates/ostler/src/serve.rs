//! `ostler serve` and the Agent SDK door: protocols on standard input and output.

use std::{ffi::OsString, io::IsTerminal as _};

use ostler_stdx::Cancel;

use crate::{
    args::ServeArgs,
    exit::{self, Exit},
    open_host, runtime,
    signals::{Signals, Told},
};

/// Serves JSON-RPC lines until the input ends.
pub(crate) fn stdio(args: &ServeArgs) -> Exit {
    start_log();
    let host = open_host(args.model.clone());
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return exit::fail(Exit::Failed, &error.to_string(), None),
    };
    let exit = runtime.block_on(async {
        let mut signals = match Signals::new() {
            Ok(signals) => signals,
            Err(error) => return exit::fail(Exit::Failed, &error.to_string(), None),
        };
        let stop = Cancel::new();
        let mut told = None;
        let served =
            ostler_server::serve_stdio_until(host, tokio::io::stdin(), tokio::io::stdout(), &stop);
        let mut served = std::pin::pin!(served);
        loop {
            tokio::select! {
                () = &mut served => break,
                // What is left is written out; the second signal no longer waits for it.
                signal = signals.next() => {
                    stop.cancel();
                    if told.replace(signal).is_some() {
                        break;
                    }
                }
            }
        }
        match told {
            None => Exit::Ok,
            Some(Told::Interrupt) => Exit::Interrupted,
            Some(Told::Terminate) => Exit::Terminated,
        }
    });
    // A reader of standard input blocks its thread; it must not hold the process.
    runtime.shutdown_background();
    exit
}

/// Serves the Agent SDK's protocol.
pub(crate) fn agent_sdk(args: &[OsString]) -> Exit {
    let parsed = match ostler_agent_sdk::parse(args.get(1..).unwrap_or_default()) {
        Ok(parsed) => parsed,
        Err(message) => {
            exit::fail_plainly(&message);
            return Exit::Failed;
        }
    };
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return exit::fail(Exit::Failed, &error.to_string(), None),
    };
    let host = open_host(None);
    let code = runtime.block_on(async {
        let mut signals = match Signals::new() {
            Ok(signals) => signals,
            Err(error) => return exit::fail(Exit::Failed, &error.to_string(), None),
        };
        let served = ostler_agent_sdk::serve(
            host.clone(),
            parsed,
            tokio::io::stdin(),
            tokio::io::stdout(),
            tokio::io::stderr(),
        );
        tokio::select! {
            code = served => Exit::Code(code),
            told = signals.next() => {
                host.shutdown().await;
                match told {
                    Told::Interrupt => Exit::Interrupted,
                    Told::Terminate => Exit::Terminated,
                }
            }
        }
    });
    runtime.shutdown_background();
    code
}

/// Logs to standard error: warnings, or what `OSTLER_LOG` says.
pub(crate) fn start_log() {
    #[expect(clippy::disallowed_methods, reason = "the filter of the log, before there is a host")]
    let filter = std::env::var("OSTLER_LOG").unwrap_or_else(|_| "warn".to_owned());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
}
