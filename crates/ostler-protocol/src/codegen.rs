//! What is generated from the protocol types: JSON Schema, OpenRPC and TypeScript.
//!
//! Pure: gives file names and contents; `cargo xtask codegen` writes them.

use std::collections::{BTreeMap, BTreeSet};

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};
use ts_rs::{TS, TypeVisitor};

use crate::{PROTOCOL_VERSION, event::Event, methods::METHODS};

/// The generated files: path relative to the repository, and content.
#[must_use]
pub fn files() -> Vec<(String, String)> {
    vec![
        ("schema/protocol.schema.json".to_owned(), pretty(&protocol_schema())),
        ("schema/openrpc.json".to_owned(), pretty(&openrpc())),
        ("web/src/protocol/generated.ts".to_owned(), typescript()),
    ]
}

/// Keys are sorted: the order in which they come depends on features that other crates of
/// a build may switch on.
fn pretty(value: &Value) -> String {
    let value = &sorted(value);
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let keys: BTreeMap<_, _> =
                map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            keys.into_iter().collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

/// One bundle with every type of the wire under `$defs`.
#[must_use]
pub fn protocol_schema() -> Value {
    let mut generator = generator();
    let event = generator.subschema_for::<Event>();
    for method in METHODS {
        (method.schemas)(&mut generator);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Ostler protocol",
        "version": PROTOCOL_VERSION,
        "event": event,
        "$defs": generator.take_definitions(true),
    })
}

/// The protocol as an OpenRPC document, params by name.
#[must_use]
pub fn openrpc() -> Value {
    let mut generator = generator();
    let methods: Vec<Value> = METHODS
        .iter()
        .map(|method| {
            let (params, result) = (method.schemas)(&mut generator);
            json!({
                "name": method.name,
                "summary": method.doc.trim(),
                "paramStructure": "by-name",
                "params": [{"name": "params", "schema": params}],
                "result": {"name": "result", "schema": result},
            })
        })
        .collect();
    let mut document = json!({
        "openrpc": "1.3.2",
        "info": {"title": "Ostler", "version": PROTOCOL_VERSION},
        "methods": methods,
        "components": {"schemas": generator.take_definitions(true)},
    });
    repoint(&mut document);
    document
}

/// In an OpenRPC document shared schemas live under `components`, not `$defs`.
fn repoint(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match (key.as_str(), &value) {
                    ("$ref", Value::String(target)) => {
                        *value = json!(target.replace("#/$defs/", "#/components/schemas/"));
                    }
                    _ => repoint(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(repoint),
        _ => {}
    }
}

/// All wire types and the method map as one TypeScript module.
#[must_use]
pub fn typescript() -> String {
    let config = ts_rs::Config::new().with_large_int("number");
    let mut found = Vec::new();
    collect::<Event>(&mut found, &config);
    crate::methods::export_method_types(&mut found, &config);
    let declarations: BTreeMap<_, _> = found.into_iter().collect();
    let mut text = String::from(
        "// Generated from the Rust protocol types by `cargo xtask codegen`; never edit.\n\n\
         export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]?: JsonValue } | null;\n\n",
    );
    // ts-rs names `serde_json::Value` like our own declaration above; only that one stays.
    let named_twice = |text: &String| text.contains("export type JsonValue ");
    for declaration in declarations.values().filter(|text| !named_twice(text)) {
        text.push_str(declaration);
        text.push_str("\n\n");
    }
    text.push_str("/** Every method: its params and its result. */\nexport type Methods = {\n");
    for (method, (params, result)) in METHODS.iter().zip(crate::methods::method_type_names(&config))
    {
        text.push_str(&format!("  /** {} */\n", method.doc.trim()));
        text.push_str(&format!(
            "  \"{}\": {{ params: {params}; result: {result} }};\n",
            method.name
        ));
    }
    text.push_str("};\n");
    text
}

/// Adds the declaration of a type and of everything that it names.
pub(crate) fn collect<T: TS + 'static + ?Sized>(
    out: &mut Vec<(&'static str, String)>,
    config: &ts_rs::Config,
) {
    struct Visit<'a> {
        out: &'a mut Vec<(&'static str, String)>,
        seen: BTreeSet<std::any::TypeId>,
        config: &'a ts_rs::Config,
    }
    impl TypeVisitor for Visit<'_> {
        fn visit<U: TS + 'static + ?Sized>(&mut self) {
            if !self.seen.insert(std::any::TypeId::of::<U>()) {
                return;
            }
            if U::output_path().is_some() {
                let docs = U::docs().unwrap_or_default();
                let key: &'static str = std::any::type_name::<U>();
                self.out.push((key, format!("{docs}export {}", U::decl(self.config))));
            }
            U::visit_dependencies(self);
            U::visit_generics(self);
        }
    }
    let mut visit = Visit { out, seen: BTreeSet::new(), config };
    visit.visit::<T>();
}
