//! The log of one session, open for writing: one `write` for each append, entries chained
//! in one line, nothing ever rewritten. The state behind a resume (`Carried`, the window
//! of the current request) is kept along, and changes only when the write succeeded.

mod line;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use ostler_stdx::{AbsPath, Clock};

use crate::{
    atomic, carried,
    error::{Error, Result},
    journal::{self, Journal, JournalTail, OpenBlock},
    lock::WriterLock,
    record::{Carried, Context, Entry, EntryBody, Own, Record},
    replay::{Replay, appended_meanwhile},
    store::Header,
    time,
};

/// Readers of lists look at the last 64 KiB: title, tag and prompt are written again before
/// they fall out of them.
const META_EVERY: u64 = 48 * 1024;
/// A `context` record is worth it after so many prompts ...
const CONTEXT_TURNS: u32 = 8;
/// ... and when the log grew by so many times its size.
const CONTEXT_GROWTH: u64 = 8;

/// A session's log, open for writing by this process alone.
#[derive(Debug)]
pub struct SessionLog {
    path: PathBuf,
    header: Header,
    cwd: String,
    clock: Arc<dyn Clock>,
    file: Option<File>,
    /// Where the next append starts, as far as we know.
    len: u64,
    /// Whether the file ends within a line.
    torn: bool,
    /// Whether nothing reaches the disk at all.
    unsaved: bool,
    /// The entry that the next one follows.
    parent: Option<String>,
    /// The chain since the last user entry, which leads it: what a `void` record may take back.
    answer: Vec<String>,
    /// Lines that wait for the first entry.
    early: Vec<u8>,
    carried: Carried,
    window: Option<Window>,
    /// Offset of the last title, tag or prompt line.
    meta_at: u64,
    last_context: LastContext,
    journal: Journal,
    /// Released last: after the files are closed.
    lock: Option<WriterLock>,
}

/// The part of the log that the next request is built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// Offset of its first entry.
    pub(crate) from: u64,
    /// That entry's uuid.
    pub(crate) first: String,
    /// Entries in it.
    pub(crate) entries: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct LastContext {
    end: u64,
    bytes: u64,
    turns: u32,
    from: u64,
}

/// What one append will have changed.
#[derive(Debug, Default)]
struct Marks {
    first: Option<(u64, String)>,
    compacted: Option<(u64, String)>,
    entries: u64,
    meta: bool,
}

impl SessionLog {
    /// A log that does not exist yet.
    pub(crate) fn fresh(
        path: PathBuf,
        header: Header,
        clock: Arc<dyn Clock>,
        journal: Journal,
        lock: Option<WriterLock>,
    ) -> Self {
        Self {
            path,
            cwd: header.cwd.to_text(),
            header,
            clock,
            file: None,
            len: 0,
            torn: false,
            unsaved: false,
            parent: None,
            answer: Vec::new(),
            early: Vec::new(),
            carried: Carried::default(),
            window: None,
            meta_at: 0,
            last_context: LastContext::default(),
            journal,
            lock,
        }
    }

    /// Nothing of this log reaches the disk: no file, no journal.
    pub(crate) fn unsaved(mut self) -> Self {
        self.unsaved = true;
        self.lock = None;
        self
    }

    /// Goes on where a replay ends.
    pub(crate) fn go_on(mut self, replay: &Replay) -> Self {
        self.len = replay.bytes;
        self.torn = replay.torn;
        self.parent.clone_from(&replay.last_uuid);
        self.answer = answer_of(replay);
        self.carried = replay.carried.clone();
        self.window.clone_from(&replay.window);
        self.meta_at = replay.meta_at;
        let from = replay.window.as_ref().map_or(0, |window| window.from);
        let turns = self.carried.turns;
        self.last_context = LastContext { end: replay.context_at, bytes: 0, turns, from };
        self
    }

    /// Appends records with one `write`: afterwards they survive the process.
    ///
    /// Records before the first entry wait for it in memory, since the first line of a log
    /// is an entry.
    ///
    /// # Errors
    /// `Storage` if the disk refuses: nothing of the batch counts, and the log stays
    /// readable. `NotFound` if the session was deleted meanwhile.
    pub fn append(&mut self, records: &[Record]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        self.look_back()?;
        let now = self.clock.now_ms();
        let (lines, marks) = self.lines(records, now);
        let begins = self.len == 0;
        if begins && marks.first.is_none() {
            self.early = lines;
        } else {
            self.write(&lines)?;
            self.early = Vec::new();
        }
        self.commit(records, marks, now, begins);
        Ok(())
    }

    /// Forces what was appended to the disk. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// `Storage` if the disk refuses.
    pub fn sync(&mut self) -> Result<()> {
        self.syncing()?()
    }

    /// [`Self::sync`] of what was appended so far, as work for a thread that may block.
    ///
    /// # Errors
    /// `Storage` if the file cannot be opened once more.
    pub fn syncing(&self) -> Result<impl FnOnce() -> Result<()> + Send + 'static> {
        let path = self.path.clone();
        let file = self.file.as_ref().map(std::fs::File::try_clone).transpose();
        let file = file.map_err(Error::storage("open", &path))?;
        Ok(move || match file {
            Some(file) => file.sync_data().map_err(Error::storage("write", &path)),
            None => Ok(()),
        })
    }

    /// Writes a `context` record if one is due: after a compaction, and every few turns.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn checkpoint(&mut self) -> Result<()> {
        let Some(window) = &self.window else { return Ok(()) };
        let last = self.last_context;
        let moved = window.from != last.from;
        let turns = self.carried.turns.saturating_sub(last.turns);
        let grown = self.len.saturating_sub(last.end);
        if !moved && (turns < CONTEXT_TURNS || grown < last.bytes * CONTEXT_GROWTH) {
            return Ok(());
        }
        let Window { from, first, entries } = window.clone();
        let context = Context { from, first, entries, carried: self.carried.clone() };
        let before = self.len;
        self.append(&[Record::Own(Own::Context(context))])?;
        let (end, turns) = (self.len, self.carried.turns);
        self.last_context = LastContext { end, bytes: end.saturating_sub(before), turns, from };
        Ok(())
    }

    /// Gives the session the title that the person chose.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn set_title(&mut self, title: &str) -> Result<()> {
        self.append(&[Record::CustomTitle(title.to_owned())])
    }

    /// Lets the next entry follow an older one: what lies between leaves the conversation
    /// and stays in the file. Takes effect with the next prompt.
    pub fn branch_at(&mut self, uuid: &str) {
        self.parent = Some(uuid.to_owned());
    }

    /// Adds a delta of the open block to the journal with one `write`.
    ///
    /// # Errors
    /// `Storage` if the disk refuses.
    pub fn append_delta(&mut self, block: &OpenBlock, n: u64, text: &str) -> Result<()> {
        if self.lock.is_none() {
            // A home that cannot be written has no journal either.
            return Ok(());
        }
        self.journal.append(block, n, text)
    }

    /// Empties the journal: the block stands in the log, or is withdrawn.
    ///
    /// # Errors
    /// `Storage` if the disk refuses.
    pub fn clear_journal(&mut self) -> Result<()> {
        if self.lock.is_none() {
            return Ok(());
        }
        self.journal.clear()
    }

    /// What the journal holds, and empties it.
    ///
    /// # Errors
    /// `Storage` if the disk refuses.
    pub fn take_journal(&mut self) -> Result<Option<JournalTail>> {
        let tail = journal::read(self.journal.path());
        self.clear_journal()?;
        Ok(tail)
    }

    /// The folder that entries name from here on.
    pub fn set_cwd(&mut self, cwd: AbsPath) {
        self.cwd = cwd.to_text();
        self.header.cwd = cwd;
    }

    /// The git branch that entries name from here on.
    pub fn set_git_branch(&mut self, branch: String) {
        self.header.git_branch = branch;
    }

    /// The file; it exists once the first entry was appended.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The session's id.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.header.session_id
    }

    /// Everything that the records so far said and that still holds.
    #[must_use]
    pub fn carried(&self) -> &Carried {
        &self.carried
    }

    /// Bytes of the log.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.len
    }

    /// Whether no other process can write to it; not so in a home that cannot be written.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.lock.is_some()
    }

    /// The lines of a batch, after those that waited.
    fn lines(&self, records: &[Record], now: i64) -> (Vec<u8>, Marks) {
        let timestamp = time::iso(now);
        let shared = line::Shared { header: &self.header, cwd: &self.cwd, timestamp: &timestamp };
        let base = self.len + u64::from(self.torn);
        let mut out = Vec::with_capacity(1024);
        let mut waiting = self.early.clone();
        let mut begun = self.len > 0;
        let mut marks = Marks::default();
        let mut parent = self.parent.as_deref();
        for record in records {
            let at = base + out.len() as u64;
            let uuid = match record {
                Record::User(user) => {
                    line::user(&mut out, shared, parent, user);
                    &user.uuid
                }
                Record::Assistant(entry) => {
                    line::assistant(&mut out, shared, parent, entry);
                    &entry.uuid
                }
                Record::Compacted(compaction) => {
                    let summary = line::compaction(&mut out, shared, parent, compaction);
                    let uuid = &compaction.summary.uuid;
                    marks.compacted = Some((base + summary as u64, uuid.clone()));
                    marks.entries = 0;
                    uuid
                }
                side => {
                    if let Some(before) = self.before_void(side) {
                        parent = Some(before);
                    }
                    // Nothing but an entry may open a file.
                    side_line(if begun { &mut out } else { &mut waiting }, shared, side);
                    continue;
                }
            };
            parent = Some(uuid);
            marks.first.get_or_insert_with(|| (at, uuid.clone()));
            marks.entries += 1;
            begun = true;
            out.append(&mut waiting);
        }
        if !begun {
            return (waiting, marks);
        }
        let end = base + out.len() as u64;
        if end.saturating_sub(self.meta_at) > META_EVERY {
            marks.meta = self.meta_lines(&mut out, shared, records);
        }
        (out, marks)
    }

    /// The entry before those that a `void` record takes back.
    fn before_void(&self, record: &Record) -> Option<&str> {
        let Record::Own(Own::Void { uuids }) = record else { return None };
        let first = self.answer.iter().position(|uuid| uuids.contains(uuid))?;
        self.answer.get(first.checked_sub(1)?).map(String::as_str)
    }

    /// Writes title, tag and prompt again, as they will hold after `records`.
    fn meta_lines(&self, out: &mut Vec<u8>, shared: line::Shared<'_>, records: &[Record]) -> bool {
        let start = out.len();
        let newest = |pick: fn(&Record) -> Option<&String>| records.iter().rev().find_map(pick);
        let title = newest(|record| match record {
            Record::CustomTitle(title) => Some(title),
            _ => None,
        });
        if let Some(title) = title.or(self.carried.title.as_ref()) {
            line::title(out, shared, title);
        }
        let tag = newest(|record| match record {
            Record::Tag(tag) => Some(tag),
            _ => None,
        });
        if let Some(tag) = tag.or(self.carried.tag.as_ref()) {
            line::tag(out, shared, tag);
        }
        let prompt = records.iter().rev().find_map(|record| match record {
            Record::LastPrompt(prompt) => Some(prompt.clone()),
            Record::User(user) => carried::prompt(&user.content, user.is_meta),
            _ => None,
        });
        if let Some(prompt) = prompt.or_else(|| self.carried.last_prompt.clone()) {
            line::last_prompt(out, shared, &prompt);
        }
        out.len() > start
    }

    /// Notices what others (the SDKs' rename and tag) appended since our last write.
    fn look_back(&mut self) -> Result<()> {
        let Some(mut file) = self.file.as_ref() else { return Ok(()) };
        let failed = Error::storage("read", &self.path);
        let meta = match file.metadata() {
            Ok(meta) => meta,
            Err(error) => return Err(failed(error)),
        };
        if meta.nlink() == 0 {
            let what = self.header.session_id.clone();
            return Err(Error::NotFound { what, path: self.path.clone() });
        }
        if meta.len() == self.len {
            return Ok(());
        }
        if meta.len() < self.len {
            // Cut by someone else: offsets mean nothing any more.
            self.window = None;
            self.len = meta.len();
            self.torn = meta.len() > 0;
            return Ok(());
        }
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(self.len))
            .and_then(|_| file.take(meta.len() - self.len).read_to_end(&mut bytes));
        read.map_err(failed)?;
        appended_meanwhile(&bytes, &mut self.carried, &mut self.parent);
        self.len += bytes.len() as u64;
        self.torn = bytes.last() != Some(&b'\n');
        Ok(())
    }

    fn write(&mut self, lines: &[u8]) -> Result<()> {
        if self.unsaved {
            self.len += lines.len() as u64;
            return Ok(());
        }
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        let written = if self.torn {
            // What was torn off becomes a line of its own, which readers skip.
            let mut with_end = Vec::with_capacity(lines.len() + 1);
            with_end.push(b'\n');
            with_end.extend_from_slice(lines);
            file.write_all(&with_end).map(|()| with_end.len())
        } else {
            file.write_all(lines).map(|()| lines.len())
        };
        let result = match written {
            Ok(bytes) => {
                self.len += bytes as u64;
                self.torn = false;
                Ok(())
            }
            Err(error) => {
                self.undo(&file);
                Err(Error::storage("write", &self.path)(error))
            }
        };
        self.file = Some(file);
        result
    }

    /// Takes back the part of a failed write that reached the file, if nothing follows it.
    fn undo(&mut self, file: &File) {
        let Ok(len) = file.metadata().map(|meta| meta.len()) else { return };
        if len > self.len && file.set_len(self.len).is_err() {
            self.len = len;
            self.torn = true;
        }
    }

    fn open(&self) -> Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).mode(0o600);
        if self.len > 0 {
            return options.open(&self.path).map_err(Error::storage("open", &self.path));
        }
        if let Some(dir) = self.path.parent() {
            atomic::private_dir(dir)?;
        }
        // An empty file counts as none.
        let path = &self.path;
        if fs::metadata(path).is_ok_and(|meta| meta.len() > 0) {
            let id = &self.header.session_id;
            let what = format!("session `{id}` exists already; resume it or choose another id");
            return Err(Error::Invalid { what, path: path.clone() });
        }
        options.create(true).open(path).map_err(Error::storage("create", path))
    }

    /// The chain goes on with an entry.
    fn follow(&mut self, record: &Record) {
        let uuid = match record {
            Record::User(user) => &user.uuid,
            Record::Compacted(compaction) => &compaction.summary.uuid,
            Record::Assistant(entry) => &entry.uuid,
            _ => return,
        };
        if !matches!(record, Record::Assistant(_)) {
            self.answer.clear();
        }
        self.answer.push(uuid.clone());
        self.parent = Some(uuid.clone());
    }

    fn commit(&mut self, records: &[Record], marks: Marks, now: i64, begins: bool) {
        for record in records {
            if let Some(before) = self.before_void(record).map(str::to_owned) {
                self.answer
                    .truncate(1 + self.answer.iter().rposition(|u| *u == before).unwrap_or(0));
                self.parent = Some(before);
            }
            self.follow(record);
            note(&mut self.carried, record, now, &self.cwd);
        }
        let starts = marks.compacted.or(if begins { marks.first } else { None });
        if let Some((from, first)) = starts {
            self.window = Some(Window { from, first, entries: 0 });
        }
        if let Some(window) = &mut self.window {
            window.entries += marks.entries;
        }
        if marks.meta {
            self.meta_at = self.len;
        }
    }
}

/// The chain from the last user entry on.
fn answer_of(replay: &Replay) -> Vec<String> {
    let entries = &replay.entries;
    let is_user = |entry: &Entry| matches!(entry.body, EntryBody::User(_));
    let start = entries.iter().rposition(is_user).unwrap_or(0);
    entries.iter().skip(start).map(|entry| entry.uuid().to_owned()).collect()
}

/// Writes a record that is no entry.
fn side_line(out: &mut Vec<u8>, shared: line::Shared<'_>, record: &Record) {
    match record {
        Record::PermissionMode(mode) => line::mode(out, shared, *mode),
        Record::Own(own) => line::own(out, shared, own),
        Record::CustomTitle(title) => line::title(out, shared, title),
        Record::LastPrompt(prompt) => line::last_prompt(out, shared, prompt),
        Record::Tag(tag) => line::tag(out, shared, tag),
        Record::User(_) | Record::Assistant(_) | Record::Compacted(_) => {}
    }
}

/// What a written record changes; the reader does the same for what it reads.
fn note(carried: &mut Carried, record: &Record, now: i64, cwd: &str) {
    match record {
        Record::User(user) => {
            carried.note_entry(now, Some(cwd));
            if let Some(prompt) = carried::prompt(&user.content, user.is_meta) {
                carried.note_prompt(prompt);
            }
        }
        Record::Assistant(_) => carried.note_entry(now, Some(cwd)),
        Record::Compacted(_) => {
            carried.note_entry(now, Some(cwd));
            carried.note_compaction();
        }
        Record::PermissionMode(mode) => carried.note_mode(*mode),
        Record::CustomTitle(title) => carried.title = Some(title.clone()),
        Record::LastPrompt(prompt) => carried.last_prompt = Some(prompt.clone()),
        Record::Tag(tag) => carried.tag = Some(tag.clone()),
        Record::Own(own) => carried.note_own(own),
    }
}
