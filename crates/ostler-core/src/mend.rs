//! Closing what was left open: the same records whether a run is interrupted or the
//! process died, so that resume rebuilds the request that the live session would send.

use std::collections::HashSet;

use ostler_protocol::{Block, conversation::ToolResultContent};
use ostler_stdx::IdGen;
use ostler_store::record::{AssistantEntry, Entry, EntryBody, Own, Record, UserEntry};

/// What the model is told of a call that was never finished.
pub const CALL_INTERRUPTED: &str = "The call was interrupted before it finished. It may have taken effect in part; \
check before relying on it or doing it again.";

/// What stands in the person's place after an interruption while the model was answering.
pub const INTERRUPTED: &str = "[Request interrupted by user]";

/// The same, while tools ran or waited.
pub const INTERRUPTED_TOOL: &str = "[Request interrupted by user for tool use]";

/// A block that was being written when everything stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// The uuid that the block gets.
    pub uuid: String,
    /// The vendor's id of the answer.
    pub message_id: String,
    /// The model.
    pub model: String,
    /// Whether it is reasoning.
    pub thinking: bool,
    /// What is there.
    pub text: String,
}

impl Unfinished {
    /// The entry that keeps what was shown; none if nothing was.
    #[must_use]
    pub fn entry(self) -> Option<AssistantEntry> {
        if self.text.is_empty() {
            return None;
        }
        let block = if self.thinking {
            Block::Thinking { thinking: self.text, signature: String::new() }
        } else {
            Block::text(self.text)
        };
        Some(AssistantEntry {
            uuid: self.uuid,
            message_id: self.message_id,
            model: self.model,
            block,
            stop_reason: None,
            usage: None,
            request_id: None,
            api_error: None,
            interrupted: true,
        })
    }
}

/// The result that closes a call which was never finished.
#[must_use]
pub fn interrupted_result(uuid: String, tool_use_id: &str) -> UserEntry {
    UserEntry {
        uuid,
        content: ToolResultContent::Blocks(vec![Block::tool_result(
            tool_use_id,
            CALL_INTERRUPTED,
            true,
        )]),
        tool_use_result: None,
        is_meta: false,
        origin: None,
    }
}

/// The line in the person's place that says that they stopped the run.
#[must_use]
pub fn interruption_note(uuid: String, in_tools: bool) -> UserEntry {
    let text = if in_tools { INTERRUPTED_TOOL } else { INTERRUPTED };
    UserEntry {
        uuid,
        content: ToolResultContent::Blocks(vec![Block::text(text)]),
        tool_use_result: None,
        is_meta: false,
        origin: None,
    }
}

/// Calls in these entries that no result answers, in order.
#[must_use]
pub fn open_calls(entries: &[Entry]) -> Vec<String> {
    let mut answered = HashSet::new();
    let mut calls = Vec::new();
    for entry in entries {
        match &entry.body {
            EntryBody::User(user) => answered.extend(user.answers()),
            EntryBody::Assistant(assistant) => {
                if let Block::ToolUse { id, .. } = &assistant.block {
                    calls.push(id);
                }
            }
        }
    }
    calls.into_iter().filter(|id| !answered.contains(id.as_str())).cloned().collect()
}

/// The records that close a log whose process died: the unfinished block, a result for
/// each open call, the note and the end of the run. Empty if nothing is open.
#[must_use]
pub fn mend(
    entries: &[Entry],
    unfinished: Option<Unfinished>,
    open_run: Option<&str>,
    ids: &mut IdGen,
) -> Vec<Record> {
    let open = open_calls(entries);
    let Some(run_id) = open_run else {
        // A foreign log may lack results without any run of ours; requests are healed as
        // they are built, and the file stays as it is.
        return Vec::new();
    };
    let in_tools = !open.is_empty();
    let mut records: Vec<Record> = Vec::new();
    records.extend(unfinished.and_then(Unfinished::entry).map(Record::Assistant));
    records.extend(open.iter().map(|id| Record::User(interrupted_result(ids.uuid(), id))));
    records.push(Record::User(interruption_note(ids.uuid(), in_tools)));
    records.push(Record::Own(Own::RunEnded {
        run_id: run_id.to_owned(),
        reason: "interrupted".to_owned(),
        message: Some("the process ended before the run did".to_owned()),
        ms: 0,
        usage: ostler_protocol::Usage::default(),
    }));
    records
}
