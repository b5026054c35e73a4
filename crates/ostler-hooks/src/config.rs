//! From `hooks` in settings to hooks. Both shapes are read: `{matcher, hooks: [...]}` of
//! Claude Code and flat entries `{name, matcher, command}`. An entry that makes no sense is
//! left out with a warning that names its place; it never takes others down.

mod entry;

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{Event, Hook, Matcher};
use entry::Entry;

/// `hooks` of one settings file.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file, for warnings.
    pub file: String,
    /// Whether it is the machine's policy.
    pub is_managed: bool,
    /// Event names to lists of entries.
    pub hooks: Value,
}

/// Which hooks count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Only {
    /// All.
    #[default]
    All,
    /// Those of the machine's policy.
    Managed,
    /// None.
    Nothing,
}

/// What settings gave.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The hooks, strongest file first.
    pub hooks: Vec<Hook>,
    /// What was left out and why, one line each.
    pub warnings: Vec<String>,
}

/// Reads the hooks of several files, strongest first. Of entries with the same event and
/// explicit name the strongest counts.
#[must_use]
pub fn parse(sources: &[Source], only: Only) -> Parsed {
    let mut reader = Reader::default();
    for source in sources {
        let counts = match only {
            Only::All => true,
            Only::Managed => source.is_managed,
            Only::Nothing => false,
        };
        if counts {
            reader.source(source);
        }
    }
    reader.parsed
}

#[derive(Default)]
struct Reader {
    parsed: Parsed,
    named: HashSet<(Event, String)>,
}

impl Reader {
    fn warn(&mut self, file: &str, place: &str, what: &str) {
        self.parsed.warnings.push(format!("`{file}`: `{place}`: {what}; it is left out"));
    }

    fn source(&mut self, source: &Source) {
        let Some(events) = source.hooks.as_object() else {
            return self.warn(&source.file, "hooks", "it must be an object of event names");
        };
        for (name, list) in events {
            let place = format!("hooks.{name}");
            let Some(event) = Event::parse(name) else {
                self.warn(&source.file, &place, "there is no such event");
                continue;
            };
            let Some(list) = list.as_array() else {
                self.warn(&source.file, &place, "it must be a list");
                continue;
            };
            let mut index = 0;
            for (at, group) in list.iter().enumerate() {
                self.group(source, event, &format!("{place}[{at}]"), group, &mut index);
            }
        }
    }

    /// One element of an event's list: a group of hooks behind one matcher, or a flat entry.
    fn group(
        &mut self,
        source: &Source,
        event: Event,
        place: &str,
        group: &Value,
        index: &mut usize,
    ) {
        let Some(fields) = group.as_object() else {
            return self.warn(&source.file, place, "it must be an object");
        };
        let matcher = match matcher(fields) {
            Ok(matcher) => matcher,
            Err(what) => return self.warn(&source.file, place, &what),
        };
        let Some(hooks) = fields.get("hooks") else {
            return self.entry(source, event, &matcher, place, fields, index);
        };
        let Some(hooks) = hooks.as_array() else {
            return self.warn(&source.file, &format!("{place}.hooks"), "it must be a list");
        };
        for (at, hook) in hooks.iter().enumerate() {
            let place = format!("{place}.hooks[{at}]");
            match hook.as_object() {
                Some(fields) => self.entry(source, event, &matcher, &place, fields, index),
                None => self.warn(&source.file, &place, "it must be an object"),
            }
        }
    }

    fn entry(
        &mut self,
        source: &Source,
        event: Event,
        matcher: &Matcher,
        place: &str,
        fields: &Map<String, Value>,
        index: &mut usize,
    ) {
        let at = *index;
        *index += 1;
        let entry = Entry::new(fields);
        let hook = entry.read(event, matcher.clone(), &source.file, at);
        match hook {
            Ok(hook) => {
                // The stronger file came first.
                let is_named = fields.get("name").is_some_and(Value::is_string);
                if !is_named || self.named.insert((event, hook.name.clone())) {
                    self.parsed.hooks.push(hook);
                }
            }
            Err(what) => return self.warn(&source.file, place, &what),
        }
        for what in entry.into_remarks() {
            self.parsed.warnings.push(format!("`{}`: `{place}`: {what}", source.file));
        }
    }
}

/// The matcher of a group or flat entry; `null` counts as absent.
fn matcher(fields: &Map<String, Value>) -> Result<Matcher, String> {
    match fields.get("matcher") {
        None | Some(Value::Null) => Ok(Matcher::All),
        Some(Value::String(text)) => Matcher::parse(text)
            .map_err(|why| format!("`matcher` `{text}` is no list of names or expression: {why}")),
        Some(_) => Err("`matcher` must be a string".to_owned()),
    }
}

#[cfg(test)]
mod tests;
