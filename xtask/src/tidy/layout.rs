//! How the tree is laid out: a README per crate, the folder named like the crate, a header
//! comment per file; and which files are the largest, which is shown and not judged.

use serde_json::Value;

use crate::workspace::SourceFile;

/// How many of the largest files are shown.
const SHOWN: usize = 10;

/// Complaints about crates without README and folders with another name.
pub(super) fn readmes(metadata: &Value, files: &[SourceFile]) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    packages.iter().flat_map(|package| readme(metadata, package, files)).collect()
}

fn readme(metadata: &Value, package: &Value, files: &[SourceFile]) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let manifest = package["manifest_path"].as_str().unwrap_or_default().replace('\\', "/");
    let root = metadata["workspace_root"].as_str().unwrap_or_default().replace('\\', "/");
    let folder = manifest
        .strip_prefix(&root)
        .and_then(|path| path.strip_suffix("/Cargo.toml"))
        .unwrap_or(&manifest)
        .trim_start_matches('/');
    let mut complaints = Vec::new();
    if let Some(last) = folder.strip_prefix("crates/")
        && last != name
    {
        complaints
            .push(format!("crate `{name}` lies in `{folder}`: name the folder like the crate"));
    }
    let wanted = format!("{folder}/README.md");
    if !files.iter().any(|file| file.path == wanted) {
        complaints.push(format!(
            "crate `{name}` has no `{wanted}`: write its purpose, surface, what it may depend on, how to test it, and one example"
        ));
    }
    complaints
}

/// Complaints about Rust files that do not begin by saying what they are for.
pub(super) fn headers(files: &[SourceFile]) -> Vec<String> {
    let wants = |file: &&SourceFile| file.extension() == "rs" && wants_header(&file.path);
    let missing =
        |file: &&SourceFile| !file.text.starts_with("//!") && !file.text.starts_with("/*!");
    let complain = |file: &SourceFile| {
        format!(
            "`{}` has no header: begin with `//!` lines on what it is for and must never do",
            file.path
        )
    };
    files.iter().filter(wants).filter(missing).map(complain).collect()
}

/// All files of a crate's `src`, its build script, and the entry files of its tests.
fn wants_header(path: &str) -> bool {
    if path.contains("/src/") || path.ends_with("/build.rs") {
        return true;
    }
    let Some((_, in_tests)) = path.split_once("/tests/") else {
        return false;
    };
    let parts: Vec<_> = in_tests.split('/').collect();
    matches!(parts[..], [_] | [_, "main.rs"])
}

/// The largest source files, with their lines.
pub(super) fn largest(files: &[SourceFile]) -> String {
    let mut sized: Vec<_> = files
        .iter()
        .filter(|file| matches!(file.extension(), "rs" | "ts" | "tsx"))
        .map(|file| (file.text.lines().count(), file.path.as_str()))
        .collect();
    sized.sort_by(|a, b| b.cmp(a));
    let rows = sized.iter().take(SHOWN).map(|(lines, path)| format!("{lines:>7}  {path}\n"));
    format!("  lines  largest files\n{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn metadata(name: &str, folder: &str) -> Value {
        serde_json::json!({
            "workspace_root": "/repo",
            "packages": [{ "name": name, "manifest_path": format!("/repo/{folder}/Cargo.toml") }],
        })
    }

    #[test]
    fn crate_without_readme_or_with_another_folder_is_named() {
        let readme = [file("crates/ostler-a/README.md", "")];
        assert_eq!(readmes(&metadata("ostler-a", "crates/ostler-a"), &readme), [""; 0]);
        let said = readmes(&metadata("ostler-b", "crates/ostler-a"), &readme);
        assert_eq!(
            said,
            ["crate `ostler-b` lies in `crates/ostler-a`: name the folder like the crate"]
        );
        let said = readmes(&metadata("xtask", "xtask"), &readme);
        assert!(said[0].starts_with("crate `xtask` has no `xtask/README.md`"), "{said:?}");
    }

    #[test]
    fn files_without_header_are_named() {
        let said = headers(&[
            file("crates/a/src/lib.rs", "//! Good.\n"),
            file("crates/a/src/deep/block.rs", "/*! Good. */\n"),
            file("crates/a/src/bad.rs", "use std::fmt;\n"),
            file("crates/a/tests/it/main.rs", "mod x;\n"),
            file("crates/a/tests/it/x.rs", "mod y;\n"),
            file("crates/a/build.rs", "fn main() {}\n"),
        ]);
        let named: Vec<_> = said.iter().filter_map(|text| text.split('`').nth(1)).collect();
        assert_eq!(
            named,
            ["crates/a/src/bad.rs", "crates/a/tests/it/main.rs", "crates/a/build.rs"]
        );
    }

    #[test]
    fn largest_files_come_first_and_are_ten() {
        let files: Vec<_> = (1..=12)
            .map(|n| file(&format!("src/f{n:02}.ts"), &"x\n".repeat(n)))
            .chain([file("long.md", &"x\n".repeat(99))])
            .collect();
        let shown = largest(&files);
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines.len(), 1 + SHOWN);
        assert_eq!(lines[1], "     12  src/f12.ts");
    }
}
