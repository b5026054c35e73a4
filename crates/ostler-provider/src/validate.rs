//! Would a vendor take this request? Pure; the scripted provider and the test server ask
//! it about every request.
//!
//! It is as strict as the strictest vendor. It mends nothing.

use std::collections::{BTreeMap, BTreeSet};

use ostler_protocol::{Block, Message, Role, ToolResultContent};

use crate::ModelRequest;

/// Most characters of one text, tool result or system block.
pub const MAX_TEXT: usize = 1_000_000;
/// Most characters of one tool result.
pub const MAX_RESULT: usize = 200_000;
/// Most base64 bytes of one picture or document.
pub const MAX_MEDIA: usize = 32 << 20;

/// Whether a request must begin with the bytes of the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PrefixCheck {
    /// It must.
    #[default]
    Strict,
    /// It need not: something known changed the prefix, such as compaction.
    Invalidated,
}

/// Checks a request alone.
///
/// # Errors
/// What a vendor would refuse, one sentence each.
pub fn check(request: &ModelRequest) -> Result<(), Vec<String>> {
    let mut problems = Vec::new();
    sizes(request, &mut problems);
    tools(request, &mut problems);
    let turns = merged(&request.messages);
    if turns.first().is_none_or(|(role, _)| *role != Role::User) {
        problems.push("the first message is not the user's".to_owned());
    }
    if turns.last().is_some_and(|(role, _)| *role != Role::User) {
        problems.push("the last message is not the user's".to_owned());
    }
    pairing(&turns, &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The first text that is larger than any vendor takes: nobody's fault but the text's.
pub(crate) fn too_long(request: &ModelRequest) -> Option<String> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let texts = blocks.filter_map(|block| match block {
        Block::Text { text } => Some(text),
        _ => None,
    });
    // Characters are counted only where there are bytes enough for so many.
    let count = |text: &String| (text.len() > MAX_TEXT).then(|| text.chars().count());
    let count = texts.filter_map(count).find(|count| *count > MAX_TEXT)?;
    Some(format!("a text of {count} characters is longer than the {MAX_TEXT} that a vendor takes"))
}

/// Checks a request, and that it goes on where the previous one of the same conversation
/// ended: system, tools and messages of the previous are a prefix of the new one's.
///
/// # Errors
/// What a vendor would refuse, and where the prefix breaks, one sentence each.
pub fn validate(
    request: &ModelRequest,
    previous: Option<&ModelRequest>,
    prefix: PrefixCheck,
) -> Result<(), Vec<String>> {
    let mut problems = check(request).err().unwrap_or_default();
    if let (Some(previous), PrefixCheck::Strict) = (previous, prefix) {
        problems.extend(prefix_break(previous, request));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Where `next` does not begin as `previous` did; `None` if the cache can be used.
#[must_use]
pub fn prefix_break(previous: &ModelRequest, next: &ModelRequest) -> Option<String> {
    if previous.model != next.model {
        return None;
    }
    let texts = |request: &ModelRequest| -> Vec<String> {
        request.system.iter().map(|block| block.text.clone()).collect()
    };
    if texts(previous) != texts(next) {
        return Some("the system prompt changed".to_owned());
    }
    if previous.tools != next.tools {
        let names = |request: &ModelRequest| -> String {
            request.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        return Some(format!("the tools changed: `{}` to `{}`", names(previous), names(next)));
    }
    let before = flat(&previous.messages);
    let after = flat(&next.messages);
    let broken = before.iter().enumerate().find(|(at, block)| after.get(*at) != Some(*block));
    broken.map(|(at, _)| {
        let show = |blocks: &[(Role, &Block)]| match blocks.get(at) {
            Some((role, block)) => format!("{role:?} {}", brief(block)),
            None => "nothing".to_owned(),
        };
        format!("block {at} of the messages changed: {} to {}", show(&before), show(&after))
    })
}

/// Checks all requests of a run, remembering the previous one of each conversation.
///
/// A conversation is known by session and first words, so that side calls, such as a
/// title, are conversations of their own.
#[derive(Debug, Default)]
pub struct Checker {
    previous: BTreeMap<(String, String), ModelRequest>,
    invalidated: bool,
}

impl Checker {
    /// The next request of each conversation may begin differently.
    pub fn invalidate(&mut self) {
        self.previous.clear();
    }

    /// Stops checking prefixes at all.
    pub fn ignore_prefixes(&mut self) {
        self.invalidated = true;
    }

    /// Checks the next request.
    ///
    /// # Errors
    /// As [`validate`].
    pub fn next(&mut self, request: &ModelRequest) -> Result<(), Vec<String>> {
        let first = flat(&request.messages).first().map(|(_, block)| format!("{block:?}"));
        let key = (request.session_id.clone(), first.unwrap_or_default());
        let prefix = if self.invalidated { PrefixCheck::Invalidated } else { PrefixCheck::Strict };
        let verdict = validate(request, self.previous.get(&key), prefix);
        self.previous.insert(key, request.clone());
        verdict
    }
}

fn sizes(request: &ModelRequest, problems: &mut Vec<String>) {
    for (at, block) in request.system.iter().enumerate() {
        text_size(&block.text, &format!("system block {at}"), problems);
    }
    for (at, message) in request.messages.iter().enumerate() {
        if message.content.is_empty() {
            problems.push(format!("message {at} is empty"));
        }
        for (block_at, block) in message.content.iter().enumerate() {
            block_size(block, &format!("message {at} block {block_at}"), problems);
        }
    }
}

fn text_size(text: &str, place: &str, problems: &mut Vec<String>) {
    if text.trim().is_empty() {
        problems.push(format!("{place} is an empty text"));
    }
    if text.len() > MAX_TEXT && text.chars().count() > MAX_TEXT {
        problems.push(format!("{place} is longer than {MAX_TEXT} characters"));
    }
}

fn block_size(block: &Block, place: &str, problems: &mut Vec<String>) {
    match block {
        Block::Text { text } => text_size(text, place, problems),
        Block::ToolResult { content, .. } => {
            if content.text().chars().count() > MAX_RESULT {
                problems.push(format!("{place} is a result of over {MAX_RESULT} characters"));
            }
            if let ToolResultContent::Blocks(blocks) = content {
                for block in blocks {
                    block_size(block, &format!("{place} content"), problems);
                }
            }
        }
        Block::Image { source } | Block::Document { source } => {
            if let ostler_protocol::MediaSource::Base64 { data, .. } = source
                && (data.is_empty() || data.len() > MAX_MEDIA)
            {
                problems.push(format!("{place} has {} bytes of media", data.len()));
            }
        }
        Block::ToolUse { id, name, input } => {
            if id.is_empty() || name.is_empty() || !input.is_object() {
                problems.push(format!("{place} is a call without id, name or object"));
            }
        }
        Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Other(_) => {}
    }
}

fn tools(request: &ModelRequest, problems: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    for tool in &request.tools {
        let named = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if tool.name.is_empty() || tool.name.len() > 128 || !tool.name.chars().all(named) {
            problems.push(format!("tool name `{}` is not one that vendors take", tool.name));
        }
        if !names.insert(tool.name.as_str()) {
            problems.push(format!("tool `{}` is offered twice", tool.name));
        }
        if !tool.schema.is_object() {
            problems.push(format!("the schema of tool `{}` is not an object", tool.name));
        }
    }
}

/// Every call is answered in the next message of the user, once, and nothing else is.
fn pairing(turns: &[(Role, Vec<&Block>)], problems: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (role, blocks) in turns {
        match role {
            Role::Assistant => {
                open.clear();
                for block in blocks {
                    match block {
                        Block::ToolUse { id, .. } => {
                            if !seen.insert(id.as_str()) {
                                problems.push(format!("call id `{id}` is used twice"));
                            }
                            open.push(id);
                        }
                        Block::ToolResult { tool_use_id, .. } => {
                            problems.push(format!("the model holds the result `{tool_use_id}`"));
                        }
                        _ => {}
                    }
                }
            }
            Role::User => {
                answers(blocks, &mut open, problems);
            }
        }
    }
    unanswered(&open, problems);
}

fn answers<'a>(blocks: &[&'a Block], open: &mut Vec<&'a str>, problems: &mut Vec<String>) {
    for block in blocks {
        match block {
            Block::ToolResult { tool_use_id, .. } => {
                match open.iter().position(|id| id == tool_use_id) {
                    Some(at) => drop(open.remove(at)),
                    None => problems.push(format!("result `{tool_use_id}` answers no open call")),
                }
            }
            Block::ToolUse { id, .. } => problems.push(format!("the user holds the call `{id}`")),
            _ => {}
        }
    }
    unanswered(open, problems);
    open.clear();
}

fn unanswered(open: &[&str], problems: &mut Vec<String>) {
    problems.extend(open.iter().map(|id| format!("call `{id}` has no result right after it")));
}

/// Messages with neighbours of one role joined, as vendors do.
fn merged(messages: &[Message]) -> Vec<(Role, Vec<&Block>)> {
    let mut turns: Vec<(Role, Vec<&Block>)> = Vec::new();
    for message in messages {
        match turns.last_mut() {
            Some((role, blocks)) if *role == message.role => blocks.extend(&message.content),
            _ => turns.push((message.role, message.content.iter().collect())),
        }
    }
    turns
}

fn flat(messages: &[Message]) -> Vec<(Role, &Block)> {
    let blocks = |message: &'_ Message| message.role;
    messages
        .iter()
        .flat_map(|message| message.content.iter().map(move |block| (blocks(message), block)))
        .collect()
}

fn brief(block: &Block) -> String {
    let text = format!("{block:?}");
    text[..ostler_stdx::floor_char_boundary(&text, 120)].to_owned()
}

#[cfg(test)]
mod tests;
