//! Keeps the whole output of a command once it is too long to show.

use std::io::Write as _;

use ostler_tool::{OutputWriter, Outputs};

/// Output on its way: in memory while it is short, in the store from then on.
#[derive(Debug)]
pub(super) struct Spill<'a> {
    outputs: &'a Outputs,
    call_id: &'a str,
    /// Output up to this is shown whole.
    short: usize,
    held: Vec<u8>,
    writer: Option<Box<dyn OutputWriter>>,
    bytes: u64,
    /// The disk refused: the rest is not tried.
    failed: bool,
}

impl<'a> Spill<'a> {
    pub(super) fn new(outputs: &'a Outputs, call_id: &'a str, short: usize) -> Self {
        let failed = outputs.store().is_none();
        Self { outputs, call_id, short, held: Vec::new(), writer: None, bytes: 0, failed }
    }

    /// Takes what was just written. The store writes to a file; that waits for no disk.
    pub(super) fn saw(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.failed {
            return;
        }
        if self.writer.is_none() && self.held.len() + bytes.len() <= self.short {
            self.held.extend_from_slice(bytes);
            return;
        }
        if self.writer.is_none() {
            self.writer = self.outputs.store().and_then(|store| store.begin(self.call_id).ok());
        }
        let held = std::mem::take(&mut self.held);
        let written = self.writer.as_mut().is_some_and(|writer| {
            writer.write_all(&held).and_then(|()| writer.write_all(bytes)).is_ok()
        });
        if !written {
            self.failed = true;
            self.writer = None;
        }
    }

    /// The call under which the output is kept, and its size; none if it was short.
    pub(super) fn finish(self) -> Option<(&'a str, u64)> {
        self.writer?.finish().ok().map(|()| (self.call_id, self.bytes))
    }
}
