//! Lines from the host: read whole, parsed tolerantly, and what they ask for.
//!
//! A bad line is reported and skipped; it never ends the process (agent-sdk.md 2.1).

use std::borrow::Cow;

use ostler_stdx::mend_surrogates;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Most bytes of one line; a longer one is skipped as malformed.
const MAX_INPUT: usize = 256 << 20;

/// Lines of an input, one at a time.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    too_long: bool,
    ended: bool,
}

/// What the input gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A line without its end.
    Line(Vec<u8>),
    /// A line that nobody can mean.
    TooLong,
    /// The end.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        let reader = BufReader::with_capacity(64 * 1024, input);
        Self { reader, line: Vec::new(), too_long: false, ended: false }
    }

    /// The next line. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Read {
        loop {
            if self.ended {
                return Read::End;
            }
            // An input that cannot be read has ended.
            let chunk = self.reader.fill_buf().await.unwrap_or_default();
            if chunk.is_empty() {
                self.ended = true;
                return if self.line.is_empty() { Read::End } else { self.take() };
            }
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            if self.line.len() + part.len() > MAX_INPUT {
                self.too_long = true;
                self.line = Vec::new();
            }
            if !self.too_long {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return self.take();
            }
        }
    }

    fn take(&mut self) -> Read {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) { Read::TooLong } else { Read::Line(line) }
    }
}

/// A line as JSON: lone surrogates and bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// Why it is not JSON.
pub(crate) fn parse(line: &[u8]) -> Result<Value, serde_json::Error> {
    let text = String::from_utf8_lossy(line);
    serde_json::from_str(&text).or_else(|error| match mend_surrogates(&text) {
        Cow::Owned(mended) => serde_json::from_str(&mended),
        Cow::Borrowed(_) => Err(error),
    })
}

/// A request of the host was done.
pub(crate) fn success(request_id: &str, response: Value) -> Value {
    json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": response},
    })
}

/// A request of the host was not done.
pub(crate) fn failure(request_id: &str, error: &str) -> Value {
    json!({
        "type": "control_response",
        "response": {"subtype": "error", "request_id": request_id, "error": error},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_mended_and_pairs_are_kept() {
        let parsed = |text: &str| parse(text.as_bytes()).unwrap();
        assert_eq!(parsed(r#"["a\ud83d\ude00b"]"#)[0], "a\u{1f600}b");
        assert_eq!(parsed(r#"["a\ud83db\udc00"]"#)[0], "a\u{fffd}b\u{fffd}");
        assert_eq!(parsed(r#"["\ud83d\ud83d\ude00"]"#)[0], "\u{fffd}\u{1f600}");
        assert_eq!(parsed(r#"["\\ud83d"]"#)[0], "\\ud83d");
        assert_eq!(parse(b"[\"\xff\"]").unwrap()[0], "\u{fffd}");
        assert!(parse(br#"{"a":NaN}"#).is_err());
    }

    #[tokio::test]
    async fn lines_come_whole_and_the_last_needs_no_end() {
        let mut lines = Lines::new(&b"one\n\ntwo"[..]);
        assert_eq!(lines.next().await, Read::Line(b"one".to_vec()));
        assert_eq!(lines.next().await, Read::Line(Vec::new()));
        assert_eq!(lines.next().await, Read::Line(b"two".to_vec()));
        assert_eq!(lines.next().await, Read::End);
        assert_eq!(lines.next().await, Read::End);
    }
}
