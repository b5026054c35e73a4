//! What NotebookEdit promises, held on examples.

use proptest::prelude::*;
use serde_json::json;

use super::change::{Change, Kind, Mode, apply};
use crate::tests::bench::Bench;

const NOTEBOOK: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"m1\",\n   \"metadata\": {\"own\":  1},\n   \"source\": [\n    \"# caf\u{e9}\"\n   ]\n  },\n  {\n   \"zz_unknown\": [1,  2],\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"id\": \"c1\",\n   \"metadata\": {},\n   \"outputs\": [\n    {\"output_type\": \"stream\", \"text\": \"hi\"}\n   ],\n   \"source\": [\n    \"a = 1\\n\",\n    \"b = 2\"\n   ]\n  }\n ],\n \"metadata\": {\"kernelspec\": {\"language\": \"julia\"}},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}";

fn changed(text: &str, mode: Mode, cell: Option<&str>, source: &str, kind: Option<Kind>) -> String {
    apply(text, Change { mode, cell, source, kind }).unwrap().text
}

#[test]
fn only_the_cell_differs() {
    let after = changed(NOTEBOOK, Mode::Replace, Some("c1"), "x = \"\u{e9}\"\ny", None);
    let expected = NOTEBOOK
        .replace("\"execution_count\": 3", "\"execution_count\": null")
        .replace("[\n    {\"output_type\": \"stream\", \"text\": \"hi\"}\n   ]", "[]")
        .replace("\"a = 1\\n\",\n    \"b = 2\"", "\"x = \\\"\u{e9}\\\"\\n\",\n    \"y\"");
    assert_eq!(after, expected);
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let after = changed(&crlf(NOTEBOOK), Mode::Replace, Some("cell-1"), "x = \"\u{e9}\"\ny", None);
    assert_eq!(after, crlf(&expected));
}

#[test]
fn inserted_cells_look_like_the_others_and_delete_undoes_them() {
    for text in [
        NOTEBOOK.to_owned(),
        NOTEBOOK.replace('\n', "\r\n"),
        NOTEBOOK.replace('\n', "\n\t"),
        r#"{"cells": [{"cell_type": "raw", "id": "m1", "metadata": {}, "source": "x"}], "nbformat": 4, "nbformat_minor": 5}"#.to_owned(),
        "{\n  \"cells\": [],\n  \"nbformat\": 4,\n  \"nbformat_minor\": 5\n}\n".to_owned(),
    ] {
        for cell in [None, Some("m1")] {
            let change = Change { mode: Mode::Insert, cell, source: "1\n2", kind: None };
            let Ok(inserted) = apply(&text, change) else {
                assert!(text.contains("\"cells\": []"));
                continue;
            };
            let value: serde_json::Value = serde_json::from_str(&inserted.text).unwrap();
            let at = usize::from(cell.is_some());
            assert_eq!(value["cells"][at]["source"], json!(["1\n", "2"]));
            assert_eq!(value["cells"][at]["id"], inserted.cell.as_str());
            let back = changed(&inserted.text, Mode::Delete, Some(&inserted.cell), "", None);
            assert_eq!(back, text);
        }
    }
    let after = changed(NOTEBOOK, Mode::Insert, Some("m1"), "x", Some(Kind::Markdown));
    assert!(after.contains("  },\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \""), "{after}");
    assert!(
        after.contains(
            "   \"metadata\": {},\n   \"source\": [\n    \"x\"\n   ]\n  },\n  {\n   \"zz"
        ),
        "{after}"
    );
}

#[test]
fn ids_come_with_nbformat_4_5() {
    let old = NOTEBOOK.replace("\"nbformat_minor\": 5", "\"nbformat_minor\": 4");
    let after = changed(&old, Mode::Insert, None, "x", None);
    assert_eq!(after.matches("\"id\"").count(), 2);
    assert_eq!(changed(NOTEBOOK, Mode::Insert, None, "x", None).matches("\"id\"").count(), 3);
}

#[test]
fn a_cell_changes_its_type() {
    let after = changed(NOTEBOOK, Mode::Replace, Some("c1"), "text", Some(Kind::Markdown));
    let value: serde_json::Value = serde_json::from_str(&after).unwrap();
    let keys: Vec<_> = value["cells"][1].as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["zz_unknown", "cell_type", "id", "metadata", "source"]);
    let after = changed(NOTEBOOK, Mode::Replace, Some("m1"), "1", Some(Kind::Code));
    let value: serde_json::Value = serde_json::from_str(&after).unwrap();
    assert_eq!(value["cells"][0]["outputs"], json!([]));
    assert_eq!(value["cells"][0]["cell_type"], "code");
}

#[test]
fn damage_and_wrong_ids_are_refused() {
    let refused = |text: &str, cell: Option<&str>| {
        apply(text, Change { mode: Mode::Replace, cell, source: "x", kind: None }).unwrap_err()
    };
    assert!(refused("{\"cells\": [", Some("a")).contains("damaged"));
    assert!(refused("{\"cells\": [], \"nbformat\": 3}", Some("a")).contains("nbformat 4"));
    assert!(refused("{\"cells\": 1, \"nbformat\": 4}", Some("a")).contains("list of cells"));
    assert!(refused("{\"cells\": [{}], \"nbformat\": 4}", Some("a")).contains("cell 0 is damaged"));
    assert!(refused(NOTEBOOK, Some("nope")).contains("no cell `nope`"));
    assert!(refused(NOTEBOOK, Some("cell-2")).contains("no cell `cell-2`"));
    assert!(refused(NOTEBOOK, None).contains("cell_id is missing"));
    assert!(refused(&NOTEBOOK.replace("c1", "m1"), Some("m1")).contains("two cells"));
}

#[tokio::test]
async fn the_tool_writes_and_tells() {
    let bench = Bench::new();
    bench.file("a.ipynb", NOTEBOOK);
    let args = json!({"notebook_path": "a.ipynb", "cell_id": "c1", "new_source": "z"});
    assert!(bench.refused("NotebookEdit", args.clone()).await.contains("not been read"));
    bench.text("Read", json!({"file_path": "a.ipynb"})).await;
    let output = bench.call("NotebookEdit", args.clone()).await.unwrap();
    assert_eq!(output.structured["language"], "julia");
    assert_eq!(output.structured["original_file"], NOTEBOOK);
    assert_eq!(output.structured["cell_type"], "code");
    assert_eq!(output.diffs.len(), 1);
    let after = String::from_utf8(bench.bytes("a.ipynb")).unwrap();
    assert_eq!(output.structured["updated_file"], after.as_str());
    assert!(bench.text("NotebookEdit", args).await.contains("so already"));
}

proptest! {
    #[test]
    fn any_bytes_are_changed_or_refused(choice: [u8; 3], cut in 0usize..NOTEBOOK.len(), put in "[\\[\\]{},:\"a0 \\\\]{0,3}") {
        let cut = (0..=cut).rev().find(|&at| NOTEBOOK.is_char_boundary(at)).unwrap();
        let text = format!("{}{put}{}", &NOTEBOOK[..cut], &NOTEBOOK[cut..]);
        let choice = [choice[0], choice[1], choice[2] % 4];
        super::fuzz::fuzz_notebook(&[&choice[..], text.as_bytes()].concat());
    }
}
