//! Text files decoded and encoded again: every byte comes back.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_builtins::fuzz_encoding(input);
}
