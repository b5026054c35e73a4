//! Other Unix systems: process groups only, and a clock instead of a signal
//! descriptor. Thin on purpose; what leaves its process group is not found here.

use std::{ffi::CStr, os::fd::BorrowedFd};

use nix::{sys::socket::MsgFlags, unistd::Pid};

/// Orphans go to the system's first process.
pub(crate) const ADOPTS_ORPHANS: bool = false;

/// There is no way to adopt orphans here.
pub(crate) fn become_reaper(_name: &CStr) -> nix::Result<()> {
    Ok(())
}

/// Descriptors cannot be received closed-on-exec; each keeper starts one program only,
/// which gets its descriptors replaced.
pub(crate) fn receive_flags() -> MsgFlags {
    MsgFlags::empty()
}

/// The supervisor is entered before anything could start a thread.
pub(crate) fn is_single_threaded() -> bool {
    true
}

/// Descriptors of Ostler's own are closed on exec; others cannot be listed here.
pub(crate) fn close_inherited() {}

/// Nothing to poll: the loops wake up by the clock.
#[derive(Debug)]
pub(crate) struct Wake;

impl Wake {
    /// Listens to nothing.
    pub(crate) fn new() -> nix::Result<Self> {
        Ok(Self)
    }

    /// Nothing to poll.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// TERM ends this process by its default action instead.
    pub(crate) fn asked_to_stop(&self) -> bool {
        false
    }
}

/// Processes cannot be listed here; the group of the main process is all that is known.
pub(crate) fn children(_parent: Pid) -> Vec<Pid> {
    Vec::new()
}
