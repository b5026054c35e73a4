//! One edit of one file: no byte outside of the edited places changes.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_builtins::fuzz_edit(input);
}
