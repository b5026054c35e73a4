//! Files that ask wherever the mode says yes: other programs run or trust what is in them, or
//! credentials are kept there.
//!
//! Tables of names only, from which docs/permissions.md is written. Compared without case,
//! because some file systems do not tell `.GIT` from `.git`.

use ostler_stdx::AbsPath;

use crate::facts::Facts;

/// Files and folders by name, wherever they lie, and why writing them asks. A name with `/`
/// stands for the end of a path.
const ANYWHERE: &[(&str, &[&str])] = &[
    (
        "git runs hooks, filters and programs named there",
        &[
            ".git",
            ".gitmodules",
            ".gitconfig",
            ".config/git",
            ".husky",
            ".pre-commit-config.yaml",
            "lefthook.yml",
            ".lefthook.yml",
        ],
    ),
    (
        "it holds settings of an agent",
        &[
            ".claude",
            ".claude.json",
            ".ostler",
            ".codex",
            ".cursor",
            ".gemini",
            ".windsurf",
            ".continue",
            ".cline",
            ".roo",
            ".kiro",
            ".amazonq",
            ".aider.conf.yml",
            ".opencode",
            "opencode.json",
            "opencode.jsonc",
            ".zed",
        ],
    ),
    ("servers named there are started", &[".mcp.json", "mcp.json"]),
    (
        "an editor runs what is named there",
        &[
            ".vscode",
            ".idea",
            ".fleet",
            ".devcontainer",
            ".devcontainer.json",
            ".vimrc",
            ".gvimrc",
            ".nvimrc",
            ".nvim.lua",
            ".exrc",
            ".vim",
            ".config/nvim",
            ".emacs",
            ".emacs.d",
            ".dir-locals.el",
            ".config/helix",
            ".config/zed",
            ".sublime-project",
        ],
    ),
    (
        "a shell runs it",
        &[
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".mkshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".logout",
            ".inputrc",
            "config.fish",
            ".config/fish",
            ".config/powershell",
            "Microsoft.PowerShell_profile.ps1",
            ".envrc",
            ".direnvrc",
            ".config/direnv",
            ".tmux.conf",
            ".screenrc",
            ".xprofile",
            ".xinitrc",
            ".xsession",
        ],
    ),
    (
        "an interpreter or debugger runs it by itself",
        &[
            ".pythonrc",
            "sitecustomize.py",
            "usercustomize.py",
            ".irbrc",
            ".pryrc",
            ".Rprofile",
            ".gdbinit",
            ".lldbinit",
            ".psqlrc",
            ".sqliterc",
            ".perldb",
        ],
    ),
    (
        "a package manager or compiler runs or fetches what it names",
        &[
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            ".bunfig.toml",
            "bunfig.toml",
            ".pypirc",
            "pip.conf",
            ".config/pip",
            ".cargo/config",
            ".cargo/config.toml",
            "rust-toolchain",
            "rust-toolchain.toml",
            ".bundle",
            ".gemrc",
            ".condarc",
            ".m2",
            ".gradle/init.gradle",
            ".gradle/init.d",
            ".tool-versions",
            "mise.toml",
            ".mise.toml",
        ],
    ),
    (
        "it starts with the machine or the session",
        &[
            ".config/autostart",
            ".config/systemd",
            "Library/LaunchAgents",
            "Library/LaunchDaemons",
            ".config/environment.d",
            ".pam_environment",
            "Start Menu/Programs/Startup",
        ],
    ),
];

/// Below the home: neither read nor written unasked.
const SECRETS: &[&str] = &[
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".azure",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".pypirc",
    ".npmrc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".pgpass",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".password-store",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/doctl",
    ".config/sops",
    ".oci",
    ".cache/huggingface/token",
    ".kaggle",
    ".local/share/keyrings",
    ".mozilla/firefox",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    "Library/Keychains",
    "Library/Cookies",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    "AppData/Local/Google/Chrome",
    "AppData/Roaming/Mozilla",
    "AppData/Roaming/Microsoft/Credentials",
    ".ostler/credentials.json",
    ".ostler/web-token",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
];

/// Why a write to this path asks, if it does.
pub(crate) fn write(path: &AbsPath, facts: &Facts) -> Option<String> {
    let parts = components(path);
    for (why, names) in ANYWHERE {
        if names.iter().any(|name| holds(&parts, name)) {
            return Some(format!("`{path}` is protected: {why}"));
        }
    }
    read(path, facts)
}

/// Why reading this path asks, if it does.
pub(crate) fn read(path: &AbsPath, facts: &Facts) -> Option<String> {
    let parts = components(path);
    let homes = std::iter::once(&facts.home).chain(facts.real(&facts.home));
    for home in homes {
        let Some(below) = without(&parts, &components(home)) else { continue };
        if SECRETS.iter().any(|secret| starts_with(below, secret)) {
            return Some(format!("`{path}` is protected: credentials are kept there"));
        }
    }
    let process = parts.first().is_some_and(|first| first == "proc")
        && parts.last().is_some_and(|last| matches!(last.as_str(), "environ" | "mem" | "cmdline"));
    let socket = parts.last().is_some_and(|last| last.ends_with(".sock"))
        && parts.first().is_some_and(|first| matches!(first.as_str(), "run" | "var"));
    (process || socket).then(|| format!("`{path}` is protected: it reaches into other programs"))
}

fn components(path: &AbsPath) -> Vec<String> {
    path.components().skip(1).map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}

fn same(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

/// Whether the names of a path stand side by side in these parts.
fn holds(parts: &[String], name: &str) -> bool {
    let names: Vec<&str> = name.split('/').collect();
    parts.windows(names.len()).enumerate().any(|(at, window)| {
        let is_here = window.iter().zip(&names).all(|(part, name)| same(part, name));
        // Work trees of an agent hold a whole project.
        let is_tree = parts.get(at + 1).is_some_and(|next| next == "worktrees") && name != ".git";
        is_here && !is_tree
    })
}

fn starts_with(parts: &[String], names: &str) -> bool {
    let names: Vec<&str> = names.split('/').collect();
    parts.len() >= names.len() && parts.iter().zip(&names).all(|(part, name)| same(part, name))
}

fn without<'p>(parts: &'p [String], start: &[String]) -> Option<&'p [String]> {
    let fits =
        parts.len() >= start.len() && parts.iter().zip(start).all(|(part, name)| same(part, name));
    fits.then(|| &parts[start.len()..])
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// The tables as Markdown, for docs/permissions.md.
    fn protected_markdown() -> String {
        let mut text = String::from("| Why | Writing asks, wherever it lies |\n|---|---|\n");
        for (why, names) in ANYWHERE {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let _ = writeln!(text, "| {why} | {} |", names.join(", "));
        }
        let secrets: Vec<String> = SECRETS.iter().map(|name| format!("`~/{name}`")).collect();
        let _ = writeln!(
            text,
            "| credentials are kept there; reading asks, too | {} |",
            secrets.join(", ")
        );
        text
    }

    fn facts() -> Facts {
        let path = |path: &str| AbsPath::new(path).unwrap();
        Facts::new(path("/p"), path("/home/u"))
    }

    #[test]
    fn each_row_is_protected_wherever_and_however_it_is_spelled() {
        let facts = facts();
        for (_, names) in ANYWHERE {
            for name in *names {
                for path in [
                    format!("/p/{name}"),
                    format!("/p/a/b/{name}/x"),
                    format!("/home/u/{}", name.to_uppercase()),
                ] {
                    let path = AbsPath::new(path).unwrap();
                    assert!(write(&path, &facts).is_some(), "{path}");
                }
                let near = AbsPath::new(format!("/p/x{name}x")).unwrap();
                assert_eq!(write(&near, &facts), None, "{near}");
            }
        }
        for secret in SECRETS {
            let path = AbsPath::new(format!("/home/u/{secret}")).unwrap();
            assert!(read(&path, &facts).is_some() && write(&path, &facts).is_some(), "{path}");
            let path = AbsPath::new(format!("/home/u/{}", secret.to_uppercase())).unwrap();
            assert!(read(&path, &facts).is_some(), "{path}");
            let elsewhere = AbsPath::new(format!("/home/u2/{secret}")).unwrap();
            assert_eq!(read(&elsewhere, &facts), None, "{elsewhere}");
        }
    }

    #[test]
    fn the_page_lists_the_tables() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/permissions.md");
        let text = std::fs::read_to_string(page).unwrap();
        assert!(
            text.contains(&protected_markdown()),
            "put into docs/permissions.md:\n{}",
            protected_markdown()
        );
    }
}
