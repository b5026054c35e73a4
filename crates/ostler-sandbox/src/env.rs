//! What a child process may see of Ostler's environment. A pure function: it reads
//! no environment itself and never looks at a value.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

/// The environment for a child: `vars` without what looks like a credential.
///
/// A name is left out if it is one of `provider_credential_names`, ends in `_KEY` or
/// `_TOKEN`, or contains `SECRET` or `PASSWORD`; case does not matter. A name in
/// `pass` (setting `passEnv`, compared exactly) stays, whatever it looks like. Of a
/// name that comes twice the last value counts.
pub fn child_env<N: AsRef<str>, P: AsRef<str>>(
    vars: impl IntoIterator<Item = (OsString, OsString)>,
    provider_credential_names: &[N],
    pass: &[P],
) -> BTreeMap<OsString, OsString> {
    let passes = |name: &OsStr| pass.iter().any(|given| name == given.as_ref());
    let is_credential = |name: &OsStr| {
        let name = name.to_string_lossy().to_ascii_uppercase();
        provider_credential_names.iter().any(|given| name == given.as_ref().to_ascii_uppercase())
            || looks_secret(&name)
    };
    vars.into_iter().filter(|(name, _)| passes(name) || !is_credential(name)).collect()
}

fn looks_secret(upper: &str) -> bool {
    upper.ends_with("_KEY")
        || upper.ends_with("_TOKEN")
        || upper.contains("SECRET")
        || upper.contains("PASSWORD")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_secret_are_left_out() {
        let table = [
            ("PATH", true),
            ("HOME", true),
            ("KEYBOARD", true),
            ("MONKEY", true),
            ("TOKENIZER", true),
            ("SSH_AUTH_SOCK", true),
            ("ANTHROPIC_API_KEY", false),
            ("github_token", false),
            ("_KEY", false),
            ("CLIENT_SECRET_ID", false),
            ("MySecret", false),
            ("PGPASSWORD", false),
            ("PASSWORD_FILE", false),
            ("AZURE_ENDPOINT_LOGIN", false),
            ("azure_endpoint_login", false),
            ("NPM_TOKEN", true),
            ("npm_token", false),
        ];
        let vars = table.map(|(name, _)| (OsString::from(name), OsString::from("v")));
        let kept = child_env(vars, &["AZURE_ENDPOINT_LOGIN"], &["NPM_TOKEN"]);
        for (name, stays) in table {
            assert_eq!(kept.contains_key(OsStr::new(name)), stays, "{name}");
        }
    }

    #[test]
    fn pass_beats_the_given_names_and_the_last_value_counts() {
        let vars = [("A_KEY", "1"), ("B", "1"), ("B", "2")];
        let vars = vars.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let kept = child_env(vars, &["A_KEY"], &["A_KEY"]);
        assert_eq!(kept[OsStr::new("A_KEY")], "1");
        assert_eq!(kept[OsStr::new("B")], "2");
    }
}
