//! Asking a person on the terminal.

mod permission;
mod question;

use std::{
    io::{self, IsTerminal as _},
    sync::{Mutex, PoisonError},
};

use ostler_host::{Answer, Decision, core::AskedEvent};

/// Whether a person can be asked: standard input and error are a terminal.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What a person said.
#[derive(Debug)]
pub(crate) enum Said {
    /// To a request for permission.
    Decision(Decision),
    /// To a question or a plan.
    Answer(Answer),
}

/// One question at a time: calls that run beside each other ask beside each other.
static ASKING: Mutex<()> = Mutex::new(());

/// Asks on standard error and reads a line of standard input. Blocks; call it on a thread
/// of its own.
pub(crate) fn ask(asked: &AskedEvent) -> Said {
    let _one = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut input, mut output) = (io::stdin().lock(), io::stderr());
    match question::ask(asked, &mut input, &mut output) {
        Some(answer) => Said::Answer(answer),
        None => Said::Decision(permission::ask(asked, &mut input, &mut output)),
    }
}
