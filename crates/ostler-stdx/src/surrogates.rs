//! Escapes of JSON that name half a surrogate pair, as JavaScript writes cut text.
//!
//! Works on text alone; whether the whole is JSON is for the reader of it to say.

use std::borrow::Cow;

/// Escapes of half a surrogate pair become one of U+FFFD; borrowed if there is none.
#[must_use]
pub fn mend_surrogates(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|&b| b == b'\\')) {
        at += found;
        match unit(bytes, at) {
            Some(0xd800..=0xdbff) if matches!(unit(bytes, at + 6), Some(0xdc00..=0xdfff)) => {
                at += 12;
            }
            Some(0xd800..=0xdfff) => {
                out.push_str(text.get(kept..at).unwrap_or_default());
                out.push_str("\\ufffd");
                at += 6;
                kept = at;
            }
            Some(_) => at += 6,
            // Any other escape: the character after it is no escape of its own.
            None => at += 2,
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// The UTF-16 unit that the escape at a place means.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let hex = escape.strip_prefix(b"\\u")?;
    let hex =
        std::str::from_utf8(hex).ok().filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(hex, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_pairs_are_kept() {
        for kept in ["", "plain", r"\ud83d\ude00", r"\\ud83d", r"\n\u00e9", r"\u", r"\", r"\ud8"] {
            assert!(matches!(mend_surrogates(kept), Cow::Borrowed(_)), "{kept}");
        }
        assert_eq!(mend_surrogates(r"a\ud83db\udc00"), r"a\ufffdb\ufffd");
        assert_eq!(mend_surrogates(r"\uD83D\ud83d\ude00"), r"\ufffd\ud83d\ude00");
        assert_eq!(mend_surrogates(r"\\\udfff"), r"\\\ufffd");
    }
}
