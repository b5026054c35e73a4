//! A request becomes JSON of the Messages wire, the same bytes for the same request.

use ostler_protocol::{Block, Message, Role, ToolResultContent};
use serde_json::{Map, Value, json};

use crate::{Effort, ModelInfo, ModelRequest, Thinking};

use super::DEFAULT_MAX_TOKENS;

/// The body of `POST /v1/messages`, streamed.
///
/// Cache breakpoints stand on the last stable system block, the last tool, the message
/// before the last answer (where the last request wrote) and the last message.
#[must_use]
pub fn lower(request: &ModelRequest, info: &ModelInfo) -> Value {
    let mut body = Map::new();
    let max_tokens = max_tokens(request, info);
    body.insert("model".to_owned(), json!(request.model));
    body.insert("max_tokens".to_owned(), json!(max_tokens));
    if !request.system.is_empty() {
        body.insert("system".to_owned(), system(request));
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), tools(request));
    }
    body.insert("messages".to_owned(), messages(&request.messages));
    if let Some(thinking) = thinking(request.thinking, max_tokens) {
        body.insert("thinking".to_owned(), thinking);
    }
    if let Some(effort) = request.effort {
        body.insert("output_config".to_owned(), json!({ "effort": effort_name(effort) }));
    }
    if !request.session_id.is_empty() {
        body.insert("metadata".to_owned(), json!({ "user_id": request.session_id }));
    }
    body.insert("stream".to_owned(), json!(true));
    Value::Object(body)
}

fn max_tokens(request: &ModelRequest, info: &ModelInfo) -> u64 {
    let wanted = request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    info.max_output.map_or(wanted, |most| wanted.min(most)).max(1)
}

fn thinking(thinking: Thinking, max_tokens: u64) -> Option<Value> {
    match thinking {
        Thinking::Default => None,
        Thinking::Disabled => Some(json!({ "type": "disabled" })),
        Thinking::Adaptive => Some(json!({ "type": "adaptive" })),
        // The vendor takes 1,024 and more, and less than the whole answer.
        Thinking::Budget(_) if max_tokens <= 1024 => None,
        Thinking::Budget(tokens) => {
            let tokens = tokens.clamp(1024, max_tokens - 1);
            Some(json!({ "type": "enabled", "budget_tokens": tokens }))
        }
    }
}

fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::XHigh => "xhigh",
        Effort::Max => "max",
    }
}

fn system(request: &ModelRequest) -> Value {
    let last = request.system.iter().rposition(|block| block.cache);
    let blocks = request.system.iter().enumerate().map(|(at, block)| {
        let mut value = json!({ "type": "text", "text": block.text });
        if Some(at) == last {
            anchor(&mut value);
        }
        value
    });
    blocks.collect()
}

fn tools(request: &ModelRequest) -> Value {
    let tools = request.tools.iter().map(|tool| {
        json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema })
    });
    let mut tools: Vec<Value> = tools.collect();
    if let Some(last) = tools.last_mut() {
        anchor(last);
    }
    Value::Array(tools)
}

fn anchor(value: &mut Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
    }
}

fn messages(messages: &[Message]) -> Value {
    let mut turns: Vec<(Role, Vec<Value>)> = Vec::new();
    for message in messages {
        let blocks = message.content.iter().filter_map(block).collect::<Vec<_>>();
        match turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some((role, content)) if *role == message.role => content.extend(blocks),
            _ => turns.push((message.role, blocks)),
        }
    }
    let last_answer = turns.iter().rposition(|(role, _)| *role == Role::Assistant);
    let read = last_answer.and_then(|at| at.checked_sub(1));
    let write = turns.len().checked_sub(1);
    let anchors = [read, write].into_iter().flatten();
    for at in anchors {
        if let Some(last) = turns[at].1.last_mut() {
            anchor(last);
        }
    }
    let turns =
        turns.into_iter().map(|(role, content)| json!({ "role": role, "content": content }));
    turns.collect()
}

/// A block as the vendor takes it; empty words and unsigned reasoning it refuses.
fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Text { text } => {
            (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
        }
        Block::Thinking { thinking, signature } => (!signature.is_empty())
            .then(|| json!({ "type": "thinking", "thinking": thinking, "signature": signature })),
        Block::RedactedThinking { data } => {
            Some(json!({ "type": "redacted_thinking", "data": data }))
        }
        Block::ToolUse { id, name, input } => {
            let input = if input.is_object() { input.clone() } else { json!({ "raw": input }) };
            Some(json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
        }
        Block::ToolResult { tool_use_id, content, is_error } => {
            Some(tool_result(tool_use_id, content, *is_error))
        }
        Block::Image { source } => Some(json!({ "type": "image", "source": source })),
        Block::Document { source } => Some(json!({ "type": "document", "source": source })),
        Block::Other(value) => Some(value.clone()),
    }
}

fn tool_result(id: &str, content: &ToolResultContent, is_error: Option<bool>) -> Value {
    let content = match content {
        ToolResultContent::Text(text) => json!(text),
        ToolResultContent::Blocks(blocks) => blocks.iter().filter_map(block).collect(),
    };
    let mut value = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
    if is_error == Some(true)
        && let Some(fields) = value.as_object_mut()
    {
        fields.insert("is_error".to_owned(), json!(true));
    }
    value
}
