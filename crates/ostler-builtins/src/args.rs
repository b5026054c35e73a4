//! What the arguments of several tools have in common: lenient scalars and paths.
//!
//! Models send `"5"` for 5 and `"true"` for true (ipc.md 5.11); these readers take
//! both. Nothing here touches the disk.

use std::fmt;

use ostler_stdx::AbsPath;
use serde::{
    Deserialize as _, Deserializer,
    de::{self, DeserializeOwned, Visitor},
};
use serde_json::Value;

/// Reads a whole number that may be quoted or written as a float.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    from.deserialize_any(Number).map(Some)
}

/// Reads true or false, quoted or not.
pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    from.deserialize_any(Flag).map(Some)
}

/// Reads a list that may have been written as a JSON text.
pub(crate) fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let list = match Value::deserialize(from)? {
        Value::String(text) => serde_json::from_str(&text),
        list => serde_json::from_value(list),
    };
    list.map_err(de::Error::custom)
}

/// The absolute form of a path argument: a leading `~/` is the home folder, a relative
/// path starts at `cwd`.
pub(crate) fn absolute(path: &str, cwd: &AbsPath, home: Option<&AbsPath>) -> AbsPath {
    match (path.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.clone(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => cwd.join(path),
    }
}

/// How a path is shown: relative to `cwd` where it lies below it.
pub(crate) fn shown(path: &AbsPath, cwd: &AbsPath) -> String {
    match path.strip_prefix(cwd) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => rest.to_string_lossy().into_owned(),
        Err(_) => path.to_text(),
    }
}

struct Number;

impl Visitor<'_> for Number {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number that is not negative")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<u64, E> {
        u64::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<u64, E> {
        // 2^53: above it a float no longer names one whole number.
        if value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked above"
            )]
            return Ok(value as u64);
        }
        Err(E::invalid_value(de::Unexpected::Float(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<u64, E> {
        value.trim().parse().map_err(|_| E::invalid_value(de::Unexpected::Str(value), &self))
    }
}

struct Flag;

impl Visitor<'_> for Flag {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<bool, E> {
        Ok(value)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<bool, E> {
        match value.trim() {
            "true" | "True" => Ok(true),
            "false" | "False" => Ok(false),
            _ => Err(E::invalid_value(de::Unexpected::Str(value), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Args {
        #[serde(default, deserialize_with = "number")]
        n: Option<u64>,
        #[serde(default, deserialize_with = "flag")]
        f: Option<bool>,
    }

    #[test]
    fn quoted_scalars_are_read_and_others_refused() {
        let read = |text: &str| serde_json::from_str::<Args>(text);
        assert_eq!(read(r#"{"n": "5", "f": "true"}"#).unwrap().n, Some(5));
        assert_eq!(read(r#"{"n": 5.0}"#).unwrap().n, Some(5));
        assert_eq!(read(r#"{"f": "false"}"#).unwrap().f, Some(false));
        assert_eq!(read("{}").unwrap().n, None);
        for bad in
            [r#"{"n": -1}"#, r#"{"n": 1.5}"#, r#"{"n": "many"}"#, r#"{"f": 1}"#, r#"{"f": "yes"}"#]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_leading_tilde_is_home_and_no_other_is() {
        let cwd = AbsPath::new("/w").unwrap();
        let home = AbsPath::new("/h").unwrap();
        let check = |path: &str, expected: &str| {
            assert_eq!(absolute(path, &cwd, Some(&home)).to_text(), expected)
        };
        check("~/a", "/h/a");
        check("~", "/h");
        check("~a", "/w/~a");
        check("a/~/b", "/w/a/~/b");
        check("/x/../y", "/y");
        assert_eq!(absolute("~/a", &cwd, None).to_text(), "/w/~/a");
    }
}
