//! From JSON to typed params, with errors that name the field (ipc.md R-41): the first wrong
//! one in the order of the documentation, whatever order the sender wrote them in.

mod fields;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{ErrorKind, RpcError};

/// Reads the params of a method.
///
/// Absent params count as `{}`; `null` in an optional field counts as absent; unknown
/// fields are ignored.
///
/// # Errors
/// -32602 with `data {method, field, expected, got}`; nested fields have dotted paths.
pub fn decode<T: DeserializeOwned>(method: &str, params: Option<Value>) -> Result<T, RpcError> {
    let params = match params {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(params @ Value::Object(_)) => params,
        Some(other) => return Err(invalid(method, "params", "object", kind_of(&other))),
    };
    read(&params).map_err(|found| {
        let (path, text) = first_wrong::<T>(&params).unwrap_or(found);
        describe(method, &path, &text, &params)
    })
}

/// The value, or the path and the words of what is wrong.
fn read<T: DeserializeOwned>(params: &Value) -> Result<T, (String, String)> {
    serde_path_to_error::deserialize(params)
        .map_err(|error| (error.path().to_string(), error.into_inner().to_string()))
}

/// The first field that is wrong in documented order. Serde reports a wrong value where it
/// meets it and a missing field at the end, so the fields are given to it one more at a time.
fn first_wrong<T: DeserializeOwned>(params: &Value) -> Option<(String, String)> {
    let fields = fields::of::<T>()?;
    let params = params.as_object()?;
    let mut known = Map::new();
    for (at, field) in fields.iter().enumerate() {
        if let Some(value) = params.get(*field) {
            known.insert((*field).to_owned(), value.clone());
        }
        let Err((path, text)) = read::<T>(&Value::Object(known.clone())) else { continue };
        let missing = text.starts_with("missing field") && path == ".";
        if !missing || fields[..=at].iter().any(|field| text.contains(&format!("`{field}`"))) {
            return Some((path, text));
        }
    }
    None
}

/// The -32602 error for one field.
#[must_use]
pub fn invalid(method: &str, field: &str, expected: &str, got: &str) -> RpcError {
    let message =
        format!("invalid params for {method}: field '{field}' expected {expected}, got {got}");
    RpcError::new(ErrorKind::Usage, message)
        .with("method", method)
        .with("field", field)
        .with("expected", expected)
        .with("got", got)
}

/// Turns serde's text into field, expected and got. Serde has no typed errors; the
/// phrases are stable and a test holds each of them.
fn describe(method: &str, path: &str, text: &str, params: &Value) -> RpcError {
    let quoted = |after: &str| {
        let rest = text.split_once(after)?.1.strip_prefix('`')?;
        rest.split_once('`').map(|(name, _)| name.to_owned())
    };
    if let Some(name) = quoted("missing field ") {
        let field = if path == "." { name } else { format!("{path}.{name}") };
        return invalid(method, &field, "a value", "missing");
    }
    let field = if path == "." { "params" } else { path };
    if let Some(rest) = text.split_once("unknown variant ").map(|(_, rest)| rest) {
        let got = rest.split(',').next().unwrap_or(rest);
        let allowed = rest.split_once("expected ").map_or("another value", |(_, allowed)| allowed);
        return invalid(method, field, allowed, got);
    }
    let expected = text.split_once("expected ").map_or(text, |(_, expected)| expected);
    let got = lookup(params, path).map_or("missing", kind_of);
    invalid(method, field, expected, got)
}

fn lookup<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split(['.', '[']).filter(|part| !part.is_empty()).try_fold(value, |value, part| match part
        .strip_suffix(']')
    {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None => value.get(part),
    })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::methods::{PermissionAnswerParams, SessionSendParams};

    fn message<T: DeserializeOwned + std::fmt::Debug>(params: Value) -> String {
        decode::<T>("m", Some(params)).unwrap_err().message
    }

    #[test]
    fn missing_mistyped_and_wrong_values_name_the_field() {
        assert_eq!(
            message::<SessionSendParams>(json!({"message": "x"})),
            "invalid params for m: field 'sessionId' expected a value, got missing"
        );
        assert_eq!(
            message::<SessionSendParams>(json!({"sessionId": 3, "message": "x"})),
            "invalid params for m: field 'sessionId' expected a string, got number"
        );
        let image =
            json!({"sessionId": "s", "message": "x", "images": [{"data": "", "mediaType": 4}]});
        assert_eq!(
            message::<SessionSendParams>(image),
            "invalid params for m: field 'images[0].mediaType' expected a string, got number"
        );
        let text =
            message::<PermissionAnswerParams>(json!({"requestId": "r", "decision": "maybe"}));
        assert!(text.contains("field 'decision' expected one of `allow-once`"), "{text}");
        assert!(text.ends_with("got `maybe`"), "{text}");
        assert!(message::<SessionSendParams>(json!([])).contains("field 'params' expected object"));
    }

    #[test]
    fn the_first_wrong_field_in_documented_order_is_named() {
        for (params, field) in [
            (json!({}), "requestId"),
            (json!({"decision": "maybe"}), "requestId"),
            (json!({"decision": "maybe", "requestId": 3}), "requestId"),
            (json!({"requestId": "r"}), "decision"),
            (json!({"reason": 1, "editedRule": 2, "requestId": "r"}), "decision"),
            (
                json!({"reason": 1, "editedRule": 2, "decision": "deny", "requestId": "r"}),
                "editedRule",
            ),
            (json!({"hash": 1, "reason": 1, "decision": "deny", "requestId": "r"}), "reason"),
        ] {
            let error = decode::<PermissionAnswerParams>("m", Some(params.clone())).unwrap_err();
            assert_eq!(error.data["field"], field, "{params}: {}", error.message);
        }
    }

    #[test]
    fn null_counts_as_absent_and_extra_fields_are_ignored() {
        let params = json!({"sessionId": "s", "message": "x", "model": null, "later": 1});
        let params: SessionSendParams = decode("session.send", Some(params)).unwrap();
        assert_eq!(params.model, None);
    }
}
