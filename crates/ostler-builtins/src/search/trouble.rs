//! What a search could not look at, counted, with one example each.

use std::{
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// What could not be looked at. Shared by the threads of a search.
#[derive(Debug, Default)]
pub(crate) struct Trouble(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    folders: Count,
    files: Count,
    gone: Count,
    binary: Count,
}

#[derive(Debug, Default)]
struct Count {
    number: u64,
    first: Option<PathBuf>,
    why: String,
}

impl Count {
    fn add(&mut self, path: Option<&Path>, why: impl FnOnce() -> String) {
        self.number += 1;
        // The smallest path, so that the text does not depend on the threads.
        if self.number == 1 || path.is_some_and(|path| self.first.as_deref() > Some(path)) {
            self.first = path.map(Path::to_owned);
            self.why = why();
        }
    }
}

impl Trouble {
    /// The walk could not go on somewhere.
    pub(crate) fn folder(&self, error: &ignore::Error) {
        let path = path_of(error);
        match error.io_error() {
            Some(error) if error.kind() == io::ErrorKind::NotFound => {
                self.with(|counts| counts.gone.add(path, String::new));
            }
            Some(error) => self.with(|counts| counts.folders.add(path, || reason(error))),
            None => self.with(|counts| counts.folders.add(path, || error.to_string())),
        }
    }

    /// A file could not be read.
    pub(crate) fn file(&self, path: &Path, error: &io::Error) {
        self.with(|counts| match error.kind() {
            io::ErrorKind::NotFound => counts.gone.add(Some(path), String::new),
            _ => counts.files.add(Some(path), || reason(error)),
        });
    }

    /// A file was there and is not any more.
    pub(crate) fn gone(&self, path: &Path) {
        self.with(|counts| counts.gone.add(Some(path), String::new));
    }

    /// A file is not text.
    pub(crate) fn binary(&self, path: &Path) {
        self.with(|counts| counts.binary.add(Some(path), String::new));
    }

    /// One line for each kind, each with a line end before it; empty if there was none.
    pub(crate) fn text(&self, display: impl Fn(&Path) -> String) -> String {
        let mut text = String::new();
        self.with(|counts| {
            let kinds = [
                (&counts.folders, "folder", "could not be read"),
                (&counts.files, "file", "could not be read"),
                (&counts.gone, "file", "vanished during the search"),
                (&counts.binary, "binary file", "not searched"),
            ];
            for (count, noun, what) in kinds {
                if count.number == 0 {
                    continue;
                }
                let plural = if count.number == 1 { "" } else { "s" };
                let _infallible = write!(text, "\n[{} {noun}{plural} {what}", count.number);
                if !count.why.is_empty() {
                    let _infallible = write!(text, ": {}", count.why);
                }
                if let Some(first) = &count.first {
                    let such = if count.number == 1 { "" } else { "such as " };
                    let _infallible = write!(text, " ({such}{})", display(first));
                }
                text.push(']');
            }
        });
        text
    }

    fn with(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Without the number that the system adds.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "not permitted".to_owned(),
        _ => error.to_string(),
    }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}
