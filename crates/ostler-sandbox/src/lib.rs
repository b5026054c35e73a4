//! The one place where a child process of Ostler starts: under a supervisor that
//! outlives a crash of Ostler, with bounded output, and with its whole tree killed
//! at the end. Nothing here runs a process without that supervisor.

mod background;
mod capture;
mod command;
mod confine;
mod env;
mod error;
mod job;
mod keeper;
mod piped;
mod platform;
mod proxy;
mod run;
mod spawn;
mod supervise;
mod supervisor;
mod sys;
#[cfg(all(target_os = "linux", any(test, feature = "test-entry")))]
mod test_entry;
mod tree;
mod wire;

pub use background::{Background, Status};
pub use capture::{Captured, Stream};
pub use command::{Command, OutputCap};
#[cfg(target_os = "linux")]
pub use confine::hide_own_memory;
pub use confine::{
    Claim, CredentialFile, CredentialMode, CredentialSettings, CredentialVar, FilesystemSettings,
    Folders, LazySandbox, Level, Network, NetworkSettings, Policy, Probe, ProbeOptions, Sandbox,
    SandboxOptions, SandboxSettings, Traces, Unavailable,
};
pub use env::child_env;
pub use error::Error;
pub use piped::Piped;
pub use proxy::{Decide, Domains, Proxy};
pub use run::Exit;
pub use supervise::supervisor_main;
pub use supervisor::Supervisor;

/// Holds the example of the README to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
