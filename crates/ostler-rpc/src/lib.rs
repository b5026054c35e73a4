//! JSON-RPC lines of Ostler's own protocol (ipc.md 1.1): reading them, writing them, and a
//! client over any pair of streams.
//!
//! Knows frames, not methods: what a call does is the host's matter. Opens nothing; whoever
//! uses it brings the streams.

mod call;
mod client;
mod fuzz;
mod lines;
mod reply;

pub use call::{Call, Id, decode_call, error_line, response_line};
pub use client::{CallError, Client, EventStream, Heard};
pub use fuzz::fuzz_line;
pub use lines::{Line, LineReader, MAX_LINE_BYTES};
pub use reply::{Reply, decode_reply, request_line};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
