//! What may be offered beside yes and no: rules, folders, a mode.
//!
//! A suggested rule must allow the very call it is suggested for, so none is made up where
//! no rule could.

use ostler_protocol::Mode;

use crate::{
    judge::{
        Call,
        seen::{Place, ScriptSeen, Seen, SeenAccess},
    },
    mode::Column,
    rules::base_name,
    shell::{How, Word},
    update::{Destination, PermissionUpdate, RuleValue},
};

/// Programs of which a prefix rule would allow anything at all.
const TOO_WIDE: &[&str] = &[
    "sh", "bash", "zsh", "dash", "env", "sudo", "doas", "xargs", "eval", "exec", "python",
    "python3", "node", "perl", "ruby", "php", "ssh", "rm", "find", "awk", "source", "timeout",
    "nice", "nohup", "time", "command", "busybox", "watch", "parallel", "trap",
];

/// The rule of the first suggestion, as one text.
pub(crate) fn rule(suggestions: &[PermissionUpdate]) -> Option<String> {
    match suggestions.first()? {
        PermissionUpdate::AddRules { rules, .. } if rules.len() == 1 => Some(rules[0].to_text()),
        _ => None,
    }
}

/// Everything that may be offered.
pub(crate) fn suggestions(call: &Call<'_>, tool: &str, seen: &Seen<'_>) -> Vec<PermissionUpdate> {
    let mut out = Vec::new();
    // No rule lifts a safety check.
    let lifted = seen.places().all(|place| place.protected(call.facts).is_none());
    let rules = if lifted { rules(call, tool, seen) } else { Vec::new() };
    if !rules.is_empty() {
        out.push(PermissionUpdate::AddRules {
            rules,
            behavior: crate::rules::Behavior::Allow,
            destination: Destination::LocalSettings,
        });
    }
    let folders = folders(call, seen);
    if !folders.is_empty() && lifted {
        out.push(PermissionUpdate::AddDirectories {
            directories: folders,
            destination: Destination::Session,
        });
    }
    if call.mode == Mode::Default && lifted && edits_only(seen) {
        out.push(PermissionUpdate::SetMode {
            mode: Mode::AcceptEdits.name().into(),
            destination: Destination::Session,
        });
    }
    out
}

fn value(tool: &str, content: Option<String>) -> RuleValue {
    RuleValue { tool_name: tool.to_owned(), rule_content: content }
}

fn rules(call: &Call<'_>, tool: &str, seen: &Seen<'_>) -> Vec<RuleValue> {
    let mut rules: Vec<RuleValue> = Vec::new();
    for access in &seen.list {
        let found = match access {
            SeenAccess::Shell(script) => commands(tool, script),
            SeenAccess::Path(place) => vec![path(call, place)],
            SeenAccess::Network { host, .. } if !host.is_empty() && tool == "WebFetch" => {
                vec![value(tool, Some(format!("domain:{host}")))]
            }
            SeenAccess::Nothing => Vec::new(),
            SeenAccess::Network { .. } | SeenAccess::Mcp { .. } | SeenAccess::Unknown => {
                vec![value(tool, None)]
            }
        };
        for rule in found {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    rules
}

/// One rule for each command that asks; the exact script where no prefix could allow it.
fn commands(tool: &str, script: &ScriptSeen<'_>) -> Vec<RuleValue> {
    let text = script.text.trim();
    let exact = || {
        let fits = text.len() <= 300 && !text.contains(['\n', '*']) && !text.is_empty();
        fits.then(|| value(tool, Some(text.to_owned()))).into_iter().collect::<Vec<_>>()
    };
    if script.not_understood().is_some() || script.redirects.iter().any(|place| !place.inside) {
        return exact();
    }
    let mut rules = Vec::new();
    for (command, places) in script.each() {
        let reads = ScriptSeen::column(command, places).0 == Column::ShellRead;
        if reads && places.iter().all(|place| place.inside) {
            continue;
        }
        match command.readings.iter().rfind(|reading| reading.sure).map(|r| prefix(&r.words)) {
            Some(Some(prefix)) => rules.push(value(tool, Some(format!("{prefix}:*")))),
            _ => return exact(),
        }
    }
    if rules.is_empty() || script.redirects.iter().any(Place::writes) { exact() } else { rules }
}

/// The first two words, or one if the second is an option, a path or no fixed text.
fn prefix(words: &[Word]) -> Option<String> {
    let first = words.first()?.text.as_deref()?;
    if TOO_WIDE.contains(&base_name(first)) || first.contains(char::is_whitespace) {
        return None;
    }
    let simple = |text: &&str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
    };
    let file = ["touch", "mkdir", "rmdir", "mv", "cp", "tee", "chmod", "ln"].contains(&first);
    match words.get(1).and_then(|word| word.text.as_deref()).filter(simple) {
        Some(second) if !file => Some(format!("{first} {second}")),
        _ => Some(first.to_owned()),
    }
}

/// The folder of what is touched: relative in the project, absolute outside.
fn path(call: &Call<'_>, place: &Place) -> RuleValue {
    let tool = if place.writes() { "Edit" } else { "Read" };
    let real = place.real.as_ref().unwrap_or(&place.path);
    let folder = match place.how {
        How::Search => Some(real.clone()),
        _ => real.parent(),
    };
    let folder = folder.unwrap_or_else(|| real.clone());
    let content = match folder.strip_prefix(call.facts.project.as_path()) {
        Ok(rest) if rest.as_os_str().is_empty() => "./**".to_owned(),
        Ok(rest) => format!("./{}/**", rest.display()),
        Err(_) => format!("/{}/**", folder.to_text().trim_end_matches('/')),
    };
    value(tool, Some(content))
}

/// Folders outside that are touched.
fn folders(call: &Call<'_>, seen: &Seen<'_>) -> Vec<String> {
    let mut folders = Vec::new();
    for place in seen.places().filter(|place| !place.inside) {
        let Some(real) = &place.real else { continue };
        let is_dir = call.facts.resolved.get(&place.path).is_some_and(|found| found.is_dir);
        let folder = if is_dir { Some(real.clone()) } else { real.parent() };
        // The whole disk or the whole home is no offer.
        let Some(folder) = folder.filter(|folder| !call.facts.home.is_within(folder)) else {
            continue;
        };
        let text = folder.to_text();
        if !folders.contains(&text) && folders.len() < 5 {
            folders.push(text);
        }
    }
    folders
}

/// Whether `acceptEdits` would let it run.
fn edits_only(seen: &Seen<'_>) -> bool {
    let mut edits = false;
    for access in &seen.list {
        match access {
            SeenAccess::Path(place) if place.inside => edits |= place.writes(),
            SeenAccess::Shell(script) if script.not_understood().is_none() => {
                for (command, places) in script.each() {
                    match ScriptSeen::column(command, places).0 {
                        Column::ShellRead => {}
                        Column::ShellFiles => edits = true,
                        _ => return false,
                    }
                }
                for place in script.places() {
                    edits |= place.writes();
                    if !place.inside {
                        return false;
                    }
                }
            }
            SeenAccess::Nothing => {}
            _ => return false,
        }
    }
    edits
}
