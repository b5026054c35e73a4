//! Folders that a test may fill and that are gone afterwards.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A home of its own, with a project, for one test. Dropping it deletes it.
#[derive(Debug)]
pub struct TempHome {
    root: TempDir,
}

impl TempHome {
    /// Empty folders: home, Ostler's home, Claude Code's folder and a project.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn new() -> io::Result<Self> {
        let home = Self { root: tempfile::Builder::new().prefix("ostler-test-").tempdir()? };
        for folder in [home.home(), home.ostler_home(), home.claude_config_dir(), home.project()] {
            fs::create_dir_all(folder)?;
        }
        Ok(home)
    }

    /// The same with files in the project; see [`files_of`].
    ///
    /// # Errors
    /// If the disk refuses, or a path leads out of the project.
    pub fn with_project(files: &str) -> io::Result<Self> {
        let home = Self::new()?;
        home.write(files)?;
        Ok(home)
    }

    /// `HOME`.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// `OSTLER_HOME`.
    #[must_use]
    pub fn ostler_home(&self) -> PathBuf {
        self.root().join("home/.ostler")
    }

    /// `CLAUDE_CONFIG_DIR`.
    #[must_use]
    pub fn claude_config_dir(&self) -> PathBuf {
        self.root().join("home/.claude")
    }

    /// The project's folder, with links resolved.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The variables of a child process that shall see these folders and nothing else.
    #[must_use]
    pub fn env(&self) -> Vec<(&'static str, PathBuf)> {
        vec![
            ("HOME", self.home()),
            ("OSTLER_HOME", self.ostler_home()),
            ("CLAUDE_CONFIG_DIR", self.claude_config_dir()),
        ]
    }

    /// Writes files into the project; see [`files_of`].
    ///
    /// # Errors
    /// If the disk refuses, or a path leads out of the project.
    pub fn write(&self, files: &str) -> io::Result<()> {
        for (path, text) in files_of(files) {
            let inside = Path::new(path)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            if !inside {
                let problem = format!("path `{path}` leads out of the project; write it relative");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
            }
            let path = self.project().join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// Makes the project look like a git repository on `main`, without running git.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn init_git(&self) -> io::Result<()> {
        let git = self.project().join(".git");
        fs::create_dir_all(git.join("refs/heads"))?;
        fs::create_dir_all(git.join("objects"))?;
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
        fs::write(git.join("config"), "[core]\n\trepositoryformatversion = 0\n")
    }

    fn root(&self) -> PathBuf {
        // A temporary folder may be behind a link; sessions are filed by the real path.
        self.root.path().canonicalize().unwrap_or_else(|_| self.root.path().to_path_buf())
    }
}

/// The files of a text in which a line `=== path` begins each; the lines up to the next
/// one are its content. Lines before the first are ignored.
#[must_use]
pub fn files_of(text: &str) -> Vec<(&str, String)> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("=== ") {
            files.push((path.trim(), String::new()));
        } else if let Some((_, content)) = files.last_mut() {
            content.push_str(line);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_files() {
        let files = files_of("ignored\n=== a.txt\none\ntwo\n=== src/b.rs\n\n=== empty\n");
        let want = [("a.txt", "one\ntwo\n"), ("src/b.rs", "\n"), ("empty", "")];
        assert_eq!(files, want.map(|(path, text)| (path, text.to_owned())));
    }

    #[test]
    fn a_project_has_its_files_and_nothing_outside() {
        let home = TempHome::with_project("=== src/a.rs\nfn a() {}\n").unwrap();
        let text = fs::read_to_string(home.project().join("src/a.rs")).unwrap();
        assert_eq!(text, "fn a() {}\n");
        assert!(home.write("=== ../escape\n").is_err());
        assert!(home.write("=== /etc/escape\n").is_err());
        home.init_git().unwrap();
        assert!(home.project().join(".git/HEAD").is_file());
        let project = home.project();
        drop(home);
        assert!(!project.exists());
    }
}
