//! Landlock: what this process and all that it starts may still open, connect to and
//! signal. Only ever takes away.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, NetPort, PathBeneath,
    Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use nix::{
    fcntl::{OFlag, open},
    sys::stat::{Mode, SFlag, fstat},
};

use super::inner::FileRules;

/// The newest version whose rights are known here; an older kernel leaves out what it
/// does not know, and the claims say so.
const NEWEST: ABI = ABI::V6;

/// The version of the kernel's interface, found out by making rule sets that must hold
/// whole; 0 if there is none.
pub(super) fn version() -> u32 {
    let known =
        [(ABI::V6, 6), (ABI::V5, 5), (ABI::V4, 4), (ABI::V3, 3), (ABI::V2, 2), (ABI::V1, 1)];
    let supported = |abi: ABI| {
        let mut set = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        set = match set.handle_access(AccessFs::from_all(abi)) {
            Ok(set) => set,
            Err(_) => return false,
        };
        if abi >= ABI::V4 {
            set = match set.handle_access(AccessNet::from_all(abi)) {
                Ok(set) => set,
                Err(_) => return false,
            };
        }
        if abi >= ABI::V6 {
            set = match set.scope(Scope::from_all(abi)) {
                Ok(set) => set,
                Err(_) => return false,
            };
        }
        set.create().is_ok()
    };
    known.into_iter().find(|(abi, _)| supported(*abi)).map_or(0, |(_, version)| version)
}

/// Devices that every command may write to.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/pts",
    "/dev/shm",
    "/dev/ptmx",
];

/// Confines this process.
pub(super) fn apply(rules: &FileRules) -> Result<(), String> {
    let text = |error: landlock::RulesetError| format!("Landlock refused: {error}");
    let mut set = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    if rules.files {
        set = set.handle_access(AccessFs::from_all(NEWEST)).map_err(text)?;
    }
    if rules.connect.is_some() {
        set = set.handle_access(AccessNet::ConnectTcp).map_err(text)?;
    }
    if !rules.bind {
        set = set.handle_access(AccessNet::BindTcp).map_err(text)?;
    }
    set = set.scope(Scope::from_all(NEWEST)).map_err(text)?;
    let mut set = set.create().map_err(text)?;
    if rules.files {
        for path in &rules.read {
            set = beneath(set, path, AccessFs::from_read(NEWEST))?;
        }
        let devices = DEVICES.iter().map(Path::new);
        for path in &rules.write {
            set = beneath(set, path, AccessFs::from_write(NEWEST))?;
        }
        for device in devices {
            set = beneath(set, device, AccessFs::from_all(NEWEST))?;
        }
    }
    for port in rules.connect.iter().flatten() {
        set = set.add_rule(NetPort::new(*port, AccessNet::ConnectTcp)).map_err(text)?;
    }
    let status = set.restrict_self().map_err(text)?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err("this kernel has no Landlock".to_owned());
    }
    Ok(())
}

/// Adds a rule for what is there; what is not is left out.
fn beneath(
    set: landlock::RulesetCreated,
    path: &Path,
    access: landlock::BitFlags<AccessFs>,
) -> Result<landlock::RulesetCreated, String> {
    // A link that was put there since would let in what it leads to.
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let Ok(fd) = open(path, flags, Mode::empty()) else { return Ok(set) };
    let Ok(kind) = fstat(&fd).map(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT)
    else {
        return Ok(set);
    };
    let is_folder = kind == SFlag::S_IFDIR;
    if kind == SFlag::S_IFLNK {
        return Ok(set);
    }
    let access = if is_folder { access } else { access & AccessFs::from_file(NEWEST) };
    set.add_rule(PathBeneath::new(fd, access))
        .map_err(|error| format!("Landlock refused `{}`: {error}", path.display()))
}
