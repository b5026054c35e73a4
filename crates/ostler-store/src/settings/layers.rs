//! What counts of every file: what an untrusted project loosens waits, what a tier may not
//! set is left out and said, and nothing takes a restriction of the policy back. Pure.

use std::path::Path;

use ostler_protocol::Mode;
use serde_json::{Map, Value};

use super::{
    Sourced, Tier, Waiting,
    file::{Parsed, SettingsFile, join},
    table::{self, From, Row},
};

/// What counts of one file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    pub(super) file: SettingsFile,
    pub(super) keys: Map<String, Value>,
}

/// How far a file is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// All of it.
    Full,
    /// What loosens waits.
    Waits,
    /// What loosens waits, but for its allow rules.
    WaitsButAllow,
    /// Only what forbids, and the rest is an error to be told: `--managed-settings`.
    Restricts,
}

/// What a layer is made of.
pub(super) struct Admission<'a> {
    file: &'a SettingsFile,
    standing: Standing,
    /// Only what forbids is left of a file with a value of a wrong type.
    is_valid: bool,
    waiting: &'a mut Waiting,
    complaints: Vec<String>,
}

impl<'a> Admission<'a> {
    pub(super) fn new(
        file: &'a SettingsFile,
        standing: Standing,
        waiting: &'a mut Waiting,
    ) -> Self {
        Self { file, standing, is_valid: true, waiting, complaints: Vec::new() }
    }

    /// The layer, and what is to be said about keys that do not count.
    pub(super) fn admit(mut self, parsed: Parsed) -> (Layer, Vec<String>) {
        self.is_valid = parsed.is_valid;
        let keys = self.group("", parsed.keys);
        (Layer { file: self.file.clone(), keys }, self.complaints)
    }

    fn group(&mut self, prefix: &str, map: Map<String, Value>) -> Map<String, Value> {
        let mut kept = Map::new();
        for (name, value) in map {
            let path = join(prefix, &name);
            let value = match (value, table::find(&path)) {
                (Value::Object(below), _) if table::is_group(&path) => {
                    let below = self.group(&path, below);
                    (!below.is_empty()).then(|| below.into())
                }
                (value, Some(row)) => self.key(row, value),
                // Nobody here means anything by it.
                (value, None) => (self.is_valid && !table::is_group(&path)).then_some(value),
            };
            if let Some(value) = value {
                kept.insert(name, value);
            }
        }
        kept
    }

    fn key(&mut self, row: &Row, value: Value) -> Option<Value> {
        let value = if self.is_valid { value } else { mended(row, value)? };
        let tier = self.file.tier;
        let path = row.path;
        match row.from {
            From::Policy if tier != Tier::Managed => {
                self.say(format!("`{path}` counts in the machine's policy only"));
                return None;
            }
            From::NotProject if matches!(tier, Tier::Project | Tier::Local) => {
                self.say(format!(
                    "`{path}` does not count in a project's file; set it in `~/.ostler/settings.json`"
                ));
                return None;
            }
            From::Policy | From::NotProject | From::Anyone => {}
        }
        if !self.is_valid {
            return row.tightens(&value).then_some(value);
        }
        let counts = match self.standing {
            Standing::Full => true,
            Standing::Waits => row.is_harmless(&value),
            Standing::WaitsButAllow => row.is_harmless(&value) || path == "permissions.allow",
            Standing::Restricts if row.tightens(&value) => true,
            Standing::Restricts => {
                self.say(format!("`{path}` does not count here: it would not only forbid"));
                return None;
            }
        };
        if !counts {
            self.waiting.add(row, &value, &self.file.path);
            return None;
        }
        if path == "permissions.defaultMode" && tier == Tier::Project && mode_loosens(&value) {
            let mode = value.as_str().unwrap_or_default();
            self.say(format!("`{path}` `{mode}` does not count in a project's file; set it in `~/.ostler/settings.json`"));
            return None;
        }
        Some(value)
    }

    fn say(&mut self, what: String) {
        self.complaints.push(what);
    }
}

/// A mode that loosens is the user's own choice, whoever wrote the file (agent-sdk.md 5.4).
pub(super) fn mode_loosens(value: &Value) -> bool {
    matches!(
        value.as_str().and_then(Mode::parse),
        Some(Mode::BypassPermissions | Mode::Auto | Mode::AcceptEdits)
    )
}

/// What can be saved of a list that forbids: its texts, or the one text in place of a list.
fn mended(row: &Row, value: Value) -> Option<Value> {
    if row.effect != table::Effect::Tightens {
        return (row.tightens(&value)).then_some(value);
    }
    match value {
        Value::Array(items) => Some(items.into_iter().filter(Value::is_string).collect()),
        Value::String(text) if text == "disable" || !row.path.contains(".disable") => {
            let is_switch = row.path.contains(".disable");
            Some(if is_switch { text.into() } else { Value::Array(vec![text.into()]) })
        }
        _ => None,
    }
}

/// Of a layer, what forbids: that is kept of a file that broke while a session ran.
pub(super) fn restricting(layer: &Layer) -> Layer {
    fn group(prefix: &str, map: &Map<String, Value>) -> Map<String, Value> {
        let mut kept = Map::new();
        for (name, value) in map {
            let path = join(prefix, name);
            let value = match (value, table::find(&path)) {
                (Value::Object(below), None) => {
                    let below = group(&path, below);
                    (!below.is_empty()).then(|| below.into())
                }
                (value, Some(row)) => row.tightens(value).then(|| value.clone()),
                _ => None,
            };
            if let Some(value) = value {
                kept.insert(name.clone(), value);
            }
        }
        kept
    }
    Layer { file: layer.file.clone(), keys: group("", &layer.keys) }
}

/// Takes out of the weaker layers what would lift a restriction of the policy. The layers
/// of the policy are the first ones.
pub(super) fn subdue(layers: &mut [Layer]) {
    let of_policy = layers.iter().take_while(|layer| layer.file.tier == Tier::Managed).count();
    let (policy, weaker) = layers.split_at_mut(of_policy);
    let says = |path: &str, wanted: &dyn Fn(&Value) -> bool| {
        policy.iter().any(|layer| get(&layer.keys, path).is_some_and(wanted))
    };
    let is_true = |path: &str| says(path, &|value| *value == Value::Bool(true));
    let is_listed =
        |path: &str| says(path, &|value| value.as_array().is_some_and(|list| !list.is_empty()));
    let mut gone: Vec<&str> = Vec::new();
    if is_true("allowManagedPermissionRulesOnly") {
        gone.push("permissions.allow");
    }
    if is_true("allowManagedHooksOnly") {
        gone.push("hooks");
    }
    if is_true("sandbox.network.allowManagedDomainsOnly") {
        gone.push("sandbox.network.allowedDomains");
    }
    if is_true("sandbox.filesystem.allowManagedReadPathsOnly")
        || is_listed("sandbox.filesystem.denyRead")
    {
        gone.push("sandbox.filesystem.allowRead");
    }
    if is_true("sandbox.enabled") {
        gone.extend([
            "sandbox.excludedCommands",
            "sandbox.filesystem.disabled",
            "sandbox.enableWeakerNestedSandbox",
            "sandbox.enableWeakerNetworkIsolation",
            "sandbox.bwrapPath",
        ]);
    }
    for layer in weaker.iter_mut() {
        for path in &gone {
            remove(&mut layer.keys, path);
        }
    }
    // Whoever switches hooks off does not switch off those of the policy.
    let off = layers.iter().find_map(|layer| {
        let off = get(&layer.keys, "disableAllHooks")?.as_bool()?;
        Some((off, layer.file.tier))
    });
    if let Some((true, by)) = off {
        for layer in layers.iter_mut() {
            if by == Tier::Managed || layer.file.tier != Tier::Managed {
                remove(&mut layer.keys, "hooks");
            }
        }
    }
}

/// The value of a key, given with the names of the objects around it.
pub(super) fn get<'a>(map: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    match path.split_once('.') {
        None => map.get(path),
        // Names may hold dots themselves: the whole name goes first.
        Some((first, rest)) => map.get(path).or_else(|| get(map.get(first)?.as_object()?, rest)),
    }
}

fn remove(map: &mut Map<String, Value>, path: &str) {
    match path.split_once('.') {
        None => drop(map.shift_remove(path)),
        Some((first, rest)) => {
            if let Some(Value::Object(below)) = map.get_mut(first) {
                remove(below, rest);
            }
        }
    }
}

/// Values of which the stronger one counts whole, though they are lists.
const WHOLE: &[&str] = &["fallbackModel"];

/// All layers as one object: the strongest value counts, objects merge, lists add up.
pub(super) fn merged(layers: &[Layer]) -> Map<String, Value> {
    let mut all = Map::new();
    for layer in layers {
        let mut keys = layer.keys.clone();
        for whole in WHOLE {
            if all.contains_key(*whole) {
                keys.shift_remove(*whole);
            }
        }
        merge(&mut all, keys);
    }
    all
}

/// Adds a weaker object to a stronger one: values that are there stay, lists add up without
/// what they hold already.
pub fn merge(into: &mut Map<String, Value>, weaker: Map<String, Value>) {
    for (key, value) in weaker {
        match (into.get_mut(&key), value) {
            (None, value) => drop(into.insert(key, value)),
            (Some(Value::Object(held)), Value::Object(value)) => merge(held, value),
            (Some(Value::Array(held)), Value::Array(value)) => {
                let more: Vec<_> = value.into_iter().filter(|item| !held.contains(item)).collect();
                held.extend(more);
            }
            (Some(_), _) => {}
        }
    }
}

/// The files that give a value its form: of a scalar the strongest, of a list or object all.
pub(super) fn origin<'a>(layers: &'a [Layer], path: &str) -> Vec<Sourced<&'a Value>> {
    let mut found: Vec<_> = layers
        .iter()
        .filter_map(|layer| Some(layer.file.sourced(get(&layer.keys, path)?)))
        .collect();
    let adds_up =
        matches!(found.first().map(|first| first.value), Some(Value::Array(_) | Value::Object(_)))
            && !WHOLE.contains(&path);
    if !adds_up {
        found.truncate(1);
    }
    found
}

/// How many things wait.
pub(super) fn count(row: &Row, value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(map) if row.path == "hooks" => {
            map.values().filter_map(Value::as_array).map(Vec::len).sum()
        }
        Value::Object(map) => map.len(),
        _ => 1,
    }
}

/// The name of a file in a message.
pub(super) fn name(path: &Path) -> String {
    format!("`{}`", path.display())
}
