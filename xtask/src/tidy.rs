//! `cargo xtask tidy`: what the compiler does not check, as rules over data. Each rule is a pure
//! function from what was read to a list of complaints; a complaint says what to do. It never
//! changes a file.

mod edges;
mod layout;
mod licences;
mod links;
mod lock;
mod words;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::sh::Steps;
use crate::workspace::{self, SourceFile};

/// Check what the compiler does not.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Check what the compiler does not: which crate may depend on which, licences and banned dependencies, a README per crate, a header comment per file, links between documents, and words that have no place in the repository.",
    after_help = "Example:\n  cargo xtask tidy"
)]
pub(crate) struct Args {}

/// What the rules look at.
struct Tree {
    files: Vec<SourceFile>,
    /// `cargo metadata --no-deps`.
    ours: Value,
    /// `cargo metadata`, with every dependency.
    all: Value,
}

pub(crate) fn run(_: &Args, steps: &mut Steps) -> Result<()> {
    all(steps)
}

/// All rules, as one step.
pub(crate) fn all(steps: &mut Steps) -> Result<()> {
    steps.run("tidy", || {
        let tree = read()?;
        print!("{}", layout::largest(&tree.files));
        let complaints = judge(&tree);
        for complaint in &complaints {
            eprintln!("tidy: {complaint}");
        }
        if !complaints.is_empty() {
            bail!("{} complaints, listed above", complaints.len());
        }
        Ok(())
    })
}

fn read() -> Result<Tree> {
    let files = workspace::source_files(&workspace::root())?;
    let ours = workspace::metadata(&["--no-deps"])?;
    // The whole graph wants the manifests of crates for other systems too, which a build here
    // does not bring: their licences are left to `cargo deny`, their names are in the lock file.
    let host = licences::host_filter()?;
    let all = workspace::metadata(&["--locked", "--filter-platform", &host])?;
    Ok(Tree { files, ours, all })
}

/// Every complaint of every rule.
fn judge(tree: &Tree) -> Vec<String> {
    let mut complaints = edges::check(&edges::crates_of(&tree.ours));
    complaints.extend(layout::readmes(&tree.ours, &tree.files));
    complaints.extend(layout::headers(&tree.files));
    complaints.extend(licences::check(&tree.all));
    complaints.extend(links::check(&tree.files));
    complaints.extend(words::check(&tree.files));
    for file in tree.files.iter().filter(|file| file.path == "Cargo.lock") {
        complaints.extend(lock::check(&file.text));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let tree = read().unwrap();
        assert!(tree.files.iter().any(|file| file.path == "Cargo.lock"), "read the wrong folder");
        let complaints = judge(&tree);
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}
