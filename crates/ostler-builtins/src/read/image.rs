//! Pictures by their first bytes: which kind, and how large. Decodes no pixels.

/// Pixels on a side above which model vendors refuse a picture.
pub(crate) const MAX_SIDE: u32 = 8000;

/// Kinds of picture that model vendors take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Png,
    Jpeg,
    Gif,
    Webp,
}

impl Kind {
    /// What the first bytes say; the name of the file says nothing.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }

    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

/// Width and height in pixels, if the header tells them.
pub(crate) fn dimensions(kind: Kind, bytes: &[u8]) -> Option<(u32, u32)> {
    let little = |at: usize, len: usize| {
        let part = bytes.get(at..at + len)?;
        Some(part.iter().rev().fold(0u32, |number, &byte| number << 8 | u32::from(byte)))
    };
    let big = |at: usize, len: usize| {
        let part = bytes.get(at..at + len)?;
        Some(part.iter().fold(0u32, |number, &byte| number << 8 | u32::from(byte)))
    };
    match kind {
        Kind::Png => Some((big(16, 4)?, big(20, 4)?)),
        Kind::Gif => Some((little(6, 2)?, little(8, 2)?)),
        Kind::Webp => match bytes.get(12..16)? {
            b"VP8X" => Some((little(24, 3)? + 1, little(27, 3)? + 1)),
            b"VP8L" => {
                let bits = little(21, 4)?;
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            b"VP8 " => Some((little(26, 2)? & 0x3fff, little(28, 2)? & 0x3fff)),
            _ => None,
        },
        Kind::Jpeg => {
            let mut at = 2;
            loop {
                // Each segment: FF, its kind, its length; a frame header has the size.
                let marker = big(at, 2)?;
                match marker {
                    0xffc0..=0xffc3 | 0xffc5..=0xffc7 | 0xffc9..=0xffcb | 0xffcd..=0xffcf => {
                        return Some((big(at + 7, 2)?, big(at + 5, 2)?));
                    }
                    0xffff => at += 1,
                    0xff00..=0xfffe => at += 2 + (big(at + 2, 2)? as usize).max(2),
                    _ => return None,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_tell_kind_and_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\x92\0\0\x09\xe4\x08\x06";
        let gif = b"GIF89a\x10\0\x20\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\0\x20\0\x10\x03";
        let webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x1f\0\0";
        for (bytes, kind, size) in [
            (&png[..], Kind::Png, (1170, 2532)),
            (gif, Kind::Gif, (16, 32)),
            (jpeg, Kind::Jpeg, (16, 32)),
            (webp, Kind::Webp, (16, 32)),
        ] {
            assert_eq!(Kind::of(bytes), Some(kind));
            assert_eq!(dimensions(kind, bytes), Some(size), "{kind:?}");
        }
        assert_eq!(Kind::of(b"BM"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_size_or_none(bytes: Vec<u8>) {
            for kind in [Kind::Png, Kind::Jpeg, Kind::Gif, Kind::Webp] {
                let _size = dimensions(kind, &bytes);
            }
        }
    }
}
