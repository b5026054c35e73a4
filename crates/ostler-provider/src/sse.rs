//! Server-sent events from bytes cut anywhere (WHATWG HTML, 9.2.6), data only.
//!
//! It is on the hot path of every answer: an event that lies whole in one read is handed
//! on without a copy. Names and ids of events are dropped, since no vendor needs them.

use std::borrow::Cow;

/// Most bytes of one event.
const MAX_EVENT: usize = 32 << 20;

/// An event is longer than any vendor sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Decodes a stream of events.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The start of a line whose end has not come.
    line: Vec<u8>,
    /// The data lines of the open event, each with a line feed after it.
    data: Vec<u8>,
    /// The last byte was a carriage return, so a line feed now ends nothing.
    after_return: bool,
    begun: bool,
}

impl Decoder {
    /// Takes bytes and hands the data of every event that is whole to `each`.
    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) -> Result<(), TooLong> {
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, tail) = (&rest[..end], &rest[end..]);
            rest = self.after_line_end(tail);
            if self.line.is_empty() {
                rest = self.line(line, rest, &mut each);
            } else {
                self.line.extend_from_slice(line);
                let line = std::mem::take(&mut self.line);
                rest = self.line(&line, rest, &mut each);
                // The allocation serves the next line that is cut.
                self.line = line;
                self.line.clear();
            }
        }
        self.line.extend_from_slice(rest);
        if self.line.len() + self.data.len() > MAX_EVENT { Err(TooLong) } else { Ok(()) }
    }

    /// The data of an event whose end never came: servers forget the last empty line.
    pub(crate) fn finish(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.line(&line, b"", &mut |_| {});
        }
        let mut data = std::mem::take(&mut self.data);
        data.pop();
        (!data.is_empty()).then(|| String::from_utf8_lossy(&data).into_owned())
    }

    fn after_line_end<'a>(&mut self, tail: &'a [u8]) -> &'a [u8] {
        match tail {
            [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => rest,
            [b'\r'] => {
                self.after_return = true;
                &[]
            }
            [_, rest @ ..] => rest,
            [] => tail,
        }
    }

    /// Takes one line; `rest` is what follows it. Returns what is left of `rest`.
    fn line<'a>(&mut self, line: &[u8], rest: &'a [u8], each: &mut impl FnMut(&str)) -> &'a [u8] {
        let line =
            if self.begun { line } else { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) };
        self.begun = true;
        if line.is_empty() {
            if let Some((_, data)) = self.data.split_last() {
                each(&text(data));
                self.data.clear();
            }
            return rest;
        }
        let Some(value) = line.strip_prefix(b"data") else { return rest };
        let value = match value {
            [] => value,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            _ => return rest,
        };
        if self.data.is_empty()
            && let Some(after) = rest.strip_prefix(b"\n").or_else(|| rest.strip_prefix(b"\r\n"))
        {
            each(&text(value));
            return after;
        }
        self.data.extend_from_slice(value);
        self.data.push(b'\n');
        rest
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    // The plain check is several times faster than the lossy one.
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut all = Vec::new();
        for piece in pieces {
            decoder.push(piece, |data| all.push(data.to_owned())).unwrap();
        }
        all.extend(decoder.finish());
        all
    }

    const STREAM: &str = "\u{feff}: hello\nevent: a\ndata: {\"ü\":1}\n\ndata:two\r\ndata: \
        lines\r\n\r\nid: 3\rdata: drei €\r\rdata\n\nretry: 5\n\ndata: last";

    #[test]
    fn data_is_joined_and_the_rest_is_dropped() {
        let want = ["{\"ü\":1}", "two\nlines", "drei €", "", "last"];
        let got = decode(&[STREAM.as_bytes()]);
        assert_eq!(got, want);
    }

    #[test]
    fn every_split_gives_the_same() {
        let bytes = STREAM.as_bytes();
        let whole = decode(&[bytes]);
        for at in 0..=bytes.len() {
            assert_eq!(decode(&[&bytes[..at], &bytes[at..]]), whole, "cut at {at}");
        }
        let single = bytes.iter().map(std::slice::from_ref).collect::<Vec<_>>();
        assert_eq!(decode(&single), whole);
    }

    #[test]
    fn an_endless_event_is_an_error() {
        let mut decoder = Decoder::default();
        let piece = vec![b'x'; 1 << 20];
        let results = (0..40).map(|_| decoder.push(&piece, |_| {}));
        assert!(results.into_iter().any(|result| result == Err(TooLong)));
    }

    proptest! {
        #[test]
        fn any_bytes_split_anywhere_give_the_same(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'd'), any::<u8>()], 0..80),
            at in 0usize..80,
        ) {
            let at = at.min(bytes.len());
            prop_assert_eq!(decode(&[&bytes]), decode(&[&bytes[..at], &bytes[at..]]));
        }
    }
}
