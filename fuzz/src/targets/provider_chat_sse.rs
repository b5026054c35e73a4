//! Any bytes as an answer of the Chat Completions wire: it is lifted to an end and nothing panics.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_provider::fuzz_chat_sse(input);
}
