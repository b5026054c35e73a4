//! What comes between the look and the write: swaps at each place where they hurt, one
//! after another by hand and by a thread that does nothing else.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use ostler_stdx::AbsPath;

use super::*;
use crate::disk::{
    Parents,
    tests::{entries, kept, place, temp},
};

#[test]
fn a_new_file_never_takes_the_place_of_one_that_came_between() {
    let (_dir, root) = temp();
    for named in [false, true] {
        let held = place(&root.join("new"), Parents::Required).unwrap();
        let mode = Mode::from_bits_truncate(0o600);
        let mut draft =
            if named { held.named(mode) } else { held.nameless(mode).unwrap() }.unwrap();
        // The look went well; then the file appears.
        fs::write(root.join("new"), "theirs").unwrap();
        assert!(held.put_new(&mut draft).is_err());
        assert_eq!(fs::read(root.join("new")).unwrap(), b"theirs");
        fs::remove_file(root.join("new")).unwrap();
    }
}

#[test]
fn a_file_that_came_between_is_put_back() {
    let (_dir, root) = temp();
    fs::write(root.join("file"), "old").unwrap();
    fs::write(root.join("secret"), "secret").unwrap();
    let held = place(&root.join("file"), Parents::Required).unwrap();
    let seen = kept(&held);
    type Make = fn(&AbsPath);
    let swaps: [(&str, Make); 3] = [
        ("another file", |root| fs::write(root.join("other"), "theirs").unwrap()),
        ("a link", |root| symlink("secret", root.join("other")).unwrap()),
        ("a folder", |root| fs::create_dir(root.join("other")).unwrap()),
    ];
    for (what, make) in swaps {
        make(&root);
        let mut draft = held.named(Mode::from_bits_truncate(0o600)).unwrap();
        fs::rename(root.join("file"), root.join("away")).unwrap();
        fs::rename(root.join("other"), root.join("file")).unwrap();
        let before = fs::symlink_metadata(root.join("file")).unwrap().ino();
        // As if the swap came behind the last look.
        assert!(held.put_over(&mut draft, &seen.meta).is_err(), "{what}");
        assert_eq!(fs::symlink_metadata(root.join("file")).unwrap().ino(), before, "{what}");
        assert_eq!(entries(&root), ["away", "file", "secret"], "{what}");
        fs::rename(root.join("file"), root.join("other")).unwrap();
        fs::rename(root.join("away"), root.join("file")).unwrap();
        let gone =
            fs::remove_file(root.join("other")).or_else(|_| fs::remove_dir(root.join("other")));
        gone.unwrap();
    }
    assert_eq!(fs::read(root.join("secret")).unwrap(), b"secret");
}

#[test]
fn a_folder_that_moved_behind_a_link_gets_nothing() {
    let (_dir, root) = temp();
    fs::create_dir(root.join("inside")).unwrap();
    fs::write(root.join("inside/file"), "old").unwrap();
    let held = place(&root.join("inside/file"), Parents::Required).unwrap();
    let seen = kept(&held);
    let fresh = place(&root.join("inside/fresh"), Parents::Required).unwrap();
    // By its path, through the link, it is still the same folder.
    fs::rename(root.join("inside"), root.join("elsewhere")).unwrap();
    symlink("elsewhere", root.join("inside")).unwrap();
    assert!(held.replace(Some(&seen), Some(&seen), b"new").is_err());
    assert!(fresh.replace(None, None, b"new").is_err());
    let mut draft = fresh.nameless(Mode::from_bits_truncate(0o600)).unwrap().unwrap();
    assert!(fresh.put_new(&mut draft).is_err());
    let mut draft = held.named(Mode::from_bits_truncate(0o600)).unwrap();
    assert!(held.put_over(&mut draft, &seen.meta).is_err());
    assert_eq!(entries(&root.join("elsewhere")), ["file"]);
    assert_eq!(fs::read(root.join("elsewhere/file")).unwrap(), b"old");
}

/// A thread swaps the folder for a link and the file for others, as fast as it can, while
/// writes go on: none may arrive outside, and none of the other's files may be lost.
#[test]
fn no_write_escapes_while_another_thread_swaps() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let (_dir, root) = temp();
    for folder in ["inside", "outside"] {
        fs::create_dir(root.join(folder)).unwrap();
        fs::write(root.join(folder).join("file"), "old").unwrap();
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut theirs = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                fs::rename(root.join("inside"), root.join("away")).unwrap();
                symlink("outside", root.join("inside")).unwrap();
                fs::remove_file(root.join("inside")).unwrap();
                fs::rename(root.join("away"), root.join("inside")).unwrap();
                // A file of the other's comes, and must be there when it goes.
                let mine = format!("theirs {theirs}");
                fs::write(root.join("draft"), &mine).unwrap();
                let came = fs::hard_link(root.join("draft"), root.join("inside/fresh")).is_ok();
                if came {
                    assert_eq!(fs::read_to_string(root.join("inside/fresh")).unwrap(), mine);
                }
                let _none = fs::remove_file(root.join("inside/fresh"));
                theirs += 1;
            }
        });
        for turn in 0..400 {
            let Ok(held) = place(&root.join("inside/file"), Parents::Required) else { continue };
            let Ok(file) = held.open() else { continue };
            let seen = Kept::of(&file).unwrap();
            let text = format!("new {turn}");
            if !held.real.as_path().starts_with(root.join("outside")) {
                let _swapped = held.replace(Some(&seen), Some(&seen), text.as_bytes());
            }
            let fresh = root.join("inside/fresh");
            if let Ok(held) = Place::open_folder(fresh, Parents::Required) {
                let _swapped = held.replace(None, None, b"ours");
            }
        }
        stop.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
    });
    let held = place(&root.join("inside/file"), Parents::Required).unwrap();
    let seen = kept(&held);
    held.replace(Some(&seen), Some(&seen), b"last").unwrap();
    assert_eq!(fs::read(root.join("inside/file")).unwrap(), b"last");
    assert_eq!(entries(&root.join("outside")), ["file"]);
    assert_eq!(fs::read(root.join("outside/file")).unwrap(), b"old");
    let left: Vec<_> = entries(&root.join("inside"));
    assert!(left.iter().all(|name| name == "file" || name == "fresh"), "{left:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn attributes_and_access_lists_are_kept() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let (_dir, root) = temp();
    let path = root.join("file");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    // Version 2; owner rw-, user 12345 r--, group r--, mask r--, others ---.
    let entry = |tag: u16, rights: u16, id: u32| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let none = u32::MAX;
    let list = [
        2_u32.to_le_bytes().to_vec(),
        entry(1, 6, none),
        entry(2, 4, 12345),
        entry(4, 4, none),
        entry(16, 4, none),
        entry(32, 0, none),
    ]
    .concat();
    let given = [("user.origin", b"here".to_vec()), ("system.posix_acl_access", list)];
    for (name, value) in &given {
        // A file system without them has none to keep.
        let Ok(()) = setxattr(path.as_path(), *name, value, XattrFlags::empty()) else { return };
    }
    let held = place(&path, Parents::Required).unwrap();
    let seen = kept(&held);
    held.replace(Some(&seen), Some(&seen), b"new").unwrap();
    let moved = place(&root.join("moved"), Parents::Required).unwrap();
    moved.replace(None, Some(&seen), b"new").unwrap();
    for path in [&path, &root.join("moved")] {
        assert_eq!(fs::read(path).unwrap(), b"new");
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o7777, 0o640);
        for (name, value) in &given {
            let mut now = vec![0; 4096];
            let size = getxattr(path.as_path(), *name, now.as_mut_slice()).unwrap();
            assert_eq!(&now[..size], value, "{name}");
        }
    }
}
