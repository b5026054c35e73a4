//! Messages out of a stream of bytes, as the Language Server Protocol frames them
//! (base protocol: header lines, an empty line, `Content-Length` bytes). Takes whatever a
//! server writes: what is not a header is passed over up to a bound, and a message over
//! the cap is passed over without being held.

/// Bytes of headers, and of what is none, before a message.
const HEAD: usize = 64 << 10;

/// Cuts a stream into messages.
#[derive(Debug)]
pub(crate) struct Frames {
    buffer: Vec<u8>,
    at: usize,
    max: usize,
    state: State,
    /// Bytes since the last message that were no body.
    strange: usize,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// The length, once its line was there.
    Head(Option<usize>),
    Body(usize),
    /// So many bytes of a message over the cap are to come, of so many.
    Skip(usize, usize),
}

/// One thing that the stream held.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A message.
    Message(Vec<u8>),
    /// A message of so many bytes, more than the cap.
    TooLarge(usize),
}

/// The stream is no such protocol.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("it writes something else than the protocol to its standard output")]
pub(crate) struct Garbage;

impl Frames {
    /// Takes messages of at most `max` bytes.
    pub(crate) fn new(max: usize) -> Self {
        Self { buffer: Vec::new(), at: 0, max, state: State::Head(None), strange: 0 }
    }

    /// Adds bytes as they came.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.at);
        self.at = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next message, if it is whole. After an error the stream is of no use.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, Garbage> {
        loop {
            let rest = &self.buffer[self.at..];
            match self.state {
                State::Head(length) => {
                    let Some(end) = rest.iter().position(|&byte| byte == b'\n') else {
                        return if self.strange + rest.len() > HEAD {
                            Err(Garbage)
                        } else {
                            Ok(None)
                        };
                    };
                    let line = rest[..end].trim_ascii();
                    self.strange += end + 1;
                    self.at += end + 1;
                    if self.strange > HEAD {
                        return Err(Garbage);
                    }
                    self.state = match (line.is_empty(), length) {
                        (true, Some(length)) if length > self.max => State::Skip(length, length),
                        (true, Some(length)) => State::Body(length),
                        (true, None) => State::Head(None),
                        (false, length) => State::Head(content_length(line).or(length)),
                    };
                }
                State::Body(length) if rest.len() >= length => {
                    let body = rest[..length].to_vec();
                    self.at += length;
                    self.done();
                    return Ok(Some(Frame::Message(body)));
                }
                State::Body(_) => return Ok(None),
                State::Skip(left, length) if rest.len() >= left => {
                    self.at += left;
                    self.done();
                    return Ok(Some(Frame::TooLarge(length)));
                }
                State::Skip(left, length) => {
                    self.state = State::Skip(left - rest.len(), length);
                    self.at = self.buffer.len();
                    return Ok(None);
                }
            }
        }
    }

    fn done(&mut self) {
        self.state = State::Head(None);
        self.strange = 0;
    }
}

/// A message with its header.
pub(crate) fn frame(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn content_length(line: &[u8]) -> Option<usize> {
    let line = std::str::from_utf8(line).ok()?;
    let (name, value) = line.split_once(':')?;
    let digits = value.trim();
    let plain = name.trim().eq_ignore_ascii_case("content-length")
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    // More than any machine holds is a length too: it is passed over for ever.
    plain.then(|| digits.parse().unwrap_or(usize::MAX))
}

/// Feeds arbitrary bytes in two different ways and checks that they give the same; then
/// checks that messages which were framed come back. For the fuzzer and the tests.
/// Panics if one of that does not hold.
pub fn fuzz_lsp_frames(data: &[u8]) {
    let max = 256;
    let collect = |chunk: usize| {
        let mut frames = Frames::new(max);
        let mut all = Vec::new();
        for bytes in data.chunks(chunk) {
            frames.push(bytes);
            loop {
                match frames.next() {
                    Ok(Some(frame)) => all.push(frame),
                    Ok(None) => break,
                    Err(Garbage) => return (all, true),
                }
            }
        }
        (all, false)
    };
    let whole = collect(usize::MAX);
    let parts = collect(usize::from(data.first().copied().unwrap_or(0)) % 7 + 1);
    assert!(whole == parts, "the messages depend on how the bytes came");
    for message in &whole.0 {
        if let Frame::Message(body) = message {
            assert!(body.len() <= max, "a message is over the cap");
        }
    }

    let mut frames = Frames::new(data.len().max(1));
    let split = data.len() / 3;
    let (one, two) = data.split_at(split);
    let mut stream = frame(one);
    stream.extend(frame(two));
    for bytes in stream.chunks(5) {
        frames.push(bytes);
    }
    assert!(frames.next() == Ok(Some(Frame::Message(one.to_vec()))), "the first message is lost");
    assert!(frames.next() == Ok(Some(Frame::Message(two.to_vec()))), "the second message is lost");
    assert!(frames.next() == Ok(None), "there is more than was written");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(bytes: &[u8], max: usize) -> (Vec<Frame>, bool) {
        let mut frames = Frames::new(max);
        let mut all = Vec::new();
        for byte in bytes {
            frames.push(&[*byte]);
            loop {
                match frames.next() {
                    Ok(Some(frame)) => all.push(frame),
                    Ok(None) => break,
                    Err(Garbage) => return (all, true),
                }
            }
        }
        (all, false)
    }

    #[test]
    fn headers_are_read_leniently_and_the_rest_is_passed_over() {
        let message = |text: &str| Frame::Message(text.as_bytes().to_vec());
        let stream = b"running 1 test\n\ncontent-length:2\nContent-Type: x\n\nab\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(all(stream, 10), (vec![message("ab"), message("abc")], false));
        let large = [frame(&[b'x'; 50]), frame(b"ok")].concat();
        assert_eq!(all(&large, 10), (vec![Frame::TooLarge(50), message("ok")], false));
        assert_eq!(all(b"Content-Length: 99999999999999999999999\n\nabc", 10), (vec![], false));
        assert_eq!(all(&vec![b'x'; HEAD + 1], 10), (vec![], true));
        assert_eq!(all(&b"x\n".repeat(HEAD), 10), (vec![], true));
    }

    proptest! {
        // Names of headers of any form are slow to make.
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_taken(data in prop::collection::vec(any::<u8>(), 0..600)) {
            fuzz_lsp_frames(&data);
        }
    }
}
