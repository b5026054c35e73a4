//! The throw-away world: namespaces of users, processes, files and the network, made by
//! `bubblewrap`. Nothing of the machine can be written there, there is no network, and nothing
//! outlives it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::everyday::Everyday;
use crate::process::command;

/// Programs that generated scripts name besides those of the everyday list.
const PROGRAMS: &[&str] = &[
    "curl",
    "wget",
    "node",
    "make",
    "npm",
    "ssh",
    "vim",
    "sudo",
    "doas",
    "perl",
    "python3",
    "git",
    "docker",
    "kubectl",
    "rg",
    "fd",
    "jq",
    "yq",
    "tree",
    "unzip",
    "xxd",
    "bat",
    "cargo",
    "rustc",
    "gcc",
    "flock",
    "busybox",
    "unknown-wrapper",
    "tar",
    "zgrep",
    "column",
    "file",
    "less",
];

/// Files of `/etc` that programs read by themselves.
const ETC: &[(&str, &str)] = &[
    ("passwd", "root:x:0:0::/root:/bin/bash\nme:x:1000:1000::/home/me:/bin/bash\n"),
    ("group", "root:x:0:\nme:x:1000:\n"),
    ("shadow", "root:*:1::::::\n"),
    ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
    ("hosts", "127.0.0.1 localhost\n"),
    ("os-release", "ID=example\n"),
];

/// Parts of the machine's own `/etc` that programs need.
const BOUND: &[&str] = &["/etc/alternatives", "/etc/ld.so.cache"];

/// Files that every namespace of a run shares, and cannot write.
#[derive(Debug)]
pub(crate) struct Shared {
    dir: PathBuf,
}

impl Shared {
    /// Makes them in a new folder.
    pub(crate) fn make() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("ostler-oracle-{}", std::process::id()));
        let (etc, stand_ins) = (dir.join("etc"), dir.join("stand-ins"));
        fs::create_dir_all(&etc)
            .and_then(|()| fs::create_dir_all(&stand_ins))
            .with_context(|| format!("cannot make `{}`", dir.display()))?;
        let shared = Self { dir };
        for (name, text) in ETC {
            fs::write(etc.join(name), text)?;
        }
        for bound in BOUND.iter().map(Path::new).filter(|bound| bound.exists()) {
            let place = etc.join(bound.file_name().unwrap_or_default());
            if bound.is_dir() { fs::create_dir(place)? } else { fs::write(place, "")? }
        }
        let everyday = Everyday::read();
        let lines = everyday.harmless.iter().chain(&everyday.marked);
        let words = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '-'));
        for word in words.chain(PROGRAMS.iter().copied()) {
            // Every word will do; most are never looked for. What the shell itself knows, and
            // words of its grammar, it finds without looking.
            if word.starts_with(|c: char| c.is_ascii_alphabetic()) && !stand_ins.join(word).exists()
            {
                symlink("/usr/bin/true", stand_ins.join(word))?;
            }
        }
        Ok(shared)
    }

    /// This program in a namespace of its own, to be given its arguments.
    pub(crate) fn enter(&self) -> Result<Command> {
        let this = std::env::current_exe().context("cannot find this program")?;
        let mut bwrap = command("bwrap");
        bwrap.args(["--unshare-all", "--die-with-parent", "--new-session"]);
        bwrap.args(["--uid", "1000", "--gid", "1000", "--hostname", "oracle"]);
        bwrap.args(["--ro-bind", "/usr", "/usr"]);
        for name in ["bin", "sbin", "lib", "lib64"] {
            let path = format!("/{name}");
            match fs::read_link(&path) {
                Ok(target) => bwrap.arg("--symlink").arg(target).arg(&path),
                Err(_) => bwrap.args(["--ro-bind-try", &path, &path]),
            };
        }
        bwrap.arg("--ro-bind").arg(self.dir.join("etc")).arg("/etc");
        for bound in BOUND {
            bwrap.args(["--ro-bind-try", bound, bound]);
        }
        bwrap.arg("--ro-bind").arg(self.dir.join("stand-ins")).arg(crate::fixture::STAND_INS);
        bwrap.args(["--proc", "/proc", "--dev", "/dev"]);
        for own in ["/tmp", "/srv", "/home", "/oracle"] {
            bwrap.args(["--tmpfs", own]);
        }
        bwrap.arg("--ro-bind").arg(this).arg("/opt/oracle");
        bwrap.args(["--remount-ro", "/", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin"]);
        bwrap.args(["--setenv", "HOME", "/home/me", "--chdir", "/", "/opt/oracle"]);
        Ok(bwrap)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The folder is this run's own; if it stays, it is only untidy.
        let _left_behind = fs::remove_dir_all(&self.dir);
    }
}

/// Why scripts cannot be run on this machine; nothing if they can.
pub(crate) fn missing(shared: &Shared) -> Result<Option<String>> {
    for (program, package) in [("bwrap", "bubblewrap"), ("strace", "strace"), ("git", "git")] {
        if !works(command(program).arg("--version")) {
            return Ok(Some(format!("`{program}` is missing: install the package `{package}`")));
        }
    }
    if !works(shared.enter()?.arg("try")) {
        let why = "this machine makes no namespaces for this user, or none in which a process may be traced";
        return Ok(Some(why.to_owned()));
    }
    Ok(None)
}

fn works(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Whether a process can be traced here: run inside, by [`missing`].
pub(crate) fn try_tracing() -> Result<()> {
    let strace = ["-f", "--seccomp-bpf", "-o", "/oracle/trace", "-e", "trace=execve"];
    crate::process::quiet("strace", &[&strace[..], &["/usr/bin/true"]].concat(), "/")
}
