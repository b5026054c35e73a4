//! Messages of a language server: however the bytes come, and whatever they are, the same
//! messages come out, none over the cap.

/// Runs it on one input.
pub(crate) fn run(input: &[u8]) {
    ostler_builtins::fuzz_lsp_frames(input);
}
