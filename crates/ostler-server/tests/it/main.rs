//! Both doors over a host with the scripted model: lines in memory, HTTP on loopback.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests stop at what they did not expect"
)]

mod auth;
mod doors;
mod http;
mod methods;
mod page;
mod stdio;
mod stream;
mod support;
