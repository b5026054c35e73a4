//! A small repository for black-box runs, with stand-ins for all programs that xtask starts. The
//! stand-ins are committed scripts and the only programs on the path: nothing is built, nothing
//! is installed, nothing is asked of the network.

use std::io::Result;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The repository; it goes away with the value.
#[derive(Debug)]
pub(crate) struct Repo {
    dir: tempfile::TempDir,
    env: Vec<(&'static str, String)>,
}

impl Repo {
    /// An empty one.
    pub(crate) fn new() -> Result<Self> {
        // Beside the binary, so that it can be linked to.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        std::fs::create_dir_all(dir.path().join("xtask"))?;
        std::fs::create_dir_all(dir.path().join("target/debug"))?;
        std::os::unix::fs::symlink(
            stand_ins().join("ostler"),
            dir.path().join("target/debug/ostler"),
        )?;
        Ok(Self { dir, env: Vec::new() })
    }

    /// With a variable for the stand-ins.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.env.push((name, value.to_owned()));
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        std::fs::write(path, text)
    }

    /// Runs a verb, from a link to the binary that a build may replace.
    #[expect(clippy::disallowed_methods, reason = "these tests run the binary that they test")]
    pub(crate) fn xtask(&self, args: &[&str]) -> Result<Output> {
        let link = self.path("target/debug/xtask");
        if !link.exists() {
            std::fs::hard_link(env!("CARGO_BIN_EXE_xtask"), &link)?;
        }
        let mut command = Command::new(&link);
        command.args(args).current_dir(self.dir.path()).env_clear();
        command.env("PATH", stand_ins()).env("CARGO", stand_ins().join("cargo"));
        command.env("CARGO_MANIFEST_DIR", self.path("xtask"));
        command.env("FAKE_ROOT", self.dir.path()).env("FAKE_LOG", self.path("target/log"));
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command.output()
    }

    /// What the stand-ins were asked since the last time, one call a line.
    pub(crate) fn calls(&self) -> Vec<String> {
        let log = self.path("target/log");
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        drop(std::fs::remove_file(&log));
        text.lines().map(str::to_owned).collect()
    }
}

/// What a run said to the user.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stand_ins() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/bin"))
}
