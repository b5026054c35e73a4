//! Fuzz targets on the stable toolchain: each is a plain function over bytes that panics when
//! something is wrong. Tests run all of them on their corpus; `cargo xtask fuzz` runs one longer.

mod corpus;
mod hunt;
mod mutate;
mod targets;

pub use corpus::{corpus, save_crash};
pub use hunt::{Crash, hunt};
pub use mutate::Mutator;

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder below `fuzz/corpus`.
    pub name: &'static str,
    /// Runs it on one input; panics if what it checks does not hold.
    pub run: fn(&[u8]),
}

/// All targets. A new one is a file in `targets/`, a line here, and a corpus of a few small files.
pub const TARGETS: &[Target] = &[
    Target { name: "bound_middle", run: targets::bound_middle::run },
    Target { name: "builtins_edit", run: targets::builtins_edit::run },
    Target { name: "builtins_encoding", run: targets::builtins_encoding::run },
    Target { name: "builtins_lsp_frames", run: targets::builtins_lsp_frames::run },
    Target { name: "builtins_notebook", run: targets::builtins_notebook::run },
    Target { name: "builtins_patch", run: targets::builtins_patch::run },
    Target { name: "builtins_pdf", run: targets::builtins_pdf::run },
    Target { name: "permission_rules", run: targets::permission_rules::run },
    Target { name: "permission_shell", run: targets::permission_shell::run },
    Target { name: "provider_anthropic_sse", run: targets::provider_anthropic_sse::run },
    Target { name: "provider_chat_sse", run: targets::provider_chat_sse::run },
    Target { name: "provider_scenario", run: targets::provider_scenario::run },
    Target { name: "rpc_line", run: targets::rpc_line::run },
    Target { name: "store_log", run: targets::store_log::run },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
