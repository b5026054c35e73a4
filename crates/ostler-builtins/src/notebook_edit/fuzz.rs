//! One change of a notebook from arbitrary bytes, for the fuzzer and the property tests.

use serde_json::Value;

use super::change::{Change, Kind, Mode, apply};

/// Cuts `data` into a notebook and a change, applies it, and checks that the result is JSON
/// in which no other cell changed. Panics if not.
///
/// The first three bytes choose mode, kind and cell; the rest is the file.
pub fn fuzz_notebook(data: &[u8]) {
    let Some((choice, rest)) = data.split_first_chunk::<3>() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let mode = [Mode::Replace, Mode::Insert, Mode::Delete][usize::from(choice[0]) % 3];
    let kinds = [None, Some(Kind::Code), Some(Kind::Markdown), Some(Kind::Raw)];
    let kind = kinds[usize::from(choice[1]) % 4];
    let number = usize::from(choice[2]);
    let (id, source) = (format!("cell-{number}"), "new \u{e9}\nline \"q\"");
    let Ok(changed) = apply(text, Change { mode, cell: Some(&id), source, kind }) else { return };
    let before: Value = serde_json::from_str(text).unwrap_or_default();
    let after: Value = serde_json::from_str(&changed.text).unwrap_or_default();
    let cells = |notebook: &Value| notebook["cells"].as_array().cloned().unwrap_or_default();
    let (mut before, mut after) = (cells(&before), cells(&after));
    let of_id = before.iter().position(|cell| cell["id"] == id.as_str());
    let at = of_id.unwrap_or(number);
    match mode {
        Mode::Replace => {
            assert!(after[at]["source"].is_array() || after[at]["source"].is_string());
            before.remove(at);
            after.remove(at);
        }
        Mode::Insert => drop(after.remove(at + 1)),
        Mode::Delete => drop(before.remove(at)),
    }
    assert!(before == after, "another cell changed");
}
