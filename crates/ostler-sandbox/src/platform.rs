//! What differs between systems: adopting orphans, waking on signals, and finding the
//! descendants of a process. Linux does all of it; other Unix systems know process
//! groups only, so that a process which left its group escapes there.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    ADOPTS_ORPHANS, Wake, become_reaper, children, close_inherited, is_single_threaded,
    receive_flags,
};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{
    ADOPTS_ORPHANS, Wake, become_reaper, children, close_inherited, is_single_threaded,
    receive_flags,
};
