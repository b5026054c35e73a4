//! What `disk` promises, held on examples.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use super::*;

pub(super) fn temp() -> (tempfile::TempDir, AbsPath) {
    let dir = tempfile::tempdir().unwrap();
    let path = AbsPath::new(dir.path().canonicalize().unwrap()).unwrap();
    (dir, path)
}

pub(super) fn place(path: &AbsPath, parents: Parents) -> io::Result<Place> {
    Place::open_folder(Place::resolve(path)?, parents)
}

pub(super) fn kept(place: &Place) -> Kept {
    Kept::of(&place.open().unwrap()).unwrap()
}

pub(super) fn entries(folder: &AbsPath) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_link_stays_a_link_and_its_target_changes() {
    let (_dir, root) = temp();
    fs::create_dir(root.join("real")).unwrap();
    fs::write(root.join("real/file"), "old").unwrap();
    fs::set_permissions(root.join("real/file"), fs::Permissions::from_mode(0o754)).unwrap();
    symlink("real/file", root.join("link")).unwrap();

    let place = place(&root.join("link"), Parents::Required).unwrap();
    let seen = kept(&place);
    place.replace(Some(&seen), Some(&seen), b"new").unwrap();

    assert_eq!(fs::read_link(root.join("link")).unwrap(), Path::new("real/file"));
    assert_eq!(fs::read(root.join("real/file")).unwrap(), b"new");
    assert_eq!(fs::metadata(root.join("real/file")).unwrap().mode() & 0o7777, 0o754);
    assert_eq!(entries(&root.join("real")), ["file"]);
}

#[test]
fn parents_are_made_also_behind_a_link_to_nothing() {
    let (_dir, root) = temp();
    symlink("a/b/new", root.join("link")).unwrap();
    let place = place(&root.join("link"), Parents::Create).unwrap();
    place.replace(None, None, b"x").unwrap();
    assert_eq!(fs::read(root.join("a/b/new")).unwrap(), b"x");
    assert!(root.join("link").is_symlink());
}

#[test]
fn links_in_a_circle_end_in_an_error() {
    let (_dir, root) = temp();
    symlink("b", root.join("a")).unwrap();
    symlink("a", root.join("b")).unwrap();
    assert!(Place::resolve(&root.join("a")).is_err());
}

#[test]
fn a_folder_swapped_for_a_link_after_resolving_is_refused() {
    let (_dir, root) = temp();
    for folder in ["inside", "outside"] {
        fs::create_dir(root.join(folder)).unwrap();
        fs::write(root.join(folder).join("file"), "old").unwrap();
    }
    let real = Place::resolve(&root.join("inside/file")).unwrap();
    fs::rename(root.join("inside"), root.join("gone")).unwrap();
    symlink("outside", root.join("inside")).unwrap();
    assert!(Place::open_folder(real, Parents::Create).is_err());

    fs::remove_file(root.join("inside")).unwrap();
    fs::rename(root.join("gone"), root.join("inside")).unwrap();
    let held = place(&root.join("inside/file"), Parents::Required).unwrap();
    let seen = kept(&held);
    fs::rename(root.join("inside"), root.join("gone")).unwrap();
    symlink("outside", root.join("inside")).unwrap();
    assert!(held.replace(Some(&seen), Some(&seen), b"new").is_err());
    assert_eq!(fs::read(root.join("outside/file")).unwrap(), b"old");
    assert_eq!(fs::read(root.join("gone/file")).unwrap(), b"old");
    assert_eq!(entries(&root.join("gone")), ["file"]);
}

#[test]
fn a_file_swapped_for_a_link_or_another_file_is_refused() {
    let (_dir, root) = temp();
    fs::write(root.join("file"), "old").unwrap();
    fs::write(root.join("secret"), "secret").unwrap();
    let held = place(&root.join("file"), Parents::Required).unwrap();
    let seen = kept(&held);

    fs::remove_file(root.join("file")).unwrap();
    symlink("secret", root.join("file")).unwrap();
    assert!(held.open().is_err());
    assert!(held.replace(Some(&seen), Some(&seen), b"new").is_err());
    assert_eq!(fs::read(root.join("secret")).unwrap(), b"secret");

    fs::remove_file(root.join("file")).unwrap();
    fs::write(root.join("file"), "another").unwrap();
    assert!(held.replace(Some(&seen), Some(&seen), b"new").is_err());
    assert_eq!(fs::read(root.join("file")).unwrap(), b"another");

    let fresh = place(&root.join("fresh"), Parents::Required).unwrap();
    fs::write(root.join("fresh"), "came between").unwrap();
    assert!(fresh.replace(None, None, b"new").is_err());
    assert_eq!(fs::read(root.join("fresh")).unwrap(), b"came between");
    assert_eq!(entries(&root), ["file", "fresh", "secret"]);
}

#[test]
fn only_the_file_that_was_seen_is_removed() {
    let (_dir, root) = temp();
    fs::write(root.join("file"), "old").unwrap();
    fs::write(root.join("other"), "other").unwrap();
    let held = place(&root.join("file"), Parents::Required).unwrap();
    let seen = kept(&held);
    fs::rename(root.join("other"), root.join("file")).unwrap();
    assert!(held.remove(&seen.meta).is_err());
    assert_eq!(fs::read(root.join("file")).unwrap(), b"other");
    let seen = kept(&held);
    held.remove(&seen.meta).unwrap();
    assert!(!root.join("file").exists());
}

#[test]
fn names_of_any_bytes_and_of_full_length_are_written() {
    use std::os::unix::ffi::OsStrExt as _;
    let (_dir, root) = temp();
    for name in [&b"a\nb"[..], b"\xff\xfe", &[b'n'; 255], b" lead", b"-rf"] {
        let path = AbsPath::new(root.as_path().join(OsStr::from_bytes(name))).unwrap();
        let held = place(&path, Parents::Required).unwrap();
        held.replace(None, None, b"one").unwrap();
        let seen = kept(&held);
        held.replace(Some(&seen), Some(&seen), b"two").unwrap();
        assert_eq!(fs::read(path.as_path()).unwrap(), b"two");
        fs::remove_file(path.as_path()).unwrap();
    }
    assert!(entries(&root).is_empty());
}
