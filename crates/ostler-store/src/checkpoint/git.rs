//! What git keeps already and needs no copy: files that its index calls unchanged. Reads the
//! index and objects itself, since starting git may run hooks and filters of the project;
//! writes nothing. Whatever it does not understand it does not know, and then the file is
//! copied. What it gives back has the hash that the index names, or is not given back.

mod index;
mod objects;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use super::look::Stamp;
use index::Entry;

/// The name of an object: SHA-1.
pub(super) type Oid = [u8; 20];

/// Bytes of an index that is read; a larger one is of a project of millions of files.
const INDEX_BYTES: u64 = 256 << 20;
/// Files that are hashed to see whether git stores contents as they are.
const SAMPLES: usize = 16;
/// Bytes of a file that is hashed for that.
const SAMPLE_BYTES: u64 = 256 * 1024;
/// Attributes that make git store another content than the file has.
const CONVERTING: [&str; 5] = ["filter", "ident", "working-tree-encoding", "eol=crlf", "crlf"];

/// A repository as one index describes it.
#[derive(Debug)]
pub(super) struct Repository {
    work: PathBuf,
    objects: PathBuf,
    /// The index file that was read.
    index: PathBuf,
    index_stamp: Stamp,
    entries: HashMap<Box<[u8]>, Entry>,
    /// Whether it stores contents as they are.
    is_plain: bool,
}

impl Repository {
    /// The repository that a folder lies in, if it can be understood.
    pub(super) fn open(folder: &Path) -> Option<Self> {
        let work = folder.ancestors().find(|dir| dir.join(".git").exists())?;
        let git = git_dir(work)?;
        let common = match fs::read_to_string(git.join("commondir")) {
            Ok(text) => git.join(text.trim_end()),
            Err(_) => git.clone(),
        };
        if is_special(&common) {
            return None;
        }
        let index = git.join("index");
        let index_stamp = stamp_of(&index)?;
        if index_stamp.size > INDEX_BYTES {
            return None;
        }
        let entries = index::parse(&fs::read(&index).ok()?)?;
        let objects = common.join("objects");
        let work = work.to_path_buf();
        let mut this = Self { work, objects, index, index_stamp, entries, is_plain: false };
        this.is_plain = !this.has_converting_attributes(&common) && this.samples_agree();
        Some(this)
    }

    /// Whether the index is still the one that was read.
    pub(super) fn is_current(&self) -> bool {
        stamp_of(&self.index) == Some(self.index_stamp)
    }

    /// Whether a folder lies in it.
    pub(super) fn holds(&self, folder: &Path) -> bool {
        folder.starts_with(&self.work)
    }

    /// The object that holds exactly this file's content, if the index calls it unchanged.
    pub(super) fn unchanged(&self, path: &Path, stamp: Stamp) -> Option<Oid> {
        let name = path.strip_prefix(&self.work).ok()?;
        let entry = self.entries.get(name.as_os_str().as_bytes())?;
        // Written in the same instant as the index, it may have changed again since.
        let is_racy = entry.mtime_ns >= self.index_stamp.mtime_ns;
        (self.is_plain && !is_racy && entry.describes(stamp)).then_some(entry.oid)
    }

    /// The content of an object, if it has at most `max` bytes and is what its name says.
    pub(super) fn read(&self, oid: &Oid, max: u64) -> Option<Vec<u8>> {
        objects::read(&self.objects, oid, max).filter(|content| blob_name(content) == *oid)
    }

    fn has_converting_attributes(&self, common: &Path) -> bool {
        let is_attributes =
            |name: &[u8]| name.rsplit(|&b| b == b'/').next() == Some(b".gitattributes");
        let tracked = self
            .entries
            .keys()
            .filter(|name| is_attributes(name))
            .map(|name| self.work.join(Path::new(std::ffi::OsStr::from_bytes(name))));
        tracked.chain([self.work.join(".gitattributes"), common.join("info/attributes")]).any(
            |path| match fs::read(path) {
                Ok(text) => {
                    let text = String::from_utf8_lossy(&text);
                    CONVERTING.iter().any(|word| text.contains(word))
                }
                Err(_) => false,
            },
        )
    }

    /// Whether files here and there are stored as they are; settings outside of the
    /// repository may say otherwise.
    fn samples_agree(&self) -> bool {
        let step = self.entries.len() / SAMPLES + 1;
        self.entries.iter().step_by(step).all(|(name, entry)| {
            let path = self.work.join(Path::new(std::ffi::OsStr::from_bytes(name)));
            match stamp_of(&path) {
                Some(stamp) if stamp.size <= SAMPLE_BYTES && entry.describes(stamp) => {
                    fs::read(&path).is_ok_and(|content| blob_name(&content) == entry.oid)
                }
                _ => true,
            }
        })
    }
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    path.symlink_metadata().ok().filter(fs::Metadata::is_file).map(|found| Stamp::of(&found))
}

/// The folder of a repository: `.git` itself, or where it leads in a worktree or submodule.
fn git_dir(work: &Path) -> Option<PathBuf> {
    let git = work.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    Some(work.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Whether the repository's own settings make it store other contents or other names.
fn is_special(common: &Path) -> bool {
    let Ok(config) = fs::read_to_string(common.join("config")) else { return true };
    config.lines().map(|line| line.trim().to_ascii_lowercase()).any(|line| {
        let Some((key, value)) = line.split_once('=') else { return line == "autocrlf" };
        let value = value.trim();
        match key.trim() {
            "autocrlf" => value != "false",
            "eol" => value == "crlf",
            "objectformat" => value != "sha1",
            _ => false,
        }
    })
}

/// The name under which git stores a content.
pub(super) fn blob_name(content: &[u8]) -> Oid {
    use sha1::Digest as _;
    let mut hasher = sha1::Sha1::new();
    hasher.update(format!("blob {}\0", content.len()));
    hasher.update(content);
    hasher.finalize().into()
}
