//! Page ranges and PDFs: never a panic.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_builtins::fuzz_pdf(input);
}
