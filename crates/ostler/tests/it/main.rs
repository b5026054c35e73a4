//! Black-box tests: the real program, real files, a loopback model.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests stop at what they did not expect, and say what they leave out"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests start the program and read where it was built"
)]

mod asking;
mod bad_input;
mod cli;
mod crash;
mod doors;
mod hooks;
mod hostile;
mod support;
