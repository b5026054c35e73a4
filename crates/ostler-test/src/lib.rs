//! What tests of every crate share: a loopback model server, folders to throw away and a
//! small language for project files. Nothing that ships depends on it.

mod model_server;
mod temp_home;

pub use model_server::{ModelServer, Recorded, Wire};
pub use ostler_provider::scenario::{Scenario, Vars};
pub use temp_home::{TempHome, files_of};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
