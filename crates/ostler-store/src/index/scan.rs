//! One log as a row of the list. Only its head and tail are parsed, whatever its size; the
//! prompts in between are counted by their bytes, and not at all in logs of many megabytes.

use std::{fs::File, io, os::unix::fs::MetadataExt as _, path::Path};

use memchr::memmem;
use ostler_protocol::Mode;
use serde::Deserialize;
use serde_json::Value;

use super::{Known, Row};
use crate::{
    carried,
    record::{Carried, Own, UserContent},
    replay::read_at,
    store::Root,
    time,
};

const SIDE: u64 = 64 * 1024;
/// Longer logs are not read for counting.
const COUNTED: u64 = 8 * 1024 * 1024;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    is_sidechain: bool,
    is_meta: bool,
    is_compact_summary: bool,
    timestamp: Option<String>,
    cwd: Option<String>,
    entrypoint: Option<String>,
    custom_title: Option<String>,
    ai_title: Option<String>,
    last_prompt: Option<String>,
    summary: Option<String>,
    tag: Option<String>,
    permission_mode: Option<String>,
    message: Option<Value>,
}

/// What the lines of a log say together.
#[derive(Debug, Default)]
struct Sum {
    carried: Carried,
    generated_title: Option<String>,
    summary: Option<String>,
    model: Option<String>,
    entrypoint: Option<String>,
    last_ms: Option<i64>,
    lines: usize,
    bad: usize,
    sidechain: bool,
    ours: bool,
}

/// Reads a log's head and tail.
pub(super) fn scan(id: &str, path: &Path, root: Root) -> Known {
    let read = match File::open(path).and_then(|file| Parts::read(&file)) {
        Ok(read) => read,
        Err(error) => return broken(&format!("cannot be read: {error}")),
    };
    if read.len == 0 {
        return broken("is empty; delete it if no session is just beginning");
    }
    let mut sum = Sum::default();
    let turns = read.feed(&mut sum);
    let (len, updated_ms) = (read.len, read.modified_ms);
    if sum.sidechain {
        return Known::default();
    }
    let problem = sum.problem();
    if sum.lines == sum.bad {
        return Known { row: None, problem };
    }
    let mut row = sum.row(updated_ms);
    (row.id, row.path, row.root) = (id.to_owned(), path.to_path_buf(), Some(root));
    row.foreign &= root == Root::Claude;
    (row.turns, row.bytes, row.updated_ms) = (turns, len, updated_ms);
    Known { row: Some(row), problem }
}

fn broken(what: &str) -> Known {
    Known { row: None, problem: Some(what.to_owned()) }
}

/// The parts of a log that are parsed, in whole lines, and what lies between.
struct Parts {
    len: u64,
    modified_ms: i64,
    /// Everything, for a short log.
    head: Vec<u8>,
    tail: Option<Vec<u8>>,
    /// Prompts between, if they were counted.
    between: Option<u32>,
}

impl Parts {
    fn read(file: &File) -> io::Result<Self> {
        let meta = file.metadata()?;
        let (len, modified_ms) = (meta.len(), meta.mtime() * 1000 + meta.mtime_nsec() / 1_000_000);
        if len <= 2 * SIDE {
            let head = read_at(file, 0, len)?;
            return Ok(Self { len, modified_ms, head, tail: None, between: Some(0) });
        }
        let mut head = read_at(file, 0, SIDE)?;
        head.truncate(memchr::memrchr(b'\n', &head).map_or(head.len(), |at| at + 1));
        let mut tail = read_at(file, len - SIDE, SIDE)?;
        let cut = memchr::memchr(b'\n', &tail).map_or(tail.len(), |at| at + 1);
        drop(tail.drain(..cut));
        let (from, to) = (head.len() as u64, len.saturating_sub(tail.len() as u64));
        let between = match to.saturating_sub(from) {
            middle @ ..=COUNTED => Some(count_prompts(&read_at(file, from, middle)?)),
            _ => None,
        };
        Ok(Self { len, modified_ms, head, tail: Some(tail), between })
    }

    /// Feeds all lines; gives the number of prompts, if it is known.
    fn feed(&self, sum: &mut Sum) -> Option<u32> {
        if self.tail.is_some() && !self.head.ends_with(b"\n") {
            // One line fills the head: what it says is not known from a part of it.
            sum.sidechain = memmem::find(&self.head, b"\"isSidechain\":true").is_some();
        } else {
            sum.lines(&self.head, true);
        }
        let Some(tail) = &self.tail else { return Some(sum.carried.turns) };
        if sum.lines(tail, false) {
            // A `context` record knows everything before it.
            return Some(sum.carried.turns);
        }
        self.between.map(|between| between.saturating_add(sum.carried.turns))
    }
}

impl Sum {
    /// Takes lines; says whether a `context` record was among them.
    fn lines(&mut self, bytes: &[u8], from_start: bool) -> bool {
        let mut context = false;
        let lines = bytes.split(|&byte| byte == b'\n').enumerate();
        for (number, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
            self.lines += 1;
            if line.starts_with(b"{\"type\":\"ostler\"") {
                match serde_json::from_slice::<Own>(line) {
                    Ok(own) => {
                        self.ours = true;
                        context |= matches!(own, Own::Context(_));
                        self.carried.note_own(&own);
                    }
                    Err(_) => self.bad += 1,
                }
                continue;
            }
            match serde_json::from_slice::<Line>(line) {
                Ok(line) => {
                    if from_start && number == 0 && line.is_sidechain {
                        self.sidechain = true;
                    }
                    self.line(line);
                }
                // Another program's lines may have other types in these fields.
                Err(_) if serde_json::from_slice::<Value>(line).is_ok_and(|v| v.is_object()) => {}
                Err(_) => self.bad += 1,
            }
        }
        context
    }

    fn line(&mut self, line: Line) {
        if line.is_sidechain {
            return;
        }
        if let Some(at_ms) = line.timestamp.as_deref().and_then(time::parse) {
            self.last_ms = Some(at_ms);
            self.carried.note_entry(at_ms, line.cwd.as_deref());
        }
        self.entrypoint = line.entrypoint.or(self.entrypoint.take());
        match line.kind.as_str() {
            "user" => {
                let content = line.message.and_then(|mut m| m.get_mut("content").map(Value::take));
                let content =
                    content.and_then(|value| serde_json::from_value::<UserContent>(value).ok());
                let is_meta = line.is_meta || line.is_compact_summary;
                if let Some(prompt) = content.and_then(|c| carried::prompt(&c, is_meta)) {
                    self.carried.note_prompt(prompt);
                }
            }
            "assistant" => {
                let model =
                    line.message.as_ref().and_then(|message| message.get("model")?.as_str());
                if let Some(model) = model.filter(|model| !model.starts_with('<')) {
                    self.model = Some(model.to_owned());
                }
            }
            "custom-title" => self.carried.title = line.custom_title.or(self.carried.title.take()),
            "ai-title" => self.generated_title = line.ai_title.or(self.generated_title.take()),
            "summary" => self.summary = line.summary.or(self.summary.take()),
            "tag" => self.carried.tag = line.tag.or(self.carried.tag.take()),
            "last-prompt" => {
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

    fn problem(&self) -> Option<String> {
        match self.bad {
            0 => None,
            bad if bad == self.lines => Some("no line can be read".to_owned()),
            1 => Some("one line cannot be read; the rest can".to_owned()),
            bad => Some(format!("{bad} lines cannot be read; the rest can")),
        }
    }

    fn row(self, updated_ms: i64) -> Row {
        let carried = self.carried;
        let titled = carried.title.is_some();
        let title = [
            carried.title,
            self.generated_title,
            self.summary,
            carried.first_prompt.clone(),
            carried.last_prompt.clone(),
        ];
        let (provider, model) = carried.pinned.unzip();
        Row {
            project: carried.project,
            title: title.into_iter().flatten().next().unwrap_or_default(),
            titled,
            first_prompt: carried.first_prompt,
            last_prompt: carried.last_prompt,
            tag: carried.tag.filter(|tag| !tag.is_empty()),
            created_ms: carried.created_at.unwrap_or(updated_ms),
            last_turn_ms: self.last_ms.unwrap_or(updated_ms),
            provider,
            model: model.or(self.model),
            mode: carried.mode,
            entrypoint: self.entrypoint,
            open_run: carried.open_run.is_some(),
            foreign: !self.ours,
            ..Row::default()
        }
    }
}

/// Counts prompts by their bytes: inside of JSON text such quotes would be escaped.
fn count_prompts(bytes: &[u8]) -> u32 {
    let mut count = 0;
    for line in memmem::find_iter(bytes, b"\"type\":\"user\"") {
        let end = memchr::memchr(b'\n', &bytes[line..]).map_or(bytes.len(), |at| line + at);
        let start = memchr::memrchr(b'\n', &bytes[..line]).map_or(0, |at| at + 1);
        let whole = &bytes[start..end];
        let has = |text: &str| memmem::find(whole, text.as_bytes()).is_some();
        if !has("\"tool_use_id\":") && !has("\"isMeta\":true") && !has("\"isSidechain\":true") {
            count += 1;
        }
    }
    count
}
