//! The tree that scripts run in: a project at `/srv/app` with a git repository, links that lead
//! out, tools and traps that nobody must run, and secrets beside it and in the home. It is built
//! inside the namespace only, where nothing of the machine can be written.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process;

/// The project.
pub(crate) const PROJECT: &str = "/srv/app";
/// The home of the user.
pub(crate) const HOME: &str = "/home/me";
/// The folders that make up the tree.
const TREE: &[&str] = &["/srv", "/home"];
/// Where the programs are that this machine may lack; each is `true` under another name.
pub(crate) const STAND_INS: &str = "/opt/stand-ins";

/// A script that would be noticed if it ran.
const EVIL: &str = "touch /srv/app/pwned\n";

/// Files of the project.
const FILES: &[(&str, &str)] = &[
    ("README.md", "# App\n\n## Usage\n\nTODO: main fn\nfoo bar\n"),
    ("CHANGELOG.md", "# Changes\n\n- 1.0.0 first\n"),
    ("LICENSE", "MIT\n"),
    ("VERSION", "v1.0.0\n"),
    ("Makefile", "build:\n\ttouch pwned\n.PHONY: build\n"),
    ("Dockerfile", "FROM alpine\nRUN true\n"),
    ("docker-compose.yml", "services:\n  web:\n    image: alpine\n"),
    ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"1.0.0\"\nedition = \"2024\"\n"),
    (
        "package.json",
        "{\"name\":\"app\",\"version\":\"1.0.0\",\"scripts\":{\"build\":\"touch pwned\"}}\n",
    ),
    ("tsconfig.json", "{\"compilerOptions\":{\"strict\":true}}\n"),
    ("pyproject.toml", "[project]\nname = \"app\"\n"),
    ("requirements.txt", "flask\nrequests\n"),
    ("go.mod", "module app\n"),
    (".gitignore", "node_modules\n"),
    (".env", "TOKEN=in-the-denied-env\n"),
    ("secret/plan.txt", "in-the-denied-plan\n"),
    ("data.json", "{\"foo\":{\"bar\":1}}\n"),
    ("data.csv", "a,b\n1,2\n"),
    ("data", "one two three\n"),
    ("notes.txt", "a note\npath a.b\n"),
    ("names.txt", "Tom 1\nMolly 2\n"),
    ("app.log", "ERROR one\nfine\n"),
    ("access.log", "127.0.0.1 - \"GET /\"\n"),
    ("users.csv", "me,me@example.com,dev\n"),
    ("file.txt", "line\n"),
    ("a.txt", "README.md\n"),
    ("b.txt", "b\n"),
    ("list", "/srv/secret/key\n"),
    ("src/main.rs", "fn main() {\n    println!(\"foo\");\n}\n"),
    ("src/lib.rs", "pub fn run() {}\n// TODO\n"),
    ("src/main.py", "import os\nprint(1)\n"),
    ("src/app.py", "import os\n"),
    ("src/index.ts", "export default 1;\n"),
    ("src/index.js", "console.log(1)\n"),
    ("src/main.c", "int main(void) { return 0; }\n"),
    ("tests/test_app.py", "def test_a():\n    pass\n"),
    ("docs/guide.md", "# Guide\n"),
    ("packages/core/package.json", "{\"name\":\"core\"}\n"),
    (".github/workflows/ci.yml", "jobs:\n  build:\n    steps: []\n"),
    ("rgrc", "--pre=./tool\n"),
    ("evil.awk", "BEGIN { system(\"touch /srv/app/pwned\") }\n"),
    ("evil.sed", "1w /srv/app/pwned\n"),
    ("evil.py", "open('/srv/app/pwned', 'w')\n"),
    ("evil.conf", "[core]\n\tpager = ./tool\n\tfsmonitor = ./tool\n"),
    ("sums", "d41d8cd98f00b204e9800998ecf8427e  /srv/secret/key\n"),
];

/// Words that stand in files which a scene denies reading, and nowhere else.
pub(crate) const DENIED_TEXT: &str = "in-the-denied-";

/// Programs of the project.
const TOOLS: &[&str] = &["tool", "evil.sh", "bin/ls", "bin/git", "bin/tool", "gradlew"];

/// Secrets outside.
const SECRETS: &[&str] = &[
    "/srv/secret/key",
    "/home/me/.ssh/id_rsa",
    "/home/me/.netrc",
    "/home/me/.aws/credentials",
    "/home/me/repo/plan.md",
];

/// Links of the project, each with what it leads to.
const LINKS: &[(&str, &str)] = &[
    ("outside", "/srv/secret"),
    ("src/outside-file", "/srv/secret/key"),
    ("dangling", "/srv/secret/new"),
    ("inside", "src"),
];

/// Builds the tree.
pub(crate) fn build() -> Result<()> {
    for (path, text) in FILES {
        write(&Path::new(PROJECT).join(path), text)?;
    }
    for tool in TOOLS {
        let path = Path::new(PROJECT).join(tool);
        write(&path, &format!("#!/bin/sh\n{EVIL}"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    for secret in SECRETS {
        write(Path::new(secret), "-----BEGIN PRIVATE KEY-----\n")?;
    }
    for (link, target) in LINKS {
        symlink(target, Path::new(PROJECT).join(link))?;
    }
    let git = |args: &[&str]| process::quiet("git", args, PROJECT);
    git(&["init", "-q", "-b", "main", "--template="])?;
    git(&["config", "user.name", "Me"])?;
    git(&["config", "user.email", "me@example.com"])?;
    git(&["add", "."])?;
    git(&["commit", "-q", "-m", "first"])?;
    git(&["tag", "v1.0.0"])?;
    process::quiet("tar", &["-cf", "a.tar", "README.md", "src/main.rs"], PROJECT)?;
    Ok(())
}

/// The tree as it was built, kept where no script can reach it.
#[derive(Debug)]
pub(crate) struct Pristine(Vec<(PathBuf, Node)>);

/// What lies at a path.
#[derive(Debug, PartialEq, Eq)]
enum Node {
    Dir,
    Link(PathBuf),
    File { mode: u32, bytes: Vec<u8> },
}

impl Pristine {
    /// Takes the tree as it is now.
    pub(crate) fn take() -> Result<Self> {
        let mut nodes = Vec::new();
        for dir in TREE {
            collect(Path::new(dir), &mut nodes)?;
        }
        Ok(Self(nodes))
    }

    /// Makes the tree as it was.
    pub(crate) fn restore(&self) -> Result<()> {
        for dir in TREE {
            empty(Path::new(dir))?;
        }
        for (path, node) in &self.0 {
            match node {
                Node::Dir => fs::create_dir(path)?,
                Node::Link(target) => symlink(target, path)?,
                Node::File { mode, bytes } => {
                    fs::write(path, bytes)?;
                    fs::set_permissions(path, fs::Permissions::from_mode(*mode))?;
                }
            }
        }
        Ok(())
    }

    /// Whether the tree is as it was: every name, kind, mode and content.
    pub(crate) fn is_untouched(&self) -> Result<bool> {
        Ok(Self::take()?.0 == self.0)
    }
}

/// Everything below a folder, in the order of the names.
fn collect(dir: &Path, nodes: &mut Vec<(PathBuf, Node)>) -> Result<()> {
    let mut paths =
        fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        let meta = path.symlink_metadata()?;
        if meta.is_dir() {
            nodes.push((path.clone(), Node::Dir));
            collect(&path, nodes)?;
        } else if meta.is_symlink() {
            let target = fs::read_link(&path)?;
            nodes.push((path, Node::Link(target)));
        } else if meta.is_file() {
            let (mode, bytes) = (meta.permissions().mode(), fs::read(&path)?);
            nodes.push((path, Node::File { mode, bytes }));
        }
    }
    Ok(())
}

/// Removes what lies in a folder.
pub(crate) fn empty(dir: &Path) -> Result<()> {
    // A script may have taken its rights away.
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.symlink_metadata()?.is_dir() {
            empty(&path)?;
            fs::remove_dir(&path)?;
        } else {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}
