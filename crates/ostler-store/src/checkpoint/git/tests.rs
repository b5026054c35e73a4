//! What git itself writes is read right, and what is damaged is unknown. Runs `git`, as every
//! test of a repository must; never on anything but a folder of its own.

use std::process::Command;

use super::*;
use crate::checkpoint::{
    State, Unkept,
    tests::{Place, picture, reasons, wait_for_old_stamps},
};

#[expect(clippy::disallowed_methods, reason = "git itself makes what is read here")]
fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?} {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a repository of what is there; its index is younger than its files.
fn commit(place: &Place) {
    wait_for_old_stamps(place);
    git(&place.root(), &["init", "-q"]);
    git(&place.root(), &["add", "-A"]);
    git(&place.root(), &["commit", "-qm", "first"]);
    // Git itself leaves entries that it wrote a moment ago to be looked at again.
    wait_for_old_stamps(place);
    git(&place.root(), &["update-index", "--refresh"]);
}

fn source(n: usize) -> String {
    (0..200).map(|line| format!("line {line} of {}\n", if line == n { n } else { 0 })).collect()
}

fn sources(place: &Place) {
    for n in 0..20 {
        place.write(&format!("src/f{n}.rs"), source(n));
    }
    place.write("run.sh", "#!/bin/sh\n");
    place.write("empty", "");
    place.write("sp ace/\u{f6}", "umlaut");
}

/// Bytes that the blobs hold.
fn copied(place: &Place) -> u64 {
    place.points.blobs().prune(u64::MAX, |_| true).left_bytes
}

#[test]
fn what_git_has_is_not_copied_and_comes_back_and_git_is_left_alone() {
    // Row 48.
    let place = Place::new();
    sources(&place);
    commit(&place);
    place.write("src/f3.rs", "uncommitted");
    place.write("new", "untracked");
    let was = place.all();
    let before = place.tree();
    assert!(before.uncovered().is_nothing());
    assert_eq!(copied(&place), ("uncommitted".len() + "untracked".len()) as u64);
    // The same picture again, from memory.
    drop(place.tree());
    // Row 47.
    git(&place.root(), &["reset", "-q", "--hard"]);
    git(&place.root(), &["clean", "-qfdx"]);
    fs::remove_dir_all(place.path("src")).unwrap();
    place.write("empty", "no longer");
    let repository = picture(&place.path(".git"));
    let manifest = place.after(before);
    assert_eq!(manifest.files.len(), 23);
    assert_eq!(reasons(&place.undo(&manifest)), []);
    assert_eq!(picture(&place.path(".git")), repository);
    let without_git = |all: std::collections::BTreeMap<PathBuf, (u32, Vec<u8>)>| {
        all.into_iter()
            .filter(|(path, _)| !path.starts_with(place.path(".git")))
            .collect::<Vec<_>>()
    };
    assert_eq!(without_git(place.all()), without_git(was));
}

#[test]
fn every_form_of_index_and_object_is_read() {
    let place = Place::new();
    sources(&place);
    commit(&place);
    let root = place.root();
    let check = |what: &str| {
        let repository = Repository::open(&root).unwrap();
        assert_eq!(repository.entries.len(), 23, "{what}");
        for path in place.all().keys().filter(|path| path.is_file()) {
            if path.starts_with(place.path(".git")) {
                continue;
            }
            let stamp = stamp_of(path).unwrap();
            let oid =
                repository.unchanged(path, stamp).unwrap_or_else(|| panic!("{what} {path:?}"));
            let content = fs::read(path).unwrap();
            assert_eq!(repository.read(&oid, 1 << 20).as_ref(), Some(&content), "{what} {path:?}");
            if !content.is_empty() {
                assert_eq!(repository.read(&oid, content.len() as u64 - 1), None, "{what}");
            }
        }
    };
    check("loose");
    for version in ["4", "3", "2"] {
        git(&root, &["update-index", "--index-version", version]);
        check(version);
    }
    for (what, offsets) in [("names", "false"), ("offsets", "true")] {
        let setting = format!("repack.useDeltaBaseOffset={offsets}");
        git(&root, &["-c", &setting, "repack", "-adfq", "--depth=50", "--window=50"]);
        git(&root, &["prune-packed"]);
        let packs = git(&root, &["count-objects", "-v"]);
        assert!(packs.contains("count: 0") && packs.contains("packs: 1"), "{packs}");
        check(what);
    }
    // Objects that another repository lends.
    let lent = root.parent().unwrap().join("lent");
    fs::rename(place.path(".git/objects"), &lent).unwrap();
    place.write(".git/objects/info/alternates", lent.to_text());
    check("alternates");
    // A split index is not understood: nothing is known, and all is copied.
    git(&root, &["update-index", "--split-index"]);
    assert!(Repository::open(&root).is_none());
}

#[test]
fn a_worktree_and_a_submodule_are_repositories() {
    let place = Place::new();
    sources(&place);
    commit(&place);
    let root = place.root();
    git(&root, &["worktree", "add", "-q", "../tree"]);
    git(&root, &["clone", "-q", ".", "../other"]);
    let dir = root.parent().unwrap();
    git(&dir.join("other"), &["submodule", "--quiet", "add", &root.to_text(), "sub"]);
    wait_for_old_stamps(&place);
    for folder in [dir.join("tree"), dir.join("other/sub")] {
        git(&folder, &["update-index", "--refresh"]);
        let path = folder.join("src/f1.rs");
        let repository = Repository::open(&folder).unwrap();
        assert_eq!(repository.entries.len(), 23);
        let Some(oid) = repository.entries.get(&b"src/f1.rs"[..]).map(|entry| entry.oid) else {
            panic!("{folder:?}")
        };
        assert_eq!(repository.read(&oid, 1 << 20), fs::read(path).ok());
    }
}

#[test]
fn where_git_stores_another_form_files_are_copied() {
    let filter = "*.rs filter=secret\n";
    for (attributes, setting) in [
        (filter, None),
        ("* text=auto\n", None),
        ("", Some("autocrlf = input")),
        ("", Some("objectFormat = sha256")),
    ] {
        let place = Place::new();
        place.write("a.rs", "with\r\nends\r\n");
        place.write(".gitattributes", attributes);
        commit(&place);
        if let Some(setting) = setting {
            place.write(
                ".git/config",
                format!(
                    "[core]
{setting}
"
                ),
            );
        }
        let was = place.read("a.rs");
        let before = place.tree();
        assert_eq!(copied(&place), (was.len() + attributes.len()) as u64, "{attributes}");
        fs::remove_file(place.path("a.rs")).unwrap();
        let manifest = place.after(before);
        assert_eq!(reasons(&place.undo(&manifest)), []);
        assert_eq!(place.read("a.rs"), was);
    }
}

#[test]
fn an_object_that_is_gone_or_damaged_is_said_and_never_guessed() {
    for damage in [None, Some(&b"x\x9c"[..])] {
        let place = Place::new();
        sources(&place);
        commit(&place);
        let before = place.tree();
        let name = git(&place.root(), &["rev-parse", ":src/f1.rs"]);
        let object = place.path(&format!(".git/objects/{}/{}", &name[..2], name[2..].trim()));
        fs::remove_file(&object).unwrap();
        if let Some(damage) = damage {
            fs::write(&object, damage).unwrap();
        }
        fs::remove_file(place.path("src/f1.rs")).unwrap();
        let manifest = place.after(before);
        let [change] = manifest.files.as_slice() else { panic!("{manifest:?}") };
        assert!(matches!(change.before, State::Unkept { why: Unkept::Git, .. }));
    }
}

#[test]
fn damaged_indexes_and_packs_are_unknown_and_never_a_panic() {
    let place = Place::new();
    sources(&place);
    commit(&place);
    let root = place.root();
    git(&root, &["repack", "-adfq"]);
    let whole = fs::read(place.path(".git/index")).unwrap();
    for end in 0..whole.len() - 20 {
        let cut = index::parse(&whole[..end]);
        assert!(cut.is_none_or(|entries| entries.len() <= 23));
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        drop(index::parse(&bytes));
    }
    let repository = Repository::open(&root).unwrap();
    let oids: Vec<Oid> = repository.entries.values().map(|entry| entry.oid).collect();
    let pack = fs::read_dir(place.path(".git/objects/pack")).unwrap();
    for file in pack.map(|entry| entry.unwrap().path()) {
        let whole = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 40 + 1) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            fs::write(&file, &bytes).unwrap();
            for oid in &oids {
                // Whatever it reads, it gives only what the name says.
                let content = repository.read(oid, 1 << 20);
                assert!(content.is_none_or(|content| blob_name(&content) == *oid));
            }
        }
        fs::write(&file, &whole).unwrap();
    }
    assert!(oids.iter().all(|oid| repository.read(oid, 1 << 20).is_some()));
}
