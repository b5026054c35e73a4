//! Any bytes as a line of our own protocol: what asks for an answer gets one line that a client
//! reads back.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_rpc::fuzz_line(input);
}
