//! Output over a store in memory.

use std::{
    collections::HashMap,
    io::{self, Write},
    sync::{Arc, Mutex},
};

use ostler_tool::{OutputPage, OutputQuery, OutputStore, OutputWriter, Outputs};
use serde_json::json;

use crate::tests::bench::{Bench, text};

/// Keeps outputs in memory; its pages hold whole lines up to the limits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<HashMap<String, Vec<u8>>>>);

#[derive(Debug)]
struct Writing(Memory, String, Vec<u8>);

impl OutputStore for Memory {
    fn begin(&self, call_id: &str) -> io::Result<Box<dyn OutputWriter>> {
        Ok(Box::new(Writing(self.clone(), call_id.to_owned(), Vec::new())))
    }

    fn page(&self, call_id: &str, query: &OutputQuery) -> io::Result<Option<OutputPage>> {
        if query.pattern.as_deref() == Some("(") {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "unclosed group"));
        }
        let kept = self.0.lock().unwrap();
        let Some(bytes) = kept.get(call_id) else { return Ok(None) };
        let whole = String::from_utf8_lossy(bytes).into_owned();
        let mut page = OutputPage {
            total_lines: whole.lines().count() as u64,
            total_bytes: whole.len() as u64,
            ..OutputPage::default()
        };
        let mut room = query.max_bytes;
        for (number, line) in (1..).zip(whole.lines()) {
            let matches = query.pattern.as_ref().is_none_or(|pattern| line.contains(pattern));
            if number < query.offset || !matches {
                continue;
            }
            if page.lines.len() as u64 == query.limit || line.len() > room {
                page.next = Some(number);
                break;
            }
            room -= line.len();
            page.lines.push((number, line.to_owned()));
        }
        Ok(Some(page))
    }
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.2.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OutputWriter for Writing {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.0.lock().unwrap().insert(self.1, self.2);
        Ok(())
    }
}

/// Outputs of which one is kept already.
pub(crate) fn outputs(id: &str, output: &[u8]) -> Outputs {
    let outputs = Outputs::new(Arc::new(Memory::default()));
    assert!(outputs.keep(id, output));
    outputs
}

#[tokio::test]
async fn a_kept_output_is_read_in_pages_and_searched() {
    let mut bench = Bench::new();
    let lines: Vec<_> = (1..=10).map(|at| format!("line \u{1b}[1m{at}")).collect();
    bench.cx.outputs = outputs("call_1", lines.join("\n").as_bytes());
    let output =
        bench.call("Output", json!({ "id": "call_1", "offset": 2, "limit": "2" })).await.unwrap();
    let shown = "     2\tline 2\n     3\tline 3\n[10 lines, 110 bytes in all: call again with offset 4 for more]";
    assert_eq!(text(&output), shown);
    assert_eq!(output.structured["next"], 4);
    let found = bench.text("Output", json!({ "id": "call_1", "pattern": "1" })).await;
    assert!(found.starts_with("     1\tline 1\n     2\t"), "{found}");
    let none = bench.text("Output", json!({ "id": "call_1", "pattern": "x" })).await;
    assert_eq!(none, "no line from 1 on matches; there are 10 lines");
    let none = bench.text("Output", json!({ "id": "call_1", "offset": 11 })).await;
    assert_eq!(none, "there is no line 11: the output has 10 lines");
    let said = bench.refused("Output", json!({ "id": "call_1", "pattern": "(" })).await;
    assert!(said.contains("not a regular expression"), "{said}");
    let said = bench.refused("Output", json!({ "id": "call_2" })).await;
    assert!(said.contains("run the tool again"), "{said}");
    let said = Bench::new().refused("Output", json!({ "id": "call_1" })).await;
    assert!(said.contains("no outputs are kept"), "{said}");
}
