//! Where inputs come from and where crashing ones go: small files in `fuzz/corpus/<target>/`,
//! which are committed, and `fuzz/crashes/`, which is not.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::Target;

/// The inputs of a target, in the order of their names.
///
/// # Errors
/// When the folder or a file in it cannot be read.
pub fn corpus(target: &Target) -> Result<Vec<Vec<u8>>> {
    let folder = home().join("corpus").join(target.name);
    let mut paths = Vec::new();
    let entries = std::fs::read_dir(&folder).with_context(|| {
        format!("cannot list `{}`: put a few small inputs there", folder.display())
    })?;
    for entry in entries {
        paths.push(entry?.path());
    }
    paths.sort();
    let read = |path: &PathBuf| {
        std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    paths.iter().map(read).collect()
}

/// Saves an input that crashed a target, and gives where.
///
/// # Errors
/// When the file cannot be written.
pub fn save_crash(target: &Target, input: &[u8]) -> Result<PathBuf> {
    save_to(&home().join("crashes"), target, input)
}

fn save_to(folder: &Path, target: &Target, input: &[u8]) -> Result<PathBuf> {
    let fnv =
        |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let number = input.iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    let path = folder.join(format!("{}-{number:016x}", target.name));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, input))
        .with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(path)
}

fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crash_is_saved_under_a_name_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let target = Target { name: "any", run: |_| {} };
        let first = save_to(dir.path(), &target, b"one").unwrap();
        let second = save_to(dir.path(), &target, b"two").unwrap();
        assert_ne!(first, second);
        assert_eq!(save_to(dir.path(), &target, b"one").unwrap(), first);
        assert_eq!(std::fs::read(first).unwrap(), b"one");
    }

    #[test]
    fn target_without_a_corpus_says_what_to_do() {
        let target = Target { name: "no-such-target", run: |_| {} };
        let error = corpus(&target).unwrap_err().to_string();
        assert!(error.ends_with("put a few small inputs there"), "{error}");
    }
}
