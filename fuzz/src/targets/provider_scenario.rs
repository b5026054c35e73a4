//! Any bytes as a scenario file: it is refused with a reason, or it answers a request.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_provider::fuzz_scenario(input);
}
