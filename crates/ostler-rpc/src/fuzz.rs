//! The property that fuzzing holds the frames to. Never called by what ships.

use crate::{
    call::{Call, decode_call, error_line, response_line},
    reply::{Reply, decode_reply},
};

/// Reads any bytes as a server and as a client, and answers what can be answered.
///
/// # Panics
/// If an answer is not one line, or a client does not read it back.
pub fn fuzz_line(bytes: &[u8]) {
    let line = match decode_call(bytes) {
        Call::Request { id, params, .. } => response_line(&id, &Ok(params.unwrap_or_default())),
        Call::Invalid { id, error } => error_line(id.as_ref(), &error),
        Call::Garbage(error) => error_line(None, &error),
        Call::Notification { .. } => return,
    };
    assert!(!line.contains('\n'), "an answer is more than one line");
    let reply = decode_reply(line.as_bytes());
    assert!(matches!(reply, Reply::Response { .. }), "a client does not read `{line}`");
    drop(decode_reply(bytes));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            fuzz_line(&bytes);
        }

        #[test]
        fn any_near_call_is_answered(id in "[0-9]{1,22}|\"[^\"\\\\]{0,9}\"|null|[1-9]\\.5e9", method in "\"[a-z.]{0,9}\"|7|null", params in "\\{\\}|\\[\\]|null|\"x\"") {
            fuzz_line(format!(r#"{{"id":{id},"method":{method},"params":{params}}}"#).as_bytes());
        }
    }
}
