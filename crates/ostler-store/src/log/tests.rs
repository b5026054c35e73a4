//! Writing a log and reading it back.

use std::{fs, sync::Arc};

use ostler_protocol::{Block, Mode, Usage, conversation::ToolResultContent};
use ostler_stdx::{AbsPath, ManualClock};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    record::{AssistantEntry, Compaction, FrozenBlock, UserEntry},
    store::{Root, Roots, Store},
};

pub(crate) struct Home {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) store: Store,
    pub(crate) clock: ManualClock,
}

impl Home {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = ManualClock::at(1_796_083_630_120);
        let path = |name: &str| AbsPath::new(dir.path().join(name)).unwrap();
        let roots = Roots { home: path("ostler"), claude: path("claude") };
        let store = Store::new(roots, Arc::new(clock.clone()));
        Self { dir, store, clock }
    }

    pub(crate) fn header(&self, id: &str) -> Header {
        Header {
            session_id: id.to_owned(),
            cwd: AbsPath::new(self.dir.path().join("project")).unwrap(),
            version: "2.1.332".to_owned(),
            git_branch: "main".to_owned(),
            entrypoint: "cli".to_owned(),
        }
    }

    pub(crate) fn log(&self, id: &str) -> SessionLog {
        self.store.create(Root::Native, self.header(id)).unwrap()
    }
}

pub(crate) fn user(uuid: &str, text: &str) -> Record {
    Record::User(UserEntry {
        uuid: uuid.to_owned(),
        content: ToolResultContent::Text(text.to_owned()),
        tool_use_result: None,
        is_meta: false,
        origin: None,
    })
}

pub(crate) fn result(uuid: &str, call: &str, text: &str) -> Record {
    Record::User(UserEntry {
        uuid: uuid.to_owned(),
        content: ToolResultContent::Blocks(vec![Block::tool_result(call, text, false)]),
        tool_use_result: Some(json!({"stdout": text})),
        is_meta: false,
        origin: Some(json!({"kind": "human"})),
    })
}

pub(crate) fn answer(uuid: &str, message: &str, block: Block) -> Record {
    Record::Assistant(AssistantEntry {
        uuid: uuid.to_owned(),
        message_id: message.to_owned(),
        model: "model-1".to_owned(),
        block,
        stop_reason: Some("end_turn".to_owned()),
        usage: Some(Usage { input_tokens: 3, output_tokens: 4, ..Usage::default() }),
        request_id: Some("req_1".to_owned()),
        api_error: None,
        interrupted: false,
    })
}

fn call(uuid: &str, id: &str) -> Record {
    let input = json!({"file_path": "/a", "z": 1, "b": null});
    answer(uuid, "msg_1", Block::ToolUse { id: id.to_owned(), name: "Read".to_owned(), input })
}

fn turn() -> Vec<Record> {
    let frozen = FrozenBlock { text: "You are".to_owned(), cache: true };
    let thinking = Block::Thinking { thinking: "hm".to_owned(), signature: "s".to_owned() };
    vec![
        Record::Own(Own::Frozen { system: vec![frozen], preamble: Some("p".to_owned()) }),
        Record::Own(Own::Project { path: "/srv/app".to_owned() }),
        Record::Own(Own::Pinned { provider: "acme".to_owned(), model: "m".to_owned() }),
        Record::PermissionMode(Mode::Plan),
        user("u1", "read \"/a\"\n\u{1F600} and\u{0} tell"),
        Record::Own(Own::RunStarted { run_id: "r1".to_owned(), prompt: "u1".to_owned() }),
        answer("a1", "msg_1", thinking),
        call("a2", "toolu_1"),
        result("u2", "toolu_1", "the file"),
        answer("a3", "msg_2", Block::Other(json!({"type": "server_thing", "x": [1, 2.5]}))),
        answer("a4", "msg_2", Block::text("done")),
        Record::LastPrompt("read".to_owned()),
    ]
}

fn bodies(records: &[Record]) -> Vec<EntryBody> {
    let body = |record: &Record| match record {
        Record::User(user) => Some(EntryBody::User(user.clone())),
        Record::Assistant(entry) => Some(EntryBody::Assistant(entry.clone())),
        _ => None,
    };
    records.iter().filter_map(body).collect()
}

fn read_bodies(replay: &Replay) -> Vec<EntryBody> {
    replay.entries.iter().map(|entry| entry.body.clone()).collect()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_is_written_is_read_back_the_same() {
    let home = Home::new();
    let mut log = home.log("s1");
    let mut records = turn();
    records.push(Record::Own(Own::Tool {
        tool_use_id: "toolu_1".to_owned(),
        ms: Some(7),
        denied_by: None,
        diffs: Vec::new(),
    }));
    log.append(&records).unwrap();
    log.set_title("T").unwrap();
    log.sync().unwrap();
    let replay = home.store.read("s1").unwrap();
    assert_eq!(read_bodies(&replay), bodies(&records));
    assert_eq!(&replay.carried, log.carried());
    assert_eq!(replay.carried.project.as_deref(), Some("/srv/app"));
    assert_eq!(replay.carried.mode, Some(Mode::Plan));
    assert_eq!(replay.carried.open_run.as_deref(), Some("r1"));
    assert_eq!(replay.carried.turns, 1);
    assert_eq!(replay.tools["toolu_1"].ms, Some(7));
    assert_eq!(replay.repairs, Vec::<String>::new());
    assert_eq!(replay.created_at_ms, Some(1_796_083_630_120));
    assert_eq!(replay.bytes, log.len_bytes());
    assert_eq!(replay.window, log.window);
    assert!(!replay.foreign);
}

#[test]
fn an_unsaved_log_works_and_leaves_no_trace() {
    let home = Home::new();
    let mut log = home.store.create_unsaved(home.header("s1")).unwrap();
    log.append(&turn()).unwrap();
    let block =
        OpenBlock { message_id: "m".to_owned(), block: 0, thinking: false, model: "m".to_owned() };
    log.append_delta(&block, 0, "hello").unwrap();
    log.sync().unwrap();
    log.checkpoint().unwrap();
    assert_eq!(log.carried().turns, 1);
    assert_eq!(fs::read_dir(home.dir.path()).unwrap().count(), 0);
}

#[test]
fn the_file_is_a_transcript_that_other_readers_take() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&turn()[..4]).unwrap();
    assert!(!log.path().exists());
    log.append(&turn()[4..]).unwrap();
    log.append(&[Record::Tag("blue".to_owned())]).unwrap();
    let lines = lines(log.path());
    assert_eq!(lines[0]["type"], "user");
    assert_eq!(lines[0]["parentUuid"], Value::Null);
    assert_eq!(lines[0]["isSidechain"], false);
    assert_eq!(lines[0]["userType"], "external");
    assert_eq!(lines[0]["timestamp"], "2026-12-01T00:07:10.120Z");
    assert_eq!(lines[0]["cwd"], home.dir.path().join("project").to_str().unwrap());
    assert!(lines[0]["message"]["content"].is_string());
    assert_eq!(lines[1]["type"], "ostler");
    assert_eq!(lines[1]["kind"], "frozen");
    assert_eq!(lines[1]["sessionId"], "s1");
    // The chain is one line, results included.
    let chained: Vec<_> = lines.iter().filter(|line| line["uuid"].is_string()).collect();
    for pair in chained.windows(2) {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"]);
    }
    let answer = lines.iter().find(|line| line["uuid"] == "a4").unwrap();
    assert_eq!(answer["message"]["type"], "message");
    assert_eq!(answer["message"]["stop_sequence"], Value::Null);
    assert_eq!(answer["message"]["content"], json!([{"type": "text", "text": "done"}]));
    let text = fs::read_to_string(log.path()).unwrap();
    assert!(text.lines().last().unwrap().starts_with(r#"{"type":"tag","tag":"blue","sessionId":"#));
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(log.path()), 0o600);
    assert_eq!(mode(log.path().parent().unwrap()), 0o700);
}

#[test]
fn every_prefix_of_a_log_resumes_to_a_prefix_of_its_entries() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&turn()).unwrap();
    log.append(&[user("u3", "next"), answer("a5", "msg_3", Block::text("ünd"))]).unwrap();
    let path = log.path().to_owned();
    drop(log);
    let whole = home.store.read_all("s1").unwrap().entries;
    let bytes = fs::read(&path).unwrap();
    for end in 0..=bytes.len() {
        let read = crate::replay::read_bytes(bytes[..end].to_vec());
        assert!(whole.starts_with(&read.entries), "cut at {end}");
    }
    // On disk for a sample: creating and locking thousands of files tells nothing more.
    for end in (1..=bytes.len()).step_by(97) {
        fs::write(&path, &bytes[..end]).unwrap();
        let (mut log, replay) = home.store.resume(home.header("s1")).unwrap();
        assert!(whole.starts_with(&replay.entries), "cut at {end}");
        // And a session goes on from there without losing the new entry.
        log.append(&[user("new", "go on")]).unwrap();
        let after = home.store.read("s1").unwrap();
        assert_eq!(after.entries.len(), replay.entries.len() + 1, "cut at {end}");
        assert_eq!(after.entries.last().unwrap().uuid(), "new");
    }
}

#[test]
fn a_torn_line_is_set_aside_and_said_aloud() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&[user("u1", "a")]).unwrap();
    let path = log.path().to_owned();
    drop(log);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(br#"{"parentUuid":"u1","type":"assis"#);
    fs::write(&path, &bytes).unwrap();
    let (mut log, replay) = home.store.resume(home.header("s1")).unwrap();
    assert!(replay.repairs.iter().any(|repair| repair.starts_with("line 2: not JSON")));
    assert!(replay.repairs.iter().any(|repair| repair.contains("set aside")));
    log.append(&[user("u2", "b")]).unwrap();
    let after = fs::read(&path).unwrap();
    assert!(after.starts_with(&bytes), "nothing of the torn line is lost");
    assert_eq!(after[bytes.len()], b'\n');
    assert_eq!(after.len() as u64, log.len_bytes());
}

#[test]
fn two_writers_cannot_meet() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&[user("u1", "a")]).unwrap();
    let busy = home.store.resume(home.header("s1")).unwrap_err();
    assert!(matches!(busy, Error::Busy { pid, .. } if pid == std::process::id()));
    assert_eq!(home.store.lock_owner("s1"), Some(std::process::id()));
    // Readers are never blocked.
    assert_eq!(home.store.read("s1").unwrap().entries.len(), 1);
    drop(log);
    assert_eq!(home.store.lock_owner("s1"), None);
    home.store.resume(home.header("s1")).unwrap();
}

#[test]
fn a_session_id_is_never_a_path() {
    let home = Home::new();
    for id in ["", "../x", "a/b", "a.b", &"a".repeat(65)] {
        assert!(matches!(
            home.store.create(Root::Native, home.header(id)).unwrap_err(),
            Error::Invalid { .. }
        ));
        assert_eq!(home.store.find(id), None);
    }
    assert!(matches!(home.store.read("missing").unwrap_err(), Error::NotFound { .. }));
}

#[test]
fn a_taken_id_is_refused() {
    let home = Home::new();
    home.log("s1").append(&[user("u1", "a")]).unwrap();
    let again = home.store.create(Root::Native, home.header("s1")).unwrap_err();
    assert!(again.to_string().contains("exists already"));
}

#[test]
fn a_rename_by_an_sdk_wins_and_the_chain_goes_on() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&[user("u1", "a"), Record::CustomTitle("ours".to_owned())]).unwrap();
    let mut other = OpenOptions::new().append(true).open(log.path()).unwrap();
    writeln!(other, r#"{{"type":"custom-title","customTitle":"theirs","sessionId":"s1"}}"#)
        .unwrap();
    log.append(&[user("u2", &"x".repeat(60_000))]).unwrap();
    assert_eq!(log.carried().title.as_deref(), Some("theirs"));
    let lines = lines(log.path());
    let titles: Vec<_> = lines.iter().filter_map(|line| line["customTitle"].as_str()).collect();
    assert_eq!(titles, ["ours", "theirs", "theirs"], "written again near the end");
    assert_eq!(log.len_bytes(), fs::metadata(log.path()).unwrap().len());
}

#[test]
fn a_deleted_session_takes_no_more_entries() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&[user("u1", "a")]).unwrap();
    fs::remove_file(log.path()).unwrap();
    assert!(matches!(log.append(&[user("u2", "b")]).unwrap_err(), Error::NotFound { .. }));
}

#[test]
fn a_failed_write_counts_for_nothing_and_is_taken_back() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&[user("u1", "a")]).unwrap();
    let before = fs::read(log.path()).unwrap();
    let carried = log.carried().clone();
    // A descriptor that cannot be written to stands for a disk that refuses.
    let good = log.file.replace(File::open(log.path()).unwrap());
    let error = log.append(&[user("u2", "b")]).unwrap_err();
    assert!(matches!(error, Error::Storage { .. }));
    assert_eq!(fs::read(log.path()).unwrap(), before);
    assert_eq!(log.carried(), &carried);
    log.file = good;
    log.append(&[user("u3", "c")]).unwrap();
    let replay = home.store.read("s1").unwrap();
    assert_eq!(replay.repairs, Vec::<String>::new());
    assert_eq!(replay.entries.len(), 2);
}

#[test]
fn a_full_disk_says_what_to_do() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&[user("u1", "a")]).unwrap();
    let full = OpenOptions::new().append(true).read(true).open("/dev/full");
    let Ok(full) = full else { return };
    log.len = 0;
    let good = log.file.replace(full);
    let error = log.append(&[user("u2", "b")]).unwrap_err();
    assert!(error.to_string().contains("free some space"), "{error}");
    log.len = fs::metadata(&log.path).unwrap().len();
    log.file = good;
    log.append(&[user("u3", "c")]).unwrap();
    assert_eq!(home.store.read("s1").unwrap().entries.len(), 2);
}

#[test]
fn a_broken_answer_is_voided_for_us_and_for_other_readers() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&[user("u1", "a")]).unwrap();
    log.append(&[answer("a1", "m1", Block::text("half"))]).unwrap();
    log.append(&[answer("a2", "m1", Block::text("more"))]).unwrap();
    let uuids = vec!["a1".to_owned(), "a2".to_owned()];
    log.append(&[Record::Own(Own::Void { uuids })]).unwrap();
    let mut again = answer("a3", "m2", Block::text("whole"));
    if let Record::Assistant(entry) = &mut again {
        (entry.stop_reason, entry.usage) = (None, None);
    }
    let usage = Usage { output_tokens: 9, ..Usage::default() };
    let stop_reason = "max_tokens".to_owned();
    log.append(&[
        again,
        Record::Own(Own::Response { message_id: "m2".to_owned(), stop_reason, usage }),
    ])
    .unwrap();
    let last = lines(log.path()).into_iter().find(|line| line["uuid"] == "a3").unwrap();
    assert_eq!(last["parentUuid"], "u1");
    let replay = home.store.read("s1").unwrap();
    let uuids: Vec<_> = replay.entries.iter().map(crate::record::Entry::uuid).collect();
    assert_eq!(uuids, ["u1", "a3"]);
    let EntryBody::Assistant(answer) = &replay.entries[1].body else { panic!() };
    assert_eq!(answer.stop_reason.as_deref(), Some("max_tokens"));
    assert_eq!(answer.usage, Some(usage));
}

#[test]
fn a_prompt_on_an_older_entry_branches() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&[user("u1", "a"), answer("a1", "m1", Block::text("x"))]).unwrap();
    log.append(&[user("u2", "b"), answer("a2", "m2", Block::text("y"))]).unwrap();
    log.branch_at("a1");
    log.append(&[user("u3", "c"), answer("a3", "m3", Block::text("z"))]).unwrap();
    let replay = home.store.read("s1").unwrap();
    let uuids: Vec<_> = replay.entries.iter().map(crate::record::Entry::uuid).collect();
    assert_eq!(uuids, ["u1", "a1", "u3", "a3"]);
}

#[test]
fn the_journal_is_handed_out_unless_its_block_stands_in_the_log() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&[user("u1", "a")]).unwrap();
    let block = OpenBlock {
        message_id: "m1".to_owned(),
        block: 0,
        thinking: false,
        model: "model-1".to_owned(),
    };
    log.append_delta(&block, 1, "Hel").unwrap();
    log.append_delta(&block, 2, "lo").unwrap();
    drop(log);
    let (mut log, replay) = home.store.resume(home.header("s1")).unwrap();
    let tail = replay.journal.unwrap();
    assert_eq!((tail.text.as_str(), tail.n, tail.thinking), ("Hello", 2, false));
    log.append(&[answer("a1", "m1", Block::text("Hello"))]).unwrap();
    assert_eq!(home.store.read("s1").unwrap().journal, None);
    assert_eq!(log.take_journal().unwrap(), Some(tail));
    assert_eq!(log.take_journal().unwrap(), None);
}

fn compaction(uuid: &str) -> Record {
    let Record::User(summary) = user(&format!("{uuid}-s"), "summary") else { unreachable!() };
    Record::Compacted(Compaction {
        uuid: uuid.to_owned(),
        trigger: "auto".to_owned(),
        pre_tokens: 5,
        summary,
    })
}

#[test]
fn after_a_compaction_the_request_begins_with_the_summary() {
    let home = Home::new();
    let mut log = home.log("s1");
    log.append(&turn()).unwrap();
    log.append(&[compaction("c1")]).unwrap();
    log.checkpoint().unwrap();
    log.append(&[user("u9", "on")]).unwrap();
    let replay = home.store.read("s1").unwrap();
    let uuids: Vec<_> = replay.entries.iter().map(crate::record::Entry::uuid).collect();
    assert_eq!(uuids, ["c1-s", "u9"]);
    assert_eq!(replay.summaries, ["c1-s"]);
    assert_eq!(&replay.carried, log.carried());
    let all = home.store.read_all("s1").unwrap();
    assert_eq!(all.entries.len(), bodies(&turn()).len() + 2);
    // A branch to before the summary brings back what it stood for.
    log.branch_at("a4");
    log.append(&[user("u10", "back")]).unwrap();
    let replay = home.store.read("s1").unwrap();
    assert_eq!(replay.entries.len(), bodies(&turn()).len() + 1);
}

#[derive(Debug, Clone)]
enum Step {
    Prompt(String),
    Tool(String),
    Answer(String),
    Mode(usize),
    Cut,
    Compact,
    Branch(usize),
    Checkpoint,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => "\\PC{0,40}".prop_map(Step::Prompt),
        3 => "\\PC{0,400}".prop_map(Step::Tool),
        4 => "\\PC{0,40}".prop_map(Step::Answer),
        1 => (0..8usize).prop_map(Step::Mode),
        1 => Just(Step::Cut),
        1 => Just(Step::Compact),
        1 => (0..40usize).prop_map(Step::Branch),
        3 => Just(Step::Checkpoint),
        1 => Just(Step::Reopen),
    ]
}

fn play(home: &Home, steps: &[Step]) -> SessionLog {
    let mut log = home.log("s1");
    log.append(&[user("start", "start")]).unwrap();
    let mut uuids = vec!["start".to_owned()];
    for (n, step) in steps.iter().enumerate() {
        home.clock.advance(1);
        let id = format!("e{n}");
        let records = match step {
            Step::Prompt(text) => vec![user(&id, text)],
            Step::Tool(text) => {
                uuids.push(format!("{id}-r"));
                vec![call(&id, &id), result(&format!("{id}-r"), &id, text)]
            }
            Step::Answer(text) => vec![answer(&id, &id, Block::text(text.clone()))],
            Step::Mode(n) => vec![Record::PermissionMode(Mode::ALL[*n])],
            Step::Cut => vec![Record::Own(Own::Cut { tool_use_ids: vec![id.clone()] })],
            Step::Compact => vec![compaction(&id)],
            Step::Branch(back) => {
                log.branch_at(&uuids[uuids.len().saturating_sub(1 + back)]);
                vec![user(&id, "branch")]
            }
            Step::Checkpoint => {
                log.last_context = LastContext::default();
                log.last_context.from = u64::MAX;
                log.checkpoint().unwrap();
                continue;
            }
            Step::Reopen => {
                drop(log);
                log = home.store.resume(home.header("s1")).unwrap().0;
                continue;
            }
        };
        log.append(&records).unwrap();
        match &records[0] {
            Record::Compacted(compaction) => uuids.push(compaction.summary.uuid.clone()),
            Record::User(_) | Record::Assistant(_) => uuids.push(id),
            _ => {}
        }
    }
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_resume_from_a_context_record_equals_a_whole_read(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let home = Home::new();
        let log = play(&home, &steps);
        let window = home.store.read("s1").unwrap();
        prop_assert_eq!(&window.repairs, &Vec::<String>::new());
        prop_assert_eq!(&window.carried, log.carried());
        // The same file, its context records made unreadable.
        let text = fs::read_to_string(log.path()).unwrap();
        let blind = text.replace(r#""kind":"context""#, r#""kind":"cantext""#);
        fs::write(log.path(), blind).unwrap();
        let whole = home.store.read("s1").unwrap();
        prop_assert_eq!(&window.entries, &whole.entries);
        prop_assert_eq!(&window.carried, &whole.carried);
        prop_assert_eq!(&window.last_uuid, &whole.last_uuid);
        prop_assert_eq!(window.last_at_ms, whole.last_at_ms);
        prop_assert_eq!(window.created_at_ms, whole.created_at_ms);
    }
}
