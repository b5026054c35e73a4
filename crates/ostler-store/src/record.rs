//! What a session log holds: conversation entries in the Claude Code transcript shape
//! (agent-sdk.md section 4) and Ostler's own records, which its readers skip.
//!
//! These are disk types. They hold conversation blocks, which are promised as additive,
//! and nothing else of the wire.

use ostler_protocol::{
    BackgroundTask, Block, FileDiff, Message, Mode, PlannedTask, Role, Todo, Usage,
    conversation::ToolResultContent,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    blob::BlobId,
    checkpoint::{FileChange, Uncovered},
};

/// What is appended to a log. The log adds the header: parent, time, folder, version.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// The person's words, or the result of one tool call.
    User(UserEntry),
    /// One block of a model's answer.
    Assistant(AssistantEntry),
    /// The permission mode from here on.
    PermissionMode(Mode),
    /// The title that the person gave.
    CustomTitle(String),
    /// The newest prompt, for lists.
    LastPrompt(String),
    /// A tag for lists; empty clears it.
    Tag(String),
    /// The summary that stands for everything before it, from here on.
    Compacted(Compaction),
    /// One of our own.
    Own(Own),
}

/// The content of a user entry, in the form in which it was received: text stays text.
pub type UserContent = ToolResultContent;

/// The person's words, or the result of one tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct UserEntry {
    /// Names the entry; the same on the wire.
    pub uuid: String,
    /// Exactly as received, or one `tool_result` block.
    pub content: UserContent,
    /// The structured output of the tool, for results.
    pub tool_use_result: Option<Value>,
    /// Whether the model should see it and a person's list should not.
    pub is_meta: bool,
    /// Where a host says that the prompt came from.
    pub origin: Option<Value>,
}

/// One block of a model's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AssistantEntry {
    /// Names the entry; the same on the wire.
    pub uuid: String,
    /// The vendor's id of the answer; blocks of one answer share it.
    pub message_id: String,
    /// The model that answered; `<synthetic>` for our own words about a failure.
    pub model: String,
    /// The block.
    pub block: Block,
    /// Why the model stopped; on the last block of an answer.
    pub stop_reason: Option<String>,
    /// Tokens of the whole answer; on its last block.
    pub usage: Option<Usage>,
    /// The vendor's id of the request.
    pub request_id: Option<String>,
    /// The failure that this stands for, if it is not a model's words.
    pub api_error: Option<String>,
    /// Whether the block was cut off by an interruption.
    pub interrupted: bool,
}

/// The summary of everything before it: a boundary and a user entry, written as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Compaction {
    /// Names the boundary.
    pub uuid: String,
    /// What asked for it: `manual` or `auto`.
    pub trigger: String,
    /// Tokens of the context before.
    pub pre_tokens: u64,
    /// The summary, which the next request begins with.
    pub summary: UserEntry,
}

/// Ostler's own records: on disk `{"type":"ostler","kind":...,"sessionId":...,"timestamp":...}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "few exist at a time, and never in a list")]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Own {
    /// What every request of this session begins with, kept byte for byte.
    Frozen {
        /// The system prompt in blocks: text, and whether the prefix may be cached up to here.
        system: Vec<FrozenBlock>,
        /// Text put before the first prompt, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preamble: Option<String>,
    },
    /// The project folder, absolute and as given.
    Project {
        /// The folder.
        path: String,
    },
    /// The provider and model from here on, chosen as a pair.
    Pinned {
        /// The provider.
        provider: String,
        /// The model.
        model: String,
    },
    /// A run starts.
    RunStarted {
        /// The run.
        run_id: String,
        /// The user entry that started it.
        prompt: String,
    },
    /// A run ended.
    RunEnded {
        /// The run.
        run_id: String,
        /// `end`, `interrupted`, `failed`, `budget` or `loop`.
        reason: String,
        /// What went wrong, if it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// How long it took.
        ms: u64,
        /// Tokens of all its answers.
        #[serde(default)]
        usage: Usage,
    },
    /// The person was asked.
    Asked {
        /// The request.
        request_id: String,
        /// The call that waits.
        tool_use_id: String,
    },
    /// The person answered, or the request was withdrawn.
    Answered {
        /// The request.
        request_id: String,
        /// `allow-once`, ..., `deny`, `timeout`, `withdrawn`.
        decision: String,
        /// The person's reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// What was said of a call, written before it runs. A call that was asked about has
    /// one for the question and one for what came of it.
    Verdict {
        /// The call.
        tool_use_id: String,
        /// `allow`, `ask` or `deny`.
        verdict: String,
        /// The mode in force.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
        /// Why.
        #[serde(flatten)]
        why: Why,
    },
    /// Facts of a finished tool call beyond its result.
    Tool {
        /// The call.
        tool_use_id: String,
        /// How long it ran; absent if it never did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
        /// What refused it: `rule`, `mode`, `user`, `no-one`, `unknown-tool`, `interrupt`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        denied_by: Option<String>,
        /// Files that it changed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        diffs: Vec<FileDiff>,
    },
    /// The end of a model's answer: what was not known when its blocks were written.
    Response {
        /// The vendor's id of the answer.
        message_id: String,
        /// Why the model stopped.
        stop_reason: String,
        /// Tokens of the answer.
        usage: Usage,
    },
    /// The model could not be asked, and is asked again.
    Retried {
        /// Which attempt comes next, from 2.
        attempt: u32,
        /// The last attempt that will be made.
        max: u32,
        /// Pause before it.
        delay_ms: u64,
        /// What went wrong.
        message: String,
        /// The vendor's HTTP status, if it gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
    },
    /// Entries of an answer that broke off and was asked for again. The next entry's
    /// parent is the entry before the first of them, so that other readers skip them too.
    Void {
        /// The entries, in order.
        uuids: Vec<String>,
    },
    /// Results that requests show only as a marker from here on.
    Cut {
        /// The calls.
        tool_use_ids: Vec<String>,
    },
    /// The messages that wait.
    Queue {
        /// In order.
        items: Vec<QueuedPrompt>,
    },
    /// The to-do list is now this.
    Todos {
        /// In order.
        items: Vec<Todo>,
    },
    /// The planned tasks are now these.
    Plan {
        /// In order.
        tasks: Vec<PlannedTask>,
    },
    /// Work in the background started, or is now as this says.
    Task {
        /// The task.
        task: BackgroundTask,
    },
    /// Tools work in this folder from here on; absent, in the project folder.
    Folder {
        /// The folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// A hook ran.
    Hook(HookRecord),
    /// Files that a call changed, or that an undo changed.
    Checkpoint(Checkpoint),
    /// Where a resume starts to read, and what it must know of everything before.
    Context(Context),
    /// A repair that a reader made, said aloud.
    Repaired {
        /// What was repaired.
        what: String,
    },
    /// A record of a later version.
    #[serde(other)]
    Unknown,
}

/// What decided about a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Why {
    /// `rule`, `mode`, `hook`, `safety`, `sandbox`, `interaction`, `person`, `no-one`,
    /// `timeout`, `interrupt`, `invalid` or `fault`.
    pub by: String,
    /// One sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The rule, as it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The rule's file; without one, where else it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// One run of a hook. What it wrote is not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HookRecord {
    /// The run's own id.
    pub hook_id: String,
    /// The hook's name.
    pub name: String,
    /// The event that it ran for.
    pub event: String,
    /// The call that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// `success`, `error` or `cancelled`.
    pub outcome: String,
    /// Its exit code, if it was a command that ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it ran.
    pub ms: u64,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Why it stood in the way, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
}

/// What a call or an undo changed on disk. The contents are blobs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Checkpoint {
    /// The call; of an undo, its own id.
    pub tool_use_id: String,
    /// The calls and undos that it took back, if it is an undo.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undoes: Vec<String>,
    /// The changes, sorted by path; empty where they are too many for a line of a log.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// The blob that holds the changes, where they are too many: `files` as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<BlobId>,
    /// What the picture before the call did not cover.
    #[serde(skip_serializing_if = "Uncovered::is_nothing")]
    pub uncovered: Uncovered,
}

/// A block of the frozen system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenBlock {
    /// Its text.
    pub text: String,
    /// Whether everything up to here stays the same.
    #[serde(default)]
    pub cache: bool,
}

/// A waiting message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueuedPrompt {
    /// Its id.
    pub id: String,
    /// As received.
    pub content: UserContent,
    /// When, ms since the epoch.
    pub queued_at: i64,
    /// The sender's own id for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Where a host says that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Value>,
    /// Whether it is Ostler's own word about a background task, and not a person's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub note: bool,
}

/// A place to resume from: everything that the next request needs lies at or after `from`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Context {
    /// Byte offset of the first entry of the current request.
    pub from: u64,
    /// The uuid of that entry, to notice a file that was rewritten.
    pub first: String,
    /// Entries of the conversation between `from` and this record.
    pub entries: u64,
    /// Everything that earlier records said and that still holds.
    pub carried: Carried,
}

/// State that outlives the part of the log which set it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Carried {
    /// The project folder.
    pub project: Option<String>,
    /// The provider and model.
    pub pinned: Option<(String, String)>,
    /// The mode.
    pub mode: Option<Mode>,
    /// The person's title.
    pub title: Option<String>,
    /// Frozen system prompt.
    pub system: Option<Vec<FrozenBlock>>,
    /// Frozen preamble.
    pub preamble: Option<String>,
    /// Results that are cut.
    pub cut: Vec<String>,
    /// Waiting messages.
    pub queue: Vec<QueuedPrompt>,
    /// The to-do list.
    pub todos: Vec<Todo>,
    /// The planned tasks.
    pub plan: Vec<PlannedTask>,
    /// Background tasks: all that run, and the newest that ended.
    pub tasks: Vec<BackgroundTask>,
    /// The folder that tools work in, if it is not the project's.
    pub folder: Option<String>,
    /// Prompts so far.
    pub turns: u32,
    /// First prompt, at most 200 characters.
    pub first_prompt: Option<String>,
    /// A run that started and has not ended.
    pub open_run: Option<String>,
    /// The tag of the session for lists; empty if it was cleared.
    pub tag: Option<String>,
    /// The newest prompt, at most 200 characters.
    pub last_prompt: Option<String>,
    /// When the first entry was written, ms since the epoch.
    pub created_at: Option<i64>,
}

/// One conversation entry as read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When it was written, ms since the epoch.
    pub at_ms: i64,
    /// What it is.
    pub body: EntryBody,
}

/// A conversation entry is one of these two.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryBody {
    /// The person's words or a tool result.
    User(UserEntry),
    /// A block of an answer.
    Assistant(AssistantEntry),
}

impl Entry {
    /// The entry's uuid.
    #[must_use]
    pub fn uuid(&self) -> &str {
        match &self.body {
            EntryBody::User(user) => &user.uuid,
            EntryBody::Assistant(assistant) => &assistant.uuid,
        }
    }

    /// The entry as a message of the conversation.
    #[must_use]
    pub fn message(&self) -> Message {
        match &self.body {
            EntryBody::User(user) => Message { role: Role::User, content: user.blocks() },
            EntryBody::Assistant(assistant) => {
                Message { role: Role::Assistant, content: vec![assistant.block.clone()] }
            }
        }
    }
}

impl UserEntry {
    /// The content as blocks.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        match &self.content {
            ToolResultContent::Text(text) => vec![Block::text(text.clone())],
            ToolResultContent::Blocks(blocks) => blocks.clone(),
        }
    }

    /// The call that this answers, if it is a tool result.
    #[must_use]
    pub fn answers(&self) -> Option<&str> {
        match &self.content {
            ToolResultContent::Blocks(blocks) => blocks.iter().find_map(|block| match block {
                Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
                _ => None,
            }),
            ToolResultContent::Text(_) => None,
        }
    }
}
