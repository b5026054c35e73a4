//! A request becomes JSON of the Chat Completions wire, the same bytes for the same
//! request.

use ostler_protocol::{Block, MediaSource, Message, Role, ToolResultContent};
use serde_json::{Map, Value, json};

use crate::{Effort, ModelRequest};

/// What differs between servers of this wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Everyone else.
    #[default]
    Compatible,
    /// `api.openai.com` itself: it names the cap on the answer differently and routes its
    /// cache by session.
    OpenAi,
    /// `api.deepseek.com`: it wants the reasoning before a tool call back.
    DeepSeek,
}

impl Dialect {
    /// The dialect of a base URL.
    #[must_use]
    pub fn of(base_url: &str) -> Self {
        let host = base_url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
        match host {
            Some("api.openai.com") => Self::OpenAi,
            Some("api.deepseek.com") => Self::DeepSeek,
            _ => Self::Compatible,
        }
    }
}

/// The body of `POST /chat/completions`, streamed.
#[must_use]
pub fn lower(request: &ModelRequest, dialect: Dialect) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("messages".to_owned(), messages(request, dialect));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    if let Some(tokens) = request.max_output_tokens {
        let name = match dialect {
            Dialect::Compatible | Dialect::DeepSeek => "max_tokens",
            Dialect::OpenAi => "max_completion_tokens",
        };
        body.insert(name.to_owned(), json!(tokens));
    }
    if let Some(effort) = request.effort {
        body.insert("reasoning_effort".to_owned(), json!(effort_name(effort)));
    }
    if dialect == Dialect::OpenAi && !request.session_id.is_empty() {
        body.insert("prompt_cache_key".to_owned(), json!(request.session_id));
    }
    body.insert("stream".to_owned(), json!(true));
    body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    Value::Object(body)
}

fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        // This wire knows nothing above.
        Effort::XHigh | Effort::Max => "xhigh",
    }
}

fn tool(tool: &crate::ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.schema,
        },
    })
}

fn messages(request: &ModelRequest, dialect: Dialect) -> Value {
    let mut out = Vec::new();
    let system = request.system.iter().map(|block| block.text.as_str()).collect::<Vec<_>>();
    if !system.is_empty() {
        out.push(json!({ "role": "system", "content": system.join("\n\n") }));
    }
    let mut rest = request.messages.as_slice();
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|message| message.role == first.role).count();
        let (turn, tail) = rest.split_at(run);
        match first.role {
            Role::User => user(turn, &mut out),
            Role::Assistant => out.extend(assistant(turn, dialect)),
        }
        rest = tail;
    }
    Value::Array(out)
}

/// Results come first, as this wire wants them right after the calls; pictures in them
/// follow with the person's words, since a result holds text alone.
fn user(turn: &[Message], out: &mut Vec<Value>) {
    let mut parts = Vec::new();
    for block in turn.iter().flat_map(|message| &message.content) {
        match block {
            Block::ToolResult { tool_use_id, content, .. } => {
                let mut text = content.text();
                if let ToolResultContent::Blocks(blocks) = content {
                    let before = parts.len();
                    parts.extend(blocks.iter().filter_map(picture));
                    if text.is_empty() && parts.len() > before {
                        "the picture follows".clone_into(&mut text);
                    }
                }
                out.push(json!({ "role": "tool", "tool_call_id": tool_use_id, "content": text }));
            }
            Block::Text { text } if !text.trim().is_empty() => {
                parts.push(json!({ "type": "text", "text": text }));
            }
            other => parts.extend(picture(other)),
        }
    }
    let only_text = parts.iter().all(|part| part["type"] == json!("text"));
    if only_text {
        let texts = parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>();
        if !texts.is_empty() {
            out.push(json!({ "role": "user", "content": texts.join("\n\n") }));
        }
    } else {
        out.push(json!({ "role": "user", "content": parts }));
    }
}

fn picture(block: &Block) -> Option<Value> {
    let part = |url: &str| json!({ "type": "image_url", "image_url": { "url": url } });
    match block {
        Block::Image { source: MediaSource::Url { url } } => Some(part(url)),
        Block::Image { source: MediaSource::Base64 { media_type, data } } => {
            Some(part(&format!("data:{media_type};base64,{data}")))
        }
        Block::Document { source: MediaSource::Base64 { media_type, data } } => {
            let data = format!("data:{media_type};base64,{data}");
            let file = json!({ "filename": "document.pdf", "file_data": data });
            Some(json!({ "type": "file", "file": file }))
        }
        _ => None,
    }
}

fn assistant(turn: &[Message], dialect: Dialect) -> Option<Value> {
    let mut texts = Vec::new();
    let mut reasoning = String::new();
    let mut calls = Vec::new();
    for block in turn.iter().flat_map(|message| &message.content) {
        match block {
            Block::Text { text } if !text.trim().is_empty() => texts.push(text.as_str()),
            Block::ToolUse { id, name, input } => {
                let input = if input.is_object() { input } else { &json!({ "raw": input }) };
                let function = json!({ "name": name, "arguments": input.to_string() });
                calls.push(json!({ "id": id, "type": "function", "function": function }));
            }
            Block::Thinking { thinking, .. } => reasoning.push_str(thinking),
            _ => {}
        }
    }
    if texts.is_empty() && calls.is_empty() {
        return None;
    }
    let content = if texts.is_empty() { Value::Null } else { json!(texts.join("\n\n")) };
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty()
        && let Some(fields) = message.as_object_mut()
    {
        if dialect == Dialect::DeepSeek && !reasoning.is_empty() {
            fields.insert("reasoning_content".to_owned(), json!(reasoning));
        }
        fields.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Some(message)
}
