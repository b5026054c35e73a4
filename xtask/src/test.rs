//! `cargo xtask test`: makes a machine ready for the tests, then does all of `ci`. What is there
//! already is left alone; nothing is put outside the checkout and the target folder but Debian
//! packages, and those only as root.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::sh::{self, Outcome, Steps};
use crate::{ci, web, workspace};

/// Debian packages that the tests use, each with the programs it is known by.
const PACKAGES: &[(&str, &[&str])] = &[
    ("chromium", &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]),
    ("ripgrep", &["rg"]),
    ("bubblewrap", &["bwrap"]),
    ("strace", &["strace"]),
];

/// The Python side of the Agent SDK tests.
const PYTHON_REQUIREMENTS: &str = "tests/sdk-py/requirements.txt";
/// Its TypeScript side.
const TYPESCRIPT_SDK: &str = "tests/sdk-ts";

/// Set up what the tests need, then run everything.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Set up what the tests need on this machine (a browser, ripgrep, bubblewrap and strace on Debian as root, web packages, both Agent SDKs in a private environment), then do all of `cargo xtask ci`. Steps that were done before are skipped.",
    after_help = "Example:\n  cargo xtask test\n  cargo xtask test --only-set-up"
)]
pub(crate) struct Args {
    /// Stop after the set-up
    #[arg(long)]
    only_set_up: bool,
}

pub(crate) fn run(args: &Args, steps: &mut Steps) -> Result<()> {
    steps.step("Debian packages", || debian(&missing_packages()))?;
    page_packages(steps)?;
    typescript_sdk(steps)?;
    python_sdk(steps)?;
    if args.only_set_up {
        return Ok(());
    }
    // Where a package could not be installed, the tests that need it say so.
    let set_up = if missing_packages().is_empty() && web::check_node().is_ok() {
        ci::SetUp::Promised
    } else {
        ci::SetUp::Unknown
    };
    ci::all(steps, set_up)
}

/// The packages none of whose programs is on the path.
fn missing_packages() -> Vec<&'static str> {
    let mut missing: Vec<_> = PACKAGES
        .iter()
        .filter(|(_, programs)| !programs.iter().any(|p| workspace::find_program(p).is_some()))
        .map(|(package, _)| *package)
        .collect();
    if workspace::root().join(PYTHON_REQUIREMENTS).is_file()
        && !sh::cmd("python3").args(["-c", "import ensurepip, venv"]).works()
    {
        missing.push("python3-venv");
    }
    missing
}

fn debian(missing: &[&str]) -> Result<Outcome> {
    if missing.is_empty() {
        return Ok(Outcome::Skipped("installed already"));
    }
    let names = missing.join(", ");
    if workspace::find_program("apt-get").is_none() {
        eprintln!("install these, or the tests that use them fail: {names}");
        return Ok(Outcome::Skipped("this machine has no apt-get"));
    }
    if !nix::unistd::geteuid().is_root() {
        eprintln!("install these as root, or the tests that use them fail: {names}");
        return Ok(Outcome::Skipped("only root may install packages"));
    }
    let apt = |args: &[&str]| {
        let quiet = sh::cmd("apt-get").args(["-q", "-y"]).args(args);
        quiet.env("DEBIAN_FRONTEND", "noninteractive").run()
    };
    apt(&["update"])?;
    apt(&[&["install", "--no-install-recommends"], missing].concat())?;
    Ok(Outcome::Done)
}

fn page_packages(steps: &mut Steps) -> Result<()> {
    if web::exists() && web::check_node().is_ok() {
        return web::install(steps, "web packages", &web::dir(), &[]);
    }
    steps.skip("web packages", "no web page or no Node");
    Ok(())
}

/// Without optional packages and scripts: those bring the executable of another agent.
fn typescript_sdk(steps: &mut Steps) -> Result<()> {
    let dir = workspace::root().join(TYPESCRIPT_SDK);
    if !dir.join("package.json").is_file() {
        steps.skip("TypeScript SDK", "this checkout has no tests for it");
        return Ok(());
    }
    web::check_node()?;
    web::install(steps, "TypeScript SDK", &dir, &["--omit=optional", "--ignore-scripts"])
}

fn python_sdk(steps: &mut Steps) -> Result<()> {
    let requirements = workspace::root().join(PYTHON_REQUIREMENTS);
    if !requirements.is_file() {
        steps.skip("Python SDK", "this checkout has no tests for it");
        return Ok(());
    }
    steps.step("Python SDK", || {
        let wanted = std::fs::read_to_string(&requirements)?;
        let home = workspace::target_dir()?.join("sdk-py");
        let done = home.join("installed-requirements.txt");
        if std::fs::read_to_string(&done).is_ok_and(|there| there == wanted) {
            return Ok(Outcome::Skipped("installed already"));
        }
        sh::cmd("python3").args(["-m", "venv", "--clear"]).arg(&home).run()?;
        let pip = sh::cmd(home.join("bin/python")).args(["-m", "pip", "install", "--quiet"]);
        pip.args(["--disable-pip-version-check", "-r"]).arg(&requirements).run()?;
        for bundled in bundled_folders(&home.join("lib"))? {
            eprintln!("removing the executable that the wheel brings");
            std::fs::remove_dir_all(&bundled)
                .with_context(|| format!("cannot remove `{}`", bundled.display()))?;
        }
        std::fs::write(&done, wanted)?;
        Ok(Outcome::Done)
    })
}

/// The `_bundled` folders of the packages below `lib`: they hold another agent, and the tests
/// must not be able to find it.
fn bundled_folders(lib: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for python in folders(lib)? {
        let packages = python.join("site-packages");
        if packages.is_dir() {
            for package in folders(&packages)? {
                let bundled = package.join("_bundled");
                found.extend(bundled.is_dir().then_some(bundled));
            }
        }
    }
    Ok(found)
}

fn folders(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(dir).with_context(|| format!("cannot list `{}`", dir.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        found.extend(path.is_dir().then_some(path));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_executables_are_found_in_any_package() {
        let dir = tempfile::tempdir().unwrap();
        let packages = dir.path().join("python3.13/site-packages");
        for path in ["sdk/_bundled", "other", "third/deep/_bundled"] {
            std::fs::create_dir_all(packages.join(path)).unwrap();
        }
        let found = bundled_folders(dir.path()).unwrap();
        assert_eq!(found, [packages.join("sdk/_bundled")]);
    }

    #[test]
    fn nothing_is_installed_when_nothing_is_missing() {
        assert_eq!(debian(&[]).unwrap(), Outcome::Skipped("installed already"));
    }
}
