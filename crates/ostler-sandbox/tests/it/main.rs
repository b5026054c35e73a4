//! Runs real processes. The test program is its own supervisor, so it has its own
//! `main` in place of the usual test harness, and understands the same arguments.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test program")]

mod background;
mod bounds;
mod confine;
mod harness;
mod kill;
mod piped;
mod run;
mod supervisor;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = ostler_sandbox::supervisor_main() {
        return code;
    }
    if let Some(code) = kill::victim_main() {
        return code;
    }
    let tests = [
        run::TESTS,
        bounds::TESTS,
        kill::TESTS,
        background::TESTS,
        piped::TESTS,
        confine::TESTS,
        supervisor::TESTS,
    ];
    harness::main(&tests.concat())
}
