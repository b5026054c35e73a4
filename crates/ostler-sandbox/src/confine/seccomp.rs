//! A filter of system calls: sockets that would lead past the confinement, and calls that
//! look into or change other processes and the system. What it refuses fails with EPERM.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use super::inner::{Calls, Inet};

/// Calls that no command of a coding agent needs, and escapes do.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Its requests pass by this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_open_by_handle_at,
];

/// Kinds of sockets that lead past any network rule.
const FAMILIES: &[libc::c_int] = &[
    libc::AF_PACKET,
    libc::AF_VSOCK,
    libc::AF_BLUETOOTH,
    libc::AF_CAN,
    libc::AF_TIPC,
    libc::AF_ALG,
];

/// The kind of a socket, without its flags.
const KIND: u64 = 0xf;

/// Installs the filter for this process and all that it starts.
pub(super) fn apply(calls: Calls) -> Result<(), String> {
    let filter = program(calls).map_err(|error| format!("no filter of system calls: {error}"))?;
    seccompiler::apply_filter(&filter)
        .map_err(|error| format!("the filter of system calls was refused: {error}"))
}

fn program(calls: Calls) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, sockets(calls)?);
    SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        arch()?,
    )?
    .try_into()
}

fn sockets(calls: Calls) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let is = |arg: u8, op: SeccompCmpOp, value: u64| SeccompCondition::new(arg, Dword, op, value);
    let family = |family: libc::c_int| is(0, SeccompCmpOp::Eq, family as u64);
    let mut refused = Vec::new();
    for other in FAMILIES {
        refused.push(SeccompRule::new(vec![family(*other)?])?);
    }
    if !calls.unix {
        refused.push(SeccompRule::new(vec![family(libc::AF_UNIX)?])?);
    }
    for inet in [libc::AF_INET, libc::AF_INET6] {
        match calls.inet {
            Inet::All => {}
            Inet::None => refused.push(SeccompRule::new(vec![family(inet)?])?),
            Inet::Streams => {
                for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET] {
                    let kind = is(1, SeccompCmpOp::MaskedEq(KIND), kind as u64)?;
                    refused.push(SeccompRule::new(vec![family(inet)?, kind])?);
                }
                // Multipath TCP is a stream that the kernel's port rules do not know.
                let multipath = is(2, SeccompCmpOp::Eq, libc::IPPROTO_MPTCP as u64)?;
                refused.push(SeccompRule::new(vec![family(inet)?, multipath])?);
            }
        }
    }
    Ok(refused)
}

fn arch() -> Result<TargetArch, seccompiler::BackendError> {
    std::env::consts::ARCH.try_into()
}
