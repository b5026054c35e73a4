//! Chooses the web page that the program holds and writes its table of files. Never builds the
//! page, never touches the network, writes only to the build's own folder.

use std::{
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};

#[path = "../../xtask/src/inputs_hash.rs"]
mod inputs_hash;

use inputs_hash::{HASH_FILE, hash};

/// Stands in where no page was built.
const PLACEHOLDER: &str = "src/placeholder.html";

/// Names a folder with a built page, such as that of a source archive.
const DIST_VARIABLE: &str = "OSTLER_WEB_DIST";

fn main() -> io::Result<()> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR").unwrap_or_default());
    let web = here.join("../../web");
    println!("cargo::rerun-if-env-changed={DIST_VARIABLE}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={PLACEHOLDER}");
    watch(&web)?;
    let dist = match variable(DIST_VARIABLE) {
        Some(folder) => Some(here.join(folder)),
        None => built(&web),
    };
    let (files, is_built) = match dist {
        Some(dist) => {
            println!("cargo::rerun-if-changed={}", dist.display());
            (files_below(&dist)?, true)
        }
        None => {
            println!(
                "cargo::warning=the web page is not built, so `ostler web` shows how to build it: `cargo xtask web`"
            );
            (vec![("index.html".to_owned(), here.join(PLACEHOLDER))], false)
        }
    };
    let out = PathBuf::from(variable("OUT_DIR").unwrap_or_default());
    std::fs::write(out.join("bundle.rs"), table(&files, is_built)?)
}

#[expect(clippy::disallowed_methods, reason = "a build script is told everything this way")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Runs this script again when the page or its inputs change. The folder of packages is large
/// and no input; a name that is not there yet would mean running at every build.
fn watch(web: &Path) -> io::Result<()> {
    if !web.join("dist").is_dir() {
        if web.is_dir() {
            println!("cargo::rerun-if-changed={}", web.display());
        }
        return Ok(());
    }
    for entry in std::fs::read_dir(web)? {
        let entry = entry?;
        if entry.file_name() != "node_modules" {
            println!("cargo::rerun-if-changed={}", entry.path().display());
        }
    }
    Ok(())
}

/// The page of this checkout, if it was built from what is there now.
fn built(web: &Path) -> Option<PathBuf> {
    let dist = web.join("dist");
    let stamp = std::fs::read_to_string(dist.join(HASH_FILE)).ok()?;
    let now = hash(web).ok()?;
    (stamp.trim() == now && dist.join("index.html").is_file()).then_some(dist)
}

/// Every file below a folder, by its name with slashes, sorted.
fn files_below(dist: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    let mut folders = vec![(String::new(), dist.canonicalize()?)];
    while let Some((prefix, folder)) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let name = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                folders.push((format!("{name}/"), entry.path()));
            } else {
                found.push((name, entry.path()));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The table as Rust.
fn table(files: &[(String, PathBuf)], is_built: bool) -> io::Result<String> {
    let mut out = String::from("/// Every file of the page.\nstatic FILES: &[File] = &[\n");
    for (name, path) in files {
        writeln!(out, "    ({name:?}, include_bytes!({:?})),", path.display().to_string())
            .map_err(io::Error::other)?;
    }
    out.push_str("];\n\n/// Whether this is the real page.\n");
    writeln!(out, "pub(crate) const IS_BUILT: bool = {is_built};").map_err(io::Error::other)?;
    Ok(out)
}
