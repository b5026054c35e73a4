//! Whole outputs of tools whose result was cut (ipc.md 5.11): a file each under
//! `$OSTLER_HOME/tasks/<session-id>/output/`, so that a resumed session reads on. Bounded
//! for an output, for a session and in the number of sessions; what was left out is said
//! where it is missing. Outside every project, so that no search of a tool finds its own
//! output.
//!
//! They are no blobs: an output grows while it is written, is read by line, belongs to one
//! session and goes with it, and two are never the same. There is no cache in memory: a
//! page is read from the file, and the system keeps hot files in memory anyway.

mod page;
#[cfg(test)]
mod tests;
mod tidy;
mod write;

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, Once},
};

use ostler_stdx::{AbsPath, Cancel};

use crate::{
    error::{Error, Result},
    store::is_session_id,
};
pub use page::{Page, PageLine, PageQuery};
pub use write::{OutputFile, Saved};

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// Bytes of one output. A longer one keeps its first half and its newest half.
    pub output_bytes: u64,
    /// Bytes of all outputs of a session; the oldest go first.
    pub session_bytes: u64,
    /// Sessions that keep outputs; those that were not used for longest go first.
    pub sessions: usize,
}

impl Default for OutputLimits {
    fn default() -> Self {
        Self { output_bytes: 64 << 20, session_bytes: 256 << 20, sessions: 50 }
    }
}

/// The kept outputs of a session, by the id of the call. Clones are the same store.
#[derive(Debug, Clone)]
pub struct OutputFiles {
    home: PathBuf,
    session: String,
    limits: OutputLimits,
    tidied: Arc<Once>,
}

impl OutputFiles {
    /// The outputs of a session; touches no disk.
    ///
    /// # Errors
    /// `Invalid` for an id that cannot be a folder name.
    pub fn open(home: &AbsPath, session_id: &str, limits: OutputLimits) -> Result<Self> {
        if !is_session_id(session_id) {
            let what = format!("`{session_id}` cannot name a session; use a UUID");
            return Err(Error::Invalid { what, path: home.to_path_buf() });
        }
        Ok(Self {
            home: home.to_path_buf(),
            session: session_id.to_owned(),
            limits,
            tidied: Arc::new(Once::new()),
        })
    }

    /// Begins to keep the output of a call; an earlier one of the same call stays until this
    /// one is finished. Dropped unfinished, it leaves nothing.
    ///
    /// # Errors
    /// `Storage`.
    pub fn begin(&self, call_id: &str) -> Result<OutputFile> {
        self.tidy();
        OutputFile::begin(self.clone(), self.path(call_id))
    }

    /// Drops what sessions wrote beside their logs that were not used for long. Done once
    /// for a store, before its first output; call it where there may be none.
    pub fn tidy(&self) {
        self.tidied.call_once(|| tidy::sessions(&self.home, &self.session, self.limits.sessions));
    }

    /// Keeps what a reader gives.
    ///
    /// # Errors
    /// `Storage`, for the reader's failures too.
    pub fn save(&self, call_id: &str, reader: &mut dyn Read) -> Result<Saved> {
        let mut file = self.begin(call_id)?;
        io::copy(reader, &mut file).map_err(Error::storage("write", self.dir()))?;
        file.finish()
    }

    /// A part of a kept output; none if there is none of that call.
    ///
    /// # Errors
    /// `Invalid` for a pattern that makes no sense; `Storage`.
    pub fn page(&self, call_id: &str, query: &PageQuery, cancel: &Cancel) -> Result<Option<Page>> {
        let path = self.path(call_id);
        match File::open(&path) {
            Ok(file) => page::read(&file, &path, query, cancel),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::storage("read", path)(error)),
        }
    }

    /// Removes all outputs of the session.
    ///
    /// # Errors
    /// `Storage`.
    pub fn clear(&self) -> Result<()> {
        match fs::remove_dir_all(self.dir()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::storage("delete", self.dir())(error))
            }
            _ => Ok(()),
        }
    }

    fn dir(&self) -> PathBuf {
        dir_of(&self.home, &self.session)
    }

    /// The file of a call. The id is a vendor's text: only its hash becomes a name.
    fn path(&self, call_id: &str) -> PathBuf {
        let name = blake3::hash(call_id.as_bytes()).to_hex();
        self.dir().join(&name[..32])
    }
}

fn dir_of(home: &Path, session: &str) -> PathBuf {
    home.join("tasks").join(session).join("output")
}
