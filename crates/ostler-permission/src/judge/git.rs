//! Git in the judge's eyes: a command that only reads may still run what the repository that
//! it finds names.
//!
//! Only ever makes a command one of unknown effect, never a better one.

use ostler_stdx::AbsPath;

use super::{accesses::Place, script::ScriptSeen};
use crate::{
    facts::Facts,
    rules::base_name,
    shell::{Command, How, Kind},
};

/// Notes which commands of a script are more than they seem to be.
pub(super) fn note(seen: &mut ScriptSeen<'_>, facts: &Facts) {
    let found: Vec<Option<String>> =
        seen.each().map(|(command, places)| runs(seen, command, places, facts)).collect();
    for (command, why) in seen.script.commands.iter_mut().zip(found) {
        if let Some(why) = why {
            command.effect.kind = Kind::Other;
            command.effect.why = why;
        }
    }
}

/// Whether a command is one of git that reads, made more by its repository.
pub(super) fn is_noted(command: &Command) -> bool {
    command.effect.kind == Kind::Other
        && command.effect.touches.iter().any(|touch| touch.how == How::Repository)
}

fn runs(
    seen: &ScriptSeen<'_>,
    command: &Command,
    places: &[Place],
    facts: &Facts,
) -> Option<String> {
    if command.effect.kind == Kind::Other {
        return None;
    }
    places.iter().filter(|place| place.how == How::Repository).find_map(|place| {
        let Some(repository) = facts.repositories.get(&place.path) else {
            return Some("it is not known what the git repository here runs".into());
        };
        repository.runs().or_else(|| {
            let at_root =
                repository.root.as_ref().is_some_and(|root| place.real.as_ref() == Some(root));
            makes(seen, &repository.governed_by, at_root)
        })
    })
}

/// Whether the script itself may first make what git would run: a hook, or a repository
/// nearer than the one that was looked at.
fn makes(seen: &ScriptSeen<'_>, governed_by: &[AbsPath], at_root: bool) -> Option<String> {
    let written = seen.places().filter(|place| place.writes());
    for place in written {
        let governs =
            place.spellings().any(|path| governed_by.iter().any(|dir| path.is_within(dir)));
        let name = place.path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        let part = matches!(
            name.as_deref(),
            Some("head" | "objects" | "refs" | "config" | "commondir" | ".git")
        );
        if governs || (!at_root && (part || place.last.is_some())) {
            return Some(format!("it may make what git then runs: it writes `{}`", place.path));
        }
    }
    if at_root {
        return None;
    }
    // A folder that is moved or copied brings along whatever is in it.
    let carries = |(command, places): (&Command, &[Place])| {
        let names =
            command.readings.iter().filter_map(|reading| reading.words.first()?.text.as_deref());
        let moves = names.map(base_name).any(|name| matches!(name, "mv" | "cp"));
        moves && places.iter().any(|place| place.how == How::Search && !place.is_file)
    };
    seen.each().any(carries).then(|| "it may move a repository to where git then looks".into())
}
