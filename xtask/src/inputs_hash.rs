//! One number for all inputs of the web page. `cargo xtask web` writes it beside what it built
//! and the build script of `ostler-server` includes this very file to see whether that is stale:
//! it must use nothing but std and never touch what it reads.

use std::path::{Path, PathBuf};

/// Where the number stands, below the built page.
pub(crate) const HASH_FILE: &str = ".inputs-hash";

/// What lies in the folder of the page but does not go into it: dependencies (their lock file
/// does), the page itself, and what tests leave behind.
const NOT_INPUTS: &[&str] =
    &["node_modules", "dist", "coverage", "test-results", "playwright-report", "blob-report"];

/// Every input below `dir`, relative to it and sorted by name.
pub(crate) fn inputs(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(dir.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name();
            let text = name.to_string_lossy();
            let left_over = text.ends_with(".tsbuildinfo") || text.ends_with(".log");
            if left_over || NOT_INPUTS.contains(&text.as_ref()) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(folder.join(&name));
            } else {
                found.push(folder.join(&name));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The number, as sixteen hexadecimal digits: FNV-1a over name, length and content of each input.
pub(crate) fn hash(dir: &Path) -> std::io::Result<String> {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |bytes: &[u8]| {
        for &byte in bytes {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for input in inputs(dir)? {
        let content = std::fs::read(dir.join(&input))?;
        for part in &input {
            eat(part.to_string_lossy().as_bytes());
            eat(b"/");
        }
        eat(&(content.len() as u64).to_le_bytes());
        eat(&content);
    }
    Ok(format!("{state:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("src")).unwrap();
        std::fs::create_dir_all(dir.path().join("dist")).unwrap();
        std::fs::write(dir.path().join("src/a.ts"), "a").unwrap();
        std::fs::write(dir.path().join("index.html"), "<p>").unwrap();
        dir
    }

    #[test]
    fn hash_is_that_of_an_empty_input_for_an_empty_folder() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(hash(dir.path()).unwrap(), "cbf29ce484222325");
    }

    #[test]
    fn output_and_left_overs_do_not_count() {
        let dir = page();
        let before = hash(dir.path()).unwrap();
        std::fs::write(dir.path().join("dist/index.js"), "built").unwrap();
        std::fs::write(dir.path().join("npm-debug.log"), "noise").unwrap();
        assert_eq!(hash(dir.path()).unwrap(), before);
        assert_eq!(inputs(dir.path()).unwrap().len(), 2);
    }

    #[test]
    fn content_names_and_moved_borders_count() {
        let dir = page();
        let before = hash(dir.path()).unwrap();
        std::fs::write(dir.path().join("src/a.ts"), "b").unwrap();
        let changed = hash(dir.path()).unwrap();
        assert_ne!(changed, before);
        std::fs::rename(dir.path().join("src/a.ts"), dir.path().join("src/b.ts")).unwrap();
        assert_ne!(hash(dir.path()).unwrap(), changed);
    }
}
