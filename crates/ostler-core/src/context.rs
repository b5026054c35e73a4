//! From a session's entries to the messages of a request.
//!
//! Pure. Whatever the log holds, the result is a history that vendors take: roles
//! alternate, every call is answered exactly once in the message after it, nothing is
//! empty. Consecutive requests share their beginning byte for byte, because nothing here
//! depends on anything but the entries and the recorded cuts.

use std::collections::{HashMap, HashSet, VecDeque};

use ostler_protocol::{Block, Message, Role, conversation::ToolResultContent};
use ostler_stdx::bound_middle;
use ostler_store::record::{Entry, EntryBody};

use crate::mend::CALL_INTERRUPTED;

/// Most bytes of one tool result, whatever the tool says.
pub const RESULT_CAP: usize = 100_000;

/// Bytes of tool results that a history may hold whole; beyond it fresh ones are cut.
pub const HISTORY_RESULT_BUDGET: usize = 400_000;

/// What is left of a result that is cut to keep the history within its budget.
const CUT_HEAD: usize = 4_000;
const CUT_TAIL: usize = 1_000;

/// Most bytes of the text put before the first prompt.
pub const PREAMBLE_CAP: usize = 60_000;

/// The messages of the next request.
#[must_use]
pub fn messages(entries: &[Entry], preamble: Option<&str>, cut: &HashSet<String>) -> Vec<Message> {
    let mut builder = Builder::new(entries, cut);
    if let Some(preamble) = preamble {
        let text = bound_middle(preamble, PREAMBLE_CAP - 1_000, 500, "").text;
        builder.push(Role::User, Block::text(text));
    }
    for entry in entries {
        match &entry.body {
            EntryBody::User(user) => {
                for block in user.blocks() {
                    if !matches!(block, Block::ToolResult { .. }) {
                        builder.push(Role::User, block);
                    }
                }
                if user.answers().is_some() {
                    builder.answer_calls();
                }
            }
            EntryBody::Assistant(assistant) => {
                let unfinished_thinking =
                    assistant.interrupted && matches!(assistant.block, Block::Thinking { .. });
                if assistant.api_error.is_none() && !unfinished_thinking {
                    builder.push(Role::Assistant, assistant.block.clone());
                }
            }
        }
    }
    builder.answer_calls();
    builder.out
}

struct Builder<'a> {
    out: Vec<Message>,
    /// Results by call, in the order of the log.
    results: HashMap<&'a str, VecDeque<Block>>,
    /// Calls of the newest assistant message that have no result yet.
    open: Vec<String>,
    cut: &'a HashSet<String>,
}

impl<'a> Builder<'a> {
    fn new(entries: &'a [Entry], cut: &'a HashSet<String>) -> Self {
        let mut results: HashMap<&str, VecDeque<Block>> = HashMap::new();
        for entry in entries {
            let EntryBody::User(user) = &entry.body else { continue };
            let ToolResultContent::Blocks(blocks) = &user.content else { continue };
            for block in blocks {
                if let Block::ToolResult { tool_use_id, .. } = block {
                    results.entry(tool_use_id).or_default().push_back(block.clone());
                }
            }
        }
        Self { out: Vec::new(), results, open: Vec::new(), cut }
    }

    fn push(&mut self, role: Role, block: Block) {
        if matches!(&block, Block::Text { text } if text.trim().is_empty()) {
            return;
        }
        match role {
            Role::User => self.answer_calls(),
            Role::Assistant if self.out.is_empty() => return,
            Role::Assistant => {
                if let Block::ToolUse { id, .. } = &block {
                    self.open.push(id.clone());
                }
            }
        }
        self.append(role, block);
    }

    fn append(&mut self, role: Role, block: Block) {
        match self.out.last_mut() {
            Some(last) if last.role == role => last.content.push(block),
            _ => self.out.push(Message { role, content: vec![block] }),
        }
    }

    /// Answers every open call, in call order, with its result or with words that say
    /// that there is none.
    fn answer_calls(&mut self) {
        for id in std::mem::take(&mut self.open) {
            let found = self.results.get_mut(id.as_str()).and_then(VecDeque::pop_front);
            let block =
                found.unwrap_or_else(|| Block::tool_result(id.clone(), CALL_INTERRUPTED, true));
            let block = if self.cut.contains(&id) { cut_result(block) } else { block };
            self.append(Role::User, fill_empty(block));
        }
    }
}

/// Vendors refuse blocks without text inside results.
fn fill_empty(block: Block) -> Block {
    match block {
        Block::ToolResult { tool_use_id, content: ToolResultContent::Blocks(blocks), is_error } => {
            let blocks: Vec<_> = blocks
                .into_iter()
                .filter(|block| !matches!(block, Block::Text { text } if text.is_empty()))
                .collect();
            let content = if blocks.is_empty() {
                ToolResultContent::Text(String::new())
            } else {
                ToolResultContent::Blocks(blocks)
            };
            Block::ToolResult { tool_use_id, content, is_error }
        }
        other => other,
    }
}

fn cut_result(block: Block) -> Block {
    match block {
        Block::ToolResult { tool_use_id, content, is_error } => {
            let hint = "cut to keep the conversation small; run the tool again for the rest";
            let text = bound_middle(&content.text(), CUT_HEAD, CUT_TAIL, hint).text;
            Block::ToolResult { tool_use_id, content: ToolResultContent::Text(text), is_error }
        }
        other => other,
    }
}

/// The fresh results to cut, largest first, so that whole results stay within the budget.
///
/// Fresh are those after the last block of the model: no request has shown them whole, so
/// that cutting them keeps the prefix.
#[must_use]
pub fn plan_cuts(entries: &[Entry], cut: &HashSet<String>, budget: usize) -> Vec<String> {
    let fresh_from = entries
        .iter()
        .rposition(|entry| matches!(entry.body, EntryBody::Assistant(_)))
        .map_or(0, |last| last + 1);
    let sizes = |entries: &[Entry]| -> Vec<(usize, String)> {
        entries
            .iter()
            .filter_map(|entry| match &entry.body {
                EntryBody::User(user) => {
                    Some((result_size(&user.content), user.answers()?.to_owned()))
                }
                EntryBody::Assistant(_) => None,
            })
            .filter(|(_, id)| !cut.contains(id))
            .collect()
    };
    let mut fresh = sizes(&entries[fresh_from..]);
    let mut total: usize = sizes(entries).iter().map(|(size, _)| size).sum();
    fresh.sort();
    let mut cuts = Vec::new();
    while total > budget {
        let Some((size, id)) = fresh.pop() else { break };
        if size <= CUT_HEAD + CUT_TAIL {
            break;
        }
        total -= size - CUT_HEAD - CUT_TAIL;
        cuts.push(id);
    }
    cuts
}

fn result_size(content: &ToolResultContent) -> usize {
    let ToolResultContent::Blocks(blocks) = content else { return 0 };
    blocks
        .iter()
        .map(|block| match block {
            Block::ToolResult { content: ToolResultContent::Text(text), .. } => text.len(),
            Block::ToolResult { content: ToolResultContent::Blocks(blocks), .. } => blocks
                .iter()
                .map(|block| match block {
                    Block::Text { text } => text.len(),
                    _ => 0,
                })
                .sum(),
            _ => 0,
        })
        .sum()
}

/// Keeps a result's text within [`RESULT_CAP`].
#[must_use]
pub fn cap_result(content: ToolResultContent) -> ToolResultContent {
    let cap = |text: String| {
        if text.len() <= RESULT_CAP {
            return text;
        }
        bound_middle(&text, RESULT_CAP * 3 / 4, RESULT_CAP / 4 - 200, "ask for less at a time").text
    };
    match content {
        ToolResultContent::Text(text) => ToolResultContent::Text(cap(text)),
        ToolResultContent::Blocks(blocks) => ToolResultContent::Blocks(
            blocks
                .into_iter()
                .map(|block| match block {
                    Block::Text { text } => Block::Text { text: cap(text) },
                    other => other,
                })
                .collect(),
        ),
    }
}
