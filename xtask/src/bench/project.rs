//! A project and a home to throw away, and the program set up to run in them against a model.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use super::measure::Process;
use super::model::Model;

/// The folders; they go when this is dropped.
#[derive(Debug)]
pub(super) struct Project {
    dir: TempDir,
}

impl Project {
    pub(super) fn new() -> Result<Self> {
        let dir = tempfile::tempdir().context("cannot make a temporary folder")?;
        for name in ["home", "project"] {
            std::fs::create_dir(dir.path().join(name))?;
        }
        Ok(Self { dir })
    }

    /// The folder that the agent works in.
    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// Ostler's own home.
    pub(super) fn home(&self) -> PathBuf {
        self.dir.path().join("home/.ostler")
    }

    /// Writes a file of the project.
    pub(super) fn file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.root().join(name);
        std::fs::write(&path, text)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(path)
    }

    /// The program here.
    pub(super) fn ostler(&self, binary: &Path, model: &Model) -> Process {
        let home = self.dir.path().join("home");
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Process::new(binary)
            .dir(&self.root())
            .env("HOME", text(&home))
            .env("OSTLER_HOME", text(&self.home()))
            .env("CLAUDE_CONFIG_DIR", text(&home.join(".claude")))
            .env("ANTHROPIC_BASE_URL", model.url())
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("NO_PROXY", "127.0.0.1")
    }

    /// The program with one prompt.
    pub(super) fn prompt(&self, binary: &Path, model: &Model) -> Process {
        self.ostler(binary, model).args(["-p", "hi", "-m", MODEL])
    }

    /// The one session log of this home.
    pub(super) fn log(&self) -> Result<PathBuf> {
        let mut found = Vec::new();
        for folder in std::fs::read_dir(self.home().join("projects"))? {
            for entry in std::fs::read_dir(folder?.path())? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    found.push(path);
                }
            }
        }
        ensure!(found.len() == 1, "there should be one session log, not {}", found.len());
        found.pop().context("there is one")
    }
}

/// The model that is asked for: no catalogue has it, so its name is sent as it is.
pub(super) const MODEL: &str = "anthropic/bench";
