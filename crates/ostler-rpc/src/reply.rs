//! What a client writes and reads: its calls, their answers, and events.
//!
//! Never fails on input: a line that is neither an answer nor an event is skipped by whoever
//! reads it, because a server may print prose (ipc.md R-7).

use ostler_protocol::{ErrorKind, Event, EventKind, RpcError};
use serde_json::{Value, json};

use crate::call::Id;

/// A line that a server wrote.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The answer to a call.
    Response {
        /// The call; none if the server could not read it.
        id: Option<Id>,
        /// What it gave.
        answer: Result<Value, RpcError>,
    },
    /// An event.
    Event(Box<Event>),
    /// An event of a later version, or no line of this protocol.
    Skipped,
}

/// A call as one line of JSON, without the line's end.
#[must_use]
pub fn request_line(id: &Id, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// Reads one line of a server: `type` and no `jsonrpc` is an event, all else an answer.
#[must_use]
pub fn decode_reply(bytes: &[u8]) -> Reply {
    let Ok(Value::Object(mut object)) = serde_json::from_slice(bytes) else {
        return Reply::Skipped;
    };
    if !object.contains_key("jsonrpc") {
        if !object.get("type").is_some_and(Value::is_string) {
            return Reply::Skipped;
        }
        return match serde_json::from_value::<Event>(Value::Object(object)) {
            Ok(event) if !matches!(event.kind, EventKind::Unknown(_)) => {
                Reply::Event(Box::new(event))
            }
            _ => Reply::Skipped,
        };
    }
    // An answer without an id is one to a notification, as other servers give it.
    let Some(Ok(id)) = object.remove("id").map(serde_json::from_value::<Option<Id>>) else {
        return Reply::Skipped;
    };
    let answer = match object.remove("error") {
        Some(error) => Err(serde_json::from_value(error).unwrap_or_else(|error| {
            RpcError::new(
                ErrorKind::Internal,
                format!("the server's error makes no sense: {error}"),
            )
        })),
        // Other servers leave the key out when there is no result (R-3).
        None => Ok(object.remove("result").unwrap_or(Value::Null)),
    };
    Reply::Response { id, answer }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> Reply {
        decode_reply(text.as_bytes())
    }

    #[test]
    fn answers_are_told_from_events() {
        let id = Some(Id::from(4));
        let with_type = r#"{"jsonrpc":"2.0","id":4,"result":{"type":"x"}}"#;
        assert_eq!(
            reply(with_type),
            Reply::Response { id: id.clone(), answer: Ok(json!({"type": "x"})) }
        );
        assert_eq!(
            reply(r#"{"jsonrpc":"2.0","id":4}"#),
            Reply::Response { id, answer: Ok(Value::Null) }
        );
        let Reply::Event(event) =
            reply(r#"{"type":"message_started","sessionId":"s","seq":3,"id":"q"}"#)
        else {
            panic!("not an event")
        };
        assert_eq!(
            (event.seq, event.kind),
            (Some(3), EventKind::MessageStarted { id: "q".to_owned() })
        );
    }

    #[test]
    fn errors_without_data_are_read() {
        let Reply::Response { id: None, answer: Err(error) } =
            reply(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#)
        else {
            panic!("not an error")
        };
        assert_eq!((error.code, error.message.as_str()), (-32600, "no"));
    }

    #[test]
    fn prose_and_events_of_later_versions_are_skipped() {
        for text in [
            "listening...",
            "",
            "[1]",
            r#"{"a":1}"#,
            r#"{"type":"of_tomorrow","x":1}"#,
            r#"{"jsonrpc":"2.0","result":1}"#,
        ] {
            assert_eq!(reply(text), Reply::Skipped, "{text}");
        }
    }
}
