//! The official Agent SDKs drive the program in place of `claude`.

use std::collections::HashMap;

use serde_json::Value;

/// The trace of frames of the Agent SDK's protocol.
pub(super) fn trace_of_frames(frames: &[Value]) -> Vec<String> {
    let mut tools = HashMap::new();
    let mut trace = Vec::new();
    for frame in frames {
        match frame["type"].as_str() {
            Some("assistant") => {
                for block in frame["message"]["content"].as_array().unwrap() {
                    match block["type"].as_str() {
                        Some("text") => {
                            trace.push(format!("text {}", block["text"].as_str().unwrap()))
                        }
                        Some("thinking") => {
                            trace.push(format!("thinking {}", block["thinking"].as_str().unwrap()))
                        }
                        Some("tool_use") => {
                            tools.insert(
                                block["id"].as_str().unwrap(),
                                block["name"].as_str().unwrap(),
                            );
                        }
                        _ => {}
                    }
                }
            }
            Some("user") => {
                for block in frame["message"]["content"].as_array().into_iter().flatten() {
                    if let Some(id) = block["tool_use_id"].as_str() {
                        let ok = block["is_error"] != true;
                        trace.push(format!("result {} {ok}", tools[id]));
                    }
                }
            }
            Some("result") => trace.push("end".to_owned()),
            _ => {}
        }
    }
    trace
}
