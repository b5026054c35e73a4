//! The JSON Schema of a settings file and the page that explains every key, both made from
//! the types of `keys.rs` and the rows of `table.rs`. Pure: gives texts, writes nothing.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::{
    keys::Keys,
    table::{self, Effect, From, Row},
};

/// A key of the types, with what the schema says of it.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) path: String,
    pub(super) meaning: String,
    pub(super) kind: String,
}

fn root() -> Value {
    let settings = SchemaSettings::draft2020_12();
    settings.into_generator().into_root_schema_for::<Keys>().to_value()
}

/// The schema of a settings file, as it is committed. Keys are sorted: the order in which
/// they come depends on features that other crates of a build may switch on.
#[must_use]
pub fn settings_schema() -> String {
    let mut text = serde_json::to_string_pretty(&sorted(root())).unwrap_or_default();
    text.push('\n');
    text
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> =
                map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

/// Every key of the types: a property that is no group of keys itself.
pub(super) fn leaves() -> Vec<Leaf> {
    let root = root();
    let mut found = Vec::new();
    collect(&root, &root, "", &mut found);
    found
}

/// What a key takes, in words.
pub(super) fn kind_of(key: &str) -> String {
    let found = leaves().into_iter().find(|leaf| leaf.path == key);
    found.map_or_else(|| "something else".to_owned(), |leaf| leaf.kind)
}

fn collect(root: &Value, schema: &Value, prefix: &str, found: &mut Vec<Leaf>) {
    let none = Map::new();
    for (name, property) in schema["properties"].as_object().unwrap_or(&none) {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let target = target(root, property);
        if table::is_group(&path) {
            collect(root, target, &path, found);
            continue;
        }
        let described = property.get("description").or_else(|| target.get("description"));
        let meaning = described.and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
        found.push(Leaf { path, meaning, kind: kind(root, property) });
    }
}

/// The schema that a property means, without null and through its reference.
fn target<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let variants = schema["anyOf"].as_array();
    let not_null = |schema: &&Value| schema["type"] != "null";
    let schema = variants.and_then(|all| all.iter().find(not_null)).unwrap_or(schema);
    match schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        Some(name) => &root["$defs"][name],
        None => schema,
    }
}

/// The type of a value in words.
fn kind(root: &Value, schema: &Value) -> String {
    let schema = target(root, schema);
    let words = words(schema);
    if !words.is_empty() {
        let all = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        return if words.len() == 1 { all } else { format!("one of {all}") };
    }
    if let Some(all) = schema["anyOf"].as_array() {
        return all.iter().map(|one| kind(root, one)).collect::<Vec<_>>().join(" or ");
    }
    let named = schema["type"].as_str().or_else(|| {
        schema["type"].as_array()?.iter().filter_map(Value::as_str).find(|name| *name != "null")
    });
    match named {
        Some("boolean") => "true or false".to_owned(),
        Some("string") => "text".to_owned(),
        Some("integer" | "number") => "number".to_owned(),
        Some("array") => format!("list of {}", kind(root, &schema["items"])),
        Some("object") => match &schema["additionalProperties"] {
            below @ Value::Object(_) => format!("object of {}", kind(root, below)),
            _ => "object".to_owned(),
        },
        _ => "anything".to_owned(),
    }
}

/// The words that an enumeration takes.
fn words(schema: &Value) -> Vec<&str> {
    let listed = schema["enum"].as_array().into_iter().flatten();
    let single = schema.get("const").into_iter();
    let each = schema["oneOf"].as_array().into_iter().flatten();
    let each =
        each.flat_map(|one| one["enum"].as_array().into_iter().flatten().chain(one.get("const")));
    listed.chain(single).chain(each).filter_map(Value::as_str).collect()
}

/// The page for readers.
#[must_use]
pub fn settings_page() -> String {
    let leaves = leaves();
    let mut page = INTRODUCTION.to_owned();
    page.push_str(
        "\n| Key | Value | Default | In a project's file | Meaning |\n|---|---|---|---|---|\n",
    );
    for row in table::ROWS {
        let Some(leaf) = leaves.iter().find(|leaf| leaf.path == row.path) else { continue };
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} |",
            row.path,
            leaf.kind,
            row.default,
            in_project(row),
            leaf.meaning
        );
    }
    page
}

fn in_project(row: &Row) -> &'static str {
    match (row.from, row.effect) {
        (From::Policy, _) => "never; the machine's policy alone",
        (From::NotProject, _) => "never",
        (From::Anyone, _) if row.path == "permissions.defaultMode" => {
            "waits for trust; modes that loosen never"
        }
        (From::Anyone, Effect::Tightens | Effect::Neutral) => "counts",
        (From::Anyone, Effect::TightensIf(true)) => "`true` counts, `false` waits for trust",
        (From::Anyone, Effect::TightensIf(false)) => "`false` counts, `true` waits for trust",
        (From::Anyone, Effect::Loosens) => "waits for trust",
    }
}

const INTRODUCTION: &str = include_str!("page.md");

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn the_page_is_what_the_table_says() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
        let page = settings_page();
        #[expect(clippy::disallowed_methods, reason = "only a test that a person starts writes")]
        if std::env::var_os("OSTLER_BLESS").is_some() {
            fs::write(&path, &page).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(written == page, "docs/settings.md is old; run `cargo xtask bless`");
    }

    #[test]
    fn every_key_says_what_it_means_and_what_it_takes() {
        for leaf in leaves() {
            assert!(leaf.meaning.ends_with('.'), "{leaf:?}");
            assert!(!leaf.kind.is_empty() && leaf.kind != "anything", "{leaf:?}");
        }
    }

    #[test]
    fn the_schema_is_draft_2020_12_and_lets_strangers_be() {
        let schema: Value = serde_json::from_str(&settings_schema()).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_ne!(schema["additionalProperties"], Value::Bool(false));
        assert_eq!(
            schema["properties"]["permissions"]["description"],
            "What may happen without a question, with one, or never."
        );
    }
}
