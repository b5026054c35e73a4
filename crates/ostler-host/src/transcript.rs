//! From log entries to the messages that front ends show (ipc.md 2.11, 11.3).

use std::collections::HashMap;

use ostler_protocol::{
    Block, MessageId, Role, ToolCallId, Usage,
    conversation::{MediaSource, ToolResultContent},
    event::NoticeLevel,
    session::{MessagePart, PartTool, SerializedMessage, TranscriptBlock, TranscriptMessage},
};
use ostler_store::{
    ToolFacts,
    record::{AssistantEntry, Entry, EntryBody, UserEntry},
};
use ostler_tool::Registry;
use serde_json::{Map, Value};

use crate::project::cut;

/// The blocks of a message of the person.
pub(crate) fn user_blocks(content: &ToolResultContent) -> Vec<TranscriptBlock> {
    match content {
        ToolResultContent::Text(text) => vec![TranscriptBlock::Text { text: text.clone() }],
        ToolResultContent::Blocks(blocks) => blocks.iter().filter_map(user_block).collect(),
    }
}

fn user_block(block: &Block) -> Option<TranscriptBlock> {
    match block {
        Block::Text { text } => Some(TranscriptBlock::Text { text: text.clone() }),
        Block::Image { source: MediaSource::Base64 { media_type, data } } => {
            Some(TranscriptBlock::Image { media_type: media_type.clone(), data: data.clone() })
        }
        _ => None,
    }
}

/// The transcript: a model's answers and the results of its calls form one message until
/// the person speaks again.
pub(crate) fn messages(
    entries: &[Entry],
    facts: &HashMap<String, ToolFacts>,
    tools: &Registry,
) -> Vec<TranscriptMessage> {
    let mut out: Vec<TranscriptMessage> = Vec::new();
    let mut answer = String::new();
    for entry in entries {
        match &entry.body {
            EntryBody::User(user) if user.answers().is_some() => match out.last_mut() {
                Some(last) if last.role == Role::Assistant => {
                    last.blocks.extend(results(user, facts))
                }
                _ => {}
            },
            EntryBody::User(user) if user.is_meta => {}
            EntryBody::User(user) => out.push(TranscriptMessage {
                id: MessageId(user.uuid.clone()),
                role: Role::User,
                blocks: user_blocks(&user.content),
                at: entry.at_ms,
                interrupted: false,
                model: None,
                usage: None,
            }),
            EntryBody::Assistant(assistant) => {
                push_answer(&mut out, &mut answer, assistant, entry.at_ms, tools);
            }
        }
    }
    out
}

/// Answers are messages of their own, named by their first block, so that deltas of a
/// live answer and a stored one have the same name.
fn push_answer(
    out: &mut Vec<TranscriptMessage>,
    answer: &mut String,
    assistant: &AssistantEntry,
    at: i64,
    tools: &Registry,
) {
    let Some(block) = answer_block(assistant, tools) else { return };
    let usage = assistant.usage.filter(|usage| *usage != Usage::default());
    let goes_on = *answer == assistant.message_id;
    answer.clone_from(&assistant.message_id);
    match out.last_mut() {
        Some(last) if last.role == Role::Assistant && goes_on => {
            last.blocks.push(block);
            last.interrupted |= assistant.interrupted;
        }
        _ => out.push(TranscriptMessage {
            id: MessageId(assistant.uuid.clone()),
            role: Role::Assistant,
            blocks: vec![block],
            at,
            interrupted: assistant.interrupted,
            model: Some(assistant.model.clone()),
            usage,
        }),
    }
}

fn answer_block(assistant: &AssistantEntry, tools: &Registry) -> Option<TranscriptBlock> {
    if assistant.api_error.is_some() {
        let Block::Text { text } = &assistant.block else { return None };
        return Some(TranscriptBlock::Notice { level: NoticeLevel::Warn, content: text.clone() });
    }
    match &assistant.block {
        Block::Text { text } => Some(TranscriptBlock::Text { text: text.clone() }),
        Block::Thinking { thinking, .. } if !thinking.is_empty() => {
            Some(TranscriptBlock::Thinking { thinking: thinking.clone() })
        }
        Block::ToolUse { id, name, input } => {
            let input = object(input);
            let title = tools.get(name).map_or_else(|| name.clone(), |tool| tool.title(&input));
            Some(TranscriptBlock::ToolUse {
                id: ToolCallId(id.clone()),
                name: name.clone(),
                input,
                title,
            })
        }
        _ => None,
    }
}

fn results(user: &UserEntry, facts: &HashMap<String, ToolFacts>) -> Vec<TranscriptBlock> {
    let ToolResultContent::Blocks(blocks) = &user.content else { return Vec::new() };
    blocks
        .iter()
        .filter_map(|block| {
            let Block::ToolResult { tool_use_id, content, is_error } = block else { return None };
            let fact = facts.get(tool_use_id);
            let (content, truncated) = cut(&content.text());
            Some(TranscriptBlock::ToolResult {
                tool_use_id: ToolCallId(tool_use_id.clone()),
                content,
                ok: !is_error.unwrap_or(false),
                ms: fact.and_then(|fact| fact.ms),
                denied_by: fact.and_then(|fact| fact.denied_by.clone()),
                diff: fact.map(|fact| fact.diffs.clone()).filter(|diffs| !diffs.is_empty()),
                truncated,
            })
        })
        .collect()
}

fn object(input: &Value) -> Map<String, Value> {
    input.as_object().cloned().unwrap_or_default()
}

/// The newest `turns` turns, and whether older messages were left out. A turn begins
/// with a message of the person.
pub(crate) fn last_turns(
    mut messages: Vec<TranscriptMessage>,
    turns: usize,
) -> (Vec<TranscriptMessage>, bool) {
    let starts: Vec<_> = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message.role == Role::User)
        .map(|(at, _)| at)
        .collect();
    let from =
        starts.len().checked_sub(turns).and_then(|skip| starts.get(skip).copied()).unwrap_or(0);
    let kept = messages.split_off(from);
    (kept, from > 0)
}

/// The transcript in the shape of the reference.
pub(crate) fn serialized(messages: &[TranscriptMessage]) -> Vec<SerializedMessage> {
    messages
        .iter()
        .map(|message| SerializedMessage {
            id: message.id.clone(),
            role: message.role,
            parts: parts(&message.blocks),
            timestamp: message.at,
            interrupted: message.interrupted,
        })
        .filter(|message| !message.parts.is_empty())
        .collect()
}

fn parts(blocks: &[TranscriptBlock]) -> Vec<MessagePart> {
    let result_of = |id: &ToolCallId| {
        blocks.iter().find_map(|block| match block {
            TranscriptBlock::ToolResult { tool_use_id, content, .. } if tool_use_id == id => {
                Some(content.clone())
            }
            _ => None,
        })
    };
    blocks
        .iter()
        .filter_map(|block| match block {
            TranscriptBlock::Text { text } | TranscriptBlock::Notice { content: text, .. } => {
                Some(MessagePart::Text { content: text.clone() })
            }
            TranscriptBlock::ToolUse { id, name, input, .. } => Some(MessagePart::Tool {
                tool: PartTool { id: id.clone(), name: name.clone(), args: input.clone() },
                result: result_of(id),
            }),
            TranscriptBlock::Image { media_type, data } => {
                Some(MessagePart::Image { data: data.clone(), media_type: media_type.clone() })
            }
            TranscriptBlock::Thinking { .. } | TranscriptBlock::ToolResult { .. } => None,
        })
        .collect()
}
