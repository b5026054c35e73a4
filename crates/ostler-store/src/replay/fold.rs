//! Lines in file order become a conversation. File order is the truth: parent links that
//! lead nowhere are bridged and counted; only a person's prompt that follows an older entry
//! is believed, since that is how a conversation branches. Never fails, whatever the bytes.

use std::collections::HashMap;

use ostler_protocol::{Mode, Usage, conversation::ToolResultContent};
use serde_json::Value;

use super::{
    ToolFacts, lenient,
    line::{Line, Message},
};
use crate::{
    carried,
    log::Window,
    record::{AssistantEntry, Carried, Checkpoint, Entry, EntryBody, Own, UserEntry},
    time,
};

/// How many single repairs are told before they are only counted.
const TOLD: usize = 20;
/// Kinds of entries that form the chain (agent-sdk.md 4.3).
const CHAIN: [&str; 5] = ["user", "assistant", "system", "attachment", "progress"];

/// A conversation as read so far.
#[derive(Debug, Default)]
pub(super) struct Fold {
    /// Every entry, those on other branches too.
    nodes: Vec<Node>,
    /// The last entry of the conversation.
    tip: Option<usize>,
    pub(super) carried: Carried,
    pub(super) tools: HashMap<String, ToolFacts>,
    pub(super) checkpoints: Vec<Checkpoint>,
    /// Uuids of summaries.
    pub(super) summaries: Vec<String>,
    pub(super) last_uuid: Option<String>,
    pub(super) last_at_ms: Option<i64>,
    pub(super) repairs: Vec<String>,
    /// Whether there are records of our own.
    pub(super) ours: bool,
    /// Where the last `context` record ended.
    pub(super) context_at: u64,
    /// A prompt follows an entry that was not read: the part that was read is not enough.
    pub(super) needs_more: bool,
    title_at: Option<u64>,
    tag_at: Option<u64>,
    prompt_at: Option<u64>,
    /// Each entry of the chain.
    seen: HashMap<u128, Seen>,
    last: Option<u128>,
    /// Where conversations start anew: the node, and the offset of its line.
    starts: Vec<(usize, u64)>,
    boundary: bool,
    /// Whether what lies before was not read.
    partial: bool,
    told: usize,
    untold: usize,
    dangling: usize,
    duplicates: usize,
}

/// An entry and the one that it follows in the conversation.
#[derive(Debug)]
struct Node {
    entry: Entry,
    before: Option<usize>,
    void: bool,
}

/// Where a conversation stood after an entry of the chain.
#[derive(Debug, Clone, Copy)]
struct Seen {
    tip: Option<usize>,
    boundary: bool,
}

impl Fold {
    /// A fold whose first line is not the first of the file.
    pub(super) fn from_the_middle() -> Self {
        Self { partial: true, ..Self::default() }
    }

    /// Takes the next line, without its newline. `at` is its offset, `end` where it ends;
    /// `number` its number from 1, if that is known.
    pub(super) fn line(&mut self, bytes: &[u8], at: u64, number: Option<usize>) {
        let trimmed = trim(bytes);
        if trimmed.is_empty() {
            if bytes.contains(&0) {
                self.tell(at, number, "zero bytes, skipped");
            }
            return;
        }
        let Ok(text) = std::str::from_utf8(trimmed) else {
            let text = String::from_utf8_lossy(trimmed);
            let known = self.text(&text, at, bytes.len());
            self.tell(at, number, if known { "broken UTF-8, mended" } else { "not JSON, skipped" });
            return;
        };
        if !self.text(text, at, bytes.len()) {
            self.tell(at, number, "not JSON, skipped");
        } else if trimmed.len() < bytes.len() && bytes.contains(&0) {
            self.tell(at, number, "zero bytes, removed");
        }
    }

    /// Whether it is a line of a transcript.
    fn text(&mut self, text: &str, at: u64, len: usize) -> bool {
        if text.starts_with("{\"type\":\"ostler\"") {
            return self.own_text(text, at, len);
        }
        if let Ok(line) = serde_json::from_str::<Line<'_>>(text) {
            if line.kind == "ostler" {
                return self.own_text(text, at, len);
            }
            self.known(line, at);
            return true;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) if value.is_object() => {
                if let Some(line) = lenient::line(value) {
                    self.known(line, at);
                }
                true
            }
            _ => false,
        }
    }

    fn own_text(&mut self, text: &str, at: u64, len: usize) -> bool {
        let Ok(own) = serde_json::from_str::<Own>(text) else { return false };
        self.ours = true;
        self.carried.note_own(&own);
        match own {
            Own::Tool { tool_use_id, ms, denied_by, diffs } => {
                self.tools.insert(tool_use_id, ToolFacts { ms, denied_by, diffs });
            }
            Own::Response { message_id, stop_reason, usage } => {
                self.response(&message_id, stop_reason, usage);
            }
            Own::Checkpoint(checkpoint) => self.checkpoints.push(checkpoint),
            Own::Void { uuids } => self.void(&uuids),
            Own::Context(_) => self.context_at = at + len as u64 + 1,
            _ => {}
        }
        true
    }

    /// An answer ended: its last block says why, unless it does already.
    fn response(&mut self, message_id: &str, stop_reason: String, usage: Usage) {
        let last = self.nodes.iter_mut().rev().find_map(|node| match &mut node.entry.body {
            EntryBody::Assistant(answer) if answer.message_id == message_id => Some(answer),
            _ => None,
        });
        if let Some(last) = last {
            last.stop_reason.get_or_insert(stop_reason);
            last.usage.get_or_insert(usage);
        }
    }

    /// Entries of a broken answer leave the conversation.
    fn void(&mut self, uuids: &[String]) {
        let mut left = uuids.len();
        for node in self.nodes.iter_mut().rev() {
            if left == 0 {
                break;
            }
            if uuids.iter().any(|uuid| uuid == node.entry.uuid()) {
                node.void = true;
                left -= 1;
            }
        }
    }

    fn known(&mut self, line: Line<'_>, at: u64) {
        if line.is_sidechain == Some(true) {
            return;
        }
        match &*line.kind {
            kind if CHAIN.contains(&kind) => self.chain(line, at),
            "custom-title" => {
                self.title_at = Some(at);
                self.carried.title = line.custom_title.or(self.carried.title.take());
            }
            "tag" => {
                self.tag_at = Some(at);
                self.carried.tag = line.tag.or(self.carried.tag.take());
            }
            "last-prompt" => {
                self.prompt_at = Some(at);
                self.carried.last_prompt = line.last_prompt.or(self.carried.last_prompt.take());
            }
            "permission-mode" => {
                if let Some(mode) = line.permission_mode.as_deref().and_then(Mode::parse) {
                    self.carried.note_mode(mode);
                }
            }
            _ => {}
        }
    }

    fn chain(&mut self, mut line: Line<'_>, at: u64) {
        let Some(uuid) = line.uuid.take() else { return };
        let key = key(&uuid.0);
        if self.seen.contains_key(&key) {
            self.duplicates += 1;
            return;
        }
        let message = line.message.take();
        let is_boundary = line.kind == "system"
            && line.subtype.as_ref().is_some_and(|s| s.0 == "compact_boundary");
        let parent = line.parent_uuid.take().map(|parent| self::key(&parent.0));
        match message {
            Some(message) if line.kind == "user" => self.user(line, &uuid.0, parent, message, at),
            Some(message) if line.kind == "assistant" => {
                self.follow(parent, false);
                self.assistant(line, &uuid.0, message, at);
            }
            _ => {
                self.follow(parent, false);
                self.boundary |= is_boundary;
            }
        }
        self.seen.insert(key, Seen { tip: self.tip, boundary: is_boundary });
        self.last = Some(key);
        let last = self.last_uuid.get_or_insert_default();
        last.clear();
        last.push_str(&uuid.0);
    }

    /// Checks the link to the entry before, and branches where a prompt follows an older one.
    fn follow(&mut self, parent: Option<u128>, is_prompt: bool) {
        let Some(parent) = parent else { return };
        if self.last == Some(parent) {
            return;
        }
        match self.seen.get(&parent) {
            Some(seen) if is_prompt => {
                self.tip = seen.tip;
                self.boundary = seen.boundary;
            }
            Some(_) => {}
            // The first of a part has its parent before it.
            None if self.partial && self.last.is_none() => {}
            None => {
                self.needs_more |= is_prompt && self.partial;
                self.dangling += 1;
            }
        }
    }

    fn user(
        &mut self,
        line: Line<'_>,
        uuid: &str,
        parent: Option<u128>,
        message: Message<'_>,
        at: u64,
    ) {
        let is_meta = line.is_meta == Some(true);
        let is_summary = line.is_compact_summary == Some(true);
        let content = message.content.0;
        let prompt = if is_summary { None } else { carried::prompt(&content, is_meta) };
        self.follow(parent, prompt.is_some());
        let at_ms = self.begin(&line, at);
        if is_summary {
            self.summaries.push(uuid.to_owned());
            self.carried.note_compaction();
        }
        if let Some(prompt) = prompt {
            self.carried.note_prompt(prompt);
        }
        let user = UserEntry {
            uuid: uuid.to_owned(),
            content,
            tool_use_result: line.tool_use_result,
            is_meta,
            origin: line.origin,
        };
        self.push(at_ms, EntryBody::User(user));
    }

    fn assistant(&mut self, line: Line<'_>, uuid: &str, message: Message<'_>, at: u64) {
        let blocks = match message.content.0 {
            ToolResultContent::Blocks(blocks) => blocks,
            ToolResultContent::Text(text) => vec![ostler_protocol::Block::text(text)],
        };
        if blocks.is_empty() {
            return;
        }
        let at_ms = self.begin(&line, at);
        let is_error = line.is_api_error_message == Some(true);
        let mut entry = AssistantEntry {
            uuid: uuid.to_owned(),
            message_id: message.id.map(|id| id.0.into_owned()).unwrap_or_default(),
            model: message.model.map(|model| model.0.into_owned()).unwrap_or_default(),
            block: ostler_protocol::Block::text(""),
            stop_reason: None,
            usage: None,
            request_id: line.request_id,
            api_error: is_error.then(|| line.error.unwrap_or_else(|| "unknown".to_owned())),
            interrupted: line.aborted == Some(true),
        };
        // We write one block a line; others may write several.
        let last = blocks.len() - 1;
        for (index, block) in blocks.into_iter().enumerate() {
            entry.block = block;
            if index == last {
                entry.stop_reason = message.stop_reason;
                entry.usage = message.usage.map(Into::into);
                self.push(at_ms, EntryBody::Assistant(entry));
                return;
            }
            self.push(at_ms, EntryBody::Assistant(entry.clone()));
        }
    }

    /// An entry comes: notes time and folder, and starts anew after a boundary.
    fn begin(&mut self, line: &Line<'_>, at: u64) -> i64 {
        if self.tip.is_none() || self.boundary {
            self.starts.push((self.nodes.len(), at));
            self.boundary = false;
        }
        let stamp = line.timestamp.as_ref().and_then(|stamp| time::parse(&stamp.0));
        let at_ms = stamp.or(self.last_at_ms).unwrap_or(0);
        self.last_at_ms = Some(at_ms);
        self.carried.note_entry(at_ms, line.cwd.as_ref().map(|cwd| &*cwd.0));
        at_ms
    }

    fn push(&mut self, at_ms: i64, body: EntryBody) {
        let before = self.tip.replace(self.nodes.len());
        self.nodes.push(Node { entry: Entry { at_ms, body }, before, void: false });
    }

    /// Gives the conversation, from its last start or whole, and the window that a
    /// request is built from.
    pub(super) fn take_entries(&mut self, whole: bool) -> (Vec<Entry>, Option<Window>) {
        let mut kept = vec![false; self.nodes.len()];
        let mut window: Option<Window> = None;
        let mut next = self.tip;
        let mut entries = 0;
        while let Some(index) = next
            && let (Some(node), Some(keep)) = (self.nodes.get(index), kept.get_mut(index))
        {
            *keep = !node.void;
            entries += u64::from(!node.void);
            next = node.before;
            if window.is_none()
                && let Some(&(_, from)) = self.starts.iter().rev().find(|start| start.0 == index)
            {
                window = Some(Window { from, first: node.entry.uuid().to_owned(), entries });
                if !whole {
                    break;
                }
            }
        }
        let nodes = std::mem::take(&mut self.nodes).into_iter().zip(kept);
        (nodes.filter(|(_, keep)| *keep).map(|(node, _)| node.entry).collect(), window)
    }

    /// Since where no list shows title, tag and prompt.
    pub(super) fn meta_at(&self) -> u64 {
        let carried = &self.carried;
        let parts = [
            (carried.title.is_some(), self.title_at),
            (carried.tag.is_some(), self.tag_at),
            (carried.last_prompt.is_some(), self.prompt_at),
        ];
        parts.iter().filter(|part| part.0).map(|part| part.1.unwrap_or(0)).min().unwrap_or(0)
    }

    /// Says aloud what was mended.
    pub(super) fn finish(&mut self) {
        if self.untold > 0 {
            self.repairs.push(format!("{} more lines could not be read as they are", self.untold));
        }
        if self.dangling > 0 {
            let count = self.dangling;
            self.repairs.push(format!(
                "{count} entries name a parent that is not in the log; they stay in file order"
            ));
        }
        if self.duplicates > 0 {
            self.repairs.push(format!("{} entries stand twice; the first counts", self.duplicates));
        }
    }

    fn tell(&mut self, at: u64, number: Option<usize>, what: &str) {
        if self.told == TOLD {
            self.untold += 1;
            return;
        }
        self.told += 1;
        self.repairs.push(match number {
            Some(number) => format!("line {number}: {what}"),
            None => format!("line at byte {at}: {what}"),
        });
    }
}

/// Without white space and zero bytes at both ends: a crash may leave blocks of zeros.
fn trim(bytes: &[u8]) -> &[u8] {
    let is_padding = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let Some(start) = bytes.iter().position(|byte| !is_padding(byte)) else { return &[] };
    let end = bytes.iter().rposition(|byte| !is_padding(byte)).map_or(start, |last| last + 1);
    bytes.get(start..end).unwrap_or_default()
}

/// A uuid as a number; other names by a hash, which is wide enough never to meet another.
fn key(uuid: &str) -> u128 {
    let mut digits = 0u128;
    let mut count = 0;
    for byte in uuid.bytes() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'-' => continue,
            _ => return hash(uuid),
        };
        count += 1;
        digits = digits << 4 | u128::from(digit);
    }
    if count == 32 && uuid.len() == 36 { digits } else { hash(uuid) }
}

fn hash(text: &str) -> u128 {
    // FNV-1a, 128 bit (RFC 9923).
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for byte in text.bytes() {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    hash
}
