//! Who may set which key: one row for every key of `keys.rs`. A file is checked, an
//! untrusted one is thinned out, and the page for readers is written from these rows.
//! Nothing else decides what a key loosens.

use serde_json::Value;

/// What a key does to what a session may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It only restricts: it counts from everywhere, trusted or not.
    Tightens,
    /// So does this value of a switch; the other one loosens.
    TightensIf(bool),
    /// It neither restricts nor loosens.
    Neutral,
    /// It can loosen: in a project's file it waits for trust.
    Loosens,
}

/// Which tiers may set a key at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// All.
    Anyone,
    /// Not a project's files, trusted or not.
    NotProject,
    /// The machine's policy alone.
    Policy,
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Its name, with the names of the objects around it.
    pub(super) path: &'static str,
    pub(super) effect: Effect,
    pub(super) from: From,
    /// What holds where nobody sets it, for readers.
    pub(super) default: &'static str,
    /// What it is called when it waits for trust, in the singular; the key itself if empty.
    pub(super) noun: &'static str,
}

const fn row(path: &'static str, effect: Effect, default: &'static str) -> Row {
    Row { path, effect, from: From::Anyone, default, noun: "" }
}

const fn named(mut row: Row, noun: &'static str) -> Row {
    row.noun = noun;
    row
}

const fn of_policy(path: &'static str) -> Row {
    Row { path, effect: Effect::TightensIf(true), from: From::Policy, default: "false", noun: "" }
}

const fn box_key(path: &'static str, effect: Effect, default: &'static str) -> Row {
    named(row(path, effect, default), "sandbox setting")
}

use Effect::{Loosens, Neutral, Tightens, TightensIf};

/// Every key, in the order of the page.
pub(super) const ROWS: &[Row] = &[
    row("permissions.deny", Tightens, "none"),
    row("permissions.ask", Tightens, "none"),
    named(row("permissions.allow", Loosens, "none"), "allow rule"),
    named(row("permissions.defaultMode", Loosens, "default"), "default mode"),
    named(row("permissions.additionalDirectories", Loosens, "none"), "additional folder"),
    row("permissions.disableBypassPermissionsMode", Tightens, "not set"),
    row("permissions.disableAutoMode", Tightens, "not set"),
    row("permissions.denyInsteadOfPrompting", TightensIf(true), "false"),
    row("permissions.blockReadsOutsideWorkingDirectories", TightensIf(true), "false"),
    row("permissions.blockWritesOutsideWorkingDirectories", TightensIf(true), "false"),
    of_policy("allowManagedPermissionRulesOnly"),
    named(row("hooks", Loosens, "none"), "hook"),
    // Hooks are guards, too: a repository does not switch off the user's.
    row("disableAllHooks", Loosens, "false"),
    of_policy("allowManagedHooksOnly"),
    named(row("env", Loosens, "none"), "environment variable"),
    row("passEnv", Loosens, "none"),
    row("model", Neutral, "the current model of the provider"),
    row("fallbackModel", Neutral, "none"),
    Row { from: From::NotProject, ..row("apiKeyHelper", Loosens, "none") },
    row("outputStyle", Neutral, "default"),
    row("agent", Neutral, "none"),
    row("effortLevel", Neutral, "the model's own"),
    row("alwaysThinkingEnabled", Neutral, "the model's own"),
    row("autoCompactEnabled", Neutral, "true"),
    row("enabledMcpjsonServers", Loosens, "none"),
    row("disabledMcpjsonServers", Tightens, "none"),
    row("enableAllProjectMcpServers", Loosens, "false"),
    of_policy("allowManagedMcpServersOnly"),
    row("enabledPlugins", Loosens, "none"),
    row("skillOverrides", Loosens, "none"),
    row("claudeMdExcludes", Loosens, "none"),
    row("cleanupPeriodDays", Loosens, "30"),
    row("fileCheckpointingEnabled", TightensIf(true), "true"),
    row("memory.autoExtract", Neutral, "true"),
    row("memory.extractEveryNRuns", Neutral, "8"),
    box_key("sandbox.enabled", TightensIf(true), "false"),
    box_key("sandbox.failIfUnavailable", TightensIf(true), "false"),
    box_key("sandbox.autoAllowBashIfSandboxed", TightensIf(false), "false"),
    box_key("sandbox.excludedCommands", Loosens, "none"),
    box_key("sandbox.allowUnsandboxedCommands", TightensIf(false), "true"),
    box_key("sandbox.network.allowedDomains", Loosens, "none"),
    box_key("sandbox.network.deniedDomains", Tightens, "none"),
    box_key("sandbox.network.strictAllowlist", TightensIf(true), "false"),
    of_policy("sandbox.network.allowManagedDomainsOnly"),
    box_key("sandbox.network.allowLocalBinding", TightensIf(false), "false"),
    box_key("sandbox.network.allowUnixSockets", Loosens, "none"),
    box_key("sandbox.network.allowAllUnixSockets", TightensIf(false), "false"),
    box_key("sandbox.network.allowMachLookup", Loosens, "none"),
    box_key("sandbox.network.httpProxyPort", Loosens, "none"),
    box_key("sandbox.network.socksProxyPort", Loosens, "none"),
    box_key("sandbox.filesystem.allowWrite", Loosens, "none"),
    box_key("sandbox.filesystem.denyWrite", Tightens, "none"),
    box_key("sandbox.filesystem.denyRead", Tightens, "none"),
    box_key("sandbox.filesystem.allowRead", Loosens, "none"),
    of_policy("sandbox.filesystem.allowManagedReadPathsOnly"),
    box_key("sandbox.filesystem.disabled", TightensIf(false), "false"),
    box_key("sandbox.credentials.files", Tightens, "none"),
    box_key("sandbox.credentials.envVars", Tightens, "none"),
    box_key("sandbox.ignoreViolations", Neutral, "none"),
    box_key("sandbox.enableWeakerNestedSandbox", TightensIf(false), "false"),
    box_key("sandbox.allowNestedUserNamespaces", TightensIf(false), "false"),
    box_key("sandbox.enableWeakerNetworkIsolation", TightensIf(false), "false"),
    box_key("sandbox.bwrapPath", Loosens, "the one on the path"),
];

/// Keys that other programs put into these files, or that a later version may mean
/// something by: kept, ignored, and no reason for a warning.
const FOREIGN: &[&str] = &[
    "$schema",
    "additionalDirectories",
    "advisorModel",
    "allowedChannelPlugins",
    "allowedHttpHookUrls",
    "allowedMcpServers",
    "attribution",
    "autoMemoryEnabled",
    "autoMode",
    "autoUpdatesChannel",
    "availableModels",
    "awsAuthRefresh",
    "awsCredentialExport",
    "blockedMarketplaces",
    "channelsEnabled",
    "companyAnnouncements",
    "defaultShell",
    "deniedMcpServers",
    "editorMode",
    "extraKnownMarketplaces",
    "fastMode",
    "fileSuggestion",
    "forceLoginMethod",
    "forceLoginOrgUUID",
    "gcpAuthRefresh",
    "includeCoAuthoredBy",
    "includeGitInstructions",
    "language",
    "minimumVersion",
    "modelOverrides",
    "otelHeadersHelper",
    "parentSettingsBehavior",
    "plansDirectory",
    "pluginConfigs",
    "prefersReducedMotion",
    "promptSuggestionEnabled",
    "respectGitignore",
    "showThinkingSummaries",
    "showTurnDuration",
    "skipDangerousModePermissionPrompt",
    "skippedMarketplaces",
    "skippedPlugins",
    "spinnerTipsEnabled",
    "spinnerTipsOverride",
    "spinnerVerbs",
    "statusLine",
    "strictKnownMarketplaces",
    "syntaxHighlightingDisabled",
    "teammateMode",
    "terminalProgressBarEnabled",
    "theme",
    "voiceEnabled",
    "worktree",
];

/// The row of a key, if it has one.
pub(super) fn find(path: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.path == path)
}

/// Whether a path names an object that holds keys.
pub(super) fn is_group(path: &str) -> bool {
    ROWS.iter().any(|row| row.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

impl Row {
    /// Whether this value of the key restricts and does nothing else.
    pub(super) fn tightens(&self, value: &Value) -> bool {
        match self.effect {
            Effect::Tightens => true,
            Effect::TightensIf(wanted) => value.as_bool() == Some(wanted),
            Effect::Neutral | Effect::Loosens => false,
        }
    }

    /// Whether it neither restricts nor loosens, whatever its value.
    pub(super) fn is_neutral(&self) -> bool {
        self.effect == Effect::Neutral
    }

    /// Whether this value may count though nobody vouches for its file.
    pub(super) fn is_harmless(&self, value: &Value) -> bool {
        self.effect == Effect::Neutral || self.tightens(value)
    }
}

/// The known key that an unknown one was probably meant to be.
pub(super) fn meant(path: &str) -> Option<&'static str> {
    let (group, name) = path.rsplit_once('.').unwrap_or(("", path));
    if group.is_empty() && FOREIGN.contains(&name) {
        return None;
    }
    let names = || {
        ROWS.iter().flat_map(|row| {
            let dots = row.path.match_indices('.').map(|(at, _)| at);
            dots.chain([row.path.len()]).map(|end| row.path.get(..end).unwrap_or(row.path))
        })
    };
    let split = |known: &'static str| known.rsplit_once('.').unwrap_or(("", known));
    let near = names()
        .filter(|known| split(known).0 == group)
        .map(|known| (distance(name, split(known).1), known))
        .min()?;
    let allowed = if name.chars().count() <= 5 { 1 } else { 2 };
    if near.0 <= allowed {
        return Some(near.1);
    }
    // A right name in a wrong place.
    ROWS.iter().map(|row| row.path).find(|known| split(known).1 == name && *known != path)
}

/// How many letters are to be put in, left out, changed or swapped; capitals do not count.
fn distance(left: &str, right: &str) -> usize {
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    let (left, right) = (letters(left), letters(right));
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.iter().enumerate() {
        let mut this = vec![row + 1];
        for (at, b) in right.iter().enumerate() {
            let kept = last.get(at).copied().unwrap_or(usize::MAX);
            let dropped = last.get(at + 1).copied().unwrap_or(usize::MAX);
            let added = this.last().copied().unwrap_or(usize::MAX);
            let mut best = (kept + usize::from(a != b)).min(dropped + 1).min(added + 1);
            let swapped =
                row > 0 && at > 0 && left.get(row - 1) == Some(b) && right.get(at - 1) == Some(a);
            if swapped {
                best = best.min(before.get(at - 1).copied().unwrap_or(usize::MAX - 1) + 1);
            }
            this.push(best);
        }
        before = std::mem::replace(&mut last, this);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{super::schema::leaves, *};

    #[test]
    fn every_key_of_the_types_has_one_row_and_every_row_a_key() {
        let rows: Vec<_> = ROWS.iter().map(|row| row.path.to_owned()).collect();
        let set: BTreeSet<_> = rows.iter().cloned().collect();
        assert_eq!(set.len(), rows.len(), "a key has two rows");
        let keys: BTreeSet<_> = leaves().into_iter().map(|leaf| leaf.path).collect();
        assert_eq!(set, keys);
    }

    #[test]
    fn a_near_miss_and_a_wrong_place_are_told_and_a_stranger_is_not() {
        for (written, known) in [
            ("permisions", Some("permissions")),
            ("Permissions", Some("permissions")),
            ("permissions.denny", Some("permissions.deny")),
            ("permissions.dney", Some("permissions.deny")),
            ("permissions.alow", Some("permissions.allow")),
            ("permissions.asks", Some("permissions.ask")),
            ("hoks", Some("hooks")),
            ("deny", Some("permissions.deny")),
            ("sandbox.deniedDomains", Some("sandbox.network.deniedDomains")),
            ("statusLine", None),
            ("theme", None),
            ("$schema", None),
            ("somethingElse", None),
            ("permissions.note", None),
        ] {
            assert_eq!(meant(written), known, "{written}");
        }
    }

    #[test]
    fn distance_counts_letters() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "ab", 2),
            ("deny", "dney", 1),
            ("kitten", "sitting", 3),
            ("A", "a", 0),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
