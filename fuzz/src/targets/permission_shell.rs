//! Any bytes as a shell script: what is not understood is said so, and nothing panics.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_permission::fuzz_shell(input);
}
