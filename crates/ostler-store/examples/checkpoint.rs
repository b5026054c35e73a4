//! What pictures of a project cost: `cargo run --release -p ostler-store --example checkpoint
//! [FILES] [BYTES]` makes a project of that many files of that size and prints milliseconds.
//! Given a folder instead of a number, it takes pictures of that; it changes nothing in it.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program to be read and run by hand"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ostler_stdx::{AbsPath, Cancel};
use ostler_store::{Blobs, Checkpoints, Limits, Manifest};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dir = tempfile::tempdir().unwrap();
    let files = args.first().map_or(Ok(10_000), |text| text.parse::<usize>());
    let root = match files {
        Ok(files) => {
            let bytes = args.get(1).map_or(2000, |text| text.parse().unwrap());
            project(&dir.path().join("project"), files, bytes)
        }
        Err(_) => PathBuf::from(&args[0]),
    };
    // Stamps must be old enough to be trusted.
    std::thread::sleep(Duration::from_millis(50));
    let root = AbsPath::new(root).unwrap();
    let home = AbsPath::new(dir.path().join("home")).unwrap();
    let points = || Checkpoints::new(Blobs::at(&home), Limits::default());
    let cancel = Cancel::new();

    let first = points();
    pictures("first", &first, &root, &cancel);
    pictures("warm", &first, &root, &cancel);
    pictures("warm", &first, &root, &cancel);
    pictures("another process, blobs there", &points(), &root, &cancel);

    let file = AbsPath::new(dir.path().join("single")).unwrap();
    fs::write(&file, "1").unwrap();
    let began = Instant::now();
    for n in 0..100 {
        let before = first.before_files(std::slice::from_ref(&file), &cancel);
        fs::write(&file, n.to_string()).unwrap();
        assert_eq!(first.after(before, &cancel).files.len(), 1);
    }
    println!("one small file, before and after: {:.3} ms", ms(began) / 100.0);
}

fn pictures(what: &str, points: &Checkpoints, root: &AbsPath, cancel: &Cancel) {
    let began = Instant::now();
    let before = points.before_tree(root, cancel);
    let before_ms = ms(began);
    let uncovered = before.uncovered();
    let began = Instant::now();
    assert_eq!(points.after(before, cancel).files, Manifest::default().files);
    let after_ms = ms(began);
    println!("{what}: before {before_ms:.1} ms, after {after_ms:.1} ms, {uncovered:?}");
}

fn ms(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}

fn project(root: &Path, files: usize, bytes: usize) -> PathBuf {
    for n in 0..files {
        let folder = root.join(format!("src/part{}/unit{}", n / 1000, n / 20 % 50));
        fs::create_dir_all(&folder).unwrap();
        let mut text = format!("// file {n}\n");
        while text.len() < bytes {
            text.push_str("let value = compute(input);\n");
        }
        fs::write(folder.join(format!("file{n}.rs")), text).unwrap();
    }
    fs::write(root.join(".gitignore"), "/target/\n*.log\n*.tmp\n").unwrap();
    root.to_path_buf()
}
