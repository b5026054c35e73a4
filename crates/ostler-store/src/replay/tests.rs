//! Reading logs of other programs and logs that were damaged.

use std::fs;

use proptest::prelude::*;

use super::*;
use crate::{
    log::tests::{Home, answer, user},
    record::Record,
    store::Root,
};

const HEAD: &str = r#""isSidechain":false,"timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv/app","version":"2.0.0","gitBranch":"","userType":"external","entrypoint":"cli","sessionId":"s""#;

fn user_line(uuid: &str, parent: &str, content: &str) -> String {
    format!(
        r#"{{{HEAD},"parentUuid":{parent},"type":"user","message":{{"role":"user","content":{content}}},"uuid":"{uuid}"}}"#
    )
}

fn assistant_line(uuid: &str, parent: &str, content: &str) -> String {
    format!(
        r#"{{{HEAD},"parentUuid":{parent},"type":"assistant","message":{{"id":"m-{uuid}","type":"message","role":"assistant","model":"x","content":{content},"usage":{{"input_tokens":null,"service_tier":"standard","cache_creation":{{"a":1}}}}}},"uuid":"{uuid}","requestId":"r","novel":{{"deep":[1]}}}}"#
    )
}

fn read(bytes: &[u8]) -> Replay {
    let home = Home::new();
    let dir = home.store.projects(Root::Claude).join("-srv-app");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("s.jsonl"), bytes).unwrap();
    home.store.read("s").unwrap()
}

fn uuids(replay: &Replay) -> Vec<&str> {
    replay.entries.iter().map(Entry::uuid).collect()
}

#[test]
fn a_foreign_log_with_dangling_parents_is_read_in_file_order() {
    let tool = r#"[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]"#;
    let done = r#"[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]"#;
    let lines = [
        r#"{"type":"summary","summary":"Old","leafUuid":"zzz"}"#.to_owned(),
        r#"{"type":"file-history-snapshot","messageId":"q","snapshot":{}}"#.to_owned(),
        user_line("u1", "null", r#""hello""#),
        assistant_line("a1", r#""never-stored""#, tool),
        user_line("u2", r#""also-lost""#, done),
        user_line("side", r#""u1""#, r#""x""#).replace("chain\":false", "chain\":true"),
        assistant_line(
            "a2",
            r#""u2""#,
            r#"[{"type":"text","text":"A"},{"type":"text","text":"B"}]"#,
        ),
        user_line("u1", "null", r#""again""#),
        user_line("u3", r#""gone""#, r#""next""#),
    ];
    let replay = read(lines.join("\n").as_bytes());
    assert_eq!(uuids(&replay), ["u1", "a1", "u2", "a2", "a2", "u3"]);
    assert!(replay.foreign);
    assert_eq!(replay.carried.turns, 2);
    assert_eq!(replay.carried.project.as_deref(), Some("/srv/app"));
    let said = replay.repairs.join("; ");
    assert!(said.contains("3 entries name a parent that is not in the log"), "{said}");
    assert!(said.contains("1 entries stand twice"), "{said}");
}

#[test]
fn parallel_results_that_hang_on_their_own_calls_are_all_kept() {
    let call =
        |id: &str| format!(r#"[{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}]"#);
    let done = |id: &str| {
        format!(
            r#"[{{"type":"tool_result","tool_use_id":"{id}","content":[{{"type":"text","text":"x"}}]}}]"#
        )
    };
    let lines = [
        user_line("u1", "null", r#""go""#),
        assistant_line("a1", r#""u1""#, &call("t1")),
        assistant_line("a2", r#""a1""#, &call("t2")),
        user_line("r1", r#""a1""#, &done("t1")),
        user_line("r2", r#""a2""#, &done("t2")),
        assistant_line("a3", r#""r2""#, r#"[{"type":"text","text":"done"}]"#),
    ];
    let replay = read(lines.join("\n").as_bytes());
    assert_eq!(uuids(&replay), ["u1", "a1", "a2", "r1", "r2", "a3"]);
    assert_eq!(replay.repairs, Vec::<String>::new());
}

#[test]
fn zero_bytes_broken_text_and_noise_cost_only_their_line() {
    let mut bytes = user_line("u1", "null", r#""a""#).into_bytes();
    bytes.extend_from_slice(b"\n\0\0\0\0\n\0\0");
    bytes.extend_from_slice(user_line("u2", r#""u1""#, r#""b""#).as_bytes());
    bytes.extend_from_slice(b"\nnoise\n[1,2]\n");
    let broken = user_line("u3", r#""u2""#, r#""c?""#).into_bytes();
    bytes.extend(broken.into_iter().map(|byte| if byte == b'?' { 0xff } else { byte }));
    bytes.extend_from_slice(b"\r\n\n");
    bytes.extend_from_slice(user_line("u4", r#""u3""#, r#""d""#).as_bytes());
    let replay = read(&bytes);
    assert_eq!(uuids(&replay), ["u1", "u2", "u3", "u4"]);
    let expected = [
        "line 2: zero bytes, skipped",
        "line 3: zero bytes, removed",
        "line 4: not JSON, skipped",
        "line 5: not JSON, skipped",
        "line 6: broken UTF-8, mended",
    ];
    assert_eq!(replay.repairs, expected);
}

#[test]
fn unknown_blocks_and_odd_types_are_kept_or_passed_over() {
    let lines = [
        user_line("u1", "null", r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"novel","x":{"y":[1.5]}}]"#),
        r#"{"type":"system","uuid":"y1","parentUuid":"u1","message":"just text","isSidechain":"no"}"#.to_owned(),
        assistant_line("a1", r#""y1""#, r#"[{"type":"text","text":7}]"#),
        assistant_line("a2", r#""a1""#, r#""plain""#),
    ];
    let replay = read(lines.join("\n").as_bytes());
    assert_eq!(uuids(&replay), ["u1", "a1", "a2"]);
    let EntryBody::User(first) = &replay.entries[0].body else { panic!() };
    let json = serde_json::to_string(&first.content).unwrap();
    assert!(json.contains(r#"{"type":"novel","x":{"y":[1.5]}}"#), "{json}");
    assert!(json.contains(r#""media_type":"image/png""#), "{json}");
    assert_eq!(replay.repairs, Vec::<String>::new());
}

#[test]
fn a_boundary_without_its_summary_keeps_the_old_history() {
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"u1","isSidechain":false}"#;
    let first = user_line("u1", "null", r#""a""#);
    assert_eq!(uuids(&read(format!("{first}\n{boundary}\n").as_bytes())), ["u1"]);
    let summary = user_line("s1", r#""b""#, r#""sum""#)
        .replace(r#""type":"user","m"#, r#""isCompactSummary":true,"type":"user","m"#);
    let replay = read(format!("{first}\n{boundary}\n{summary}\n").as_bytes());
    assert_eq!((uuids(&replay), replay.summaries.as_slice()), (vec!["s1"], &["s1".to_owned()][..]));
}

/// A log over the size that is read at once, with a window near its end.
fn long_log(home: &Home) -> crate::log::SessionLog {
    let mut log = home.log("s1");
    let filler = "x".repeat(300_000);
    for n in 0..20 {
        log.append(&[user(&format!("old{n}"), &filler)]).unwrap();
    }
    let Record::User(summary) = user("sum", "summary") else { unreachable!() };
    log.append(&[Record::Compacted(crate::record::Compaction {
        uuid: "b".to_owned(),
        trigger: "manual".to_owned(),
        pre_tokens: 1,
        summary,
    })])
    .unwrap();
    log.checkpoint().unwrap();
    log
}

#[test]
fn a_long_log_is_read_from_its_last_context_record() {
    let home = Home::new();
    let mut log = long_log(&home);
    assert!(log.len_bytes() > source::AT_ONCE);
    // The record lies in another chunk than the end, whatever the distance.
    for n in 0..30 {
        log.append(&[user(&format!("new{n}"), &"y".repeat(20_000 + n * 977))]).unwrap();
        let file = File::open(log.path()).unwrap();
        let part = source::window(&file, log.len_bytes()).unwrap().unwrap();
        assert!(
            part.from > source::AT_ONCE && part.from + part.bytes.len() as u64 == log.len_bytes()
        );
        assert_eq!(home.store.read("s1").unwrap().entries.len(), n + 2);
    }
    assert_eq!(&home.store.read("s1").unwrap().carried, log.carried());
    let all = home.store.read_all("s1").unwrap();
    assert_eq!(all.entries.len(), 51);
}

#[test]
fn a_context_record_that_lies_is_not_believed() {
    let home = Home::new();
    let mut log = long_log(&home);
    log.append(&[user("u1", "a"), answer("a1", "m", ostler_protocol::Block::text("b"))]).unwrap();
    let bytes = fs::read(log.path()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    for (from, to) in [(r#""first":"sum""#, r#""first":"mus""#), (r#""from":6"#, r#""from":5"#)] {
        assert!(text.contains(from));
        fs::write(log.path(), text.replace(from, to)).unwrap();
        assert_eq!(uuids(&home.store.read("s1").unwrap()), ["sum", "u1", "a1"]);
    }
}

proptest! {
    #[test]
    fn no_bytes_stop_a_reader(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let (whole, window) = fuzz_log(&bytes);
        prop_assert!(window <= whole);
    }

    #[test]
    fn no_mutation_of_a_log_stops_a_reader(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let lines = [
            user_line("u1", "null", r#""hello""#),
            r#"{"type":"ostler","kind":"run_started","runId":"r","prompt":"u1","sessionId":"s"}"#.to_owned(),
            assistant_line("a1", r#""u1""#, r#"[{"type":"text","text":"A"}]"#),
            r#"{"type":"ostler","kind":"context","from":0,"first":"u1","entries":2,"carried":{},"sessionId":"s"}"#.to_owned(),
            user_line("u2", r#""a1""#, r#""next""#),
        ];
        let mut bytes = lines.join("\n").into_bytes();
        for (place, byte) in flips {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let (whole, window) = fuzz_log(&bytes);
        prop_assert!(whole <= 3 && window <= whole);
    }
}
