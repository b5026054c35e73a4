//! The journal of the open block: what was shown of an answer that is not in the log yet,
//! so that it survives a killed process. One line that says which block, then one line a
//! delta; emptied when the block stands in the log. It is never a second transcript.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    atomic,
    error::{Error, Result},
};

/// Which block the deltas belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenBlock {
    /// The vendor's id of the answer.
    pub message_id: String,
    /// The block's place in the answer, from 0.
    pub block: u32,
    /// Whether it is reasoning, not text.
    #[serde(default)]
    pub thinking: bool,
    /// The model that answers.
    pub model: String,
}

/// What the journal of a session held when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalTail {
    /// The vendor's id of the answer.
    pub message_id: String,
    /// The block's place in the answer, from 0.
    pub block: u32,
    /// Whether it is reasoning, not text.
    pub thinking: bool,
    /// All deltas, joined.
    pub text: String,
    /// The number of the last delta.
    pub n: u64,
    /// The model that answered.
    pub model: String,
}

#[derive(Serialize, Deserialize)]
struct Delta<'a> {
    n: u64,
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

/// The journal file of one session.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: Option<File>,
    open: Option<OpenBlock>,
    /// Whether the file may hold something.
    dirty: bool,
}

impl Journal {
    /// The journal at `path`; touches no disk.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path, file: None, open: None, dirty: true }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds one delta with one `write`; a new block empties the file first.
    pub(crate) fn append(&mut self, block: &OpenBlock, n: u64, text: &str) -> Result<()> {
        let mut lines = Vec::with_capacity(text.len() + 160);
        if self.open.as_ref() != Some(block) {
            self.clear()?;
            push_line(&mut lines, block);
        }
        push_line(&mut lines, &Delta { n, text: text.into() });
        self.dirty = true;
        self.file()
            .and_then(|mut file| file.write_all(&lines))
            .map_err(Error::storage("write", &self.path))?;
        if self.open.is_none() {
            self.open = Some(block.clone());
        }
        Ok(())
    }

    /// Empties the file: the block stands in the log.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.open = None;
        if !self.dirty {
            return Ok(());
        }
        let cleared = match &self.file {
            Some(file) => file.set_len(0),
            None => match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        };
        cleared.map_err(Error::storage("write", &self.path))?;
        self.dirty = false;
        Ok(())
    }

    fn file(&mut self) -> io::Result<&File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                if let Some(dir) = self.path.parent() {
                    atomic::private_dir(dir).map_err(io::Error::other)?;
                }
                OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?
            }
        };
        Ok(self.file.insert(file))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.file.is_some() && !self.dirty {
            drop(fs::remove_file(&self.path));
        }
    }
}

fn push_line(out: &mut Vec<u8>, line: &impl Serialize) {
    // Strings and numbers always serialize, and a Vec takes every write.
    drop(serde_json::to_writer(&mut *out, line));
    out.push(b'\n');
}

/// Reads a journal; a torn last line ends it, and one without a block is empty.
pub(crate) fn read(path: &Path) -> Option<JournalTail> {
    let bytes = fs::read(path).ok()?;
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let head: OpenBlock = serde_json::from_slice(lines.next()?).ok()?;
    let mut tail = JournalTail {
        message_id: head.message_id,
        block: head.block,
        thinking: head.thinking,
        text: String::new(),
        n: 0,
        model: head.model,
    };
    for delta in lines.map_while(|line| serde_json::from_slice::<Delta<'_>>(line).ok()) {
        tail.text.push_str(&delta.text);
        tail.n = delta.n;
    }
    (!tail.text.is_empty()).then_some(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(index: u32) -> OpenBlock {
        OpenBlock {
            message_id: "msg_1".to_owned(),
            block: index,
            thinking: false,
            model: "m".to_owned(),
        }
    }

    #[test]
    fn every_byte_of_a_killed_journal_gives_a_prefix_of_what_was_shown() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal/s");
        let mut journal = Journal::at(path.clone());
        journal.append(&block(0), 1, "gone with its block").unwrap();
        journal.append(&block(1), 2, "Hel").unwrap();
        journal.append(&block(1), 3, "lö\n").unwrap();
        assert_eq!(read(&path).unwrap().text, "Hellö\n");
        assert_eq!(read(&path).unwrap().n, 3);
        assert_eq!(read(&path).unwrap().block, 1);
        let whole = fs::read(&path).unwrap();
        for end in 0..whole.len() {
            let cut = dir.path().join("cut");
            fs::write(&cut, &whole[..end]).unwrap();
            assert!("Hellö\n".starts_with(&read(&cut).map(|tail| tail.text).unwrap_or_default()));
        }
        journal.clear().unwrap();
        assert_eq!(read(&path), None);
        drop(journal);
        assert!(!path.exists());
    }

    #[test]
    fn a_journal_that_was_left_behind_stays_until_it_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let mut journal = Journal::at(path.clone());
        journal.append(&block(0), 1, "shown").unwrap();
        drop(journal);
        let mut next = Journal::at(path.clone());
        assert_eq!(read(&path).unwrap().text, "shown");
        next.clear().unwrap();
        assert!(!path.exists());
    }
}
