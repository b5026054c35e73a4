//! The door over pipes in memory, with a scripted model in process: what a host writes and
//! what it reads. The real SDKs drive the built program in `tests/sdk-py` and `tests/sdk-ts`.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests stop at what they did not expect")]

mod control;
mod hooks;
mod permission;
mod pipes;
mod sandbox;
mod start;
mod tasks;
mod turns;
