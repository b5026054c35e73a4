//! The host with the scripted model in process: methods, events and files.

mod runs;
mod support;
