//! `cargo xtask web`: builds the web page into `web/dist`, when its inputs changed since. It never
//! runs as part of a build script, because it needs Node and, once, the network.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::inputs_hash::{HASH_FILE, hash};
use crate::sh::{self, Steps};
use crate::workspace;

/// The oldest Node that the build works with.
const NODE: (u32, u32) = (20, 19);

/// Build the web page.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Build the web page into `web/dist`. Packages are installed when the lock file is newer than what is installed; nothing is built when the inputs are those of the last build.",
    after_help = "Example:\n  cargo xtask web --force"
)]
pub(crate) struct Args {
    /// Build even if the inputs are those of the last build
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    if !exists() {
        bail!("there is no `web/package.json`: this checkout has no web page to build");
    }
    if args.force && dir().join("dist").join(HASH_FILE).exists() {
        std::fs::remove_file(dir().join("dist").join(HASH_FILE))?;
    }
    build(steps)
}

/// The folder of the web page.
pub(crate) fn dir() -> PathBuf {
    workspace::root().join("web")
}

/// Whether there is a web page in this checkout.
pub(crate) fn exists() -> bool {
    dir().join("package.json").is_file()
}

/// An error that says what to install, if Node is missing or too old.
pub(crate) fn check_node() -> Result<()> {
    let wanted = format!("install Node {}.{} or newer, with npm", NODE.0, NODE.1);
    if workspace::find_program("node").is_none() || workspace::find_program("npm").is_none() {
        bail!("cannot find `node` and `npm`: {wanted}");
    }
    let said = sh::cmd("node").arg("--version").read()?;
    match version(&said) {
        Some(version) if version >= NODE => Ok(()),
        _ => bail!("`node` is {}, which is too old: {wanted}", said.trim()),
    }
}

/// Installs and builds what is stale.
pub(crate) fn build(steps: &mut Steps) -> Result<()> {
    let stale = built()? != Some(hash_of_inputs()?);
    if !stale {
        steps.skip("web page", "built already");
        return Ok(());
    }
    check_node()?;
    install(steps, "web packages", &dir(), &[])?;
    steps.run("web page", || {
        npm("typecheck").run()?;
        build_and_stamp()
    })
}

/// Installs the packages of a folder with a lock file, when they are older than it.
pub(crate) fn install(steps: &mut Steps, name: &str, dir: &Path, more: &[&str]) -> Result<()> {
    if !stale(&dir.join("node_modules/.package-lock.json"), &dir.join("package-lock.json")) {
        steps.skip(name, "installed already");
        return Ok(());
    }
    let npm = sh::cmd("npm").args(["ci", "--no-audit", "--no-fund"]).args(more);
    steps.run(name, || npm.dir(dir).env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1").run())
}

/// A script of `web/package.json`.
pub(crate) fn npm(script: &str) -> sh::Cmd {
    sh::cmd("npm").args(["run", script]).dir(&dir()).env("CI", "true")
}

/// Whether `web/package.json` has a script of this name.
pub(crate) fn has_script(script: &str) -> Result<bool> {
    let path = dir().join("package.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    let package: Value = serde_json::from_str(&text).context("`web/package.json` is not JSON")?;
    Ok(package["scripts"][script].is_string())
}

/// Builds, and writes the number of the inputs. A build that makes some of its own inputs
/// (catalogues) is done once more, so that the number is that of what was really built.
fn build_and_stamp() -> Result<()> {
    for _ in 0..2 {
        let before = hash_of_inputs()?;
        npm("build").run()?;
        if hash_of_inputs()? == before {
            return std::fs::write(dir().join("dist").join(HASH_FILE), before)
                .context("cannot write `web/dist`: did the build put the page there?");
        }
    }
    bail!("the inputs of the web page changed while it was built: run it again")
}

fn hash_of_inputs() -> Result<String> {
    hash(&dir()).context("cannot read the inputs of the web page")
}

/// The number of the inputs that were built last.
fn built() -> Result<Option<String>> {
    let dist = dir().join("dist");
    if !dist.join("index.html").is_file() {
        return Ok(None);
    }
    match std::fs::read_to_string(dist.join(HASH_FILE)) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).context("cannot read the hash of the built page"),
    }
}

/// Whether `made` is missing or older than `from`.
fn stale(made: &Path, from: &Path) -> bool {
    let time = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    match (time(made), time(from)) {
        (Some(made), Some(from)) => made < from,
        _ => true,
    }
}

/// Major and minor of what `node --version` says.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut parts = said.trim().strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn node_versions_compare_as_numbers() {
        assert_eq!(version("v20.19.4\n"), Some((20, 19)));
        assert!(version("v20.9.0").unwrap() < NODE);
        assert!(version("v22.0.0").unwrap() > NODE);
        assert_eq!(version("20.19"), None);
    }

    #[test]
    fn packages_are_stale_when_missing_or_older_than_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let (made, from) = (dir.path().join("made"), dir.path().join("from"));
        let write = |path: &Path, seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::create(path).unwrap().set_modified(time).unwrap();
        };
        write(&from, 100);
        assert!(stale(&made, &from));
        write(&made, 99);
        assert!(stale(&made, &from));
        write(&made, 100);
        assert!(!stale(&made, &from));
    }
}
