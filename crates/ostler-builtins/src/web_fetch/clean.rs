//! A page without its noise: what a reader sees, in few well-nested elements, with whole
//! addresses in its links.
//!
//! The result is what the Markdown converter gets, so this also bounds what that does:
//! how deep elements nest and how long the page is. Scripts, styles, menus and what is
//! hidden never pass.

use std::borrow::Cow;

use url::Url;

use super::{
    elements::{Element, element, hides, implied, is_inline, is_void, language},
    tags::{Piece, Pieces, Tag, resolved},
};

/// Elements that may be open at once and are passed on: the converter recurses.
const DEPTH: usize = 40;
/// Elements that may be open at once; further ones count for nothing.
const OPEN: usize = 256;
/// Bytes after which a page is cut.
const CAP: usize = 1 << 20;
const TITLE: usize = 300;

/// A page, cleaned.
#[derive(Debug, Default)]
pub(super) struct Cleaned {
    /// Its title.
    pub(super) title: String,
    /// What is left of it.
    pub(super) html: String,
    /// Whether it was cut.
    pub(super) cut: bool,
}

/// What the page is cleaned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// For conversion to Markdown: `html` holds elements.
    Markdown,
    /// For plain text: `html` holds text only, its character references not resolved.
    Text,
}

/// Cleans a page that came from `base`.
pub(super) fn clean(html: &str, base: &Url, purpose: For) -> Cleaned {
    let mut page = Cleaner {
        base: base.clone(),
        purpose,
        open: Vec::new(),
        hiding: 0,
        shown: 0,
        in_pre: 0,
        in_code: 0,
        grids: grids(html),
        table: 0,
        out: Cleaned::default(),
    };
    let mut pieces = Pieces::new(html);
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Text(text) => page.text(text),
            Piece::End(name) => page.end(&name),
            Piece::Start(tag) => page.start(&tag, &mut pieces),
        }
        if page.out.html.len() > CAP {
            page.out.cut = !pieces.rest().is_empty();
            break;
        }
    }
    page.close_to(0);
    page.out
}

/// For each table of the page whether it is one, and not a frame for other tables.
fn grids(html: &str) -> Vec<bool> {
    let mut grids = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut pieces = Pieces::new(html);
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Start(tag) => match element(&tag.name) {
                Element::Raw | Element::Title => {
                    pieces.raw_until(&tag.name);
                }
                Element::Kept("table") => {
                    if let Some(&outer) = open.last() {
                        grids[outer] = false;
                    }
                    if open.len() < OPEN {
                        open.push(grids.len());
                    }
                    grids.push(open.len() == 1);
                }
                _ => {}
            },
            Piece::End(name) if name == "table" => {
                open.pop();
            }
            _ => {}
        }
    }
    grids
}

#[derive(Debug)]
struct Open {
    /// The name in [`Element::Kept`], or what else it is called.
    name: Cow<'static, str>,
    /// The name under which it was passed on.
    written: Option<&'static str>,
    /// Whether it hides what is in it.
    hides: bool,
    /// Where its start tag stands in the result, and where its content begins. Absent if
    /// it goes on with what another one began.
    at: Option<(usize, usize)>,
}

#[derive(Debug)]
struct Cleaner {
    base: Url,
    purpose: For,
    open: Vec<Open>,
    /// How many of the open elements hide, were passed on, are `pre`, are `code`.
    hiding: usize,
    shown: usize,
    in_pre: usize,
    in_code: usize,
    /// Which tables are tables, and how many came so far.
    grids: Vec<bool>,
    table: usize,
    out: Cleaned,
}

impl Cleaner {
    fn start(&mut self, tag: &Tag<'_>, pieces: &mut Pieces<'_>) {
        match element(&tag.name) {
            Element::Raw => {
                pieces.raw_until(&tag.name);
            }
            Element::Title => {
                let raw = pieces.raw_until("title");
                if self.out.title.is_empty() && self.hiding == 0 {
                    let words: Vec<_> = raw.split_whitespace().collect();
                    self.out.title = resolved(&words.join(" ")).chars().take(TITLE).collect();
                }
            }
            Element::Base => {
                if let Some(base) = tag.attribute("href").and_then(|to| self.base.join(&to).ok()) {
                    self.base = base;
                }
            }
            Element::Noise => self.push(tag.name.clone().into(), None, true),
            Element::Void(name) => self.void(name, tag),
            Element::Kept(name) => self.kept(name, tag, pieces),
            Element::Unwrapped => {
                let hidden = hides(tag);
                if (hidden || self.hiding > 0) && !is_void(&tag.name) {
                    self.push(tag.name.clone().into(), None, hidden);
                }
            }
        }
    }

    fn end(&mut self, name: &str) {
        let name = match element(name) {
            Element::Kept(name) => name,
            Element::Noise | Element::Unwrapped => name,
            Element::Raw | Element::Title | Element::Base | Element::Void(_) => return,
        };
        let in_table = matches!(name, "table" | "tr" | "td" | "th");
        for at in (0..self.open.len()).rev() {
            let open: &str = &self.open[at].name;
            if open == name {
                self.close_to(at);
                return;
            }
            // An end tag without a start does not reach out of what it stands in.
            let stops = matches!(open, "td" | "th") && !in_table
                || open == "pre"
                || open == "code" && is_inline(name);
            if stops {
                return;
            }
        }
    }

    fn kept(&mut self, name: &'static str, tag: &Tag<'_>, pieces: &Pieces<'_>) {
        let hidden = hides(tag);
        if name == "table" {
            self.table += 1;
        }
        if self.in_pre > 0 || is_inline(name) && self.in_code > 0 {
            // Nothing but text stands in code.
            if hidden || self.hiding > 0 {
                self.push(name.into(), None, hidden);
            }
            return;
        }
        let (closed, until) = implied(name);
        self.close_implied(closed, until);
        let mut written = None;
        if !hidden && self.hiding == 0 && self.shown < DEPTH {
            let as_name = self.name_for(name);
            let before = self.out.html.len();
            written = self.open_tag(as_name, tag, pieces).then_some(as_name);
            let after = self.out.html.len();
            self.push(name.into(), written, hidden);
            if let Some(open) = self.open.last_mut() {
                open.at = Some((before, after)).filter(|_| before < after);
            }
            return;
        }
        self.push(name.into(), written, hidden);
    }

    /// A table that is only a frame is written as blocks.
    fn name_for(&self, name: &'static str) -> &'static str {
        let grid = match name {
            "table" => self.grids.get(self.table - 1).copied().unwrap_or(false),
            "tr" | "td" | "th" => {
                let table = self.open.iter().rev().find(|open| open.name == "table");
                table.is_some_and(|table| table.written == Some("table"))
            }
            _ => true,
        };
        if grid { name } else { "div" }
    }

    /// Writes a start tag; whether it may be written.
    fn open_tag(&mut self, name: &str, tag: &Tag<'_>, pieces: &Pieces<'_>) -> bool {
        if self.purpose == For::Text {
            match name {
                "a" | "strong" | "em" | "code" => return false,
                "td" | "th" => self.cell(),
                "li" => {
                    self.line();
                    self.out.html.push_str("- ");
                }
                _ => self.line(),
            }
            return true;
        }
        let out = &mut self.out.html;
        match name {
            "a" => {
                let to = tag.attribute("href").and_then(|to| link(&self.base, &to));
                let Some(to) = to else { return false };
                out.push_str("<a href=\"");
                quote(to.as_str(), out);
                out.push_str("\">");
            }
            "ol" => {
                let first = tag.attribute("start").and_then(|first| first.parse::<u32>().ok());
                match first.filter(|first| (2..100_000).contains(first)) {
                    Some(first) => out.push_str(&format!("<ol start=\"{first}\">")),
                    None => out.push_str("<ol>"),
                }
            }
            "pre" => {
                let language = language(tag).or_else(|| {
                    let code = Pieces::new(pieces.rest()).find(
                        |piece| !matches!(piece, Piece::Text(text) if text.trim().is_empty()),
                    );
                    match code {
                        Some(Piece::Start(code)) if code.name == "code" => language(&code),
                        _ => None,
                    }
                });
                match language {
                    Some(language) => {
                        out.push_str(&format!("<pre><code class=\"language-{language}\">"));
                    }
                    None => out.push_str("<pre><code>"),
                }
            }
            // The converter joins such neighbours, one after the other.
            "strong" | "em" | "code" if out.ends_with(&format!("</{name}>")) => {
                out.truncate(out.len() - name.len() - 3);
            }
            _ => {
                out.push('<');
                out.push_str(name);
                out.push('>');
            }
        }
        true
    }

    fn void(&mut self, name: &str, tag: &Tag<'_>) {
        if self.hiding > 0 || hides(tag) {
            return;
        }
        let in_code = self.in_pre > 0;
        match (name, self.purpose) {
            ("br", _) if in_code => self.out.html.push('\n'),
            _ if in_code => {}
            ("br" | "hr", For::Text) => self.line(),
            ("img", For::Text) => {}
            ("img", For::Markdown) => {
                // A picture without words is decoration.
                let alt = tag.attribute("alt").filter(|alt| !alt.trim().is_empty());
                let source = tag.attribute("src").and_then(|source| link(&self.base, &source));
                let (Some(alt), Some(source)) = (alt, source) else { return };
                let out = &mut self.out.html;
                out.push_str("<img src=\"");
                quote(source.as_str(), out);
                out.push_str("\" alt=\"");
                quote(&alt, out);
                out.push_str("\">");
            }
            ("hr", For::Markdown) => {
                self.close_implied(&["p"], implied("hr").1);
                self.out.html.push_str("<hr>");
            }
            _ => self.out.html.push_str("<br>"),
        }
    }

    fn text(&mut self, text: &str) {
        if self.hiding > 0 {
            return;
        }
        let verbatim = self.in_pre > 0;
        let between_cells =
            self.open.last().is_some_and(|open| matches!(open.written, Some("table" | "tr")));
        if between_cells && text.trim().is_empty() {
            return;
        }
        let out = &mut self.out.html;
        for character in text.chars() {
            match character {
                '<' => out.push_str("&lt;"),
                '\n' | '\t' if verbatim => out.push(character),
                _ if verbatim && !character.is_control() => out.push(character),
                _ if character.is_ascii_whitespace() => {
                    if !out.ends_with([' ', '\n']) {
                        out.push(' ');
                    }
                }
                // The converter's own marks are of this kind.
                _ if character.is_control() => {}
                _ => out.push(character),
            }
        }
    }

    fn push(&mut self, name: Cow<'static, str>, written: Option<&'static str>, hides: bool) {
        if self.open.len() == OPEN {
            written.into_iter().for_each(|name| self.write_end(name));
            return;
        }
        let open = Open { name, written, hides, at: None };
        self.count(&open, 1);
        self.open.push(open);
    }

    fn count(&mut self, open: &Open, change: isize) {
        let counts = [
            (open.hides, &mut self.hiding),
            (open.written.is_some(), &mut self.shown),
            (open.name == "pre", &mut self.in_pre),
            (open.name == "code", &mut self.in_code),
        ];
        for (_, count) in counts.into_iter().filter(|(counts, _)| *counts) {
            *count = count.saturating_add_signed(change);
        }
    }

    fn close_implied(&mut self, closed: &[&str], until: &[&str]) {
        for at in (0..self.open.len()).rev() {
            let name = &*self.open[at].name;
            if closed.contains(&name) {
                self.close_to(at);
                return;
            }
            if until.contains(&name) {
                return;
            }
        }
    }

    fn close_to(&mut self, at: usize) {
        while self.open.len() > at
            && let Some(open) = self.open.pop()
        {
            self.count(&open, -1);
            if let Some(name) = open.written
                && !self.is_taken_back(name, open.at)
            {
                self.write_end(name);
            }
        }
    }

    /// Takes an element back that has no content: an icon's link, an item of a hidden menu.
    fn is_taken_back(&mut self, name: &str, at: Option<(usize, usize)>) -> bool {
        let matters = matches!(name, "td" | "th" | "tr" | "table" | "pre");
        let Some((before, after)) = at.filter(|_| self.purpose == For::Markdown && !matters) else {
            return false;
        };
        let out = &mut self.out.html;
        let content = out.get(after..).unwrap_or_default();
        if !content.trim().is_empty() {
            return false;
        }
        let blank = !content.is_empty();
        out.truncate(before);
        if blank && !out.ends_with([' ', '\n']) {
            out.push(' ');
        }
        true
    }

    fn write_end(&mut self, name: &str) {
        match (self.purpose, name) {
            (For::Text, "td" | "th") => {}
            (For::Text, "li") if self.out.html.ends_with("- ") => {
                let end = self.out.html.len() - 2;
                self.out.html.truncate(end);
            }
            (For::Text, _) => self.line(),
            (For::Markdown, "pre") => self.out.html.push_str("</code></pre>"),
            (For::Markdown, _) => self.out.html.push_str(&format!("</{name}>")),
        }
    }

    /// A new line, if text goes before.
    fn line(&mut self) {
        let out = &mut self.out.html;
        let end = out.trim_end_matches([' ', '\t']).len();
        out.truncate(end);
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
    }

    fn cell(&mut self) {
        if !self.out.html.ends_with('\n') {
            self.out.html.push('\t');
        }
    }
}

/// The whole address of a link that leads somewhere else.
fn link(base: &Url, to: &str) -> Option<Url> {
    let to = to.trim();
    if to.is_empty() || to.starts_with('#') {
        return None;
    }
    base.join(to).ok().filter(|to| matches!(to.scheme(), "http" | "https" | "mailto"))
}

fn quote(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '<' => out.push_str("&lt;"),
            _ => out.push(character),
        }
    }
}
