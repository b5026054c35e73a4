//! `cargo xtask codegen`: writes the files that derive from the protocol (schema, OpenRPC,
//! TypeScript) and the schema of settings files. What they hold is decided in
//! `ostler-protocol` and `ostler-store`; this only compares and writes.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::sh::Steps;
use crate::workspace;

/// Write generated files.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Write the files that are generated from the types and methods of `ostler-protocol` and the settings of `ostler-store`. They are committed, so that readers and other languages need no build.",
    after_help = "Example:\n  cargo xtask codegen --check"
)]
pub(crate) struct Args {
    /// Write nothing; fail if a file is not what would be written
    #[arg(long)]
    check: bool,
}

/// A file relative to the root, and its whole text.
type Generated = (String, String);

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    if args.check { check(steps) } else { write(steps) }
}

/// Every generated file.
fn files() -> Vec<Generated> {
    let mut files = ostler_protocol::codegen::files();
    files.push(("schema/settings.schema.json".to_owned(), ostler_store::settings_schema()));
    files
}

/// Fails if a committed file is not what would be written.
pub(crate) fn check(steps: &mut Steps) -> Result<()> {
    steps.run("codegen --check", || compare(&workspace::root(), &files()))
}

/// Writes the files that differ.
pub(crate) fn write(steps: &mut Steps) -> Result<()> {
    steps.run("codegen", || {
        for (path, text) in differing(&workspace::root(), &files()) {
            put(&workspace::root().join(path), text)?;
            println!("wrote {path}");
        }
        Ok(())
    })
}

fn compare(root: &Path, files: &[Generated]) -> Result<()> {
    let differing = differing(root, files);
    if differing.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = differing.iter().map(|(path, _)| format!("`{path}`")).collect();
    bail!("not what the types say: {}; run `cargo xtask codegen`", names.join(", "))
}

fn differing<'a>(root: &Path, files: &'a [Generated]) -> Vec<&'a Generated> {
    let differs = |file: &&Generated| {
        std::fs::read_to_string(root.join(&file.0)).ok().as_ref() != Some(&file.1)
    };
    files.iter().filter(differs).collect()
}

fn put(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_what_the_types_say() {
        let files = files();
        assert!(!files.is_empty());
        compare(&workspace::root(), &files).unwrap();
    }

    #[test]
    fn missing_and_edited_files_are_named_and_mended() {
        let dir = tempfile::tempdir().unwrap();
        let file = |path: &str| (path.to_owned(), "new".to_owned());
        let files = [file("a/same.json"), file("a/edited.json"), file("b/missing.ts")];
        put(&dir.path().join("a/same.json"), "new").unwrap();
        put(&dir.path().join("a/edited.json"), "old").unwrap();
        let error = compare(dir.path(), &files).unwrap_err().to_string();
        assert_eq!(
            error,
            "not what the types say: `a/edited.json`, `b/missing.ts`; run `cargo xtask codegen`"
        );
        for (path, text) in differing(dir.path(), &files) {
            put(&dir.path().join(path), text).unwrap();
        }
        compare(dir.path(), &files).unwrap();
    }
}
