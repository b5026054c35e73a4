//! `cargo xtask dist`: the release archive, with the licences, and its size and checksum. It
//! builds exactly what `Cargo.lock` says and uploads nothing.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::sh::{self, Outcome, Steps};
use crate::{web, workspace};

/// What goes beside the binary.
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The most the installed binary may weigh, in bytes.
const BUDGET: u64 = 40_000_000;

/// Make the release archive.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Build the web page and the release binary from the lock file, and pack the binary with licences and README into `dist` of the target folder.",
    after_help = "Example:\n  cargo xtask dist"
)]
pub(crate) struct Args {
    /// Pack a binary whose web page only says how to build the real one
    #[arg(long)]
    without_web: bool,
}

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    if args.without_web {
        steps.skip("web page", "not wanted");
    } else {
        web::build(steps)?;
    }
    steps.run("binary", || sh::cargo(["build", "--release", "--locked", "-p", "ostler"]).run())?;
    let binary = workspace::binary("release", "ostler")?;
    steps.step("stripped", || stripped(&binary))?;
    steps.run("size", || size(&binary))?;
    let mut archive = PathBuf::new();
    steps.run("archive", || {
        archive = pack(&binary)?;
        Ok(())
    })?;
    steps.step("checksum", || checksum(&archive))
}

/// An error if the binary still has its symbol table.
fn stripped(binary: &Path) -> Result<Outcome> {
    if workspace::find_program("readelf").is_none() {
        return Ok(Outcome::Skipped("no readelf here"));
    }
    let sections = sh::cmd("readelf").args(["--sections", "--wide"]).arg(binary).read()?;
    for section in [".symtab", ".debug_info"] {
        if sections.split_whitespace().any(|word| word == section) {
            bail!("the binary has `{section}`: set `strip = \"symbols\"` in the release profile");
        }
    }
    Ok(Outcome::Done)
}

fn size(file: &Path) -> Result<()> {
    let bytes = bytes(file)?;
    println!("{}: {bytes} bytes", file.display());
    if bytes > BUDGET {
        bail!("the binary is larger than {BUDGET} bytes: find what grew, or what it embeds");
    }
    Ok(())
}

fn bytes(file: &Path) -> Result<u64> {
    let data =
        std::fs::metadata(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    Ok(data.len())
}

/// Makes the archive and gives its path.
fn pack(binary: &Path) -> Result<PathBuf> {
    let said = sh::cmd("rustc").arg("-vV").read()?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("`rustc -vV` names no host: is that the Rust compiler?")?;
    let name = format!("ostler-{}-{host}", env!("CARGO_PKG_VERSION"));
    let dist = workspace::target_dir()?.join("dist");
    let folder = dist.join(&name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let root = workspace::root();
    let documents = DOCUMENTS.iter().map(|document| root.join(document));
    for from in documents.chain([binary.to_path_buf()]) {
        let file = from.file_name().unwrap_or_default();
        std::fs::copy(&from, folder.join(file))
            .with_context(|| format!("cannot copy `{}` into the archive", from.display()))?;
    }
    let archive = dist.join(format!("{name}.tar.gz"));
    let tar = sh::cmd("tar").arg("-czf").arg(&archive).arg("-C").arg(&dist);
    tar.arg(&name).run()?;
    println!("{}: {} bytes", archive.display(), bytes(&archive)?);
    Ok(archive)
}

fn checksum(archive: &Path) -> Result<Outcome> {
    if workspace::find_program("sha256sum").is_none() {
        return Ok(Outcome::Skipped("no sha256sum here"));
    }
    sh::cmd("sha256sum").arg(archive).run()?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_of_the_archive_that_is_ours_exists() {
        for document in DOCUMENTS.iter().filter(|name| !name.starts_with("README")) {
            assert!(workspace::root().join(document).is_file(), "`{document}` is missing");
        }
    }

    #[test]
    fn binary_with_symbols_is_refused() {
        // A test binary has a symbol table; without readelf the check says that it was skipped.
        let own = std::env::current_exe().unwrap();
        match stripped(&own) {
            Ok(outcome) => assert_eq!(outcome, Outcome::Skipped("no readelf here")),
            Err(error) => assert!(error.to_string().contains("`.symtab`"), "{error}"),
        }
    }
}
