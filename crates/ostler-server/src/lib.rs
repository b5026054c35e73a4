//! The doors of Ostler's own protocol: lines on standard input and output, and HTTP with
//! server-sent events and the web page.
//!
//! Translates between a host and a wire and decides nothing. Prints nothing: what a person
//! should read is returned.

mod attached;
mod call;
mod stdio;
mod web;

pub use stdio::{serve_stdio, serve_stdio_until};
pub use web::{Error, Web, WebOptions, serve_web};

/// Requests of one door that may be under way at a time (ipc.md R-11).
const MAX_CALLS: usize = 256;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
