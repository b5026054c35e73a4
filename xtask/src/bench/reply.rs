//! Answers of a model on the Messages wire, written in advance: no time of a model is in what is
//! measured.

use serde_json::{Value, json};

/// So many equal words, one delta each.
pub(super) fn words(count: usize) -> Vec<u8> {
    let delta = json!({"type": "text_delta", "text": WORD});
    answer(&json!({"type": "text", "text": ""}), &delta, count, "end_turn")
}

/// The word of [`words`].
pub(super) const WORD: &str = "word ";

/// One call of a tool.
pub(super) fn call(number: usize, tool: &str, input: &Value) -> Vec<u8> {
    let id = format!("toolu_{number:06}");
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
    answer(&block, &delta, 1, "tool_use")
}

fn answer(block: &Value, delta: &Value, deltas: usize, stop: &str) -> Vec<u8> {
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let message = json!({
        "id": "msg_bench", "type": "message", "role": "assistant", "model": "bench", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let mut text = event(&json!({"type": "message_start", "message": message}));
    text += &event(&json!({"type": "content_block_start", "index": 0, "content_block": block}));
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": delta});
    text += &event(&delta).repeat(deltas);
    text += &event(&json!({"type": "content_block_stop", "index": 0}));
    let end = json!({"stop_reason": stop, "stop_sequence": null});
    let usage = json!({"output_tokens": deltas});
    text += &event(&json!({"type": "message_delta", "delta": end, "usage": usage}));
    text += &event(&json!({"type": "message_stop"}));
    let length = text.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n"
    );
    (head + &text).into_bytes()
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_says_how_long_it_is() {
        let text = String::from_utf8(words(3)).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("content-length: {}", body.len())), "{head}");
        assert_eq!(body.matches("\"text_delta\"").count(), 3);
    }

    #[test]
    fn calls_end_with_words() {
        let input = json!({"file_path": "/a"});
        let answers = [call(0, "Read", &input), call(1, "Read", &input), words(1)];
        assert_eq!(answers.len(), 3);
        assert!(String::from_utf8_lossy(&answers[1]).contains("toolu_000001"));
        assert!(String::from_utf8_lossy(&answers[2]).contains("end_turn"));
    }
}
