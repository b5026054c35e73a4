//! Records as lines of the transcript (agent-sdk.md 4.2): compact JSON, serialized straight
//! into one buffer. Our own records start with exactly `{"type":"ostler","kind":`, which
//! is how a resume finds the last `context` from the end; tags start with
//! `{"type":"tag"`, which is how the Agent SDKs find them.

use ostler_protocol::{Block, Mode, Usage};
use serde::Serialize;
use serde_json::Value;

use crate::{
    record::{AssistantEntry, Compaction, Own, UserContent, UserEntry},
    store::Header,
};

/// What is the same on all lines of one append.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub(crate) header: &'a Header,
    pub(crate) cwd: &'a str,
    pub(crate) timestamp: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a, M: Serialize> {
    parent_uuid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logical_parent_uuid: Option<&'a str>,
    is_sidechain: bool,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subtype: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<M>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compact_metadata: Option<Metadata<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    is_meta: bool,
    #[serde(skip_serializing_if = "is_false")]
    is_compact_summary: bool,
    #[serde(skip_serializing_if = "is_false")]
    is_api_error_message: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    aborted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_result: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'a Value>,
    uuid: &'a str,
    timestamp: &'a str,
    user_type: &'static str,
    entrypoint: &'a str,
    cwd: &'a str,
    session_id: &'a str,
    version: &'a str,
    git_branch: &'a str,
}

#[derive(Serialize)]
struct UserMessage<'a> {
    role: &'static str,
    content: &'a UserContent,
}

#[derive(Serialize)]
struct AssistantMessage<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'a str,
    content: [&'a Block; 1],
    stop_reason: Option<&'a str>,
    stop_sequence: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'a Usage>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    trigger: &'a str,
    pre_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(flag: &bool) -> bool {
    !flag
}

fn line<'a, M: Serialize>(
    shared: Shared<'a>,
    kind: &'static str,
    parent: Option<&'a str>,
    uuid: &'a str,
) -> Line<'a, M> {
    Line {
        parent_uuid: parent,
        logical_parent_uuid: None,
        is_sidechain: false,
        kind,
        subtype: None,
        content: None,
        message: None,
        compact_metadata: None,
        request_id: None,
        is_meta: false,
        is_compact_summary: false,
        is_api_error_message: false,
        error: None,
        aborted: false,
        tool_use_result: None,
        origin: None,
        uuid,
        timestamp: shared.timestamp,
        user_type: "external",
        entrypoint: &shared.header.entrypoint,
        cwd: shared.cwd,
        session_id: &shared.header.session_id,
        version: &shared.header.version,
        git_branch: &shared.header.git_branch,
    }
}

/// The person's words or a tool result.
pub(crate) fn user(out: &mut Vec<u8>, shared: Shared<'_>, parent: Option<&str>, user: &UserEntry) {
    user_line(out, shared, parent, user, false);
}

fn user_line(
    out: &mut Vec<u8>,
    shared: Shared<'_>,
    parent: Option<&str>,
    user: &UserEntry,
    is_summary: bool,
) {
    let mut line = line(shared, "user", parent, &user.uuid);
    line.message = Some(UserMessage { role: "user", content: &user.content });
    line.is_meta = user.is_meta;
    line.is_compact_summary = is_summary;
    line.tool_use_result = user.tool_use_result.as_ref();
    line.origin = user.origin.as_ref();
    push(out, &line);
}

/// One block of an answer.
pub(crate) fn assistant(
    out: &mut Vec<u8>,
    shared: Shared<'_>,
    parent: Option<&str>,
    entry: &AssistantEntry,
) {
    let mut line = line(shared, "assistant", parent, &entry.uuid);
    line.message = Some(AssistantMessage {
        id: &entry.message_id,
        kind: "message",
        role: "assistant",
        model: &entry.model,
        content: [&entry.block],
        stop_reason: entry.stop_reason.as_deref(),
        stop_sequence: None,
        usage: entry.usage.as_ref(),
    });
    line.request_id = entry.request_id.as_deref();
    line.is_api_error_message = entry.api_error.is_some();
    line.error = entry.api_error.as_deref();
    line.aborted = entry.interrupted;
    push(out, &line);
}

/// A boundary and its summary; gives the offset of the summary in `out`.
pub(crate) fn compaction(
    out: &mut Vec<u8>,
    shared: Shared<'_>,
    parent: Option<&str>,
    compaction: &Compaction,
) -> usize {
    let mut boundary = line::<()>(shared, "system", None, &compaction.uuid);
    boundary.logical_parent_uuid = parent;
    boundary.subtype = Some("compact_boundary");
    boundary.content = Some("Conversation compacted");
    let pre_tokens = compaction.pre_tokens;
    boundary.compact_metadata = Some(Metadata { trigger: &compaction.trigger, pre_tokens });
    push(out, &boundary);
    let at = out.len();
    user_line(out, shared, Some(&compaction.uuid), &compaction.summary, true);
    at
}

/// The permission mode from here on.
pub(crate) fn mode(out: &mut Vec<u8>, shared: Shared<'_>, mode: Mode) {
    meta(out, shared, "permission-mode", "permissionMode", mode.name());
}

/// The person's title.
pub(crate) fn title(out: &mut Vec<u8>, shared: Shared<'_>, title: &str) {
    meta(out, shared, "custom-title", "customTitle", title);
}

/// The newest prompt.
pub(crate) fn last_prompt(out: &mut Vec<u8>, shared: Shared<'_>, prompt: &str) {
    meta(out, shared, "last-prompt", "lastPrompt", prompt);
}

/// A tag; empty clears it.
pub(crate) fn tag(out: &mut Vec<u8>, shared: Shared<'_>, tag: &str) {
    meta(out, shared, "tag", "tag", tag);
}

fn meta(out: &mut Vec<u8>, shared: Shared<'_>, kind: &str, key: &str, value: &str) {
    out.extend_from_slice(b"{\"type\":");
    value_of(out, kind);
    out.push(b',');
    value_of(out, key);
    out.push(b':');
    value_of(out, value);
    out.extend_from_slice(b",\"sessionId\":");
    value_of(out, &shared.header.session_id);
    out.extend_from_slice(b"}\n");
}

/// One of our own records.
pub(crate) fn own(out: &mut Vec<u8>, shared: Shared<'_>, own: &Own) {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct OwnTail<'a> {
        session_id: &'a str,
        timestamp: &'a str,
    }
    let start = out.len();
    out.extend_from_slice(b"{\"type\":\"ostler\",");
    let body = out.len();
    value_of(out, own);
    if out.get(body) != Some(&b'{') {
        // A record of a later version, which this one cannot write.
        out.truncate(start);
        return;
    }
    // Join the three objects: `kind` comes first, ours come last.
    out.remove(body);
    out.pop();
    out.push(b',');
    let tail = out.len();
    let session_id = &shared.header.session_id;
    value_of(out, &OwnTail { session_id, timestamp: shared.timestamp });
    if out.get(tail) == Some(&b'{') {
        out.remove(tail);
    }
    out.push(b'\n');
}

fn push(out: &mut Vec<u8>, line: &impl Serialize) {
    value_of(out, line);
    out.push(b'\n');
}

fn value_of(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let start = out.len();
    // Nothing here has a key that is not text, and a Vec takes every write.
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}
