//! A line that the fast parser did not take, read from a tree: fields of an unexpected
//! type count as absent, unknown blocks are kept as they came.

use ostler_protocol::{Block, conversation::ToolResultContent};
use serde_json::Value;

use super::line::{Content, Line, Message, Text};

/// The line of a JSON object; none if it has no `type`.
pub(super) fn line(mut value: Value) -> Option<Line<'static>> {
    let kind = text(&value, "type")?;
    let message = value.get_mut("message").map(Value::take).and_then(message);
    Some(Line {
        kind: kind.into(),
        uuid: borrowed(&value, "uuid"),
        parent_uuid: borrowed(&value, "parentUuid"),
        is_sidechain: flag(&value, "isSidechain"),
        timestamp: borrowed(&value, "timestamp"),
        cwd: borrowed(&value, "cwd"),
        subtype: borrowed(&value, "subtype"),
        message,
        is_meta: flag(&value, "isMeta"),
        is_compact_summary: flag(&value, "isCompactSummary"),
        request_id: text(&value, "requestId"),
        is_api_error_message: flag(&value, "isApiErrorMessage"),
        error: text(&value, "error"),
        aborted: flag(&value, "aborted"),
        custom_title: text(&value, "customTitle"),
        last_prompt: text(&value, "lastPrompt"),
        tag: text(&value, "tag"),
        permission_mode: text(&value, "permissionMode"),
        tool_use_result: tree(&mut value, "toolUseResult"),
        origin: tree(&mut value, "origin"),
    })
}

fn message(mut value: Value) -> Option<Message<'static>> {
    if !value.is_object() {
        return None;
    }
    let content = match value.get_mut("content").map(Value::take) {
        Some(Value::String(text)) => ToolResultContent::Text(text),
        Some(Value::Array(blocks)) => {
            let block =
                |value: Value| serde_json::from_value(value.clone()).unwrap_or(Block::Other(value));
            ToolResultContent::Blocks(blocks.into_iter().map(block).collect())
        }
        _ => ToolResultContent::Blocks(Vec::new()),
    };
    Some(Message {
        content: Content(content),
        id: borrowed(&value, "id"),
        model: borrowed(&value, "model"),
        stop_reason: text(&value, "stop_reason"),
        usage: value.get_mut("usage").and_then(|v| serde_json::from_value(v.take()).ok()),
    })
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn borrowed(value: &Value, key: &str) -> Option<Text<'static>> {
    text(value, key).map(|text| Text(text.into()))
}

fn flag(value: &Value, key: &str) -> Option<bool> {
    value.get(key).and_then(Value::as_bool)
}

fn tree(value: &mut Value, key: &str) -> Option<Value> {
    value.get_mut(key).map(Value::take).filter(|value| !value.is_null())
}
