//! What a server reads and answers: one JSON value, one call (ipc.md R-2 to R-6).
//!
//! Never fails on input: whatever the bytes are, they become a [`Call`].

use std::borrow::Cow;

use ostler_protocol::{ErrorKind, RpcError, params::invalid};
use ostler_stdx::mend_surrogates;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

/// The id of a request: what the caller chose, given back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// An integer.
    Number(Number),
    /// A string.
    Text(String),
}

impl Id {
    fn of(value: Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text)),
            Value::Number(number) if !number.is_f64() => Some(Self::Number(number)),
            _ => None,
        }
    }
}

impl From<u64> for Id {
    fn from(id: u64) -> Self {
        Self::Number(id.into())
    }
}

/// What a caller wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// A method, and an answer.
    Request {
        /// Comes back with the answer.
        id: Id,
        /// The method.
        method: String,
        /// Its params: an object, if there are any.
        params: Option<Value>,
    },
    /// A method without an answer (R-4).
    Notification {
        /// The method.
        method: String,
        /// Its params: an object, if there are any.
        params: Option<Value>,
    },
    /// JSON that is no call: answer this error, to this id if one could be read.
    Invalid {
        /// The id, if there is one.
        id: Option<Id>,
        /// -32600 or -32602.
        error: RpcError,
    },
    /// No JSON: -32700 where there is a place for it, else dropped (R-6).
    Garbage(RpcError),
}

/// Reads one call. `jsonrpc` is not looked at.
#[must_use]
pub fn decode_call(bytes: &[u8]) -> Call {
    match parse(bytes) {
        Ok(Value::Object(object)) => of_object(object),
        Ok(Value::Array(_)) => bad(None, "batches are not supported: send one request at a time"),
        Ok(_) => bad(None, "a request is an object"),
        Err(error) => Call::Garbage(
            RpcError::new(ErrorKind::Usage, format!("this is not JSON: {error}")).code(-32700),
        ),
    }
}

/// Halves of surrogate pairs (text that a caller cut) become U+FFFD: the line of a prompt must
/// not be lost, nor its caller wait for ever.
fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes).or_else(|error| {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        match mend_surrogates(text) {
            Cow::Owned(mended) => serde_json::from_str(&mended),
            Cow::Borrowed(_) => Err(error),
        }
    })
}

fn of_object(mut object: Map<String, Value>) -> Call {
    let id = match object.remove("id").map(Id::of) {
        None => None,
        Some(Some(id)) => Some(id),
        Some(None) => return bad(None, "`id` is an integer or a string"),
    };
    let method = match object.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return bad(id, "`method` is a string"),
        None => return bad(id, "`method` is missing"),
    };
    let params = match object.remove("params") {
        None | Some(Value::Null) => None,
        Some(params @ Value::Object(_)) => Some(params),
        Some(other) => {
            let error = invalid(&method, "params", "object", kind_of(&other));
            return Call::Invalid { id, error };
        }
    };
    match id {
        Some(id) => Call::Request { id, method, params },
        None => Call::Notification { method, params },
    }
}

fn bad(id: Option<Id>, message: &str) -> Call {
    let error = RpcError::new(ErrorKind::Usage, format!("invalid request: {message}"))
        .code(-32600)
        .hint("a request is `{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"...\",\"params\":{}}`");
    Call::Invalid { id, error }
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

/// An answer as one line of JSON, without the line's end. No result is `null` (R-3).
#[must_use]
pub fn response_line(id: &Id, answer: &Result<Value, RpcError>) -> String {
    match answer {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
        Err(error) => error_line(Some(id), error),
    }
}

/// An error as one line of JSON, without the line's end; `id` is `null` if there is none.
#[must_use]
pub fn error_line(id: Option<&Id>, error: &RpcError) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> (Option<Id>, i32) {
        match decode_call(text.as_bytes()) {
            Call::Invalid { id, error } => (id, error.code),
            Call::Garbage(error) => (None, error.code),
            call => panic!("`{text}` is a call: {call:?}"),
        }
    }

    #[test]
    fn requests_and_notifications_are_read_whatever_jsonrpc_says() {
        let call = decode_call(br#"{"id":"a","method":"m","params":{"x":1},"jsonrpc":7}"#);
        let id = Id::Text("a".to_owned());
        let params = Some(json!({"x": 1}));
        assert_eq!(call, Call::Request { id, method: "m".to_owned(), params });
        let call = decode_call(br#"{"method":"m","params":null}"#);
        assert_eq!(call, Call::Notification { method: "m".to_owned(), params: None });
    }

    #[test]
    fn half_a_surrogate_pair_does_not_cost_the_call() {
        let call = decode_call(br#"{"id":1,"method":"m","params":{"text":"cut \ud83d"}}"#);
        let params = Some(json!({"text": "cut \u{fffd}"}));
        assert_eq!(call, Call::Request { id: 1.into(), method: "m".to_owned(), params });
        assert_eq!(code(r#"{"id":1,"method":"\ud83d"#), (None, -32700));
    }

    #[test]
    fn what_is_no_call_has_its_code_and_its_id() {
        assert_eq!(code("[]"), (None, -32600));
        assert_eq!(code(r#"[{"id":1,"method":"m"}]"#), (None, -32600));
        assert_eq!(code("7"), (None, -32600));
        assert_eq!(code(r#"{"id":7}"#), (Some(7.into()), -32600));
        assert_eq!(code(r#"{"id":7,"method":3}"#), (Some(7.into()), -32600));
        assert_eq!(code(r#"{"id":null,"method":"m"}"#), (None, -32600));
        assert_eq!(code(r#"{"id":1.5,"method":"m"}"#), (None, -32600));
        assert_eq!(code(r#"{"id":7,"method":"m","params":[1]}"#), (Some(7.into()), -32602));
        assert_eq!(code("{"), (None, -32700));
        assert_eq!(code("\u{1b}[0m booting"), (None, -32700));
    }

    #[test]
    fn no_result_is_null_and_ids_come_back_as_they_came() {
        assert_eq!(
            response_line(&Id::Text("é".to_owned()), &Ok(Value::Null)),
            r#"{"jsonrpc":"2.0","id":"é","result":null}"#
        );
        let large = decode_call(br#"{"id":18446744073709551615,"method":"m"}"#);
        let Call::Request { id, .. } = large else { panic!("{large:?}") };
        assert!(response_line(&id, &Ok(json!(1))).contains("18446744073709551615"));
        let error = RpcError::new(ErrorKind::NotFound, "no");
        assert!(error_line(None, &error).starts_with(r#"{"jsonrpc":"2.0","id":null,"error":"#));
    }
}
