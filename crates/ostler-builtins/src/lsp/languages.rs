//! The language servers that are known, as data, and where they are on this machine.
//! Looks at names and modes of files only; starts nothing.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use ostler_stdx::AbsPath;

/// A language and its servers.
#[derive(Debug)]
pub(crate) struct Language {
    /// Its name for people; in capitals it is also the end of the variable that names a
    /// server, `OSTLER_LSP_<NAME>`.
    pub(crate) name: &'static str,
    /// Endings of files, and what the protocol calls their language.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// Command lines, the best first.
    pub(crate) servers: &'static [&'static [&'static str]],
    /// Files that stand in the root of a project.
    pub(crate) markers: &'static [&'static str],
    /// How to get a server.
    install: &'static str,
}

/// All of them.
pub(crate) const LANGUAGES: &[Language] = &[
    Language {
        name: "rust",
        files: &[("rs", "rust")],
        servers: &[&["rust-analyzer"]],
        markers: &["Cargo.toml", "rust-project.json"],
        install: "`rustup component add rust-analyzer`",
    },
    Language {
        name: "typescript",
        files: &[
            ("ts", "typescript"),
            ("mts", "typescript"),
            ("cts", "typescript"),
            ("tsx", "typescriptreact"),
            ("js", "javascript"),
            ("mjs", "javascript"),
            ("cjs", "javascript"),
            ("jsx", "javascriptreact"),
        ],
        servers: &[&["typescript-language-server", "--stdio"], &["vtsls", "--stdio"]],
        markers: &["tsconfig.json", "jsconfig.json", "package.json"],
        install: "`npm install -g typescript typescript-language-server`",
    },
    Language {
        name: "python",
        files: &[("py", "python"), ("pyi", "python")],
        servers: &[
            &["pyright-langserver", "--stdio"],
            &["basedpyright-langserver", "--stdio"],
            &["pylsp"],
        ],
        markers: &["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"],
        install: "`npm install -g pyright` or `pip install python-lsp-server`",
    },
    Language {
        name: "go",
        files: &[("go", "go")],
        servers: &[&["gopls"]],
        markers: &["go.work", "go.mod"],
        install: "gopls, which the Go tools install",
    },
    Language {
        name: "c",
        files: &[
            ("c", "c"),
            ("h", "c"),
            ("cc", "cpp"),
            ("cpp", "cpp"),
            ("cxx", "cpp"),
            ("hh", "cpp"),
            ("hpp", "cpp"),
            ("hxx", "cpp"),
        ],
        servers: &[&["clangd"]],
        markers: &["compile_commands.json", "compile_flags.txt", "CMakeLists.txt", "Makefile"],
        install: "clangd, which comes with LLVM",
    },
];

/// The environment of children.
pub(crate) type Env = BTreeMap<OsString, OsString>;

impl Language {
    /// The language of a file, and what the protocol calls it.
    pub(crate) fn of(path: &Path) -> Option<(&'static Self, &'static str)> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        LANGUAGES.iter().find_map(|language| {
            let (_, id) = language.files.iter().find(|(own, _)| *own == ending)?;
            Some((language, *id))
        })
    }

    /// The variable that names another server.
    pub(crate) fn variable(&self) -> String {
        format!("OSTLER_LSP_{}", self.name.to_ascii_uppercase())
    }

    /// The command lines to try, the best first.
    pub(crate) fn commands(&self, env: &Env) -> Vec<Vec<OsString>> {
        if let Some(line) = env.get(OsStr::new(&self.variable())) {
            let words = words(&line.to_string_lossy());
            return if words.is_empty() { Vec::new() } else { vec![words] };
        }
        let own = |line: &&&[&str]| line.first().is_some_and(|program| on_path(program, env));
        let line = |line: &&[&str]| line.iter().map(OsString::from).collect();
        self.servers.iter().filter(own).map(line).collect()
    }

    /// What to do when there is no server that works.
    pub(crate) fn advice(&self) -> String {
        let variable = self.variable();
        let install = self.install;
        format!(
            "install {install}, or name one in the variable `{variable}`; until then use Grep and Read"
        )
    }

    /// The root of the project that a file is in: the outermost folder with a marker, no
    /// further out than `cwd`; for a file elsewhere the nearest.
    pub(crate) fn root(&self, file: &AbsPath, cwd: &AbsPath) -> AbsPath {
        let marked = |folder: &AbsPath| self.markers.iter().any(|name| folder.join(name).exists());
        let inside = file.is_within(cwd);
        let mut found = None;
        let mut folder = file.parent();
        while let Some(here) = folder {
            if inside && !here.is_within(cwd) {
                break;
            }
            folder = here.parent();
            if marked(&here) {
                found = Some(here);
                if !inside {
                    break;
                }
            }
        }
        let own = || file.parent().unwrap_or_else(AbsPath::root);
        found.unwrap_or_else(|| if inside { cwd.clone() } else { own() })
    }
}

fn on_path(program: &str, env: &Env) -> bool {
    let Some(path) = env.get(OsStr::new("PATH")) else { return false };
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).any(|folder| {
        let meta = folder.join(program).metadata();
        meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    })
}

/// A command line in words; double quotes hold blanks together.
fn words(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut begun) = (String::new(), false, false);
    for character in line.chars() {
        match character {
            '"' => (quoted, begun) = (!quoted, true),
            blank if blank.is_whitespace() && !quoted => {
                if begun {
                    words.push(OsString::from(std::mem::take(&mut word)));
                }
                begun = false;
            }
            other => {
                word.push(other);
                begun = true;
            }
        }
    }
    if begun {
        words.push(OsString::from(word));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_languages_and_command_lines_words() {
        let of = |name: &str| Language::of(Path::new(name)).map(|(own, id)| (own.name, id));
        assert_eq!(of("a/b.TSX"), Some(("typescript", "typescriptreact")));
        assert_eq!(of("a.hpp"), Some(("c", "cpp")));
        assert_eq!(of("rs"), None);
        assert_eq!(words(r#" "/a b/c" --x "" y"z w" "#), ["/a b/c", "--x", "", "yz w"]);
        assert!(words("  ").is_empty());
    }

    #[test]
    fn the_root_is_the_outermost_marker_within_the_working_folder() {
        let dir = tempfile::tempdir().unwrap();
        let base = AbsPath::new(dir.path()).unwrap();
        for folder in ["w/p/q/src", "x/y"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        for marker in
            ["Cargo.toml", "w/p/Cargo.toml", "w/p/q/Cargo.toml", "x/y/Cargo.toml", "x/Cargo.toml"]
        {
            std::fs::write(base.join(marker), "").unwrap();
        }
        let root = |file: &str, cwd: &str| LANGUAGES[0].root(&base.join(file), &base.join(cwd));
        assert_eq!(root("w/p/q/src/a.rs", "w"), base.join("w/p"));
        assert_eq!(root("w/b.rs", "w"), base.join("w"));
        assert_eq!(root("x/y/a.rs", "w"), base.join("x/y"));
    }

    #[test]
    fn a_variable_takes_the_place_of_what_is_installed() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("gopls");
        std::fs::write(&program, "").unwrap();
        let env = |more: &[(&str, &str)]| {
            let path = [("PATH", dir.path().to_str().unwrap())];
            let all = path.iter().chain(more);
            all.map(|(name, value)| (OsString::from(name), OsString::from(value))).collect::<Env>()
        };
        let go = LANGUAGES.iter().find(|language| language.name == "go").unwrap();
        // It may not be run.
        assert!(go.commands(&env(&[])).is_empty());
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(go.commands(&env(&[])), [["gopls"]]);
        assert_eq!(go.commands(&env(&[("OSTLER_LSP_GO", "my server")])), [["my", "server"]]);
        assert!(go.commands(&env(&[("OSTLER_LSP_GO", "")])).is_empty());
        assert!(go.advice().contains("OSTLER_LSP_GO"));
    }
}
