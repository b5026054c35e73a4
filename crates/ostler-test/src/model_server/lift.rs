//! From a vendor's request back to the neutral one, to check it. The inverse of what the
//! providers do, written apart from them on purpose.

use ostler_protocol::{Block, MediaSource, Message, Role, ToolResultContent};
use ostler_provider::{ModelRequest, SystemBlock, ToolSpec};
use serde_json::{Value, json};

use super::Wire;

/// What `body` asks.
pub(super) fn request(wire: Wire, body: &Value) -> Result<ModelRequest, String> {
    if !body.is_object() {
        return Err("the body is not a JSON object".to_owned());
    }
    match wire {
        Wire::Messages => messages(body),
        Wire::Chat => chat(body),
    }
}

fn messages(body: &Value) -> Result<ModelRequest, String> {
    if body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        return Err("`max_tokens` is missing".to_owned());
    }
    breakpoints(body)?;
    let system = match &body["system"] {
        Value::String(text) => vec![SystemBlock { text: text.clone(), cache: false }],
        Value::Array(blocks) => blocks.iter().map(system_block).collect(),
        _ => Vec::new(),
    };
    let tools = list(&body["tools"]).iter().map(|tool| ToolSpec {
        name: text(&tool["name"]),
        description: text(&tool["description"]),
        schema: tool["input_schema"].clone(),
    });
    let mut all = Vec::new();
    for message in list(&body["messages"]) {
        let role = match message["role"].as_str() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            // Some agents put system words between the messages.
            Some("system") => continue,
            _ => return Err(format!("role `{}` is none", message["role"])),
        };
        all.push(Message { role, content: blocks(&message["content"])? });
    }
    Ok(ModelRequest {
        model: text(&body["model"]),
        system,
        tools: tools.collect(),
        messages: all,
        max_output_tokens: body["max_tokens"].as_u64(),
        session_id: text(&body["metadata"]["user_id"]),
        ..ModelRequest::default()
    })
}

/// The vendor takes four cache breakpoints at most.
fn breakpoints(body: &Value) -> Result<(), String> {
    let count = count_breakpoints(body);
    if count > 4 {
        return Err(format!("{count} cache breakpoints are more than 4"));
    }
    Ok(())
}

fn count_breakpoints(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(count_breakpoints).sum(),
        Value::Object(fields) => {
            let own = usize::from(fields.contains_key("cache_control"));
            own + fields.values().map(count_breakpoints).sum::<usize>()
        }
        _ => 0,
    }
}

fn system_block(block: &Value) -> SystemBlock {
    SystemBlock { text: text(&block["text"]), cache: block.get("cache_control").is_some() }
}

fn blocks(content: &Value) -> Result<Vec<Block>, String> {
    match content {
        Value::String(words) => Ok(vec![Block::text(words)]),
        Value::Array(items) => items.iter().map(block).collect(),
        _ => Err("a message has no content".to_owned()),
    }
}

fn block(item: &Value) -> Result<Block, String> {
    let mut item = item.clone();
    strip(&mut item);
    if item["type"] == json!("thinking") && text(&item["signature"]).is_empty() {
        return Err("a thinking block has no signature".to_owned());
    }
    serde_json::from_value(item).map_err(|error| format!("a block is wrong: {error}"))
}

/// Cache hints move from request to request and are no part of what is said.
fn strip(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            if let Some(content) = fields.get_mut("content") {
                strip(content);
            }
        }
        _ => {}
    }
}

fn chat(body: &Value) -> Result<ModelRequest, String> {
    let mut system = Vec::new();
    let mut all: Vec<Message> = Vec::new();
    for message in list(&body["messages"]) {
        match message["role"].as_str() {
            Some("system" | "developer") => {
                system.push(SystemBlock { text: chat_text(&message["content"]), cache: false });
            }
            Some("user") => all.push(Message::user(chat_parts(&message["content"])?)),
            Some("assistant") => all.push(Message::assistant(chat_answer(message)?)),
            Some("tool") => {
                let id = text(&message["tool_call_id"]);
                let content = ToolResultContent::Text(chat_text(&message["content"]));
                let result = Block::ToolResult { tool_use_id: id, content, is_error: None };
                all.push(Message::user(vec![result]));
            }
            _ => return Err(format!("role `{}` is none", message["role"])),
        }
    }
    let tools = list(&body["tools"]).iter().map(|tool| ToolSpec {
        name: text(&tool["function"]["name"]),
        description: text(&tool["function"]["description"]),
        schema: tool["function"]["parameters"].clone(),
    });
    Ok(ModelRequest {
        model: text(&body["model"]),
        system,
        tools: tools.collect(),
        messages: all,
        session_id: text(&body["prompt_cache_key"]),
        ..ModelRequest::default()
    })
}

fn chat_answer(message: &Value) -> Result<Vec<Block>, String> {
    let mut content = Vec::new();
    let words = chat_text(&message["content"]);
    if !words.is_empty() {
        content.push(Block::text(words));
    }
    for call in list(&message["tool_calls"]) {
        let arguments = text(&call["function"]["arguments"]);
        let input = serde_json::from_str(&arguments)
            .map_err(|_| format!("arguments `{arguments}` are not JSON"))?;
        let (id, name) = (text(&call["id"]), text(&call["function"]["name"]));
        content.push(Block::ToolUse { id, name, input });
    }
    Ok(content)
}

fn chat_parts(content: &Value) -> Result<Vec<Block>, String> {
    let Value::Array(parts) = content else {
        return Ok(vec![Block::text(chat_text(content))]);
    };
    parts.iter().map(chat_part).collect()
}

fn chat_part(part: &Value) -> Result<Block, String> {
    match part["type"].as_str() {
        Some("text") => Ok(Block::text(text(&part["text"]))),
        Some("image_url") => {
            let url = text(&part["image_url"]["url"]);
            let source = match url.strip_prefix("data:").and_then(|it| it.split_once(";base64,")) {
                Some((media_type, data)) => {
                    MediaSource::Base64 { media_type: media_type.to_owned(), data: data.to_owned() }
                }
                None => MediaSource::Url { url },
            };
            Ok(Block::Image { source })
        }
        _ => Err(format!("part `{}` is none", part["type"])),
    }
}

fn chat_text(content: &Value) -> String {
    match content {
        Value::String(words) => words.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
