//! `sandbox` of all settings files as one object: the stronger file's value counts, lists
//! add up, and of an untrusted repository only what tightens.

use serde_json::{Map, Value};

/// What a repository may say before it is trusted: true switches and lists that forbid.
const TIGHTENING: &[&[&str]] = &[
    &["enabled"],
    &["failIfUnavailable"],
    &["network", "strictAllowlist"],
    &["network", "deniedDomains"],
    &["filesystem", "denyWrite"],
    &["filesystem", "denyRead"],
    &["credentials", "files"],
    &["credentials", "envVars"],
];

/// The part of a file's object that only tightens, and whether anything else was in it.
pub(super) fn tightening(all: &Map<String, Value>) -> (Map<String, Value>, bool) {
    let mut kept = Map::new();
    for path in TIGHTENING {
        let found =
            path.iter().try_fold(&Value::Object(all.clone()), |value, key| value.get(key)).cloned();
        let tightens = |value: &Value| matches!(value, Value::Bool(true) | Value::Array(_));
        if let Some(value) = found.filter(tightens) {
            put(&mut kept, path, value);
        }
    }
    let more = kept != *all;
    (kept, more)
}

fn put(into: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [last] => drop(into.insert((*last).to_owned(), value)),
        [first, rest @ ..] => {
            let below = into.entry(*first).or_insert_with(|| Map::new().into());
            if let Value::Object(below) = below {
                put(below, rest, value);
            }
        }
    }
}

/// Adds a weaker object to a stronger one: values that are there stay, lists add up.
pub fn merge(into: &mut Map<String, Value>, weaker: Map<String, Value>) {
    for (key, value) in weaker {
        match (into.get_mut(&key), value) {
            (None, value) => drop(into.insert(key, value)),
            (Some(Value::Object(held)), Value::Object(value)) => merge(held, value),
            (Some(Value::Array(held)), Value::Array(value)) => {
                held.extend(value);
            }
            (Some(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn an_untrusted_file_can_only_tighten() {
        let all = object(json!({
            "enabled": true, "autoAllowBashIfSandboxed": true, "excludedCommands": ["rm:*"],
            "failIfUnavailable": false,
            "network": {"deniedDomains": ["a"], "allowedDomains": ["*"], "strictAllowlist": false},
            "filesystem": {"denyRead": ["x"], "allowWrite": ["/"], "disabled": true}
        }));
        let (kept, more) = tightening(&all);
        let expected = json!({
            "enabled": true, "network": {"deniedDomains": ["a"]}, "filesystem": {"denyRead": ["x"]}
        });
        assert_eq!((Value::Object(kept), more), (expected, true));
        let all = object(json!({"enabled": true}));
        assert_eq!(tightening(&all), (all.clone(), false));
        assert!(tightening(&object(json!({"enabled": false}))).0.is_empty());
    }

    #[test]
    fn the_stronger_counts_and_lists_add_up() {
        let mut into = object(json!({"enabled": true, "network": {"allowedDomains": ["a"]}}));
        let weaker = json!({"enabled": false, "network": {"allowedDomains": ["b"], "allowLocalBinding": true}});
        merge(&mut into, object(weaker));
        let expected = json!({"enabled": true, "network": {"allowedDomains": ["a", "b"], "allowLocalBinding": true}});
        assert_eq!(Value::Object(into), expected);
    }
}
