//! Any bytes as a session's log: it is read whole and from its last context record, never with a
//! panic, and the shorter reading has no more entries than the whole one.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    let (whole, window) = ostler_store::fuzz_log(input);
    assert!(window <= whole, "{window} entries from the end, {whole} in all");
}
