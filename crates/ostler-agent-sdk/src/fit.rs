//! Keeps every line below the size that a host takes.
//!
//! The Python host ends when one line has more than 1,048,576 characters (agent-sdk.md
//! 2.1). Only what is shown is cut: log and model keep the whole. A request whose answer
//! goes back into a call must never pass through here.

use ostler_stdx::bound_middle;
use serde_json::{Value, json};

/// Most bytes of a line.
pub(crate) const MAX_LINE: usize = 1_000_000;

/// Most bytes of one delta of a stream event.
pub(crate) const MAX_DELTA: usize = 200_000;

/// Caps for texts, tried in order until the line fits.
const TEXT_CAPS: [usize; 5] = [300_000, 60_000, 10_000, 2_000, 200];

/// Most elements of a list once even short texts do not fit.
const LIST_CAP: usize = 200;

/// The frame as a line. What is too large loses inline pictures first, then the middle of
/// its longest texts, then the ends of long lists.
pub(crate) fn line(mut frame: Value) -> String {
    let text = frame.to_string();
    if text.len() <= MAX_LINE {
        return text;
    }
    drop(text);
    drop_pictures(&mut frame);
    for cap in TEXT_CAPS {
        let text = frame.to_string();
        if text.len() <= MAX_LINE {
            return text;
        }
        cut_texts(&mut frame, cap);
    }
    cut_lists(&mut frame);
    frame.to_string()
}

/// A block with bytes inside becomes one that says how many there were.
fn drop_pictures(value: &mut Value) {
    if let Some(bytes) = inline_bytes(value) {
        let text = format!("[{bytes} bytes of base64 left out of this frame]");
        *value = json!({"type": "text", "text": text});
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_pictures),
        Value::Object(fields) => fields.values_mut().for_each(drop_pictures),
        _ => {}
    }
}

fn inline_bytes(value: &Value) -> Option<usize> {
    let source = value.get("source")?;
    let is_inline = source.get("type")?.as_str()? == "base64";
    source.get("data")?.as_str().filter(|_| is_inline).map(str::len)
}

fn cut_texts(value: &mut Value, cap: usize) {
    match value {
        Value::String(text) if text.len() > cap => {
            *text = bound_middle(text, cap * 2 / 3, cap / 3, "").text;
        }
        Value::Array(items) => items.iter_mut().for_each(|item| cut_texts(item, cap)),
        Value::Object(fields) => fields.values_mut().for_each(|field| cut_texts(field, cap)),
        _ => {}
    }
}

fn cut_lists(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.truncate(LIST_CAP);
            items.iter_mut().for_each(cut_lists);
        }
        Value::Object(fields) => fields.values_mut().for_each(cut_lists),
        _ => {}
    }
}

/// A text in pieces that fit into a frame each, characters whole.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = ostler_stdx::floor_char_boundary(rest, MAX_DELTA);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_left_alone_and_what_does_not_is_cut_where_it_is_long() {
        let small = json!({"type": "user", "a": "x".repeat(1000)});
        assert_eq!(line(small.clone()), small.to_string());
        let large = json!({"type": "user", "uuid": "u", "a": "\u{1}".repeat(400_000), "b": "é".repeat(900_000)});
        let text = line(large);
        assert!(text.len() <= MAX_LINE, "{}", text.len());
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["uuid"], "u");
        assert!(back["b"].as_str().unwrap().contains("bytes left out"));
    }

    #[test]
    fn pictures_go_before_words() {
        let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(2_000_000)}});
        let text =
            line(json!({"content": [picture, {"type": "text", "text": "w".repeat(400_000)}]}));
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["content"][0]["text"], "[2000000 bytes of base64 left out of this frame]");
        assert_eq!(back["content"][1]["text"].as_str().unwrap().len(), 400_000);
    }

    #[test]
    fn a_list_of_a_million_is_cut_too() {
        let text = line(json!({"list": vec![1234; 1_000_000]}));
        assert!(text.len() <= MAX_LINE);
    }

    #[test]
    fn pieces_are_the_whole() {
        let text = "é".repeat(MAX_DELTA);
        assert!(pieces(&text).all(|piece| piece.len() <= MAX_DELTA));
        assert_eq!(pieces(&text).collect::<String>(), text);
    }
}
