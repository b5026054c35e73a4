//! The host with the scripted model in process: methods, events and files.
#![expect(clippy::unwrap_used, reason = "tests stop at what they did not expect")]

mod background;
mod hooks;
mod permissions;
mod questions;
mod runs;
mod settings;
mod support;
