//! One serde definition, two derivations: JSON Schema and TypeScript name the same fields,
//! and the same ones may be absent.
#![expect(clippy::unwrap_used, reason = "tests stop at what they did not expect")]

use std::collections::{BTreeMap, BTreeSet};

use ostler_protocol::codegen::{protocol_schema, typescript};
use serde_json::Value;

/// A field and whether it may be absent.
type Fields = BTreeSet<(String, bool)>;

/// The alternatives of a type, each with its fields. A plain object has one.
type Shapes = BTreeSet<Fields>;

/// The shapes of every object type of the schema bundle.
fn of_schema() -> BTreeMap<String, Shapes> {
    let schema = protocol_schema();
    let defs = schema["$defs"].as_object().unwrap();
    defs.iter().map(|(name, def)| (name.clone(), schema_shapes(def, defs))).collect()
}

fn schema_shapes(def: &Value, defs: &serde_json::Map<String, Value>) -> Shapes {
    let own: Fields = def["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| {
            let required =
                def["required"].as_array().is_some_and(|all| all.iter().any(|r| r == name));
            (name.clone(), !required)
        })
        .collect();
    let mut shapes = Shapes::from([own]);
    if let Some(target) = def["$ref"].as_str() {
        let target = &defs[target.rsplit('/').next().unwrap()];
        shapes = product(&shapes, &schema_shapes(target, defs));
    }
    for part in def["allOf"].as_array().into_iter().flatten() {
        shapes = product(&shapes, &schema_shapes(part, defs));
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(variants) = def[key].as_array() {
            let alternatives =
                variants.iter().flat_map(|variant| schema_shapes(variant, defs)).collect();
            shapes = product(&shapes, &alternatives);
        }
    }
    shapes
}

fn product(left: &Shapes, right: &Shapes) -> Shapes {
    left.iter().flat_map(|a| right.iter().map(move |b| a.union(b).cloned().collect())).collect()
}

/// The shapes of every object type of the TypeScript module.
fn of_typescript() -> BTreeMap<String, Shapes> {
    let text = without_comments(&typescript());
    let types: BTreeMap<String, String> = text
        .split("export type ")
        .skip(1)
        .filter_map(|declaration| {
            let (name, body) = declaration.split_once('=')?;
            let end = end_of(body, ';');
            Some((name.trim().to_owned(), body[..end].trim().to_owned()))
        })
        .collect();
    types.iter().map(|(name, body)| (name.clone(), typescript_shapes(body, &types))).collect()
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        out.push_str(&rest[..start]);
        rest = rest[start..].split_once("*/").map_or("", |(_, after)| after);
    }
    out + rest
}

/// Where `mark` stands outside of all brackets and quotes, or the end.
fn end_of(text: &str, mark: char) -> usize {
    let (mut depth, mut quoted) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            _ if c == mark && depth == 0 => return at,
            '{' | '(' | '[' | '<' => depth += 1,
            '}' | ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

fn split(text: &str, mark: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let end = end_of(rest, mark);
        parts.push(rest[..end].trim());
        if end == rest.len() {
            return parts.into_iter().filter(|part| !part.is_empty()).collect();
        }
        rest = &rest[end + mark.len_utf8()..];
    }
}

fn typescript_shapes(body: &str, types: &BTreeMap<String, String>) -> Shapes {
    let body = body.trim();
    let alternatives = split(body, '|');
    if alternatives.len() > 1 {
        return alternatives.into_iter().flat_map(|part| typescript_shapes(part, types)).collect();
    }
    let parts = split(body, '&');
    if parts.len() > 1 {
        let start = Shapes::from([Fields::new()]);
        return parts
            .into_iter()
            .fold(start, |all, part| product(&all, &typescript_shapes(part, types)));
    }
    if let Some(inner) = body.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return typescript_shapes(inner, types);
    }
    if let Some(inner) = body.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let fields = split(inner, ',').into_iter().filter_map(|field| {
            let (name, _) = field.split_once(':')?;
            let name = name.trim();
            let optional = name.ends_with('?');
            Some((name.trim_end_matches('?').trim_matches('"').to_owned(), optional))
        });
        return Shapes::from([fields.collect()]);
    }
    types
        .get(body)
        .map_or_else(|| Shapes::from([Fields::new()]), |body| typescript_shapes(body, types))
}

/// Types that hold anything: a schema says so with no fields, TypeScript with an index.
const ANYTHING: &[&str] = &["RpcDiscoverResult", "ToolResultContent", "SessionSendResult"];

#[test]
fn schema_and_typescript_name_the_same_fields() {
    let (schema, typescript) = (of_schema(), of_typescript());
    let mut compared = 0;
    for (name, shapes) in &schema {
        let Some(other) = typescript.get(name) else { continue };
        if ANYTHING.contains(&name.as_str()) || shapes.iter().all(BTreeSet::is_empty) {
            continue;
        }
        // A variant of a later version has no fields that we could know, not even its tag.
        let known = |shapes: &Shapes| {
            let tag = ("type".to_owned(), false);
            let tagged = shapes.iter().any(|fields| fields.contains(&tag));
            let keep = |fields: &&Fields| !fields.is_empty() && (!tagged || fields.contains(&tag));
            shapes.iter().filter(keep).cloned().collect::<Shapes>()
        };
        let (left, right) = (known(shapes), known(other));
        let only_left: Vec<_> = left.difference(&right).collect();
        let only_right: Vec<_> = right.difference(&left).collect();
        let differ: Fields = match (only_left.first(), only_right.first()) {
            (Some(a), Some(b)) => a.symmetric_difference(b).cloned().collect(),
            (one, other) => {
                one.or(other).into_iter().flat_map(|fields| (*fields).clone()).collect()
            }
        };
        assert!(
            differ.is_empty(),
            "{name}: {differ:?} differ in the schema and TypeScript (name, optional)"
        );
        compared += 1;
    }
    assert!(compared > 40, "types were compared: {compared}");
}
