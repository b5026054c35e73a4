//! Any bytes as permission rules: they are taken or refused, and nothing panics.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_permission::fuzz_rules(input);
}
