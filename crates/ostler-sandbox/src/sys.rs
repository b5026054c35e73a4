//! The only unsafe code of Ostler: forking the single-threaded supervisor, taking
//! ownership of file descriptors that arrive over a socket, and ignoring a signal. Never
//! used by the multi-threaded process but for sending.
#![expect(
    unsafe_code,
    reason = "fork, descriptors received as numbers, a signal's disposition; nix has no safe form"
)]

use std::{
    io::{IoSlice, IoSliceMut},
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
};

use nix::{
    errno::Errno,
    sys::{
        signal::{SigHandler, Signal, signal},
        socket::{ControlMessage, ControlMessageOwned, MsgFlags, UnixAddr, recvmsg, sendmsg},
    },
    unistd::{ForkResult, fork},
};

use crate::platform;

/// Most descriptors in one message.
const MOST_FDS: usize = 4;

/// Forks this process, which must have one thread only.
///
/// # Errors
/// `EBUSY` if there is another thread; else what the system says.
pub(crate) fn fork_single_threaded() -> nix::Result<ForkResult> {
    if !platform::is_single_threaded() {
        return Err(Errno::EBUSY);
    }
    // SAFETY: with one thread no lock can be held by another one, so that the child
    // may allocate and run ordinary code. Checked just above; nothing between starts one.
    unsafe { fork() }
}

/// Makes a file that reaches the limit of size an error of the write (`EFBIG`) and not the
/// end of this process. Programs get the signal's usual meaning back.
pub(crate) fn outlive_file_size_limit() {
    // SAFETY: to ignore a signal installs no code that could run at a bad moment.
    // It cannot fail: the signal exists and may be ignored.
    let _before = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
}

/// Sends `bytes` with `fds` attached, without waiting for room.
pub(crate) fn send(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> nix::Result<usize> {
    let raw: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&raw)];
    let flags = MsgFlags::MSG_DONTWAIT;
    let socket = socket.as_fd().as_raw_fd();
    sendmsg::<UnixAddr>(socket, &[IoSlice::new(bytes)], &rights, flags, None)
}

/// Receives bytes with the descriptors attached to them; waits. No bytes: the other
/// end is closed.
pub(crate) fn receive(socket: impl AsFd, bytes: &mut [u8]) -> nix::Result<(usize, Vec<OwnedFd>)> {
    let mut space = nix::cmsg_space!([RawFd; MOST_FDS]);
    let mut slices = [IoSliceMut::new(bytes)];
    let socket = socket.as_fd().as_raw_fd();
    let flags = platform::receive_flags();
    let message = recvmsg::<UnixAddr>(socket, &mut slices, Some(&mut space), flags)?;
    let mut fds = Vec::new();
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = control {
            // SAFETY: the kernel has just made these descriptors for this process, and
            // nobody else knows their numbers.
            fds.extend(raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
        }
    }
    Ok((message.bytes, fds))
}
