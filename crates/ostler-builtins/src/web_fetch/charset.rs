//! Which characters the bytes of a page stand for.

use chardetng::EncodingDetector;
use encoding_rs::{Encoding, UTF_8};

/// Bytes of a page in which its own declaration is looked for (WHATWG HTML 13.2.3.2).
const PRESCAN: usize = 1024;

/// Decodes by byte order mark, header, the page's own declaration, or by its looks.
pub(super) fn decode(bytes: &[u8], content_type: &str) -> String {
    let encoding = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| declared(content_type))
        .or_else(|| {
            // In anything but a page the same words are only words.
            if !bytes.trim_ascii_start().starts_with(b"<") {
                return None;
            }
            let head = &bytes[..bytes.len().min(PRESCAN)];
            // A page that can say UTF-16 in single bytes is not in UTF-16.
            declared(&String::from_utf8_lossy(head).to_ascii_lowercase())
                .map(Encoding::output_encoding)
        })
        .unwrap_or_else(|| guessed(bytes));
    encoding.decode(bytes).0.into_owned()
}

/// What stands behind `charset=` or, in XML, `encoding=`.
fn declared(text: &str) -> Option<&'static Encoding> {
    ["charset", "encoding"].iter().find_map(|name| {
        text.match_indices(name).find_map(|(at, _)| {
            let value = text[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
            let value = value.trim_start_matches(['"', '\'']);
            let end = value.find(|c: char| c.is_whitespace() || "\"';>/?".contains(c));
            Encoding::for_label(&value.as_bytes()[..end.unwrap_or(value.len())])
        })
    })
}

fn guessed(bytes: &[u8]) -> &'static Encoding {
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new();
    detector.feed(bytes, true);
    detector.guess(None, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_is_believed_and_else_the_bytes_are() {
        let check = |bytes: &[u8], content_type: &str, expected: &str| {
            assert_eq!(decode(bytes, content_type), expected);
        };
        check(b"\xe9", "text/plain; charset=iso-8859-1", "\u{e9}");
        check(b"\xef\xbb\xbf\xc3\xa9", "text/plain; charset=iso-8859-1", "\u{e9}");
        check("\u{e9}".as_bytes(), "text/plain", "\u{e9}");
        check(b"<meta charset=\"koi8-r\">\xc1", "text/html", "<meta charset=\"koi8-r\">\u{430}");
        check(
            b"<?xml encoding='windows-1251'?>\xe0",
            "text/xml",
            "<?xml encoding='windows-1251'?>\u{430}",
        );
        check(b"<meta charset=utf-16>\xc3\xa9", "text/html", "<meta charset=utf-16>\u{e9}");
        check(b"\xff\xfea\0", "", "a");
        check("charset=koi8-r \u{e9}".as_bytes(), "text/plain", "charset=koi8-r \u{e9}");
        check(b"<meta charset=none>caf\xe9 au lait", "", "<meta charset=none>caf\u{e9} au lait");
    }
}
