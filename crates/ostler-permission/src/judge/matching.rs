//! Which rules apply to a call.
//!
//! Deny and ask rules match if any reading of any part does; an allow rule must cover every
//! part for certain.

use super::{
    Call,
    accesses::{Place, Seen, SeenAccess},
    git,
    script::ScriptSeen,
};
use crate::{
    facts::Facts,
    mode::{Cell, Column, cell},
    rules::{Behavior, CommandPattern, Pattern, Rule, RuleSource, host_matches},
    shell::{Command, Form, How, Word},
};

/// The first rules of a list that apply.
pub(super) struct Hits<'a> {
    pub(super) sure: Option<&'a Rule>,
    /// A rule that may apply, and what makes it uncertain.
    pub(super) maybe: Option<(&'a Rule, String)>,
}

enum Hit {
    Sure,
    Maybe(String),
    No,
}

/// The deny or ask rules that catch a call.
pub(super) fn hits<'a>(
    call: &Call<'a>,
    tool: &str,
    seen: &Seen<'_>,
    behavior: Behavior,
) -> Hits<'a> {
    let mut hits = Hits { sure: None, maybe: None };
    for rule in call.rules.of(behavior) {
        match catches(call, tool, seen, rule) {
            Hit::Sure => {
                hits.sure = Some(rule);
                break;
            }
            Hit::Maybe(why) => {
                hits.maybe.get_or_insert((rule, why));
            }
            Hit::No => {}
        }
    }
    hits
}

fn catches(call: &Call<'_>, tool: &str, seen: &Seen<'_>, rule: &Rule) -> Hit {
    let named = covers(&rule.tool, tool);
    let mut maybe = Hit::No;
    match &rule.parsed {
        Pattern::Any if named => return Hit::Sure,
        Pattern::Any => {}
        Pattern::Text(_) | Pattern::Prefix(_) | Pattern::Host(_) if named => {
            if argument_matches(call, seen, &rule.parsed) {
                return Hit::Sure;
            }
        }
        Pattern::Text(_) | Pattern::Prefix(_) | Pattern::Host(_) => {}
        Pattern::Command(pattern) => {
            for script in scripts(seen) {
                let commands = &script.script.commands;
                let readings = || commands.iter().flat_map(|command| &command.readings);
                if pattern.matches_text(script.text)
                    || readings().any(|reading| pattern.catches(&Form { words: &reading.words }))
                {
                    return Hit::Sure;
                }
                if commands.iter().any(|command| catches_linked(pattern, command, call.facts)) {
                    return Hit::Sure;
                }
                if readings().any(|reading| pattern.could_catch(&Form { words: &reading.words })) {
                    let why = "a word of the command is not known before it runs";
                    maybe = Hit::Maybe(format!("{why}, so the rule `{}` may apply", rule.text));
                }
                let runs = || commands.iter().find_map(|command| command.effect.runs.as_ref());
                if let Some(why) = script.script.opaque.first().or_else(runs) {
                    maybe = Hit::Maybe(format!("{why}, so the rule `{}` may apply", rule.text));
                }
            }
        }
        Pattern::Path(pattern) => {
            // What is not understood, and code, may open anything.
            let unseen = scripts(seen).find_map(|script| {
                let commands = script.script.commands.iter();
                let own = commands.map(|command| &command.effect);
                let opens = own.flat_map(|effect| [&effect.opens, &effect.runs]).flatten().next();
                script.script.opaque.first().or(script.script.opens.as_ref()).or(opens)
            });
            if let Some(why) = unseen
                && (named || matches!(rule.tool.as_str(), "Read" | "Edit"))
            {
                maybe = Hit::Maybe(format!("{why}, so the rule `{}` may apply", rule.text));
            }
            let own = named && !matches!(rule.tool.as_str(), "Read" | "Edit");
            let applies = |place: &Place| match rule.tool.as_str() {
                // An edit shows what stood around it.
                "Read" => !place.writes() || EDITORS.contains(&tool),
                "Edit" => matches!(place.how, How::Write | How::Maybe),
                _ => own,
            };
            let uncertain = scripts(seen).flat_map(|script| &script.maybe);
            for place in seen.places().chain(uncertain).filter(|place| applies(place)) {
                if place.spellings().any(|path| pattern.catches(rule, call.facts, path)) {
                    return Hit::Sure;
                }
                if let Some(why) = may_lie_below(call, tool, rule, place) {
                    maybe = Hit::Maybe(why);
                }
            }
        }
    }
    maybe
}

/// Whether the program of a command is a link to one that the pattern names.
fn catches_linked(pattern: &CommandPattern, command: &Command, facts: &Facts) -> bool {
    command.effect.programs.iter().filter_map(|path| facts.real(path)).any(|real| {
        let real = real.to_text();
        command.readings.iter().any(|reading| {
            let mut words = reading.words.clone();
            let Some(first) = words.first_mut() else { return false };
            let is_it = first.text.as_deref().is_some_and(|text| text.contains('/'));
            *first = Word::fixed(&real, &real);
            is_it && pattern.catches(&Form { words: &words })
        })
    })
}

/// Tools that tell the model of the old content of what they write.
const EDITORS: &[&str] = &["Edit", "MultiEdit", "NotebookEdit", "ApplyPatch"];

/// Whether a search or a glob may reach something that the rule forbids.
fn may_lie_below(call: &Call<'_>, tool: &str, rule: &Rule, place: &Place) -> Option<String> {
    let Pattern::Path(pattern) = &rule.parsed else { return None };
    if place.how == How::History {
        let root = call.facts.repositories.get(&place.path).and_then(|found| found.root.as_ref());
        let shown = root.unwrap_or(&place.path);
        return pattern.could_lie_below(rule, call.facts, shown, None).then(|| {
            format!("the repository may hold something that falls under the rule `{}`", rule.text)
        });
    }
    let wide = (place.how == How::Search && !place.is_file)
        || (place.last.is_some() && place.how != How::Maybe);
    // These tools are told what to skip.
    let skips = matches!(tool, "Grep" | "Glob" | "LS") && place.how == How::Search;
    let below = wide
        && !place.expanded
        && !skips
        && place
            .spellings()
            .any(|path| pattern.could_lie_below(rule, call.facts, path, place.last.as_deref()));
    below.then(|| {
        format!("something below `{}` may fall under the rule `{}`", place.path, rule.text)
    })
}

/// The globs of a deny rule that a search of this place must skip.
pub(super) fn below(call: &Call<'_>, tool: &str, rule: &Rule, place: &Place) -> Vec<String> {
    match &rule.parsed {
        Pattern::Path(pattern)
            if (rule.tool == "Read" || covers(&rule.tool, tool))
                && place
                    .spellings()
                    .any(|path| pattern.could_lie_below(rule, call.facts, path, None)) =>
        {
            pattern.absolute(rule, call.facts)
        }
        _ => Vec::new(),
    }
}

/// Whether a rule's tool names this tool.
fn covers(rule: &str, tool: &str) -> bool {
    if rule.eq_ignore_ascii_case(tool) {
        return true;
    }
    match rule {
        "Edit" => matches!(tool, "Write" | "NotebookEdit" | "MultiEdit" | "ApplyPatch"),
        "Read" => matches!(tool, "Grep" | "Glob" | "LS" | "LSP" | "NotebookRead"),
        "Bash" => tool == "Monitor",
        _ => {
            let (rule, tool) = (rule.to_ascii_lowercase(), tool.to_ascii_lowercase());
            rule.starts_with("mcp__")
                && tool.strip_prefix(&rule).is_some_and(|rest| rest.starts_with("__"))
        }
    }
}

fn scripts<'s>(seen: &'s Seen<'_>) -> impl Iterator<Item = &'s ScriptSeen<'s>> {
    seen.list.iter().filter_map(|access| match access {
        SeenAccess::Shell(script) => Some(&**script),
        _ => None,
    })
}

/// Patterns of an argument: hosts, queries, names of agents and skills.
fn argument_matches(call: &Call<'_>, seen: &Seen<'_>, pattern: &Pattern) -> bool {
    if let Pattern::Host(wanted) = pattern {
        return seen.list.iter().any(|access| {
            matches!(access, SeenAccess::Network { host, .. } if host_matches(wanted, host))
        });
    }
    let keys =
        ["url", "query", "subagent_type", "agentType", "skill", "name", "command", "pattern"];
    let urls = seen.list.iter().filter_map(|access| match access {
        SeenAccess::Network { url, .. } => Some(*url),
        _ => None,
    });
    let values = keys.iter().filter_map(|key| call.args.get(*key)?.as_str()).chain(urls);
    let mut values = values;
    match pattern {
        Pattern::Text(text) => values.any(|value| value == text),
        Pattern::Prefix(prefix) => values.any(|value| {
            value.strip_prefix(prefix.as_str()).is_some_and(|rest| {
                rest.is_empty() || !rest.starts_with(|c: char| c.is_alphanumeric())
            })
        }),
        Pattern::Any | Pattern::Host(_) | Pattern::Command(_) | Pattern::Path(_) => false,
    }
}

/// The rule that allows the call, if rules (and the mode, for the parts it lets run) do.
pub(super) fn allowed<'a>(call: &Call<'a>, tool: &str, seen: &Seen<'_>) -> Option<&'a Rule> {
    let mut by = None;
    for access in &seen.list {
        let rule = match access {
            SeenAccess::Path(place) => {
                if cell(call.mode, place.column()) == Cell::Yes {
                    continue;
                }
                path_rule(call, tool, place)?
            }
            SeenAccess::Shell(script) => match script_rule(call, tool, script) {
                Allowed::ByMode => continue,
                Allowed::ByRule(rule) => rule,
                Allowed::No => return None,
            },
            SeenAccess::Network { .. } => call.rules.of(Behavior::Allow).find(|rule| {
                covers(&rule.tool, tool)
                    && (matches!(rule.parsed, Pattern::Any)
                        || argument_matches(call, seen, &rule.parsed))
            })?,
            SeenAccess::Nothing => continue,
            SeenAccess::Mcp { .. } | SeenAccess::Unknown => {
                call.rules.of(Behavior::Allow).find(|rule| {
                    covers(&rule.tool, tool)
                        && match &rule.parsed {
                            Pattern::Any => true,
                            Pattern::Text(_) | Pattern::Prefix(_) => {
                                argument_matches(call, seen, &rule.parsed)
                            }
                            Pattern::Command(_) | Pattern::Path(_) | Pattern::Host(_) => false,
                        }
                })?
            }
        };
        by = Some(rule);
    }
    by
}

/// A rule that allows touching this path with this tool.
fn path_rule<'a>(call: &Call<'a>, tool: &str, place: &Place) -> Option<&'a Rule> {
    let family = if place.writes() { "Edit" } else { "Read" };
    call.rules.of(Behavior::Allow).find(|rule| {
        if !covers(&rule.tool, tool) && rule.tool != family {
            return false;
        }
        match &rule.parsed {
            // A whole tool is allowed for the project; what is written elsewhere must be named.
            Pattern::Any => covers(&rule.tool, tool) && (place.inside || !place.writes()),
            Pattern::Path(pattern) => {
                // A rule on reading says nothing about writing.
                let reads =
                    matches!(rule.tool.as_str(), "Read" | "Grep" | "Glob" | "LS" | "NotebookRead");
                reads != place.writes()
                    && place.last.is_none()
                    && place
                        .real
                        .as_ref()
                        .is_some_and(|real| pattern.allows(rule, call.facts, real))
            }
            Pattern::Command(_) | Pattern::Host(_) | Pattern::Text(_) | Pattern::Prefix(_) => false,
        }
    })
}

enum Allowed<'a> {
    ByMode,
    ByRule(&'a Rule),
    No,
}

fn script_rule<'a>(call: &Call<'a>, tool: &str, script: &ScriptSeen<'_>) -> Allowed<'a> {
    let rules: Vec<&'a Rule> =
        call.rules.of(Behavior::Allow).filter(|rule| covers(&rule.tool, tool)).collect();
    let whole = rules.iter().find(|rule| match &rule.parsed {
        Pattern::Any => true,
        // A person approved exactly this text.
        Pattern::Command(pattern) => {
            let here = rule.source != RuleSource::User;
            matches!(pattern, crate::rules::CommandPattern::Exact(_))
                && (here || !script.script.commands.iter().any(git::is_noted))
                && pattern.matches_text(script.text)
        }
        _ => false,
    });
    if let Some(rule) = whole {
        return Allowed::ByRule(rule);
    }
    if script.not_understood().is_some() {
        return Allowed::No;
    }
    let mut by = Allowed::ByMode;
    for (command, places) in script.each() {
        let noted = git::is_noted(command);
        let found = rules.iter().find(|rule| match &rule.parsed {
            // What the user wrote for git everywhere says nothing of what this repository
            // would have it run; what was said here does.
            _ if noted && rule.source == RuleSource::User => false,
            Pattern::Command(pattern) => command
                .readings
                .iter()
                .filter(|reading| reading.sure)
                .any(|reading| pattern.allows(&Form { words: &reading.words })),
            _ => false,
        });
        if let Some(rule) = found {
            by = Allowed::ByRule(rule);
            continue;
        }
        let (column, _) = ScriptSeen::column(command, places);
        if cell(call.mode, column) != Cell::Yes {
            return Allowed::No;
        }
        for place in places.iter().filter(|place| !place.inside && !place.writes()) {
            match place_allowed(call, place) {
                Some(Some(rule)) => by = Allowed::ByRule(rule),
                Some(None) => {}
                None => return Allowed::No,
            }
        }
    }
    for place in &script.redirects {
        match place_allowed(call, place) {
            Some(Some(rule)) => by = Allowed::ByRule(rule),
            Some(None) => {}
            None => return Allowed::No,
        }
    }
    by
}

/// Whether a path of a script may be touched: by the mode (no rule) or by a rule on paths.
fn place_allowed<'a>(call: &Call<'a>, place: &Place) -> Option<Option<&'a Rule>> {
    let column = match (place.writes(), place.inside) {
        (true, true) => Column::ShellFiles,
        (true, false) => Column::Shell,
        (false, _) => place.column(),
    };
    if cell(call.mode, column) == Cell::Yes {
        return Some(None);
    }
    // Rules on paths are rules of Read and Edit; the shell itself is named by no path.
    path_rule(call, "", place).map(Some)
}
