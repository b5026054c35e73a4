//! HTML as a row of tags and texts, in one pass that never goes back. Knows nothing of
//! how elements nest.

use std::borrow::Cow;

/// One piece of a page.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// Text, its character references not resolved.
    Text(&'a str),
    /// The start of an element, its name in lower case.
    Start(Tag<'a>),
    /// The end of an element, its name in lower case.
    End(String),
}

/// A start tag.
#[derive(Debug)]
pub(super) struct Tag<'a> {
    pub(super) name: String,
    attributes: Vec<(&'a str, &'a str)>,
}

/// Attributes that are kept; a tag with more than [`ATTRIBUTES`] of them is an attack.
const KEPT: &[&str] =
    &["href", "src", "alt", "class", "start", "hidden", "style", "role", "charset", "name"];
const ATTRIBUTES: usize = 16;

impl Tag<'_> {
    /// The value of an attribute, resolved.
    pub(super) fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        let found = self.attributes.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| resolved(value))
    }
}

/// Reads a page from its start to its end.
#[derive(Debug)]
pub(super) struct Pieces<'a> {
    html: &'a str,
    at: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(html: &'a str) -> Self {
        Self { html, at: 0 }
    }

    /// What is left to read.
    pub(super) fn rest(&self) -> &'a str {
        &self.html[self.at..]
    }

    /// The raw text up to the end tag of `name`, which is skipped with it.
    pub(super) fn raw_until(&mut self, name: &str) -> &'a str {
        let rest = self.rest();
        let mut from = 0;
        while let Some(found) = rest[from..].find("</") {
            let start = from + found;
            let after = rest.as_bytes().get(start + 2..start + 2 + name.len());
            if after.is_some_and(|after| after.eq_ignore_ascii_case(name.as_bytes())) {
                let end = rest[start..].find('>').map_or(rest.len(), |end| start + end + 1);
                self.at += end;
                return &rest[..start];
            }
            from = start + 2;
        }
        self.at = self.html.len();
        rest
    }

    fn skip_past(&mut self, mark: &str) {
        self.at = self.rest().find(mark).map_or(self.html.len(), |at| self.at + at + mark.len());
    }

    fn name(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
        let end = end.unwrap_or(rest.len());
        self.at += end;
        // No element that is known has a longer name.
        rest[..end].chars().take(32).collect::<String>().to_ascii_lowercase()
    }

    fn start(&mut self) -> Tag<'a> {
        let mut tag = Tag { name: self.name(), attributes: Vec::new() };
        loop {
            let rest = self.rest();
            let skipped = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            self.at += rest.len() - skipped.len();
            if skipped.is_empty() {
                return tag;
            }
            if skipped.starts_with('>') {
                self.at += 1;
                return tag;
            }
            let (name, value) = self.one_attribute();
            let known = KEPT.iter().any(|kept| kept.eq_ignore_ascii_case(name));
            if known && tag.attributes.len() < ATTRIBUTES {
                tag.attributes.push((name, value));
            }
        }
    }

    fn one_attribute(&mut self) -> (&'a str, &'a str) {
        let rest = self.rest();
        // A `=` in the first place belongs to the name.
        let end = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '='))
            .map_or(rest.len(), |(at, _)| at);
        let name = &rest[..end];
        self.at += end;
        let after = self.rest().trim_start_matches(|c: char| c.is_ascii_whitespace());
        let Some(value) = after.strip_prefix('=') else { return (name, "") };
        let value = value.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let from = self.html.len() - value.len();
        let (value, next) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inner = &value[1..];
                let end = inner.find(quote).unwrap_or(inner.len());
                (&inner[..end], (from + 1 + end + 1).min(self.html.len()))
            }
            _ => {
                let end = value.find(|c: char| c.is_ascii_whitespace() || c == '>');
                let end = end.unwrap_or(value.len());
                (&value[..end], from + end)
            }
        };
        self.at = next;
        (name, value)
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return None;
            }
            let bytes = rest.as_bytes();
            if bytes[0] != b'<' || !bytes.get(1).is_some_and(|&next| opens(next)) {
                // A lone `<` is text.
                let end = bytes[1..].iter().position(|&byte| byte == b'<');
                let end = end.map_or(rest.len(), |end| end + 1);
                self.at += end;
                return Some(Piece::Text(&rest[..end]));
            }
            match bytes[1] {
                b'!' if rest.starts_with("<!--") => {
                    self.at += 4;
                    // `<!-->` is a whole comment.
                    let at_once = self.rest().starts_with('>') || self.rest().starts_with("->");
                    self.skip_past(if at_once { ">" } else { "-->" });
                }
                b'!' | b'?' => self.skip_past(">"),
                b'/' => {
                    self.at += 2;
                    let name = self.name();
                    self.skip_past(">");
                    return Some(Piece::End(name));
                }
                _ => {
                    self.at += 1;
                    return Some(Piece::Start(self.start()));
                }
            }
        }
    }
}

fn opens(next: u8) -> bool {
    next.is_ascii_alphabetic() || matches!(next, b'!' | b'?' | b'/')
}

/// Resolves the character references that stand in addresses and names.
pub(super) fn resolved(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        let known = end.and_then(|end| Some((reference(&rest[1..end])?, end + 1)));
        let (character, length) = known.unwrap_or(('&', 1));
        out.push(character);
        rest = &rest[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn reference(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?).filter(|c| !c.is_control())?
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(html: &str) -> String {
        let shown = Pieces::new(html).map(|piece| match piece {
            Piece::Text(text) => format!("'{text}'"),
            Piece::End(name) => format!("-{name}"),
            Piece::Start(tag) => {
                let values: Vec<_> =
                    tag.attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("+{}({})", tag.name, values.join(","))
            }
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tags_texts_and_attributes_are_told_apart() {
        let check = |html: &str, expected: &str| assert_eq!(shown(html), expected);
        check("a<B>c</B >", "'a' +b() 'c' -b");
        check("<a href=x title='<p>' CLASS=\"y z\">1 < 2", "+a(href=x,CLASS=y z) '1 ' '< 2'");
        check("<a href = 'x' hidden/>", "+a(href=x,hidden=)");
        check("<!doctype html><!-- <p> --><?x?><br/>", "+br()");
        check("<!-->x<p", "'x' +p()");
        check("<a href='never closed", "+a(href=never closed)");
        check("\u{fc}<\u{fc}<i>", "'\u{fc}' '<\u{fc}' +i()");
        check("</>x", "- 'x'");
    }

    #[test]
    fn references_are_resolved() {
        assert_eq!(resolved("a?b=1&amp;c=2&copy=3&#x41;&#66;&#0;&"), "a?b=1&c=2&copy=3AB&#0;&");
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(html in "[<>/!a-c =\"'&;\u{fc}-]{0,60}") {
            let mut pieces = Pieces::new(&html);
            let count = pieces.by_ref().count();
            prop_assert!(count <= html.len() + 1);
            prop_assert_eq!(pieces.rest(), "");
            let mut pieces = Pieces::new(&html);
            pieces.raw_until("a");
            let _resolved = resolved(&html);
        }
    }
}
