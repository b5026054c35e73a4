//! The Anthropic Messages wire (public API reference, version 2023-06-01), which other
//! vendors speak too. Pure: requests become JSON, events become ours.

mod lift;
mod lower;

pub use lift::Lift;
pub use lower::lower;

/// The default of `max_tokens` (spec/ipc.md 5.7).
pub const DEFAULT_MAX_TOKENS: u64 = 32_000;

#[cfg(test)]
mod tests;
