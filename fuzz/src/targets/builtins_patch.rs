//! A patch applied to a file: no line is lost.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_builtins::fuzz_patch(input);
}
