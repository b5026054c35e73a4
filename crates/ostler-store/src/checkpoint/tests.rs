//! What calls, people and killed processes do to files, and what an undo makes of it; the
//! fault rows 19, 47 and 48 among them.

use std::{
    collections::BTreeMap,
    fs::{self, File, Permissions},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
};

use super::*;
use crate::{
    log::tests::Home,
    record::{Checkpoint, Own, Record},
};

mod ignored;
mod random;

/// A project and a home beside it, removed at the end.
pub(super) struct Place {
    dir: tempfile::TempDir,
    pub(super) points: Checkpoints,
    cancel: Cancel,
}

impl Place {
    pub(super) fn new() -> Self {
        Self::with(Limits::default())
    }

    fn with(limits: Limits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("p")).unwrap();
        let home = AbsPath::new(dir.path().canonicalize().unwrap()).unwrap().join("home");
        let points = Checkpoints::new(Blobs::at(&home), limits);
        Self { dir, points, cancel: Cancel::new() }
    }

    pub(super) fn root(&self) -> AbsPath {
        AbsPath::new(self.dir.path().canonicalize().unwrap()).unwrap().join("p")
    }

    pub(super) fn path(&self, name: &str) -> AbsPath {
        self.root().join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn files(&self, names: &[&str]) -> Before {
        let paths: Vec<AbsPath> = names.iter().map(|name| self.path(name)).collect();
        self.points.before_files(&paths, &self.cancel)
    }

    pub(super) fn tree(&self) -> Before {
        self.points.before_tree(&self.root(), &self.cancel)
    }

    pub(super) fn after(&self, before: Before) -> Manifest {
        self.points.after(before, &self.cancel)
    }

    pub(super) fn undo(&self, manifest: &Manifest) -> Undone {
        self.points.undo(std::slice::from_ref(manifest), None, &self.cancel)
    }

    /// The names and states of a manifest, for reading.
    fn told(&self, manifest: &Manifest) -> Vec<String> {
        let word = |state: &State| match state {
            State::Absent => "-".to_owned(),
            State::File { size, .. } => format!("file {size}"),
            State::Link { target } => format!("link {}", target.as_path().display()),
            State::Folder { .. } => "folder".to_owned(),
            State::Unkept { why, .. } => format!("{why:?}"),
            State::Unknown => "?".to_owned(),
        };
        let tell = |change: &FileChange| {
            let name = change.path.as_path().strip_prefix(self.root()).unwrap().display();
            format!("{name}: {} > {}", word(&change.before), word(&change.after))
        };
        manifest.files.iter().map(tell).collect()
    }

    /// Everything below the project: mode and content of each path.
    pub(super) fn all(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        picture(&self.root())
    }
}

pub(super) fn picture(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else {
                fs::read(&path).unwrap()
            };
            all.insert(path, (metadata.mode(), content));
        }
    }
    all
}

pub(super) fn reasons(undone: &Undone) -> Vec<Reason> {
    undone.conflicts.iter().map(|conflict| conflict.reason.clone()).collect()
}

#[test]
fn a_write_and_its_new_folders_are_taken_back_and_brought_again() {
    let place = Place::new();
    place.write("old.txt", "one\r\n");
    fs::set_permissions(place.path("old.txt"), Permissions::from_mode(0o754)).unwrap();
    let was = place.all();
    let before = place.files(&["old.txt", "a/b/new.txt", "same.txt"]);
    assert!(before.uncovered().is_nothing());
    place.write("old.txt", "two\n");
    fs::set_permissions(place.path("old.txt"), Permissions::from_mode(0o600)).unwrap();
    place.write("a/b/new.txt", "");
    let is = place.all();
    let manifest = place.after(before);
    assert_eq!(
        place.told(&manifest),
        ["a: - > folder", "a/b: - > folder", "a/b/new.txt: - > file 0", "old.txt: file 5 > file 4"]
    );
    let undone = place.undo(&manifest);
    assert_eq!((undone.done.len(), reasons(&undone)), (4, vec![]));
    assert_eq!(place.all(), was);
    // Taking it back a second time changes nothing.
    assert_eq!(place.undo(&manifest).reverse, Manifest::default());
    // The undo is taken back by undoing what it did.
    let again = place.undo(&undone.reverse);
    assert_eq!((again.done.len(), reasons(&again)), (4, vec![]));
    assert_eq!(place.all(), is);
}

#[test]
fn a_file_that_changed_since_stays_and_is_named() {
    let place = Place::new();
    place.write("a", "1");
    place.write("b", "1");
    let before = place.files(&["a", "b", "new", "gone"]);
    for name in ["a", "b", "new"] {
        place.write(name, "2");
    }
    let manifest = place.after(before);
    place.write("a", "mine");
    place.write("new", "mine too");
    let undone = place.undo(&manifest);
    assert_eq!(reasons(&undone), [Reason::ChangedSince, Reason::ChangedSince]);
    assert_eq!((place.read("a"), place.read("b")), ("mine".to_owned(), "1".to_owned()));
    assert_eq!(place.read("new"), "mine too");
    // A mode that somebody changed is a change too.
    let manifest = {
        let before = place.files(&["b"]);
        place.write("b", "3");
        place.after(before)
    };
    fs::set_permissions(place.path("b"), Permissions::from_mode(0o600)).unwrap();
    assert_eq!(reasons(&place.undo(&manifest)), [Reason::ChangedSince]);
}

#[test]
fn several_calls_go_back_to_the_first_but_not_over_a_persons_change() {
    let place = Place::new();
    place.write("a", "0");
    place.write("b", "0");
    let call = |n: &str| {
        let before = place.files(&["a", "b"]);
        place.write("a", n);
        place.write("b", n);
        place.after(before)
    };
    let first = call("1");
    place.write("b", "mine");
    let second = call("2");
    let third = call("3");
    let all = [first, second.clone(), third.clone()];
    let (steps, conflicts) = place.points.preview(&all, None, &place.cancel);
    assert_eq!((steps.len(), conflicts.len()), (1, 1));
    let undone = place.points.undo(&all, None, &place.cancel);
    assert_eq!(reasons(&undone), [Reason::ChangedBetween]);
    assert_eq!((place.read("a"), place.read("b")), ("0".to_owned(), "3".to_owned()));
    // The calls after the change can be taken back alone.
    let targets = [place.path("b")];
    let undone = place.points.undo(&[second, third], Some(&targets), &place.cancel);
    assert_eq!(reasons(&undone), []);
    assert_eq!((place.read("a"), place.read("b")), ("0".to_owned(), "mine".to_owned()));
}

#[test]
fn a_part_of_a_file_is_taken_back_by_bytes() {
    let place = Place::new();
    place.write("a", "1\n2\n");
    let before = place.files(&["a"]);
    place.write("a", "one\ntwo\n");
    let manifest = place.after(before);
    let change = &manifest.files[0];
    assert_eq!(place.points.content(&change.before).unwrap().as_deref(), Some(&b"1\n2\n"[..]));
    let step = Step {
        path: change.path.clone(),
        expect: change.after.clone(),
        want: Want::Bytes(b"1\ntwo\n".to_vec()),
    };
    let undone = place.points.apply(vec![step.clone()], &place.cancel);
    assert_eq!((undone.done.len(), place.read("a")), (1, "1\ntwo\n".to_owned()));
    place.undo(&undone.reverse);
    assert_eq!(place.read("a"), "one\ntwo\n");
    place.write("a", "mine");
    let undone = place.points.apply(vec![step], &place.cancel);
    assert_eq!(reasons(&undone), [Reason::ChangedSince]);
}

#[test]
fn links_are_kept_as_links_and_nothing_is_written_through_one() {
    let place = Place::new();
    place.write("real/x", "1");
    symlink("real/x", place.path("link")).unwrap();
    symlink("real", place.path("folder")).unwrap();
    // A write through a link changes what it leads to.
    let before = place.files(&["link", "folder/y"]);
    place.write("real/x", "2");
    place.write("real/y", "2");
    let manifest = place.after(before);
    assert_eq!(place.told(&manifest), ["real/x: file 1 > file 1", "real/y: - > file 1"]);
    // Meanwhile the folder became a link to another place.
    fs::rename(place.path("real"), place.path("elsewhere")).unwrap();
    symlink("elsewhere", place.path("real")).unwrap();
    let undone = place.undo(&manifest);
    assert_eq!(reasons(&undone), [Reason::ThroughLink, Reason::ThroughLink]);
    assert_eq!(place.read("elsewhere/x"), "2");

    let before = place.tree();
    fs::remove_file(place.path("link")).unwrap();
    symlink("nowhere", place.path("link")).unwrap();
    let manifest = place.after(before);
    assert_eq!(place.told(&manifest), ["link: link real/x > link nowhere"]);
    assert_eq!(reasons(&place.undo(&manifest)), []);
    assert_eq!(fs::read_link(place.path("link")).unwrap(), Path::new("real/x"));
}

/// Waits until the stamps of what was written can be told from those of what comes.
pub(super) fn wait_for_old_stamps(place: &Place) {
    let newest = || {
        let all = place.all();
        let stamps = all.keys().map(|path| Stamp::of(&path.symlink_metadata().unwrap()));
        stamps.map(|stamp| stamp.ctime_ns).max().unwrap_or(0)
    };
    while newest() > look::now_ns() - 2 * look::RACY_NS {
        std::thread::yield_now();
    }
}

#[test]
fn a_call_that_wipes_uncommitted_work_is_taken_back_in_one_step() {
    // Row 47: what checkout, reset, clean and rm do to a dirty tree, a worktree, a submodule.
    let place = Place::new();
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    place.write("tracked.rs", "uncommitted");
    place.write("untracked/notes.md", "never added");
    place.write("sub/.git", "gitdir: ../.git/modules/sub\n");
    place.write("sub/lib.rs", "changed in a submodule");
    fs::create_dir_all(place.path("empty/deeper")).unwrap();
    let was = place.all();
    let before = place.tree();
    place.write("tracked.rs", "committed");
    for folder in ["untracked", "empty"] {
        fs::remove_dir_all(place.path(folder)).unwrap();
    }
    fs::remove_file(place.path("sub/lib.rs")).unwrap();
    let manifest = place.after(before);
    let undone = place.undo(&manifest);
    assert_eq!((undone.done.len(), reasons(&undone)), (6, vec![]));
    assert_eq!(place.all(), was);
}

#[test]
fn a_huge_untracked_file_costs_nothing_and_is_said() {
    // Row 48.
    let place = Place::new();
    let huge = File::create(place.path("huge.bin")).unwrap();
    huge.set_len(4_800_000_000).unwrap();
    place.write("small", "1");
    let before = place.tree();
    let uncovered = before.uncovered();
    assert_eq!((uncovered.files, uncovered.bytes), (1, 4_800_000_000));
    assert!(!uncovered.more && !uncovered.is_nothing());
    place.write("small", "2");
    let manifest = place.after(before);
    assert_eq!(place.told(&manifest), ["small: file 1 > file 1"]);
    assert_eq!(manifest.uncovered, uncovered);
    let bytes: u64 = place.points.blobs().prune(u64::MAX, |_| true).left_bytes;
    assert_eq!(bytes, 1);

    // A change of it is told, and that it cannot be taken back.
    for before in [place.tree(), place.files(&["huge.bin"])] {
        let size = huge.metadata().unwrap().len();
        huge.set_len(size + 1).unwrap();
        let manifest = place.after(before);
        assert_eq!(place.told(&manifest), ["huge.bin: TooLarge > TooLarge"]);
        assert_eq!(reasons(&place.undo(&manifest)), [Reason::LeftUnknown(Unkept::TooLarge)]);
    }
    let before = place.tree();
    place.write("huge.bin", "small now");
    let manifest = place.after(before);
    assert_eq!(reasons(&place.undo(&manifest)), [Reason::NotKept(Unkept::TooLarge)]);
}

#[test]
fn copies_are_bounded_small_ones_first_and_what_is_left_is_counted() {
    let limits = Limits { tree_bytes: 1000, small_file: 100, ..Limits::default() };
    let place = Place::with(limits);
    for n in 0..8 {
        place.write(&format!("s{n}"), [n; 100]);
    }
    place.write("large", [9; 500]);
    wait_for_old_stamps(&place);
    let first = place.tree();
    assert_eq!((first.uncovered().files, first.uncovered().bytes), (1, 500));
    // The next picture has its own share, and the small ones are known.
    assert!(place.tree().uncovered().is_nothing());
    // A large file that changes all the time is not copied for ever; a small one is.
    for n in 10..20 {
        place.write("large", [n; 500]);
        place.write("s0", [n; 100]);
        let left = place.tree().uncovered();
        assert_eq!(left.files, u64::from(n >= 12), "{n}");
    }
}

#[test]
fn a_tree_with_too_many_entries_is_cut_and_lists_only_what_happened() {
    let place = Place::with(Limits { tree_entries: 50, ..Limits::default() });
    for n in 0..200 {
        place.write(&format!("f{n}"), "1");
    }
    wait_for_old_stamps(&place);
    let before = place.tree();
    assert!(before.uncovered().more);
    place.write("f7", "changed");
    let manifest = place.after(before);
    assert!(manifest.uncovered.more);
    for change in &manifest.files {
        assert_eq!(change.path.as_path(), &*place.path("f7"));
    }
}

#[test]
fn a_change_within_the_same_tick_is_seen() {
    let place = Place::new();
    for n in 0..50 {
        place.write("a", format!("{n:03}"));
        let before = place.tree();
        place.write("a", format!("{:03}", n + 100));
        assert_eq!(place.after(before).files.len(), 1, "{n}");
    }
}

#[test]
fn a_killed_snapshot_leaves_nothing_that_hurts() {
    // Row 48, and 19: the half-written copy of a killed process is gone with the next prune.
    let place = Place::new();
    place.write("a", "1");
    drop(place.tree());
    let temp = place.points.blobs().dir().join("tmp");
    fs::write(temp.join(".tmpHalf"), "half a").unwrap();
    let was = place.all();
    let before = place.tree();
    place.write("a", "2");
    let manifest = place.after(before);
    assert_eq!(reasons(&place.undo(&manifest)), []);
    assert_eq!(place.all(), was);
    place.points.blobs().prune(u64::MAX, |_| true);
    assert_eq!(fs::read_dir(temp).unwrap().count(), 0);
}

#[test]
fn two_thousand_pictures_leave_no_file_behind() {
    // Row 19.
    let place = Place::new();
    place.write("a", "1");
    let count = || picture(place.dir.path()).len();
    drop(place.tree());
    let was = count();
    for _ in 0..1000 {
        drop(place.after(place.files(&["a", "b"])));
        drop(place.after(place.tree()));
    }
    assert_eq!(count(), was);
}

#[test]
fn a_home_that_cannot_be_written_covers_nothing_and_says_so() {
    let place = Place::new();
    place.write("a", "1");
    fs::write(place.dir.path().join("home"), "a file where the home should be").unwrap();
    for before in [place.tree(), place.files(&["a"])] {
        assert_eq!(before.uncovered().files, 1);
        place.write("a", "22");
        let manifest = place.after(before);
        assert_eq!(place.told(&manifest), ["a: Storage > file 2"]);
        assert_eq!(reasons(&place.undo(&manifest)), [Reason::CannotKeep(Unkept::Storage)]);
        place.write("a", "1");
    }
}

#[test]
fn cancelled_work_stops_and_claims_nothing() {
    let place = Place::new();
    place.write("a", "1");
    place.cancel.cancel();
    assert!(place.tree().uncovered().more);
    assert_eq!(place.files(&["a"]).uncovered().files, 1);
    let manifest = {
        let points = &place.points;
        let before = points.before_files(&[place.path("a")], &Cancel::new());
        place.write("a", "2");
        points.after(before, &Cancel::new())
    };
    assert_eq!(reasons(&place.undo(&manifest)), [Reason::Cancelled]);
    assert_eq!(place.read("a"), "2");
}

#[test]
fn a_pruned_or_damaged_content_is_missing_and_the_file_stays() {
    let place = Place::new();
    place.write("a", "1");
    let before = place.files(&["a"]);
    place.write("a", "2");
    let manifest = place.after(before);
    place.points.blobs().prune(0, |_| false);
    assert_eq!(reasons(&place.undo(&manifest)), [Reason::Missing]);
    assert_eq!(place.read("a"), "2");
}

#[test]
fn what_another_process_pruned_is_copied_again() {
    let place = Place::new();
    place.write("a", "1");
    wait_for_old_stamps(&place);
    drop(place.tree());
    let home = AbsPath::new(place.points.blobs().dir().parent().unwrap()).unwrap();
    assert_eq!(Blobs::at(&home).prune(0, |_| false).removed, 1);
    let before = place.tree();
    fs::remove_file(place.path("a")).unwrap();
    let manifest = place.after(before);
    assert_eq!(reasons(&place.undo(&manifest)), []);
    assert_eq!(place.read("a"), "1");
}

#[test]
fn a_session_log_gives_the_manifests_back() {
    let home = Home::new();
    let place = Place::new();
    let before = place.tree();
    for n in 0..300 {
        place.write(&format!("f{n}"), "1");
    }
    let many = place.after(before);
    let few = Manifest {
        files: many.files[..2].to_vec(),
        uncovered: Uncovered { files: 3, bytes: 4, more: true },
    };
    let mut log = home.log("s1");
    let records = [
        place.points.record("t1", vec![], few.clone()),
        place.points.record("u1", vec!["t1".to_owned()], many.clone()),
    ];
    log.append(&[crate::log::tests::user("u1", "a")]).unwrap();
    log.append(&records.clone().map(|record| Record::Own(Own::Checkpoint(record)))).unwrap();
    let size = fs::metadata(log.path()).unwrap().len();
    assert!(size < 2000, "{size}");
    let replay = home.store.read("s1").unwrap();
    assert_eq!(replay.checkpoints, records);
    let read: Vec<_> =
        replay.checkpoints.iter().map(|one| place.points.manifest(one).unwrap().unwrap()).collect();
    assert_eq!(read, [few, many]);
    place.points.blobs().prune(0, |_| false);
    assert_eq!(place.points.manifest(&records[1]).unwrap(), None);
}

#[test]
fn records_stand_on_disk_as_promised_and_later_ones_are_read() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
    let odd = KeptPath::from(OsStr::from_bytes(b"/a\xff"));
    let blob = BlobId::of(b"1");
    let record = Checkpoint {
        tool_use_id: "t".to_owned(),
        files: vec![
            FileChange {
                path: "/a".into(),
                before: State::File { blob, size: 1, mode: 0o644 },
                after: State::Unkept { size: 9, mode: 0o600, why: Unkept::TooLarge },
            },
            FileChange {
                path: odd,
                before: State::Absent,
                after: State::Link { target: "b".into() },
            },
        ],
        ..Checkpoint::default()
    };
    let json = serde_json::to_string(&Own::Checkpoint(record.clone())).unwrap();
    assert_eq!(
        json,
        format!(
            r#"{{"kind":"checkpoint","toolUseId":"t","files":[{{"path":"/a","before":{{"is":"file","blob":"{blob}","size":1,"mode":420}},"after":{{"is":"unkept","size":9,"mode":384,"why":"too_large"}}}},{{"path":{{"hex":"2f61ff"}},"before":{{"is":"absent"}},"after":{{"is":"link","target":"b"}}}}]}}"#
        )
    );
    assert_eq!(serde_json::from_str::<Own>(&json).unwrap(), Own::Checkpoint(record));
    let later = r#"{"is":"door","wood":"oak"}"#;
    assert_eq!(serde_json::from_str::<State>(later).unwrap(), State::Unknown);
    let later = r#"{"is":"unkept","size":1,"mode":1,"why":"tired"}"#;
    let State::Unkept { why, .. } = serde_json::from_str(later).unwrap() else { panic!() };
    assert_eq!(why, Unkept::Unknown);
}
