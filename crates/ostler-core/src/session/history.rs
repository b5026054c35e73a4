//! The conversation in memory: what the log holds, as the next request needs it.

use std::collections::{HashMap, HashSet};

use ostler_protocol::Message;
use ostler_store::{
    ToolFacts,
    record::{Entry, EntryBody, Own, Record},
};

use crate::context;

/// Entries in order, and what is recorded about them.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) entries: Vec<Entry>,
    pub(super) cut: HashSet<String>,
    pub(super) tools: HashMap<String, ToolFacts>,
}

impl History {
    /// Takes in what was just written.
    pub(super) fn take(&mut self, records: Vec<Record>, at_ms: i64) {
        for record in records {
            match record {
                Record::User(user) => {
                    self.entries.push(Entry { at_ms, body: EntryBody::User(user) })
                }
                Record::Assistant(assistant) => {
                    self.entries.push(Entry { at_ms, body: EntryBody::Assistant(assistant) });
                }
                Record::Own(Own::Void { uuids }) => {
                    self.entries.retain(|entry| !uuids.iter().any(|uuid| uuid == entry.uuid()));
                }
                Record::Own(Own::Cut { tool_use_ids }) => self.cut.extend(tool_use_ids),
                Record::Own(Own::Tool { tool_use_id, ms, denied_by, diffs }) => {
                    self.tools.insert(tool_use_id, ToolFacts { ms, denied_by, diffs });
                }
                Record::Own(_)
                | Record::PermissionMode(_)
                | Record::CustomTitle(_)
                | Record::LastPrompt(_)
                | Record::Tag(_)
                | Record::Compacted(_) => {}
            }
        }
    }

    /// Fresh results that must be cut before the next request.
    pub(super) fn plan_cuts(&self) -> Vec<String> {
        context::plan_cuts(&self.entries, &self.cut, context::HISTORY_RESULT_BUDGET)
    }

    /// The messages of the next request.
    pub(super) fn messages(&self, preamble: Option<&str>) -> Vec<Message> {
        context::messages(&self.entries, preamble, &self.cut)
    }
}
