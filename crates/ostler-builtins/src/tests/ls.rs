//! What LS promises, held on examples.

use std::fs;

use serde_json::{Value, json};

use crate::tests::bench::Bench;

fn tree() -> Bench {
    let bench = Bench::new();
    bench.file("b.txt", "x".repeat(1500));
    bench.file("a.rs", "");
    bench.file("src/lib.rs", "x");
    bench.file("src/deep/er/x.rs", "x");
    bench.file("target/out", "x");
    bench.file("dist/a.js", "x");
    bench.file(".hidden", "x");
    bench.file(".git/config", "x");
    bench.file(".gitignore", "target/\n");
    std::os::unix::fs::symlink("src", bench.root.join("link")).unwrap();
    bench
}

#[tokio::test]
async fn folders_come_first_and_what_is_left_out_is_counted() {
    let bench = tree();
    let text = bench.text("LS", json!({"ignore": ["dist"]})).await;
    let expected = [
        "/",
        "  src/",
        "    deep/",
        "      er/",
        "        x.rs  1 B",
        "    lib.rs  1 B",
        "  a.rs  0 B",
        "  b.txt  1.5 KB",
        "  link  (link)",
        "[3 hidden (names with a leading dot)]",
        "[2 left out by ignore rules]",
    ];
    assert_eq!(text, format!("{}{}", bench.root, expected.join("\n")));
    let structured = bench.call("LS", json!({"path": "src"})).await.unwrap().structured;
    assert_eq!(
        structured,
        json!({
            "path": bench.root.join("src").to_text(),
            "entries": [
                {"path": "src/deep", "type": "folder"},
                {"path": "src/deep/er", "type": "folder"},
                {"path": "src/deep/er/x.rs", "type": "file", "size": 1},
                {"path": "src/lib.rs", "type": "file", "size": 1},
            ],
            "numEntries": 4,
            "numHidden": 0,
            "numIgnored": 0,
            "truncated": false,
        })
    );
    // What an ignore file leaves out is listed if it is asked for.
    assert!(bench.text("LS", json!({"path": "target"})).await.contains("out  1 B"));
}

#[tokio::test]
async fn ignore_takes_names_paths_and_one_glob_alone() {
    let bench = tree();
    let names = async |ignore: Value| {
        let output = bench.call("LS", json!({"ignore": ignore})).await.unwrap().structured;
        let entries = output["entries"].as_array().unwrap().clone();
        let paths = entries.iter().map(|entry| entry["path"].as_str().unwrap().to_owned());
        paths.collect::<Vec<_>>()
    };
    let all = names(json!([])).await;
    let without = |gone: &[&str]| {
        let keep = |path: &&String| !gone.iter().any(|gone| path.starts_with(gone));
        all.iter().filter(keep).cloned().collect::<Vec<_>>()
    };
    assert_eq!(names(json!(["*.rs"])).await, without(&["a.rs", "src/lib.rs", "src/deep/er/x.rs"]));
    assert_eq!(names(json!(["src/deep/**", "./dist/"])).await, without(&["src/deep", "dist"]));
    assert_eq!(names(json!("dist")).await, without(&["dist"]));
    assert_eq!(names(json!("[\"dist\"]")).await, without(&["dist"]));
    assert!(bench.refused("LS", json!({"ignore": ["a["]})).await.contains("not a glob"));
    assert!(bench.refused("LS", json!({"ignore": 5})).await.contains("a list of globs"));
    assert!(bench.refused("LS", json!({"path": "a.rs"})).await.contains("not a folder"));
    assert!(bench.refused("LS", json!({"path": "none"})).await.contains("no such"));
}

#[tokio::test]
async fn a_large_tree_is_cut_between_folders_and_said() {
    let bench = Bench::new();
    for at in 0..90 {
        bench.file(&format!("big/f{at}"), "");
        bench.file(&format!("small/s{}", at % 5), "");
    }
    bench.file("top\nline", "");
    let output = bench.call("LS", json!({})).await.unwrap();
    assert_eq!(output.structured["numEntries"], 98);
    let text = bench.text("LS", json!({"path": "."})).await;
    assert!(
        text.contains("  small/\n    s0  0 B\n") && text.contains("  top\\nline  0 B"),
        "{text}"
    );
    for at in 0..20 {
        bench.file(&format!("big/g{at}"), "");
    }
    let text = bench.text("LS", json!({})).await;
    assert!(text.contains("  big/  (110 entries)\n  small/\n    s0"), "{text}");
    let output = bench.call("LS", json!({"path": "big"})).await.unwrap();
    assert_eq!(
        (&output.structured["numEntries"], &output.structured["truncated"]),
        (&json!(100), &json!(true))
    );
    assert!(bench.text("LS", json!({"path": "big"})).await.contains("[10 more entries"));
    let refused = bench.refused("LS", json!({"path": ".own"})).await;
    assert!(refused.contains("no such"), "{refused}");
    fs::create_dir(bench.root.join(".own")).unwrap();
    assert!(bench.refused("LS", json!({"path": ".own"})).await.contains("what Ostler itself"));
}
