//! The Agent SDK door: frames of the SDK's stream, and its control protocol on standard
//! input and output (spec agent-sdk).
//!
//! Translates between the host and a wire that others defined; decides nothing itself.

mod args;
mod door;
mod fit;
pub mod frames;
mod wire;

pub use args::{SdkArgs, is_wanted, parse};
pub use door::serve;
pub use frames::{Projector, ProjectorOptions};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
