//! The Chat Completions wire (OpenAI's public API reference), which most servers speak.
//! Pure: requests become JSON, events become ours.

mod lift;
mod lower;

pub use lift::Lift;
pub use lower::{Dialect, lower};

#[cfg(test)]
mod tests;
