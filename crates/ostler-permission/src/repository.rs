//! What the configuration of a git repository can make git run.
//!
//! Whoever made the repository's own files chose it, and that need not be the user: an archive
//! that is unpacked and a folder inside a clone that looks like a repository bring theirs
//! along. Settings of the user and of the machine are the user's own and are never looked at.
//! Reads text and compares names; what it does not understand counts as something that runs.

mod settings;
#[cfg(test)]
mod tests;

use ostler_stdx::AbsPath;

pub use settings::{GitSetting, git_settings};

/// A repository as git would find it from one folder; without a root there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repository {
    /// The folder that holds `.git`, or the bare repository itself.
    pub root: Option<AbsPath>,
    /// Settings of its own files, and of those of its submodules that git enters by itself.
    /// Left out is `core.worktree` where it names the root.
    pub settings: Vec<GitSetting>,
    /// Why the settings may not be all of them.
    pub doubt: Option<String>,
    /// A hook that is there and that commands which only read may run.
    pub hook: Option<AbsPath>,
    /// Files and folders that decide what it runs, links followed: its own folder, that of
    /// its hooks.
    pub governed_by: Vec<AbsPath>,
}

impl Repository {
    /// What git may run or reach on a command that only reads, as part of a sentence.
    pub(crate) fn runs(&self) -> Option<String> {
        if let Some(doubt) = &self.doubt {
            return Some(format!("it is not known what the git repository here runs: {doubt}"));
        }
        if let Some(hook) = &self.hook {
            return Some(format!("the repository's own git configuration runs `{hook}`"));
        }
        let fetches = self.settings.iter().any(|setting| role(setting) == Role::Promises);
        self.settings.iter().find_map(|setting| {
            let (key, value) = (&setting.key, setting.value.as_deref().unwrap_or_default());
            match role(setting) {
                Role::Nothing => None,
                Role::OnNetwork if !fetches => None,
                Role::Runs | Role::OnNetwork => Some(format!(
                    "the repository's own git configuration runs `{value}` on this command (`{key}`)"
                )),
                Role::Includes => Some(format!(
                    "the repository's own git configuration takes settings from `{value}`"
                )),
                Role::WorksElsewhere => Some(format!(
                    "the repository's own git configuration works on the files of `{value}`"
                )),
                Role::Promises => Some(format!(
                    "git may fetch from the network what the repository lacks (`{key}`)"
                )),
            }
        })
    }
}

/// What a setting does on commands that only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Nothing that matters.
    Nothing,
    /// Its value is run.
    Runs,
    /// Its value is run, or chooses what is reached, when git uses the network.
    OnNetwork,
    /// Contents may be missing, and git fetches them when it needs them.
    Promises,
    /// Further settings are read from another file.
    Includes,
    /// The work tree lies somewhere else.
    WorksElsewhere,
}

/// Sections whose programs run on commands of their own only, none of which only reads.
/// An alias cannot stand in for a command that git has.
const ELSEWHERE: &[&str] = &[
    "alias",
    "branch",
    "browser",
    "difftool",
    "gui",
    "guitool",
    "help",
    "imap",
    "instaweb",
    "man",
    "mergetool",
    "receive",
    "sendemail",
    "sequence",
    "submodule",
    "tar",
    "uploadarchive",
    "uploadpack",
    "web",
];

/// Sections that matter when git uses the network.
const NETWORK: &[&str] = &["credential", "http", "https", "protocol", "remote", "ssh", "url"];

/// Ends of names that git and tools around it give to programs.
const PROGRAM_NAMES: &[&str] =
    &["cmd", "command", "driver", "helper", "program", "textconv", "hookspath", "fsmonitor"];

fn role(setting: &GitSetting) -> Role {
    let value = setting.value.as_deref();
    let text = value.unwrap_or_default().trim();
    let (section, sub, name) = setting.parts();
    match (section, name) {
        ("core", "fsmonitor") if value.is_none() || is_boolean(text) => Role::Nothing,
        ("core", "pager") | ("pager", _) if is_plain_pager(text) || is_boolean(text) => {
            Role::Nothing
        }
        ("core", "editor") => Role::Nothing,
        // The host looks into the folder of the hooks itself.
        ("core", "hookspath") => Role::Nothing,
        ("core", "sshcommand" | "gitproxy" | "askpass") => Role::OnNetwork,
        ("core", "worktree") => Role::WorksElsewhere,
        ("core", "fsmonitor" | "pager" | "alternaterefscommand")
        | ("pager" | "hook", _)
        | ("diff", "external" | "command" | "textconv")
        | ("filter", "clean" | "smudge" | "process")
        | ("interactive", "difffilter")
        | ("gpg", "program" | "defaultkeycommand")
        | ("merge", "driver") => Role::Runs,
        ("lfs", _) if sub.starts_with("extension.") || sub.starts_with("customtransfer.") => {
            Role::Runs
        }
        ("include" | "includeif", _) => Role::Includes,
        ("remote", "promisor") if is_false(text) && value.is_some() => Role::Nothing,
        ("remote", "promisor" | "partialclonefilter") | ("extensions", "partialclone") => {
            Role::Promises
        }
        ("remote", "url" | "fetch" | "push" | "pushurl" | "tagopt" | "prune" | "mirror") => {
            Role::Nothing
        }
        (section, _) if NETWORK.contains(&section) => Role::OnNetwork,
        (section, _) if ELSEWHERE.contains(&section) => Role::Nothing,
        (_, name)
            if text.starts_with('!') || PROGRAM_NAMES.iter().any(|end| name.ends_with(end)) =>
        {
            Role::Runs
        }
        _ => Role::Nothing,
    }
}

fn is_boolean(text: &str) -> bool {
    is_false(text) || ["true", "yes", "on", "1"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn is_false(text: &str) -> bool {
    ["", "false", "no", "off", "0"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Pagers that only show, with options that only choose how.
fn is_plain_pager(text: &str) -> bool {
    let mut words = text.split(' ');
    matches!(words.next(), Some("cat" | "less" | "more"))
        && words.all(|word| {
            word.strip_prefix('-')
                .is_some_and(|letters| letters.chars().all(|c| "FRXSirW".contains(c)))
        })
}
