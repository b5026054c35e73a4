//! Text files as bytes and back: encodings, line endings, content hashes.
//!
//! The promise is exactness: `decode` then `encode` gives the same bytes, for every
//! file that `decode` takes. The encoding of a file without a mark may be guessed, but only
//! where its bytes come back from the guess; what cannot be kept is refused.

mod legacy;
mod wide;

pub(crate) use legacy::Legacy;
pub(crate) use wide::{Order, unmarked};

/// How a file's bytes stand for text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    Utf8Bom,
    Utf16Le,
    Utf16Be,
    /// UTF-16 without a mark, told by its looks.
    Utf16Bare(Order),
    /// An encoding from before Unicode, such as windows-1252 or GBK, told by its looks.
    Legacy(Legacy),
    /// Some 8-bit encoding that we do not know: each byte is held as the character of
    /// its number, so ASCII parts read right and all bytes come back.
    Bytes,
}

/// A decoded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) encoding: Encoding,
    /// The text without its byte order mark.
    pub(crate) text: String,
}

/// Why bytes are not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotText {
    #[error("is a binary file")]
    Binary,
    #[error("starts like UTF-16 but is not valid UTF-16")]
    BrokenUtf16,
}

/// Bytes looked at to tell binary from text.
const SNIFF: usize = 8 * 1024;

impl Encoding {
    /// The byte order mark that the encoding starts with.
    pub(crate) fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 | Self::Utf16Bare(_) | Self::Legacy(_) | Self::Bytes => b"",
            Self::Utf8Bom => b"\xef\xbb\xbf",
            Self::Utf16Le => b"\xff\xfe",
            Self::Utf16Be => b"\xfe\xff",
        }
    }

    /// What the first bytes of a file say, if it is text at all.
    pub(crate) fn sniff(head: &[u8]) -> Result<Self, NotText> {
        // UTF-32 with its mark starts like UTF-16 and goes on with a NUL.
        if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
            return Err(NotText::Binary);
        }
        let marked = [Self::Utf8Bom, Self::Utf16Le, Self::Utf16Be]
            .into_iter()
            .find(|e| head.starts_with(e.mark()));
        match marked {
            Some(encoding @ (Self::Utf16Le | Self::Utf16Be)) => Ok(encoding),
            _ if head.iter().take(SNIFF).any(|&byte| byte == 0) => {
                unmarked(head).map(Self::Utf16Bare).ok_or(NotText::Binary)
            }
            Some(encoding) => Ok(encoding),
            None => Ok(Self::Utf8),
        }
    }

    /// The bytes of `text`, mark included; `None` if it cannot be written so.
    pub(crate) fn encode(self, text: &str) -> Option<Vec<u8>> {
        let mut bytes = self.mark().to_vec();
        match self {
            Self::Utf8 | Self::Utf8Bom => bytes.extend_from_slice(text.as_bytes()),
            Self::Utf16Le | Self::Utf16Bare(Order::Little) => {
                bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
            }
            Self::Utf16Be | Self::Utf16Bare(Order::Big) => {
                bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
            }
            Self::Legacy(legacy) => bytes = legacy.encode(text)?,
            Self::Bytes => {
                for character in text.chars() {
                    bytes.push(u8::try_from(u32::from(character)).ok()?);
                }
            }
        }
        Some(bytes)
    }

    /// The first character of `text` that this encoding does not have.
    pub(crate) fn lacks(self, text: &str) -> Option<char> {
        text.chars().find(|character| self.encode(character.encode_utf8(&mut [0; 4])).is_none())
    }

    /// Its name, for the model, if its text is not just UTF-8.
    pub(crate) fn guessed_name(self) -> Option<&'static str> {
        match self {
            Self::Legacy(legacy) => Some(legacy.name()),
            Self::Utf16Bare(Order::Little) => Some("UTF-16LE"),
            Self::Utf16Bare(Order::Big) => Some("UTF-16BE"),
            _ => None,
        }
    }

    /// Whether a character takes two bytes or more, so that bytes are no lines.
    pub(crate) fn is_wide(self) -> bool {
        matches!(self, Self::Utf16Le | Self::Utf16Be | Self::Utf16Bare(_))
    }
}

/// Decodes a whole file.
pub(crate) fn decode(bytes: &[u8]) -> Result<Text, NotText> {
    let encoding = Encoding::sniff(bytes)?;
    let body = &bytes[encoding.mark().len()..];
    let units = |from: fn([u8; 2]) -> u16| {
        let (pairs, []) = body.as_chunks::<2>() else { return Err(NotText::BrokenUtf16) };
        char::decode_utf16(pairs.iter().map(|pair| from(*pair)))
            .collect::<Result<String, _>>()
            .map_err(|_| NotText::BrokenUtf16)
    };
    match encoding {
        Encoding::Utf16Le => Ok(Text { encoding, text: units(u16::from_le_bytes)? }),
        Encoding::Utf16Be => Ok(Text { encoding, text: units(u16::from_be_bytes)? }),
        // What only looked like it is what any file with NUL bytes is.
        Encoding::Utf16Bare(order) => {
            let from = if order == Order::Little { u16::from_le_bytes } else { u16::from_be_bytes };
            units(from).map(|text| Text { encoding, text }).map_err(|_| NotText::Binary)
        }
        _ => Ok(match std::str::from_utf8(body) {
            Ok(text) => Text { encoding, text: text.to_owned() },
            Err(_) => match Legacy::guess(bytes) {
                Some((legacy, text)) => Text { encoding: Encoding::Legacy(legacy), text },
                None => Text {
                    encoding: Encoding::Bytes,
                    text: bytes.iter().map(|&byte| char::from(byte)).collect(),
                },
            },
        }),
    }
}

impl Text {
    /// The text as a reader sees it: what is in no known encoding becomes U+FFFD.
    pub(crate) fn into_shown(self) -> String {
        if self.encoding != Encoding::Bytes {
            return self.text;
        }
        let bytes = self.encoding.encode(&self.text).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A line and its ending, which is empty at the end of a file.
pub(crate) type Line<'a> = (&'a str, &'a str);

/// Splits at CRLF, LF and lone CR. Gives one line more than there are endings.
pub(crate) fn split_lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    while let Some(at) = text[start..].find(['\r', '\n']) {
        let end = start + at;
        let ending = ending_at(text, end);
        lines.push((&text[start..end], ending));
        start = end + ending.len();
    }
    lines.push((&text[start..], ""));
    lines
}

/// The line ending that starts at `at`, empty if none does.
pub(crate) fn ending_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    let len =
        if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with(['\r', '\n'])) };
    &rest[..len]
}

/// The text with `\n` as its only line ending.
pub(crate) fn unify(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// A 64-bit hash of content (FNV-1a), to notice that a file changed. Chunks may be of any size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContentHash(u64);

impl Default for ContentHash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl ContentHash {
    /// The hash of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> u64 {
        let mut hash = Self::default();
        hash.update(bytes);
        hash.finish()
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0 = bytes
            .iter()
            .fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}

/// Standard base64 with padding (RFC 4648 section 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte))
            << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let shown = digit <= chunk.len();
            let index = word >> (18 - 6 * digit) & 63;
            out.push(if shown { char::from(DIGITS[index as usize]) } else { '=' });
        }
    }
    out
}

/// Decodes arbitrary bytes and encodes them again, for the fuzzer. Panics if they differ.
pub fn fuzz_encoding(data: &[u8]) {
    if let Ok(text) = decode(data) {
        assert!(
            text.encoding.encode(&text.text).as_deref() == Some(data),
            "bytes did not come back"
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn utf16_without_a_mark_is_told_and_kept(text in "[a-z \\n]{8,40}", rest in "[a-z\u{e4}\u{20ac}\u{1f600}]{0,3}", big: bool) {
            let order = if big { Order::Big } else { Order::Little };
            let text = text.repeat(16) + &rest;
            let bytes = Encoding::Utf16Bare(order).encode(&text).unwrap();
            let decoded = decode(&bytes).unwrap();
            prop_assert_eq!((decoded.encoding, decoded.text), (Encoding::Utf16Bare(order), text));
        }

        #[test]
        fn decoded_bytes_come_back(bytes: Vec<u8>, mark in 0usize..4) {
            let mut file = [&b""[..], b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"][mark].to_vec();
            file.extend(bytes);
            if let Ok(text) = decode(&file) {
                prop_assert_eq!(text.encoding.encode(&text.text), Some(file));
            }
        }

        #[test]
        fn split_lines_lose_nothing(text in "[a\\r\\n]{0,20}") {
            let joined: String = split_lines(&text).into_iter().flat_map(|(line, ending)| [line, ending]).collect();
            prop_assert_eq!(joined, text);
        }

        #[test]
        fn the_hash_does_not_depend_on_chunks(bytes: Vec<u8>, at: prop::sample::Index) {
            let at = at.index(bytes.len() + 1);
            let mut hash = ContentHash::default();
            hash.update(&bytes[..at]);
            hash.update(&bytes[at..]);
            prop_assert_eq!(hash.finish(), ContentHash::of(&bytes));
        }
    }

    #[test]
    fn base64_matches_the_rfc() {
        for (text, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), expected);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xbf]), "+/+/");
    }

    #[test]
    fn encodings_are_told_apart() {
        assert_eq!(decode(b"\x01\xff\x81").unwrap().encoding, Encoding::Bytes);
        assert_eq!(decode("caf\u{e9}".as_bytes()).unwrap().encoding, Encoding::Utf8);
        assert_eq!(decode(b"\xff\xfea\0b\0").unwrap().text, "ab");
        assert_eq!(decode(b"\xfe\xff\0a").unwrap().text, "a");
        assert_eq!(decode(b"a\0b"), Err(NotText::Binary));
        assert_eq!(decode(b"a\0b\0c\0\n\0").unwrap().text, "abc\n");
        assert_eq!(decode(b"\0a\0b\0c\x20\xac\0\n\0x\0x\0x"), Err(NotText::Binary));
        assert_eq!(decode(b"a\0b\0c\0\n\0d"), Err(NotText::Binary));
        assert_eq!(decode(b"\xff\xfea"), Err(NotText::BrokenUtf16));
        assert_eq!(decode(b"\xff\xfe\x00\xd8"), Err(NotText::BrokenUtf16));
        assert_eq!(decode(b"\xff\xfe\0\0a\0\0\0"), Err(NotText::Binary));
    }
}
