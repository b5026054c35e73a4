//! The repository that git would find from a folder, and what its own files say.
//!
//! Walks up as git does (gitrepository-layout(5), git(1) on `GIT_DIR`), but takes in every
//! candidate on the way until one that git certainly takes. Never starts git.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ostler_permission::{Repository, git_settings};
use ostler_stdx::AbsPath;

use super::{gitlinks, resolve};

/// Bytes of a configuration or pointer file that are read.
const MAX_BYTES: u64 = 1 << 20;
/// Submodules that are looked at, and how deep they may lie in each other.
const MAX_SUBMODULES: usize = 256;
const MAX_DEPTH: usize = 4;
/// The only hook that commands run which change nothing but git's own index.
const HOOK: &str = "post-index-change";

/// Finds the repository of a folder, links followed.
pub(super) fn find(folder: &AbsPath, home: &AbsPath, links: &gitlinks::Cache) -> Repository {
    let mut finder = Finder { home, links, found: Repository::default(), submodules: 0 };
    let mut odd = false;
    for at in folder.as_path().ancestors() {
        if finder.candidate(at, &mut odd) {
            break;
        }
    }
    if odd {
        finder.found.root = None;
    }
    finder.found
}

struct Finder<'a> {
    home: &'a AbsPath,
    links: &'a gitlinks::Cache,
    found: Repository,
    submodules: usize,
}

impl Finder<'_> {
    /// Takes in what lies at a folder; whether git certainly looks no further.
    fn candidate(&mut self, at: &Path, odd: &mut bool) -> bool {
        match self.pointed(at) {
            Ok(Some(git)) => {
                self.take(&git, Some(at), 0);
                if is_whole(&git) {
                    self.found.root = AbsPath::new(at).ok();
                    return true;
                }
                *odd = true;
            }
            Ok(None) => {}
            Err(doubt) => {
                self.doubt(doubt);
                return true;
            }
        }
        let there = |name: &str| at.join(name).symlink_metadata().is_ok();
        if there("HEAD") && (there("refs") || there("objects") || there("commondir")) {
            self.take(at, None, 0);
            if is_whole(at) {
                self.found.root = AbsPath::new(at).ok();
                return true;
            }
            *odd = true;
        }
        false
    }

    /// The folder that `.git` is or names.
    fn pointed(&self, at: &Path) -> Result<Option<PathBuf>, String> {
        let git = at.join(".git");
        let unread = |error: &io::Error| format!("`{}` cannot be read: {error}", git.display());
        match git.metadata() {
            Ok(found) if found.is_dir() => Ok(Some(git)),
            Ok(found) if found.is_file() => {
                let text = read(&git).map_err(|error| unread(&error))?.unwrap_or_default();
                let to = text.strip_prefix("gitdir:").map(|to| to.trim_matches(['\n', '\r', ' ']));
                match to {
                    Some(to) if !to.is_empty() => Ok(Some(at.join(to))),
                    _ => Err(format!("`{}` is not understood", git.display())),
                }
            }
            Ok(_) => Err(format!("`{}` is neither a file nor a folder", git.display())),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(unread(&error)),
        }
    }

    fn doubt(&mut self, why: String) {
        self.found.doubt.get_or_insert(why);
    }

    /// Takes in the settings of a git folder, its hooks and its submodules.
    fn take(&mut self, git: &Path, work: Option<&Path>, depth: usize) {
        let common = match read(&git.join("commondir")) {
            Ok(Some(to)) => git.join(to.trim_end()),
            Ok(None) => git.to_path_buf(),
            Err(error) => {
                return self.doubt(format!("`commondir` of `{}`: {error}", git.display()));
            }
        };
        self.governs(git);
        self.governs(&common);
        let own = self.found.settings.len();
        for file in
            [common.join("config"), common.join("config.worktree"), git.join("config.worktree")]
        {
            match read(&file) {
                Ok(Some(text)) => match git_settings(&text) {
                    Ok(settings) => self.found.settings.extend(settings),
                    Err(why) => self.doubt(format!("`{}`: {why}", file.display())),
                },
                Ok(None) => {}
                Err(error) => self.doubt(format!("`{}` cannot be read: {error}", file.display())),
            }
        }
        self.work_tree(own, git, work);
        self.hooks(own, git, &common, work);
        if let Some(work) = work {
            self.submodules(git, work, depth);
        }
    }

    fn governs(&mut self, path: &Path) {
        if let Ok(path) = AbsPath::new(path) {
            self.found.governed_by.push(resolve(&path).real);
        }
    }

    /// Forgets `core.worktree` where it names the work tree itself, as in submodules.
    fn work_tree(&mut self, own: usize, git: &Path, work: Option<&Path>) {
        let real = |path: &Path| path.canonicalize().ok();
        let mut at = 0;
        self.found.settings.retain(|setting| {
            at += 1;
            let names = at > own && setting.key == "core.worktree";
            let Some(value) = setting.value.as_deref().filter(|_| names) else { return true };
            let same = work.is_some_and(|work| {
                real(work).is_some_and(|work| real(&git.join(value)) == Some(work))
            });
            !same
        });
    }

    fn hooks(&mut self, own: usize, git: &Path, common: &Path, work: Option<&Path>) {
        let mut folders = vec![common.join("hooks")];
        for setting in &self.found.settings[own..] {
            if setting.key != "core.hookspath" {
                continue;
            }
            let value = setting.value.clone().unwrap_or_default();
            // Relative to where hooks run: the top of the work tree, or the bare repository.
            folders.push(match value.strip_prefix("~/") {
                Some(rest) => self.home.as_path().join(rest),
                None if value.starts_with(['~', '%']) => {
                    let why = format!("the folder `{value}` of its hooks is not understood");
                    self.found.doubt.get_or_insert(why);
                    continue;
                }
                None => work.unwrap_or(git).join(value),
            });
        }
        for folder in folders {
            let hook = folder.join(HOOK);
            match hook.symlink_metadata() {
                Ok(_) => self.found.hook = AbsPath::new(hook).ok(),
                Err(error) if is_absent(&error) => {}
                Err(error) => self.doubt(format!("`{}` cannot be read: {error}", hook.display())),
            }
            self.governs(&folder);
        }
    }

    /// `git status` runs itself in every submodule that is there.
    fn submodules(&mut self, git: &Path, work: &Path, depth: usize) {
        let paths = match self.links.of(git) {
            Ok(paths) => paths,
            Err(why) => return self.doubt(why),
        };
        for path in paths.iter() {
            self.submodules += 1;
            if self.submodules > MAX_SUBMODULES || depth > MAX_DEPTH {
                return self.doubt("it has too many submodules to look at".into());
            }
            let at = work.join(path);
            match self.pointed(&at) {
                Ok(Some(git)) => self.take(&git, Some(&at), depth + 1),
                Ok(None) => {}
                Err(doubt) => self.doubt(doubt),
            }
        }
    }
}

/// Whether git certainly takes this folder as a repository.
fn is_whole(git: &Path) -> bool {
    let common = match read(&git.join("commondir")) {
        Ok(Some(to)) => git.join(to.trim_end()),
        Ok(None) => git.to_path_buf(),
        Err(_) => return false,
    };
    let head = read(&git.join("HEAD")).ok().flatten().unwrap_or_default();
    let head = head.trim_end();
    let names = match head.strip_prefix("ref: refs/") {
        Some(name) => !name.is_empty(),
        None => matches!(head.len(), 40 | 64) && head.bytes().all(|b| b.is_ascii_hexdigit()),
    };
    // A folder is entered to see `.` in it, which git needs as well.
    names && common.join("objects/.").is_dir() && common.join("refs/.").is_dir()
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A small file's text; nothing if it is not there.
fn read(path: &Path) -> io::Result<Option<String>> {
    match path.metadata() {
        Ok(found) if found.is_file() && found.len() <= MAX_BYTES => {
            Ok(Some(String::from_utf8_lossy(&fs::read(path)?).into_owned()))
        }
        Ok(_) => Err(io::Error::other("it is no file or too large")),
        Err(error) if is_absent(&error) => {
            // A link that leads nowhere may lead somewhere by the time git reads it.
            match path.symlink_metadata() {
                Ok(_) => Err(io::Error::other("it is a link that leads nowhere")),
                Err(_) => Ok(None),
            }
        }
        Err(error) => Err(error),
    }
}
