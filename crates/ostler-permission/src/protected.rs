//! Files that ask wherever the mode says yes: other programs run or trust what is in them.
//!
//! Lists of names only. Compared without case, because some file systems do not tell
//! `.GIT` from `.git`.

use ostler_stdx::AbsPath;

use crate::facts::Facts;

/// Folders and files anywhere, and why writing them asks.
const ANYWHERE: &[(&str, &str)] = &[
    (".git", "git runs hooks and programs named there"),
    (".gitmodules", "git fetches and runs what it names"),
    (".gitconfig", "git runs programs named there"),
    (".claude", "it holds settings of an agent"),
    (".ostler", "it holds settings of an agent"),
    (".codex", "it holds settings of an agent"),
    (".cursor", "it holds settings of an agent"),
    (".gemini", "it holds settings of an agent"),
    (".mcp.json", "servers named there are started"),
    (".claude.json", "it holds settings of an agent"),
    (".vscode", "an editor runs tasks named there"),
    (".idea", "an editor runs what is named there"),
    (".devcontainer", "an editor runs what is named there"),
    (".husky", "git runs hooks that are there"),
    (".envrc", "a shell runs it on entering the folder"),
    (".bashrc", "a shell runs it"),
    (".bash_profile", "a shell runs it"),
    (".bash_login", "a shell runs it"),
    (".bash_logout", "a shell runs it"),
    (".bash_aliases", "a shell runs it"),
    (".profile", "a shell runs it"),
    (".zshrc", "a shell runs it"),
    (".zshenv", "a shell runs it"),
    (".zprofile", "a shell runs it"),
    (".zlogin", "a shell runs it"),
    (".zlogout", "a shell runs it"),
    (".inputrc", "a shell obeys it"),
    ("config.fish", "a shell runs it"),
];

/// Below the home: neither read nor written unasked.
const SECRETS: &[&str] = &[
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".azure",
    ".netrc",
    ".git-credentials",
    ".pypirc",
    ".password-store",
    ".docker/config.json",
    ".config/gcloud",
    ".config/gh",
    ".config/op",
    ".local/share/keyrings",
    ".ostler/credentials.json",
    ".ostler/web-token",
    ".claude/.credentials.json",
];

/// Why a write to this path asks, if it does.
pub(crate) fn write(path: &AbsPath, facts: &Facts) -> Option<String> {
    let parts: Vec<String> = components(path);
    for (at, part) in parts.iter().enumerate() {
        let Some((_, why)) = ANYWHERE.iter().find(|(name, _)| part.eq_ignore_ascii_case(name))
        else {
            continue;
        };
        // Work trees of an agent hold a whole project.
        if parts.get(at + 1).is_some_and(|next| next == "worktrees") && part != ".git" {
            continue;
        }
        return Some(format!("`{path}` is protected: {why}"));
    }
    read(path, facts)
}

/// Why reading this path asks, if it does.
pub(crate) fn read(path: &AbsPath, facts: &Facts) -> Option<String> {
    let homes = std::iter::once(&facts.home).chain(facts.real(&facts.home));
    for home in homes {
        if SECRETS.iter().any(|secret| path.is_within(&home.join(secret))) {
            return Some(format!("`{path}` is protected: credentials are kept there"));
        }
    }
    let parts = components(path);
    let process = parts.first().is_some_and(|first| first == "proc")
        && parts.last().is_some_and(|last| matches!(last.as_str(), "environ" | "mem" | "cmdline"));
    let socket = parts.last().is_some_and(|last| last.ends_with(".sock"))
        && parts.first().is_some_and(|first| matches!(first.as_str(), "run" | "var"));
    (process || socket).then(|| format!("`{path}` is protected: it reaches into other programs"))
}

fn components(path: &AbsPath) -> Vec<String> {
    path.components().skip(1).map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}
