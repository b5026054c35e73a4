//! Encodings from before Unicode, told by the looks of a file.
//!
//! A guess is taken only if every byte of the file comes back from it, so that a wrong one
//! can spoil no more than the characters that an edit adds.

use chardetng::EncodingDetector;
use encoding_rs::{EncoderResult, Encoding, ISO_2022_JP};

/// Bytes that the detector looks at.
const LOOKED_AT: usize = 256 * 1024;

/// An encoding in which each character is encoded by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Legacy(&'static Encoding);

impl Legacy {
    /// The encoding of bytes that are not UTF-8, and their text; `None` if they look like
    /// none, or like damaged UTF-8, or would not come back.
    pub(crate) fn guess(bytes: &[u8]) -> Option<(Self, String)> {
        if bytes.iter().any(|&byte| is_odd(byte)) || is_mostly_utf8(bytes) {
            return None;
        }
        let first = bytes.iter().position(|byte| !byte.is_ascii())?;
        // What is ASCII says nothing; the part around the first other byte does.
        let from = first.saturating_sub(LOOKED_AT / 4);
        let part = &bytes[from..bytes.len().min(from + LOOKED_AT)];
        let mut detector = EncodingDetector::new();
        detector.feed(part, part.len() + from == bytes.len());
        Self::decode(detector.guess(None, false), bytes)
    }

    /// Decodes by a given encoding, if the bytes come back from it.
    fn decode(encoding: &'static Encoding, bytes: &[u8]) -> Option<(Self, String)> {
        // Its characters depend on what stands before them.
        if encoding == ISO_2022_JP || encoding.output_encoding() != encoding {
            return None;
        }
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
        // C1 controls are in no text: they are bytes that the encoding has no use for.
        if text.chars().any(|character| ('\u{80}'..='\u{9f}').contains(&character)) {
            return None;
        }
        let legacy = Self(encoding);
        (legacy.encode(&text)? == bytes).then(|| (legacy, text.into_owned()))
    }

    /// The bytes of `text`; `None` if it has characters that the encoding has not.
    pub(crate) fn encode(self, text: &str) -> Option<Vec<u8>> {
        let mut encoder = self.0.new_encoder();
        let room = encoder.max_buffer_length_from_utf8_without_replacement(text.len())?;
        let mut bytes = Vec::with_capacity(room);
        let (result, _read) =
            encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true);
        (result == EncoderResult::InputEmpty).then_some(bytes)
    }

    /// The name of the encoding, as the Encoding Standard has it.
    pub(crate) fn name(self) -> &'static str {
        self.0.name()
    }
}

/// Controls that no text has; backspace and escape are in manual pages and logs.
fn is_odd(byte: u8) -> bool {
    matches!(byte, 0..=7 | 0xe..=0x1a | 0x1c..=0x1f | 0x7f)
}

/// Whether the bytes are UTF-8 with some damage, and not in another encoding.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > bad
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, EUC_JP, EUC_KR, GB18030, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
    use proptest::prelude::*;

    use super::*;
    use crate::text::{Encoding as Of, decode};

    #[test]
    fn common_encodings_are_recognised() {
        let japanese = "\u{3053}\u{308c}\u{306f}\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{6587}\u{7ae0}\u{3067}\u{3059}\u{3002}\n";
        let chinese = "\u{8fd9}\u{662f}\u{4e00}\u{4e2a}\u{7b80}\u{5355}\u{7684}\u{4e2d}\u{6587}\u{6587}\u{4ef6}\u{3002}\n";
        let russian = "\u{42d}\u{442}\u{43e} \u{43f}\u{440}\u{43e}\u{441}\u{442}\u{43e}\u{439} \u{442}\u{435}\u{43a}\u{441}\u{442}\n";
        for (encoding, text) in [
            (WINDOWS_1252, "caf\u{e9} cr\u{e8}me \u{201c}d\u{e9}j\u{e0} vu\u{201d}\n"),
            (SHIFT_JIS, japanese),
            (EUC_JP, japanese),
            (GBK, chinese),
            (WINDOWS_1251, russian),
        ] {
            let bytes = encoding.encode(text).0;
            let (legacy, decoded) = Legacy::guess(&bytes).unwrap();
            assert_eq!((legacy.0, decoded.as_str()), (encoding, text));
        }
    }

    #[test]
    fn what_would_not_come_back_is_not_taken() {
        // NEC and IBM row doubles: one character, two forms.
        assert!(Legacy::decode(SHIFT_JIS, b"\xed\x40").is_none());
        assert!(Legacy::decode(BIG5, b"\xa1").is_none());
        assert!(Legacy::decode(WINDOWS_1252, b"a\x81").is_none());
        assert!(Legacy::guess(b"\x01\xe9").is_none());
        let damaged =
            ["d\u{e9}j\u{e0} vu, caf\u{e9}".as_bytes(), b"\xe9", "cr\u{e8}me".as_bytes()].concat();
        assert_eq!(decode(&damaged).unwrap().encoding, Of::Bytes);
    }

    proptest! {
        #[test]
        fn each_character_is_encoded_by_itself(
            which in 0usize..8, text in "\\PC{0,12}", at: prop::sample::Index,
        ) {
            let all = [WINDOWS_1252, SHIFT_JIS, EUC_JP, GBK, GB18030, BIG5, EUC_KR, WINDOWS_1251];
            let legacy = Legacy(all[which]);
            let bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (a, b) = text.split_at(bounds[at.index(bounds.len())]);
            let whole = legacy.encode(&text);
            let parts = legacy.encode(a).zip(legacy.encode(b)).map(|(a, b)| [a, b].concat());
            prop_assert_eq!(whole, parts);
        }
    }
}
