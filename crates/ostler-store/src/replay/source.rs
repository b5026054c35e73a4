//! Which bytes of a log a resume reads: from the place that the last `context` record
//! names, found from the end in chunks, or everything where there is none or it lies.

use std::{fs::File, io, os::unix::fs::FileExt as _};

use memchr::memmem;
use serde::Deserialize;

use crate::record::Own;

/// How our `context` lines start.
const MARK: &[u8] = b"{\"type\":\"ostler\",\"kind\":\"context\",";
/// Smaller logs are read at once.
pub(super) const AT_ONCE: u64 = 4 * 1024 * 1024;
const CHUNK: u64 = 256 * 1024;
/// A longer line is no `context` record.
const LINE_LIMIT: usize = 16 * 1024 * 1024;

/// The bytes of a log from `from` on.
pub(super) struct Part {
    pub(super) from: u64,
    pub(super) bytes: Vec<u8>,
}

/// Reads `len` bytes at `at`, or fewer at the end of the file.
pub(crate) fn read_at(file: &File, at: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// The part that the last sound `context` record of a log names.
pub(super) fn window(file: &File, len: u64) -> io::Result<Option<Part>> {
    if len <= AT_ONCE {
        let bytes = read_at(file, 0, len)?;
        return Ok(Some(window_of(bytes)));
    }
    let Some(context) = last_context(file, len)? else { return Ok(None) };
    if context.from >= len {
        return Ok(None);
    }
    let before = context.from.saturating_sub(1);
    let mut bytes = read_at(file, before, len - before)?;
    if context.from > 0 {
        if bytes.first() != Some(&b'\n') {
            return Ok(None);
        }
        bytes.remove(0);
    }
    Ok(starts_with(&bytes, &context.first).then_some(Part { from: context.from, bytes }))
}

/// The same for bytes in memory; everything where no record is sound.
pub(super) fn window_of(mut bytes: Vec<u8>) -> Part {
    let found = memmem::rfind_iter(&bytes, MARK).find_map(|at| context_at(&bytes, at));
    if let Some(context) = found
        && let Ok(from) = usize::try_from(context.from)
        && from > 0
        && bytes.get(from - 1) == Some(&b'\n')
        && starts_with(&bytes[from..], &context.first)
    {
        bytes.drain(..from);
        return Part { from: context.from, bytes };
    }
    Part { from: 0, bytes }
}

struct Start {
    from: u64,
    first: String,
}

fn context_at(bytes: &[u8], at: usize) -> Option<Start> {
    if at > 0 && bytes.get(at - 1) != Some(&b'\n') {
        return None;
    }
    let rest = bytes.get(at..)?;
    let line = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len()))?;
    match serde_json::from_slice(line) {
        Ok(Own::Context(context)) => Some(Start { from: context.from, first: context.first }),
        _ => None,
    }
}

/// Searches backwards; what is kept is one chunk and the line that may reach into the next.
fn last_context(file: &File, len: u64) -> io::Result<Option<Start>> {
    let mut end = len;
    let mut after: Vec<u8> = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        let mut bytes = read_at(file, start, end - start)?;
        let fresh = bytes.len();
        bytes.extend_from_slice(&after);
        // The first line may start before the chunk, unless the file does.
        let found = memmem::rfind_iter(&bytes, MARK)
            .filter(|&at| at <= fresh && (at > 0 || start == 0))
            .find_map(|at| context_at(&bytes, at));
        if found.is_some() {
            return Ok(found);
        }
        // Keep what belongs to the line that starts before this chunk, and its newline.
        let keep = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1);
        bytes.truncate(keep);
        after = if bytes.len() > LINE_LIMIT { Vec::new() } else { bytes };
        end = start;
    }
    Ok(None)
}

fn starts_with(bytes: &[u8], uuid: &str) -> bool {
    #[derive(Deserialize)]
    struct Named {
        uuid: String,
    }
    let line = &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())];
    serde_json::from_slice::<Named>(line).is_ok_and(|named| named.uuid == uuid)
}
