//! Outputs that are too long to show: kept whole by the host, read in pages by `Output`
//! (ipc.md 5.11).

use std::{fmt, io, sync::Arc};

use ostler_stdx::Cancel;

/// Keeps outputs by the call that gave them. All of it blocks; tools call it off the
/// runtime's threads, but for small writes.
pub trait OutputStore: Send + Sync + fmt::Debug {
    /// Begins to keep the output of a call; an earlier one of the same call is replaced.
    ///
    /// # Errors
    /// The disk refuses.
    fn begin(&self, call_id: &str) -> io::Result<Box<dyn OutputWriter>>;

    /// A part of a kept output; `None` if there is none of that call.
    ///
    /// # Errors
    /// The disk refuses, or the pattern makes no sense ([`io::ErrorKind::InvalidInput`]).
    fn page(&self, call_id: &str, query: &OutputQuery) -> io::Result<Option<OutputPage>>;
}

/// Takes an output piece by piece. Dropped unfinished, it leaves nothing.
pub trait OutputWriter: io::Write + Send + fmt::Debug {
    /// Keeps what was written.
    ///
    /// # Errors
    /// The disk refuses.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Which part of an output to read.
#[derive(Debug, Clone)]
pub struct OutputQuery {
    /// The first line, from 1.
    pub offset: u64,
    /// Most lines.
    pub limit: u64,
    /// Only lines that match this regular expression.
    pub pattern: Option<String>,
    /// Lines to show around each match.
    pub context: u64,
    /// Most bytes of text.
    pub max_bytes: usize,
    /// When to stop.
    pub cancel: Cancel,
}

/// A part of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputPage {
    /// Its lines: number from 1, and text, bounded.
    pub lines: Vec<(u64, String)>,
    /// Lines of the whole output.
    pub total_lines: u64,
    /// Bytes of the whole output.
    pub total_bytes: u64,
    /// Where the next page starts, if there is more.
    pub next: Option<u64>,
}

/// The outputs of a session, if its host keeps any.
#[derive(Debug, Clone, Default)]
pub struct Outputs(Option<Arc<dyn OutputStore>>);

impl Outputs {
    /// Outputs that `store` keeps.
    #[must_use]
    pub fn new(store: Arc<dyn OutputStore>) -> Self {
        Self(Some(store))
    }

    /// No outputs are kept.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// The store, if this session offers the tool that reads it.
    #[must_use]
    pub fn store(&self) -> Option<&Arc<dyn OutputStore>> {
        self.0.as_ref()
    }

    /// Keeps a whole output; whether it can be read again.
    #[must_use]
    pub fn keep(&self, call_id: &str, output: &[u8]) -> bool {
        let keep = |store: &Arc<dyn OutputStore>| -> io::Result<()> {
            let mut writer = store.begin(call_id)?;
            writer.write_all(output)?;
            writer.finish()
        };
        self.0.as_ref().is_some_and(|store| keep(store).is_ok())
    }
}
