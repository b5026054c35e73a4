//! What a running command tells meanwhile: how much it wrote and the newest of it, now
//! and then.

use std::time::{Duration, Instant};

use ostler_tool::Progress;

use crate::plain::strip_controls;

/// The shortest time between two reports of progress.
const BETWEEN_REPORTS: Duration = Duration::from_millis(200);
/// Bytes of the newest output that a report shows.
const TAIL: usize = 500;

/// Tells now and then how much output there is.
#[derive(Debug)]
pub(super) struct Reports {
    progress: Progress,
    bytes: u64,
    tail: Vec<u8>,
    last: Option<Instant>,
}

impl Reports {
    pub(super) fn new(progress: Progress) -> Self {
        Self { progress, bytes: 0, tail: Vec::new(), last: None }
    }

    pub(super) fn saw(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let newest = &bytes[bytes.len().saturating_sub(TAIL)..];
        let excess = (self.tail.len() + newest.len()).saturating_sub(TAIL);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend_from_slice(newest);
        let now = Instant::now();
        if self.last.is_none_or(|last| now - last >= BETWEEN_REPORTS) {
            self.last = Some(now);
            self.progress.report(self.bytes, &strip_controls(&String::from_utf8_lossy(&self.tail)));
        }
    }
}
