//! What `search_tools` promises, held on examples.

use std::{
    collections::BTreeSet,
    fs,
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime},
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
        text.contains("of a very long line]") && text.contains("there is more"),
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

fn exact(output: &Value, keys: &[&str]) {
    let have: BTreeSet<_> = output.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(have, keys.iter().copied().collect());
}

#[tokio::test]
async fn structured_output_has_the_promised_fields_and_no_other() {
    let bench = tree();
    let grep = async |args: Value| bench.call("Grep", args).await.unwrap().structured;
    let files = grep(json!({"pattern": "needle", "head_limit": 1, "offset": 1})).await;
    exact(&files, &["mode", "numFiles", "filenames", "appliedLimit", "appliedOffset"]);
    assert_eq!(
        files,
        json!({"mode": "files_with_matches", "numFiles": 1, "filenames": ["readme.md"], "appliedLimit": 1, "appliedOffset": 1})
    );
    let content = grep(json!({"pattern": "needle$", "output_mode": "content"})).await;
    assert_eq!(
        content,
        json!({"mode": "content", "numFiles": 2, "filenames": [], "content": "readme.md:1:a needle\nsrc/old.rs:2:// needle", "numLines": 2})
    );
    let counts = grep(json!({"pattern": "needle", "output_mode": "count", "head_limit": 1})).await;
    assert_eq!(
        counts,
        json!({"mode": "count", "numFiles": 3, "filenames": [], "content": "readme.md:1", "numMatches": 4, "appliedLimit": 1})
    );
    let glob = bench.call("Glob", json!({"pattern": "*.md"})).await.unwrap().structured;
    exact(&glob, &["durationMs", "numFiles", "filenames", "truncated"]);
}

#[tokio::test]
async fn a_pattern_that_is_refused_is_explained() {
    let bench = tree();
    for (pattern, said) in [
        (
            "foo(bar",
            "unclosed group, at character 4, `(`. If the text itself is meant, escape it: `foo\\(bar`",
        ),
        ("a{x}", "at character"),
        ("é[z", "unclosed character class, at character 2, `[`"),
        ("*x", "repetition operator missing expression, at character 1, `*`"),
        ("(?=a)b", "Search for the part without it"),
        ("(a)\\1", "Write out what the group matches"),
        (".{0,1000}X.{0,1000}{1000}", "Use smaller numbers of repetitions"),
        ("a\\nb", "Set multiline"),
    ] {
        let refused = bench.refused("Grep", json!({"pattern": pattern})).await;
        assert!(refused.contains(said), "{pattern}: {refused}");
    }
}

#[tokio::test]
async fn a_match_deep_in_a_long_line_is_shown_with_what_is_around_it() {
    let bench = Bench::new();
    let (left, right) = ("ab ".repeat(100_000), "cd ".repeat(100_000));
    bench.file("min.js", format!("first\n{left}needle=42;{right}\nlast needle\n"));
    bench.file("short.js", format!("{}needle{}\n", "x".repeat(600), "y".repeat(600)));
    let text =
        bench.text("Grep", json!({"pattern": "needle", "output_mode": "content", "-C": 1})).await;
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("min.js:2:[of a very long line]"), "{text}");
    assert!(lines[0].contains("ab needle=42;cd ") && lines[0].len() < 700, "{text}");
    assert_eq!(lines[2], "min.js:3:last needle");
    assert!(lines[3].starts_with("short.js:1:[500 bytes left out] \u{2026}xxx"), "{text}");
    assert!(lines[3].ends_with("yyy\u{2026} [206 bytes left out]"), "{text}");
}

#[tokio::test]
async fn long_lines_are_lines_whatever_their_length() {
    let bench = Bench::new();
    for length in [100_000, 131_072, 200_000, 1_000_000] {
        let long = "a".repeat(length);
        bench.file("f", format!("b\n{long}Xz{long}X\n\nXq\n{long}"));
        let grep = async |args: Value| {
            let output = bench.call("Grep", args).await.unwrap().structured;
            output["content"].as_str().unwrap().to_owned()
        };
        let count = |pattern: &'static str| {
            grep(json!({"pattern": pattern, "output_mode": "count", "path": "f"}))
        };
        assert_eq!(count("X").await, "f:2", "{length}");
        assert_eq!(count("^a").await, "f:2", "{length}");
        assert_eq!(count("^b$").await, "f:1", "{length}");
        assert_eq!(count("a$").await, "f:1", "{length}");
        assert_eq!(count(".*Xz").await, "f:1", "{length}");
        assert_eq!(count("a{200}Xz.{0,300}").await, "f:1", "{length}");
        let only =
            grep(json!({"pattern": "X.?", "output_mode": "content", "-o": true, "path": "f"}));
        assert_eq!(only.await, "2:Xz\n2:X\n4:Xq", "{length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn matches_anywhere_in_a_long_line_are_found_once(
        places in prop::collection::btree_set(0usize..4000, 1..20),
        multiline in any::<bool>(),
    ) {
        let bench = Bench::new();
        let mut line = vec![b'.'; 4000 * 100];
        for place in &places {
            line[place * 100..place * 100 + 6].copy_from_slice(b"needle");
        }
        bench.file("f", [b"one\n".as_slice(), &line, b"\ntwo\n"].concat());
        let args = json!({"pattern": "needle", "output_mode": "content", "-o": true, "multiline": multiline});
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let output = runtime.block_on(bench.call("Grep", args)).unwrap().structured;
        prop_assert_eq!(&output["numLines"], &json!(places.len()));
        prop_assert!(output["content"].as_str().unwrap().lines().all(|line| line == "f:2:needle"));
    }
}

#[tokio::test]
async fn a_match_over_line_ends_is_found_in_a_large_file() {
    let bench = Bench::new();
    let line = format!("{}\n", "z".repeat(99));
    let content =
        format!("{}begin\nend\n{}begin\nend\n{line}", line.repeat(20_970), line.repeat(30_000));
    bench.file("f", content);
    let args = json!({"pattern": "begin.end", "multiline": true, "output_mode": "content"});
    let output = bench.call("Grep", args).await.unwrap().structured;
    assert_eq!(output["content"], "f:20971:begin\nf:20972:end\nf:50973:begin\nf:50974:end");
}

#[tokio::test]
async fn utf_16_is_searched_and_binary_files_are_said() {
    let bench = Bench::new();
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let text = "first\r\nder N\u{e4}chste needle\r\n";
    bench.file("le.txt", [b"\xff\xfe".as_slice(), &wide(text)].concat());
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    bench.file("be.txt", [b"\xfe\xff".as_slice(), &big].concat());
    bench.file("bare.txt", wide("no mark here\nneedle\n"));
    bench.file("marked.txt", "\u{feff}needle\n");
    bench.file("empty.txt", "\u{feff}");
    bench.file("x.bin", b"needle\0\n");
    let text = bench
        .text("Grep", json!({"pattern": "^(der \u{4e}.chste )?needle$", "output_mode": "content"}))
        .await;
    assert_eq!(
        text,
        "bare.txt:2:needle\nbe.txt:2:der N\u{e4}chste needle\nle.txt:2:der N\u{e4}chste needle\nmarked.txt:1:needle\n[1 binary file not searched (x.bin)]"
    );
    let named = json!({"pattern": "needle", "output_mode": "content", "path": "x.bin"});
    assert!(bench.text("Grep", named).await.starts_with("the file is binary and matches"));
    let files = bench.call("Grep", json!({"pattern": "needle", "path": "x.bin"})).await.unwrap();
    assert_eq!(names(&files.structured), ["x.bin"]);
}

#[tokio::test]
async fn links_folders_that_refuse_and_ostlers_own_are_passed_over() {
    let bench = tree();
    std::os::unix::fs::symlink(&bench.root, bench.root.join("src/loop")).unwrap();
    std::os::unix::fs::symlink(bench.root.join("../outside"), bench.root.join("src/out")).unwrap();
    fs::write(bench.root.join("../outside/secret.rs"), "needle").unwrap();
    let all = names(&bench.call("Grep", json!({"pattern": "needle"})).await.unwrap().structured);
    assert_eq!(all, ["src/deep/new.rs", "readme.md", "src/old.rs"]);
    let all = names(&bench.call("Glob", json!({"pattern": "src/**"})).await.unwrap().structured);
    assert_eq!(all, ["src/deep/new.rs", "src/old.rs"]);
    for (tool, args) in [
        ("Grep", json!({"pattern": "needle", "path": ".own"})),
        ("Glob", json!({"pattern": "*", "path": ".own"})),
    ] {
        assert!(bench.refused(tool, args).await.contains("what Ostler itself writes"));
    }
    let one = json!({"pattern": "needle", "path": ".own/log.rs"});
    assert_eq!(names(&bench.call("Grep", one).await.unwrap().structured), [".own/log.rs"]);
}

#[tokio::test]
async fn what_cannot_be_read_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = tree();
    bench.file("closed/a.rs", "needle");
    bench.file("shut.rs", "needle");
    let mode = |path: &str, mode| {
        fs::set_permissions(bench.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("closed", 0);
    mode("shut.rs", 0);
    // Who may read everything is refused nothing.
    let all_powerful = fs::read_dir(bench.root.join("closed")).is_ok();
    let text = bench.text("Grep", json!({"pattern": "needle"})).await;
    let glob = bench.text("Glob", json!({"pattern": "*.rs"})).await;
    mode("closed", 0o700);
    let folder = "[1 folder could not be read: not permitted (closed)]";
    assert_eq!(text.contains(folder), !all_powerful, "{text}");
    assert_eq!(text.contains("[1 file could not be read: not permitted (shut.rs)]"), !all_powerful);
    assert_eq!(glob.contains(folder), !all_powerful, "{glob}");
    assert!(text.contains("src/old.rs"));
}

#[tokio::test]
async fn a_long_search_tells_how_it_goes_and_ends_when_told() {
    let mut bench = Bench::new();
    // Each piece of a line is slow to search, so that the search lasts.
    bench.file("slow", "abc ".repeat(8 << 20));
    let cancel = bench.cx.cancel.clone();
    let told = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&told);
    bench.cx.progress = ostler_tool::Progress::new(move |bytes, text| {
        list.lock().unwrap().push((bytes, text.to_owned(), Instant::now()));
        cancel.cancel();
    });
    let slow = json!({"pattern": "([a-z ]{1,90}X){1,4}", "output_mode": "content"});
    let ended = bench.call("Grep", slow).await;
    let told = told.lock().unwrap();
    // A machine that is fast enough is done before there is anything to tell.
    assert_eq!(ended.is_err(), !told.is_empty());
    if let Some((bytes, text, when)) = told.first() {
        assert!(*bytes > 0 && text.contains("searched"), "{text}");
        assert!(when.elapsed() < Duration::from_secs(1), "{:?}", when.elapsed());
    }
}
