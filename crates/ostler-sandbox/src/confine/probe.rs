//! Which level there is on this machine: found out by running something confined, not by
//! looking at version numbers.

use std::{path::PathBuf, time::Duration};

use ostler_stdx::{AbsPath, Cancel};

use super::{claims::Level, inner};
use crate::{Command, Supervisor};

/// How long a probe may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct ProbeOptions {
    /// This program.
    pub exe: PathBuf,
    /// The `bwrap` program, if it is not the one on the usual path.
    pub bwrap: Option<PathBuf>,
    /// Go without process ids and a `/proc` of its own, as inside containers.
    pub weaker: bool,
    /// Leave `bwrap` out.
    pub without_bwrap: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The strongest level that works.
    pub level: Level,
    /// Why a stronger one does not.
    pub why_not: Vec<String>,
    pub(super) bwrap: Option<PathBuf>,
}

impl Probe {
    /// Finds out what works here. Starts two processes at most.
    pub async fn run(supervisor: &Supervisor, options: &ProbeOptions) -> Self {
        if cfg!(target_os = "macos") {
            let level = Level::Seatbelt;
            return Self { level, why_not: Vec::new(), bwrap: None };
        }
        let mut why_not = Vec::new();
        if !options.without_bwrap {
            match bubblewrap(supervisor, options).await {
                Ok((level, bwrap)) => return Self { level, why_not, bwrap: Some(bwrap) },
                Err(why) => why_not.push(why),
            }
        }
        let level = match landlock(supervisor, options).await {
            Ok(abi) => Level::Landlock { abi },
            Err(why) => {
                why_not.push(why);
                Level::None
            }
        };
        Self { level, why_not, bwrap: None }
    }
}

/// Folders in which `bwrap` may lie: never one that a project could have put into the path.
const FOLDERS: [&str; 4] = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"];

async fn bubblewrap(
    supervisor: &Supervisor,
    options: &ProbeOptions,
) -> Result<(Level, PathBuf), String> {
    let bwrap = match &options.bwrap {
        Some(path) => path.clone(),
        None => FOLDERS
            .iter()
            .map(|folder| PathBuf::from(folder).join("bwrap"))
            .find(|path| path.is_file())
            .ok_or("bubblewrap is not installed (package `bubblewrap`)")?,
    };
    let version = say(supervisor, Command::new(&bwrap, AbsPath::root()).arg("--version")).await?;
    let mut flags = vec!["--unshare-user", "--disable-userns", "--unshare-net", "--unshare-ipc"];
    flags.extend(["--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/run"]);
    if !options.weaker {
        flags.extend(["--unshare-pid", "--proc", "/proc"]);
    }
    let trial = Command::new(&bwrap, AbsPath::root()).args(flags).args(["--", "/bin/true"]);
    say(supervisor, trial)
        .await
        .map_err(|error| format!("bubblewrap does not work here: {error}"))?;
    Ok((Level::Bubblewrap { version: version.trim().to_owned() }, bwrap))
}

async fn landlock(supervisor: &Supervisor, options: &ProbeOptions) -> Result<u32, String> {
    let spec = inner::Spec { probe: true, ..inner::Spec::default() };
    let spec = serde_json::to_string(&spec).map_err(|error| error.to_string())?;
    let command = Command::new(&options.exe, AbsPath::root()).args([inner::SWITCH, spec.as_str()]);
    let said = say(supervisor, command).await.unwrap_or_default();
    match said.trim().parse() {
        Ok(abi @ 1..) => Ok(abi),
        _ => Err("this kernel has no Landlock".to_owned()),
    }
}

/// Standard output of a command that must succeed.
async fn say(supervisor: &Supervisor, command: Command) -> Result<String, String> {
    let ran = supervisor.run(&command.timeout(LIMIT), &Cancel::new(), |_, _| {}).await;
    let exit = ran.map_err(|error| error.to_string())?;
    if exit.is_success() {
        return Ok(exit.stdout.to_text());
    }
    let told = exit.stderr.to_text();
    Err(told.lines().next().unwrap_or("it failed without a word").to_owned())
}
