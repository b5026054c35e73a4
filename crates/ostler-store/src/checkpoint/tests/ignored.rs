//! What git ignores: folders are never looked at, single small files come back, and no
//! ignored file is taken for a new one.

use super::*;

#[test]
fn folders_that_git_ignores_and_its_own_are_no_part_of_a_tree() {
    let place = Place::new();
    place.write(".gitignore", "*.log\n/target/\n!keep.log\n");
    place.write(".git/config", "[core]\n");
    place.write(".git/info/exclude", "private\n");
    place.write("sub/.gitignore", "*.tmp\n");
    place.write("inner/.git/HEAD", "ref: refs/heads/main\n");
    place.write("inner/.gitignore", "out\n");
    let change = |text: &str| {
        for name in [
            "a.rs",
            "x.log",
            "keep.log",
            "target/a",
            "sub/b.tmp",
            "sub/b.rs",
            "private",
            ".git/index",
            "inner/out",
            "inner/c.log",
            "inner/c.rs",
            ".hidden",
        ] {
            place.write(name, text);
        }
    };
    change("1");
    let git = picture(&place.path(".git"));
    let before = place.tree();
    assert_eq!(picture(&place.path(".git")), git);
    change("two");
    let manifest = place.after(before);
    assert_eq!(
        place.told(&manifest),
        [
            ".hidden: file 1 > file 3",
            "a.rs: file 1 > file 3",
            // The rules of the outer repository end at the inner one.
            "inner/c.log: file 1 > file 3",
            "inner/c.rs: file 1 > file 3",
            "inner/out: file 1 > file 3",
            "keep.log: file 1 > file 3",
            "private: file 1 > file 3",
            "sub/b.rs: file 1 > file 3",
            "sub/b.tmp: file 1 > file 3",
            "x.log: file 1 > file 3",
        ]
    );
    let git = picture(&place.path(".git"));
    assert_eq!(reasons(&place.undo(&manifest)), []);
    assert_eq!(picture(&place.path(".git")), git);
    assert_eq!((place.read("a.rs"), place.read("x.log")), ("1".to_owned(), "1".to_owned()));
    assert_eq!(place.read("target/a"), "two");
}

#[test]
fn small_ignored_files_come_back_and_new_ones_are_no_change() {
    let place = Place::with(Limits { ignored_files: 2, ..Limits::default() });
    place.write(".gitignore", ".env\n*.log\n");
    place.write(".env", "KEY=1\n");
    place.write("big.log", "x".repeat(200 << 10));
    let before = place.tree();
    place.write(".env", "KEY=2\n");
    place.write("big.log", "gone");
    place.write("new.log", "new");
    let manifest = place.after(before);
    assert_eq!(place.told(&manifest), [".env: file 6 > file 6"]);
    assert_eq!(reasons(&place.undo(&manifest)), []);
    assert_eq!((place.read(".env"), place.read("new.log")), ("KEY=1\n".into(), "new".into()));

    // More than are taken: those left out are neither new nor gone.
    for name in ["a.log", "b.log", "c.log"] {
        place.write(name, "1");
    }
    let before = place.tree();
    for name in ["a.log", "b.log", "c.log"] {
        fs::remove_file(place.path(name)).unwrap();
    }
    let manifest = place.after(before);
    assert!(manifest.files.len() <= 2, "{:?}", place.told(&manifest));
    assert_eq!(reasons(&place.undo(&manifest)), []);
}

#[test]
fn changed_ignore_rules_make_no_file_look_new_or_gone() {
    let place = Place::new();
    place.write(".gitignore", "*.log\n");
    place.write("old.log", "1");
    place.write("old.txt", "1");
    wait_for_old_stamps(&place);
    let before = place.tree();
    place.write(".gitignore", "*.txt\n");
    place.write("new/new.log", "1");
    let manifest = place.after(before);
    assert_eq!(
        place.told(&manifest),
        [".gitignore: file 6 > file 6", "new: - > folder", "new/new.log: - > file 1"]
    );
}
