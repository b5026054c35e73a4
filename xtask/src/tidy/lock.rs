//! What `Cargo.lock` may hold: crates that are banned, crates that may stand there once, and how
//! many there may be at all.

/// Crates that must not come in, each with why and what to do instead.
const BANNED: &[(&str, &str)] = &[
    ("openssl-sys", "it needs a system library; TLS is rustls with ring"),
    (
        "aws-lc-sys",
        "it builds C for a minute and a half; choose the features without a TLS provider",
    ),
    ("zstd-sys", "it builds C for half a minute; switch the compression feature off"),
];

/// Crates of which a second version cannot or must not be linked.
const ONCE: &[&str] = &["libsqlite3-sys", "rusqlite", "rustls"];

/// The most entries the file may have. Raise it only with a line in the design on what was gained.
const CEILING: usize = 450;

/// Complaints about the text of a `Cargo.lock`.
pub(super) fn check(lock: &str) -> Vec<String> {
    let names: Vec<_> =
        lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).collect();
    let count = |wanted: &str| names.iter().filter(|name| **name == wanted).count();
    let mut complaints = Vec::new();
    for (name, why) in BANNED.iter().filter(|(name, _)| count(name) > 0) {
        complaints
            .push(format!("`{name}` is banned: {why}; `cargo tree -i {name}` shows who brings it"));
    }
    for name in ONCE.iter().filter(|name| count(name) > 1) {
        complaints.push(format!(
            "`{name}` is there twice: bring its users to one version; `cargo tree -d` shows them"
        ));
    }
    if names.len() > CEILING {
        complaints.push(format!(
            "`Cargo.lock` has {} entries, more than {CEILING}: drop a dependency or a feature",
            names.len()
        ));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(names: &[&str]) -> String {
        let entry =
            |name: &&str| format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n\n");
        names.iter().map(entry).collect()
    }

    #[test]
    fn small_clean_lock_passes() {
        assert_eq!(check(&lock(&["serde", "libsqlite3-sys", "syn", "syn"])), [""; 0]);
    }

    #[test]
    fn banned_and_doubled_crates_are_named() {
        let said = check(&lock(&["openssl-sys", "libsqlite3-sys", "libsqlite3-sys"]));
        assert_eq!(said.len(), 2);
        assert!(said[0].contains("`cargo tree -i openssl-sys`"), "{said:?}");
        assert!(said[1].starts_with("`libsqlite3-sys` is there twice"), "{said:?}");
    }

    #[test]
    fn ceiling_holds() {
        assert_eq!(check(&lock(&vec!["a"; CEILING])), [""; 0]);
        let said = check(&lock(&vec!["a"; CEILING + 1]));
        assert!(said[0].contains("451 entries, more than 450"), "{said:?}");
    }
}
