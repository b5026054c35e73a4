//! Blobs come back whole or not at all, and only what nobody wants is pruned.

use std::{fs::FileTimes, os::unix::fs::PermissionsExt as _, time::Duration};

use super::*;

fn blobs(dir: &tempfile::TempDir) -> Blobs {
    Blobs::at(&AbsPath::new(dir.path()).unwrap())
}

fn age(blobs: &Blobs, id: &BlobId, secs: u64) {
    let file = File::options().write(true).open(blobs.path(id)).unwrap();
    let then = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000 - secs);
    file.set_times(FileTimes::new().set_modified(then)).unwrap();
}

#[test]
fn content_comes_back_and_is_kept_once() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = blobs(&dir);
    let big = vec![7_u8; 3 * PIECE + 1];
    for bytes in [&b""[..], b"a", &big] {
        let id = blobs.put(bytes).unwrap();
        let again = blobs.put_reader(&mut &*bytes, u64::MAX, &Cancel::new()).unwrap();
        assert_eq!(again, Taken::Whole(id, bytes.len() as u64));
        assert_eq!(blobs.get(&id).unwrap().as_deref(), Some(bytes));
        assert_eq!(id.to_string().parse::<BlobId>().unwrap(), id);
        let mode = fs::metadata(blobs.path(&id)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(fs::read_dir(blobs.temp_dir()).unwrap().count(), 0);
    assert!(!blobs.has(&BlobId::of(b"b")));
    assert_eq!(blobs.get(&BlobId::of(b"b")).unwrap(), None);
}

#[test]
fn a_reader_over_the_cap_or_cancelled_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = blobs(&dir);
    let cancel = Cancel::new();
    assert_eq!(blobs.put_reader(&mut &b"abc"[..], 2, &cancel).unwrap(), Taken::TooLarge);
    // A reader without an end is cut off too.
    assert_eq!(blobs.put_reader(&mut io::repeat(0), 9, &cancel).unwrap(), Taken::TooLarge);
    cancel.cancel();
    assert_eq!(blobs.put_reader(&mut &b"abc"[..], 9, &cancel).unwrap(), Taken::Cancelled);
    assert_eq!(fs::read_dir(blobs.temp_dir()).unwrap().count(), 0);
    assert_eq!(blobs.prune(0, |_| false).left_bytes, 0);
}

#[test]
fn a_damaged_blob_is_missing_and_the_next_put_mends_it() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = blobs(&dir);
    let id = blobs.put(b"right").unwrap();
    for damage in [&b"wrong"[..], b"", b"right and more"] {
        fs::write(blobs.path(&id), damage).unwrap();
        assert_eq!(blobs.get(&id).unwrap(), None);
        assert_eq!(blobs.put(b"right").unwrap(), id);
        assert_eq!(blobs.get(&id).unwrap().as_deref(), Some(&b"right"[..]));
    }
}

#[test]
fn pruning_removes_what_was_not_used_for_longest_and_nothing_that_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = blobs(&dir);
    let ids: Vec<BlobId> = (0..10).map(|n| blobs.put(&[n; 100]).unwrap()).collect();
    for (n, id) in ids.iter().enumerate() {
        age(&blobs, id, 100 - n as u64);
    }
    // The oldest is used again: by being read, and by being put.
    blobs.get(&ids[0]).unwrap();
    blobs.put(&[1; 100]).unwrap();
    let pruned = blobs.prune(500, |id| *id == ids[2]);
    assert_eq!((pruned.removed, pruned.freed_bytes, pruned.left_bytes), (5, 500, 500));
    let left: Vec<bool> = ids.iter().map(|id| blobs.has(id)).collect();
    assert_eq!(left, [true, true, true, false, false, false, false, false, true, true]);
    assert_eq!(blobs.prune(500, |_| false).removed, 0);
}

#[test]
fn pruning_cleans_what_a_killed_process_left_and_survives_odd_files() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = blobs(&dir);
    assert_eq!(blobs.prune(0, |_| false), Pruned::default());
    let id = blobs.put(b"x").unwrap();
    fs::write(blobs.temp_dir().join("half"), "half").unwrap();
    // A folder where a blob should be cannot be removed as a file.
    fs::create_dir_all(blobs.dir().join("zz/folder")).unwrap();
    let pruned = blobs.prune(0, |_| false);
    assert_eq!((pruned.removed, pruned.failed), (1, 1));
    assert!(!blobs.has(&id));
    assert_eq!(fs::read_dir(blobs.temp_dir()).unwrap().count(), 0);
}

#[test]
fn a_writer_keeps_its_blobs_from_being_pruned() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = blobs(&dir);
    let writer = blobs.writer().unwrap();
    let id = writer.put(b"x").unwrap();
    let pruned = blobs.prune(0, |_| false);
    assert!(pruned.is_busy && blobs.has(&id));
    drop(writer);
    assert!(!blobs.prune(0, |_| false).is_busy);
    assert!(!blobs.has(&id));
}

#[test]
fn several_writers_and_pruners_lose_nothing_that_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = blobs(&dir);
    let kept = blobs.put(b"kept").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3_u8 {
            let blobs = blobs.clone();
            scope.spawn(move || {
                for n in 0..60 {
                    blobs.put(&[thread, n]).unwrap();
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..20 {
                blobs.prune(40, |id| *id == kept);
            }
        });
    });
    assert_eq!(blobs.get(&kept).unwrap().as_deref(), Some(&b"kept"[..]));
    assert!(blobs.prune(40, |id| *id == kept).left_bytes <= 40);
}
