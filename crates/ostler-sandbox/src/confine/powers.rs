//! Powers of the administrator that a confined command does without, and the way in which
//! Ostler keeps its own memory and variables from the commands of its user.
#![expect(unsafe_code, reason = "prctl with these options; nix has no safe form")]

use nix::libc;

/// Powers that lead past a confinement (capabilities(7)); the rest is what root may do to
/// its own files.
const POWERS: &[libc::c_ulong] = &[
    2,  // CAP_DAC_READ_SEARCH
    12, // CAP_NET_ADMIN
    13, // CAP_NET_RAW
    16, // CAP_SYS_MODULE
    17, // CAP_SYS_RAWIO
    18, // CAP_SYS_CHROOT
    19, // CAP_SYS_PTRACE
    20, // CAP_SYS_PACCT
    21, // CAP_SYS_ADMIN
    22, // CAP_SYS_BOOT
    25, // CAP_SYS_TIME
    27, // CAP_MKNOD
    32, // CAP_MAC_OVERRIDE
    33, // CAP_MAC_ADMIN
    34, // CAP_SYSLOG
    38, // CAP_PERFMON
    39, // CAP_BPF
    40, // CAP_CHECKPOINT_RESTORE
];

/// The program that this process becomes does not get the dangerous powers. Who is not
/// root has none, and is refused what changes nothing.
pub(super) fn drop_dangerous() {
    for power in POWERS {
        // SAFETY: takes two numbers and changes a bit of this process.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, *power, 0, 0, 0) };
    }
}

/// Keeps memory, variables and open files of this process from other processes of the
/// same user, such as the commands that it runs: they cannot look into `/proc` for them.
/// Root can.
pub fn hide_own_memory() {
    // SAFETY: takes one number and changes a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
}
