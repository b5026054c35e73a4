//! Linux: subreaper, signalfd and `/proc`.

use std::{
    ffi::CStr,
    fs,
    os::fd::{AsFd, BorrowedFd, RawFd},
    path::Path,
    sync::LazyLock,
};

use nix::{
    sys::{
        prctl,
        signal::{SigSet, Signal},
        signalfd::{SfdFlags, SignalFd},
        socket::MsgFlags,
    },
    unistd::{Pid, close},
};

/// An orphan becomes a child of its keeper: no child left means no process left.
pub(crate) const ADOPTS_ORPHANS: bool = true;

/// Makes this process the parent of every orphan among its descendants, so that none
/// can leave its tree, and names it in process lists.
pub(crate) fn become_reaper(name: &CStr) -> nix::Result<()> {
    // A missing name harms nobody.
    let _ = prctl::set_name(name);
    prctl::set_child_subreaper(true)
}

/// Received descriptors must not leak into programs.
pub(crate) fn receive_flags() -> MsgFlags {
    MsgFlags::MSG_CMSG_CLOEXEC
}

/// Whether this process has one thread.
pub(crate) fn is_single_threaded() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

/// Closes what whoever started Ostler left open, so that no child sees it. Must run
/// before this process opens anything itself.
pub(crate) fn close_inherited() {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<RawFd> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for fd in open {
        if fd > 2 {
            // The folder listing's own descriptor is closed already.
            let _ = close(fd);
        }
    }
}

/// Becomes readable when a child ended or this process is asked to stop.
#[derive(Debug)]
pub(crate) struct Wake(SignalFd);

impl Wake {
    /// Blocks the signals and listens to them. Children must be started with an empty
    /// mask.
    pub(crate) fn new() -> nix::Result<Self> {
        let mut mask = SigSet::empty();
        for signal in [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
            mask.add(signal);
        }
        mask.thread_block()?;
        // Ostler may go while it is being told something: that must not end us first.
        SigSet::from(Signal::SIGPIPE).thread_block()?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        Ok(Self(SignalFd::with_flags(&mask, flags)?))
    }

    /// What to poll.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }

    /// Forgets the signals that came; whether one asked to stop.
    pub(crate) fn asked_to_stop(&self) -> bool {
        let mut stop = false;
        while let Ok(Some(signal)) = self.0.read_signal() {
            stop |= signal.ssi_signo != Signal::SIGCHLD as u32;
        }
        stop
    }
}

/// The direct children of a process, of all its threads. A list read while processes
/// come and go can miss some: ask again until there are none.
pub(crate) fn children(parent: Pid) -> Vec<Pid> {
    // Not every kernel has the list. One that lacks for a thread that just ended must not
    // lead to the long way: whoever forks all the time would get ahead.
    static LISTED: LazyLock<bool> =
        LazyLock::new(|| Path::new("/proc/thread-self/children").exists());
    if !*LISTED {
        return children_by_stat(parent);
    }
    let Ok(tasks) = fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
    let lists = tasks.flatten().map(|task| fs::read_to_string(task.path().join("children")));
    let mut found = Vec::new();
    for list in lists.flatten() {
        found.extend(list.split_ascii_whitespace().filter_map(parse_pid));
    }
    found
}

fn children_by_stat(parent: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| parse_pid(entry.file_name().to_str()?));
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may itself hold brackets and blanks: look behind the last.
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    parse_pid(rest.split_ascii_whitespace().nth(1)?)
}

fn parse_pid(text: &str) -> Option<Pid> {
    text.parse().ok().map(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_read_from_stat() {
        assert_eq!(parent_of(Pid::this()), Some(Pid::parent()));
        assert!(children_by_stat(Pid::parent()).contains(&Pid::this()));
    }

    #[test]
    fn both_ways_find_a_child() {
        assert!(children(Pid::parent()).contains(&Pid::this()));
    }
}
