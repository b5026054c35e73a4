//! The list, and everything that may be wrong with what it lists.

use std::fs;

use super::*;
use crate::{
    log::tests::{Home, answer, user},
    record::{Own, Record},
};

fn home_with(ids: &[&str]) -> Home {
    let home = Home::new();
    for id in ids {
        let mut log = home.log(id);
        log.append(&[
            Record::Own(Own::Pinned { provider: "acme".to_owned(), model: "m".to_owned() }),
            user("u1", "first\nprompt"),
            answer("a1", "m1", ostler_protocol::Block::text("x")),
            user("u2", "second"),
        ])
        .unwrap();
    }
    home
}

fn ids(listing: &Listing) -> Vec<&str> {
    let mut ids: Vec<_> = listing.rows.iter().map(|row| row.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

fn folder(home: &Home) -> PathBuf {
    let project = home.header("x").cwd;
    home.store.projects(Root::Native).join(slug(&project))
}

fn index_file(home: &Home) -> PathBuf {
    home.dir.path().join("ostler/index.sqlite")
}

#[test]
fn a_row_says_what_the_log_says() {
    let home = home_with(&["s1"]);
    let listing = home.store.list(&Filter::default());
    assert_eq!(listing.problems, []);
    let row = &listing.rows[0];
    assert_eq!((row.title.as_str(), row.titled), ("first prompt", false));
    assert_eq!(row.last_prompt.as_deref(), Some("second"));
    assert_eq!((row.turns, row.foreign, row.open_run), (Some(2), false, false));
    assert_eq!(row.provider.as_deref(), Some("acme"));
    assert_eq!(row.created_ms, 1_796_083_630_120);
    assert_eq!(row.project.as_deref(), home.header("s1").cwd.to_str());
    assert_eq!(row.root, Some(Root::Native));
    // The second list comes from the index and is the same.
    assert_eq!(home.store.list(&Filter::default()), listing);
}

#[test]
fn the_list_follows_the_logs() {
    let home = home_with(&["s1", "s2"]);
    assert_eq!(ids(&home.store.list(&Filter::default())), ["s1", "s2"]);
    let (mut log, _) = home.store.resume(home.header("s1")).unwrap();
    log.set_title("Named").unwrap();
    fs::remove_file(folder(&home).join("s2.jsonl")).unwrap();
    let listing = home.store.list(&Filter::default());
    assert_eq!((ids(&listing), listing.rows[0].title.as_str()), (vec!["s1"], "Named"));
    assert_eq!(home.store.find_by_title("named")[0].id, "s1");
    assert_eq!(home.store.find_by_title("first prompt"), []);
    assert_eq!(home.store.newest_in(&home.header("s1").cwd, Root::Native).unwrap().id, "s1");
}

#[test]
fn a_damaged_or_missing_index_is_made_again() {
    let home = home_with(&["s1", "s2"]);
    let before = home.store.list(&Filter::default());
    let roots = home.store.roots().clone();
    for garbage in [&b"garbage"[..], &[0; 8192], b"SQLite format 3\0garbage and more of it"] {
        fs::write(index_file(&home), garbage).unwrap();
        for suffix in ["-wal", "-shm"] {
            drop(fs::remove_file(home.dir.path().join(format!("ostler/index.sqlite{suffix}"))));
        }
        let store = Store::new(roots.clone(), std::sync::Arc::new(home.clock.clone()));
        assert_eq!(store.list(&Filter::default()), before);
        assert_eq!(store.list(&Filter::default()), before);
    }
    // A folder in its place cannot be removed: lists go on without an index.
    fs::remove_file(index_file(&home)).unwrap();
    fs::create_dir_all(index_file(&home).join("x")).unwrap();
    let store = Store::new(roots, std::sync::Arc::new(home.clock));
    assert_eq!(store.list(&Filter::default()), before);
}

#[test]
fn one_bad_log_costs_its_own_row_and_is_named() {
    let home = home_with(&["good"]);
    let dir = folder(&home);
    let good = fs::read(dir.join("good.jsonl")).unwrap();
    fs::write(dir.join("empty.jsonl"), b"").unwrap();
    fs::write(dir.join("zeros.jsonl"), [0; 512]).unwrap();
    fs::write(dir.join("noise.jsonl"), b"\xff\xfe{{{\n\xc3").unwrap();
    fs::write(dir.join("torn.jsonl"), &good[..good.len() - 20]).unwrap();
    fs::write(dir.join("../loose"), b"x").unwrap();
    fs::write(dir.join("not an id.jsonl"), &good).unwrap();
    for _ in 0..2 {
        let listing = home.store.list(&Filter::default());
        assert_eq!(ids(&listing), ["good", "torn"]);
        let mut named: Vec<_> = listing
            .problems
            .iter()
            .map(|p| p.path.file_stem().unwrap().to_str().unwrap())
            .collect();
        named.sort_unstable();
        assert_eq!(named, ["empty", "noise", "torn", "zeros"]);
    }
}

#[test]
fn foreign_and_archived_sessions_are_marked_and_sidechains_left_out() {
    let home = home_with(&["ours"]);
    let dir = home.store.projects(Root::Claude).join("-srv-app");
    fs::create_dir_all(dir.join("theirs")).unwrap();
    let line = r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":"u","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv/app"}"#;
    let title = r#"{"type":"ai-title","aiTitle":"Greeting","sessionId":"theirs"}"#;
    fs::write(dir.join("theirs.jsonl"), format!("{line}\n{title}\n")).unwrap();
    fs::write(dir.join("theirs/archived.json"), r#"{"archived":true}"#).unwrap();
    fs::write(dir.join("side.jsonl"), line.replace("chain\":false", "chain\":true")).unwrap();
    let listing = home.store.list(&Filter::default());
    assert_eq!((ids(&listing), &listing.problems), (vec!["ours", "theirs"], &Vec::new()));
    let theirs = listing.rows.iter().find(|row| row.id == "theirs").unwrap();
    assert!(theirs.foreign && theirs.archived);
    assert_eq!(theirs.title, "Greeting");
    let ours = Filter { ours: true, ..Filter::default() };
    assert_eq!(ids(&home.store.list(&ours)), ["ours"]);
    let project = Some(AbsPath::new("/srv/app").unwrap());
    let there = Filter { project, ..Filter::default() };
    assert_eq!(ids(&home.store.list(&there)), ["theirs"]);
    // The same folder name, another path in the records.
    let project = Some(AbsPath::new("/srv-app").unwrap());
    let other = Filter { project, ..Filter::default() };
    assert_eq!(ids(&home.store.list(&other)), [""; 0]);
    // A list of one project keeps what is known of the others.
    assert_eq!(ids(&home.store.list(&Filter::default())), ["ours", "theirs"]);
}

#[test]
fn turns_of_a_long_log_are_counted() {
    let home = home_with(&["s1"]);
    let (mut log, _) = home.store.resume(home.header("s1")).unwrap();
    for n in 0..300 {
        log.append(&[user(&format!("p{n}"), &"x".repeat(1000))]).unwrap();
    }
    assert_eq!(home.store.list(&Filter::default()).rows[0].turns, Some(302));
    log.checkpoint().unwrap();
    assert_eq!(home.store.list(&Filter::default()).rows[0].turns, Some(302));
}

#[test]
fn two_processes_share_one_index() {
    let home = home_with(&["s1", "s2", "s3"]);
    let roots = home.store.roots().clone();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let store = Store::new(roots.clone(), std::sync::Arc::new(home.clock.clone()));
            scope.spawn(move || {
                for _ in 0..10 {
                    assert_eq!(ids(&store.list(&Filter::default())), ["s1", "s2", "s3"]);
                }
            });
        }
    });
}
