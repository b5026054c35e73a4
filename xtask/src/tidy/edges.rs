//! Which crate of ours may depend on which: the layers as data. An edge that is not here is a
//! decision, so it is added here together with a design note, never to silence the check.

use std::collections::BTreeSet;

use serde_json::Value;

/// A row of the table: crate, layer, and the crates it may depend on besides [`COMMON`].
type Row = (&'static str, u8, &'static [&'static str]);

/// The layers. Edges point down.
const TABLE: &[Row] = &[
    ("ostler-stdx", 0, &[]),
    ("ostler-protocol", 1, &["ostler-stdx"]),
    ("ostler-sandbox", 1, &["ostler-stdx"]),
    ("ostler-permission", 2, &[]),
    ("ostler-provider", 2, &[]),
    ("ostler-tool", 2, &[]),
    ("ostler-store", 2, &[]),
    ("ostler-memory", 2, &[]),
    ("ostler-rpc", 2, &[]),
    ("ostler-builtins", 3, &["ostler-tool", "ostler-sandbox"]),
    ("ostler-mcp", 3, &["ostler-tool", "ostler-sandbox"]),
    ("ostler-hooks", 3, &["ostler-sandbox"]),
    ("ostler-core", 3, &["ostler-permission", "ostler-provider", "ostler-tool", "ostler-store"]),
    (
        "ostler-host",
        4,
        &[
            "ostler-sandbox",
            "ostler-permission",
            "ostler-provider",
            "ostler-tool",
            "ostler-store",
            "ostler-memory",
            "ostler-builtins",
            "ostler-mcp",
            "ostler-hooks",
            "ostler-core",
        ],
    ),
    ("ostler-server", 5, &["ostler-host", "ostler-rpc"]),
    ("ostler-agent-sdk", 5, &["ostler-host"]),
    ("ostler-acp", 5, &["ostler-host"]),
    ("ostler-engines", 5, &["ostler-host"]),
    ("ostler-tui", 5, &["ostler-rpc"]),
    (
        "ostler",
        6,
        &[
            "ostler-host",
            "ostler-rpc",
            "ostler-server",
            "ostler-agent-sdk",
            "ostler-acp",
            "ostler-engines",
            "ostler-tui",
        ],
    ),
];

/// What every crate of layer 2 and up may use besides.
const COMMON: &[&str] = &["ostler-stdx", "ostler-protocol"];

/// Crates that are never shipped: they may depend on anything.
const DEV: &[&str] = &["ostler-test", "xtask", "ostler-fuzz", "ostler-oracle"];

/// The crate of [`DEV`] that the tests of every crate may use.
const TEST_KIT: &str = "ostler-test";

/// How a crate depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// In the shipped code, or in its build script.
    Shipped,
    /// In its tests alone.
    Tests,
}

/// A crate of ours and the crates of ours it depends on.
#[derive(Debug)]
pub(super) struct Crate {
    pub(super) name: String,
    pub(super) edges: Vec<(String, Kind)>,
}

/// Reads the crates out of `cargo metadata --no-deps`.
pub(super) fn crates_of(metadata: &Value) -> Vec<Crate> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ours: BTreeSet<_> = packages.iter().map(|package| text(&package["name"])).collect();
    let crate_of = |package: &Value| {
        let dependencies = package["dependencies"].as_array().map(Vec::as_slice);
        let edges = dependencies.unwrap_or_default().iter().filter_map(|dependency| {
            let kind = if dependency["kind"] == "dev" { Kind::Tests } else { Kind::Shipped };
            let name = text(&dependency["name"]);
            ours.contains(&name).then_some((name, kind))
        });
        Crate { name: text(&package["name"]), edges: edges.collect() }
    };
    packages.iter().map(crate_of).collect()
}

/// Complaints about crates that are not in the table and edges it does not allow.
pub(super) fn check(crates: &[Crate]) -> Vec<String> {
    crates.iter().flat_map(check_crate).collect()
}

fn check_crate(this: &Crate) -> Vec<String> {
    if DEV.contains(&this.name.as_str()) {
        return Vec::new();
    }
    let Some((_, layer, allowed)) = TABLE.iter().find(|(name, ..)| *name == this.name) else {
        return vec![format!(
            "crate `{}` is not in the table of layers: add its row to `xtask/src/tidy/edges.rs` and to the design",
            this.name
        )];
    };
    let complain = |(to, kind): &(String, Kind)| {
        let common = *layer >= 2 && COMMON.contains(&to.as_str());
        let test_kit = *kind == Kind::Tests && to == TEST_KIT;
        if common || test_kit || allowed.contains(&to.as_str()) {
            return None;
        }
        let what_to_do = if to == TEST_KIT {
            "move it to [dev-dependencies]: nothing shipped may use it".to_owned()
        } else {
            let may = if *layer >= 2 { [COMMON, *allowed].concat() } else { allowed.to_vec() };
            format!("it may use {}: move the code down or hand it in from above", list(&may))
        };
        Some(format!("crate `{}` must not depend on `{to}`; {what_to_do}", this.name))
    };
    this.edges.iter().filter_map(complain).collect()
}

fn list(names: &[&str]) -> String {
    if names.is_empty() {
        return "none of our crates".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(name: &str, to: &str, kind: Kind) -> Vec<String> {
        check(&[Crate { name: name.to_owned(), edges: vec![(to.to_owned(), kind)] }])
    }

    #[test]
    fn table_only_points_down_and_names_its_own_crates() {
        let layer = |wanted: &str| TABLE.iter().find(|(name, ..)| *name == wanted).map(|row| row.1);
        for (name, from, allowed) in TABLE {
            for to in *allowed {
                assert!(layer(to).unwrap_or(u8::MAX) < *from, "`{name}` -> `{to}`");
            }
        }
    }

    #[test]
    fn allowed_edges_pass() {
        for (name, to, kind) in [
            ("ostler-core", "ostler-tool", Kind::Shipped),
            ("ostler-tool", "ostler-protocol", Kind::Shipped),
            ("ostler-tui", "ostler-stdx", Kind::Shipped),
            ("ostler-stdx", "ostler-test", Kind::Tests),
            ("ostler-test", "ostler-provider", Kind::Shipped),
            ("xtask", "ostler", Kind::Shipped),
        ] {
            assert_eq!(complaints(name, to, kind), [""; 0]);
        }
    }

    #[test]
    fn edge_up_or_sideways_is_named_with_what_to_do() {
        let said = complaints("ostler-tui", "ostler-host", Kind::Shipped);
        assert_eq!(
            said,
            [
                "crate `ostler-tui` must not depend on `ostler-host`; it may use `ostler-stdx`, `ostler-protocol`, `ostler-rpc`: move the code down or hand it in from above"
            ]
        );
        assert_eq!(complaints("ostler-host", "ostler-rpc", Kind::Shipped).len(), 1);
        assert_eq!(complaints("ostler-sandbox", "ostler-protocol", Kind::Shipped).len(), 1);
        assert_eq!(complaints("ostler-rpc", "ostler-host", Kind::Tests).len(), 1);
    }

    #[test]
    fn test_kit_is_never_shipped() {
        let said = complaints("ostler-host", "ostler-test", Kind::Shipped);
        assert!(said[0].contains("move it to [dev-dependencies]"), "{said:?}");
    }

    #[test]
    fn unknown_crate_must_be_added_to_the_table() {
        let said = check(&[Crate { name: "ostler-new".to_owned(), edges: Vec::new() }]);
        assert!(said[0].contains("`ostler-new` is not in the table"), "{said:?}");
    }

    #[test]
    fn only_our_own_crates_count_as_edges() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "ostler-stdx", "dependencies": [{ "name": "serde", "kind": null }] },
            { "name": "ostler-rpc", "dependencies": [
                { "name": "ostler-stdx", "kind": "build" },
                { "name": "ostler-stdx", "kind": "dev" },
            ]},
        ]});
        let crates = crates_of(&metadata);
        assert!(crates[0].edges.is_empty());
        let stdx = || "ostler-stdx".to_owned();
        assert_eq!(crates[1].edges, [(stdx(), Kind::Shipped), (stdx(), Kind::Tests)]);
    }
}
