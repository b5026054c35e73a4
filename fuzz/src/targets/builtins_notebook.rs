//! One change of a notebook: no other cell changes.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_builtins::fuzz_notebook(input);
}
