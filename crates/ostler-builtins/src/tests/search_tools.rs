//! What `search_tools` promises, held on examples.

use std::{
    collections::BTreeSet,
    fs,
    time::{Duration, SystemTime},
};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::tests::bench::Bench;

fn names(output: &Value) -> Vec<String> {
    output["filenames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// A file that was changed so many seconds ago.
fn aged(bench: &Bench, path: &str, content: &str, age: u64) {
    let path = bench.file(path, content);
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - age);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn tree() -> Bench {
    let bench = Bench::new();
    aged(&bench, "src/old.rs", "fn old() {}\n// needle\n", 30);
    aged(&bench, "src/deep/new.rs", "needle one\nno\nneedle two\n", 10);
    aged(&bench, "readme.md", "a needle\r\nand NEEDLE\r\n", 20);
    aged(&bench, ".hidden/x.rs", "needle\n", 5);
    aged(&bench, ".git/config.rs", "needle\n", 1);
    aged(&bench, ".own/log.rs", "needle\n", 1);
    aged(&bench, "target/out.rs", "needle\n", 1);
    aged(&bench, "binary.rs", "needle\nnee\0dle\n", 40);
    aged(&bench, ".gitignore", "target/\n", 50);
    bench
}

#[tokio::test]
async fn glob_lists_newest_first_by_ignore_files() {
    let bench = tree();
    let glob = async |args| names(&bench.call("Glob", args).await.unwrap().structured);
    assert_eq!(
        glob(json!({"pattern": "**/*.rs"})).await,
        [".hidden/x.rs", "src/deep/new.rs", "src/old.rs", "binary.rs"]
    );
    assert_eq!(glob(json!({"pattern": "src/*.rs"})).await, ["src/old.rs"]);
    assert_eq!(
        glob(json!({"pattern": "*.{md,rs}", "path": "src"})).await,
        ["src/deep/new.rs", "src/old.rs"]
    );
    assert_eq!(glob(json!({"pattern": "src/d*/**"})).await, ["src/deep/new.rs"]);
    assert_eq!(
        glob(json!({"pattern": "../../project/readme.*", "path": "src"})).await,
        ["readme.md"]
    );
    assert_eq!(glob(json!({"pattern": "../readme.*", "path": "src"})).await, ["readme.md"]);
    assert_eq!(
        glob(json!({"pattern": format!("{}/src/**/new.rs", bench.root)})).await,
        ["src/deep/new.rs"]
    );
    assert_eq!(glob(json!({"pattern": "old.rs", "cwd": "src"})).await, ["src/old.rs"]);
    assert!(
        bench.refused("Glob", json!({"pattern": "a[", "path": "src"})).await.contains("not a glob")
    );
    assert!(
        bench.refused("Glob", json!({"pattern": "*", "path": "none"})).await.contains("no such")
    );
}

#[tokio::test]
async fn glob_shows_at_most_a_hundred() {
    let bench = Bench::new();
    for at in 0..120 {
        aged(&bench, &format!("f{at:03}"), "", at);
    }
    let output = bench.call("Glob", json!({"pattern": "f*"})).await.unwrap().structured;
    assert_eq!(
        (names(&output).len(), &output["truncated"], &output["numFiles"]),
        (100, &json!(true), &json!(100))
    );
    assert_eq!(names(&output)[99], "f099");
}

#[tokio::test]
async fn grep_shows_files_lines_and_counts() {
    let bench = tree();
    let grep = async |args: Value| bench.call("Grep", args).await.unwrap().structured;
    let files = grep(json!({"pattern": "needle"})).await;
    assert_eq!(names(&files), ["src/deep/new.rs", "readme.md", "src/old.rs"]);
    let content = async |args: Value| grep(args).await["content"].as_str().unwrap().to_owned();
    assert_eq!(
        content(json!({"pattern": "needle", "output_mode": "content"})).await,
        "readme.md:1:a needle\nsrc/deep/new.rs:1:needle one\nsrc/deep/new.rs:3:needle two\nsrc/old.rs:2:// needle"
    );
    assert_eq!(
        content(json!({"pattern": "needle", "output_mode": "content", "-i": true, "-n": false, "path": "readme.md"})).await,
        "a needle\nand NEEDLE"
    );
    assert_eq!(
        content(
            json!({"pattern": "need(le)? t", "output_mode": "content", "-C": "1", "path": "src"})
        )
        .await,
        "src/deep/new.rs-2-no\nsrc/deep/new.rs:3:needle two"
    );
    assert_eq!(
        content(
            json!({"pattern": "n[eo]+", "output_mode": "content", "-o": true, "glob": "n*.rs"})
        )
        .await,
        "src/deep/new.rs:1:nee\nsrc/deep/new.rs:1:ne\nsrc/deep/new.rs:2:no\nsrc/deep/new.rs:3:nee"
    );
    let counts = grep(json!({"pattern": "needle", "output_mode": "count", "type": "rust"})).await;
    assert_eq!(
        (&counts["content"], &counts["numMatches"]),
        (&json!("src/deep/new.rs:2\nsrc/old.rs:1"), &json!(3))
    );
    assert_eq!(
        content(json!({"pattern": "one.*two", "output_mode": "content", "multiline": true})).await,
        "src/deep/new.rs:1:needle one\nsrc/deep/new.rs:2:no\nsrc/deep/new.rs:3:needle two"
    );
    assert_eq!(
        names(&grep(json!({"pattern": "x", "path": "target/out.rs"})).await),
        Vec::<String>::new()
    );
    assert_eq!(
        names(&grep(json!({"pattern": "needle", "path": "target/out.rs"})).await),
        ["target/out.rs"]
    );
    assert_eq!(names(&grep(json!({"pattern": "needle$", "include": "*.md"})).await), ["readme.md"]);
}

#[tokio::test]
async fn grep_pages_in_a_fixed_order() {
    let bench = Bench::new();
    for at in 0..40 {
        bench.file(&format!("d{}/f{at:02}", at % 4), "x\n".repeat(10));
    }
    let page = async |offset: u64| {
        let args =
            json!({"pattern": "x", "output_mode": "content", "head_limit": 7, "offset": offset});
        let output = bench.call("Grep", args).await.unwrap().structured;
        assert_eq!(output["appliedLimit"], 7);
        output["content"].as_str().unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for at in 0..5 {
        all.extend(page(at * 7).await);
    }
    let mut sorted = all.clone();
    sorted.sort_by_key(|line| line.split(':').next().map(str::to_owned));
    assert_eq!(all, sorted);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 35);
    assert_eq!(all[0], "d0/f00:1:x");
}

#[tokio::test]
async fn grep_stays_small_on_large_input() {
    let bench = Bench::new();
    bench.file("long", format!("X{}\n", "y".repeat(1 << 20)));
    bench.file("many", "X here\n".repeat(20_000));
    let args = json!({"pattern": "X", "output_mode": "content", "head_limit": 0});
    let text = bench.text("Grep", args).await;
    assert!(text.len() < 31_000, "{}", text.len());
    assert!(
        text.contains("bytes left out]") && text.contains("there is more"),
        "{}",
        &text[text.len().saturating_sub(200)..]
    );
    let huge = json!({"pattern": ".{0,1000}X.{0,1000}{1000}"});
    assert!(bench.refused("Grep", huge).await.contains("cannot be searched"));
    assert!(bench.refused("Grep", json!({"pattern": "("})).await.contains("cannot be searched"));
    assert!(bench.refused("Grep", json!({"pattern": "a\\nb"})).await.contains("Set multiline"));
    assert!(
        bench.refused("Grep", json!({"pattern": "a", "type": "cobra"})).await.contains("`*.cobra`")
    );
}

#[tokio::test]
async fn a_search_ends_at_its_time() {
    let bench = Bench::with(|hands| hands.limits.search_ms = 0);
    bench.file("a", "x");
    for tool in ["Grep", "Glob"] {
        let text = bench.text(tool, json!({"pattern": "x*"})).await;
        assert!(text.contains("ended after its time"), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn grep_finds_what_a_plain_search_finds(
        files in prop::collection::btree_map("[ab]{1,2}(/[ab]{3})?", "[xyz\\n]{0,30}", 1..8),
        needle in "[xyz]{1,2}",
    ) {
        let bench = Bench::new();
        let mut expected = Vec::new();
        for (path, content) in &files {
            bench.file(&format!("f/{path}.txt"), content);
            let lines = content.split_terminator('\n').enumerate().filter(|(_, line)| line.contains(&needle));
            expected.extend(lines.map(|(at, line)| format!("f/{path}.txt:{}:{line}", at + 1)));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let args = json!({"pattern": needle, "output_mode": "content", "head_limit": 1000});
        let output = runtime.block_on(bench.call("Grep", args)).unwrap().structured;
        let mut found: Vec<_> = output["content"].as_str().unwrap().lines().map(str::to_owned).collect();
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
    }
}
