//! Confinement: what a command may write, read and reach, and by what means that is
//! enforced. Says honestly what each means gives; nothing here pretends.

pub(crate) mod bubblewrap;
mod claims;
pub(crate) mod forward;
pub(crate) mod inner;
#[cfg(target_os = "linux")]
mod landlock_rules;
mod lazy;
mod policy;
#[cfg(target_os = "linux")]
mod powers;
mod probe;
mod protected;
mod sandbox;
pub(crate) mod seatbelt;
#[cfg(target_os = "linux")]
mod seccomp;
mod settings;

pub use claims::{Claim, Level};
pub use lazy::LazySandbox;
pub use policy::{Network, Policy};
#[cfg(target_os = "linux")]
pub use powers::hide_own_memory;
pub use probe::{Probe, ProbeOptions};
pub use sandbox::{Sandbox, SandboxOptions, Traces, Unavailable};
pub use settings::{
    CredentialFile, CredentialMode, CredentialSettings, CredentialVar, FilesystemSettings, Folders,
    NetworkSettings, SandboxSettings,
};
