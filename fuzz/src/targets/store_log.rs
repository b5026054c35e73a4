//! Any bytes as a session's log: it is read whole and from its last context record, never with a
//! panic. How many entries each reading has is not compared: a uuid that stands on both sides of
//! the record's place is one entry to the first and another to the second.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    let (_whole, _window) = ostler_store::fuzz_log(input);
}
