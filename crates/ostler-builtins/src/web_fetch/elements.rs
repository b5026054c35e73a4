//! What becomes of which HTML element, and what elements say of themselves. Tables only:
//! `clean` acts on them.

use super::tags::Tag;

/// What becomes of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// Its content is not HTML, and nothing for a reader.
    Raw,
    Title,
    Base,
    /// It is left out with its content.
    Noise,
    /// It stays, under this name. Names that mean the same are one.
    Kept(&'static str),
    /// It has no content, and stays under this name.
    Void(&'static str),
    /// Its content stays.
    Unwrapped,
}

/// What becomes of the element of this name, which is in lower case.
pub(super) fn element(name: &str) -> Element {
    use Element::{Base, Kept, Noise, Raw, Title, Unwrapped, Void};
    match name {
        "script" | "style" | "noembed" | "noframes" | "iframe" | "textarea" | "xmp" => Raw,
        "title" => Title,
        "base" => Base,
        "nav" | "footer" | "template" | "svg" | "math" | "select" | "button" | "object"
        | "audio" | "video" | "canvas" | "datalist" | "dialog" | "map" => Noise,
        "a" => Kept("a"),
        "b" | "strong" => Kept("strong"),
        "i" | "em" => Kept("em"),
        "code" | "kbd" | "samp" | "tt" => Kept("code"),
        "h1" => Kept("h1"),
        "h2" => Kept("h2"),
        "h3" => Kept("h3"),
        "h4" => Kept("h4"),
        "h5" => Kept("h5"),
        "h6" => Kept("h6"),
        "p" => Kept("p"),
        "ul" | "menu" | "dir" => Kept("ul"),
        "ol" => Kept("ol"),
        "li" => Kept("li"),
        "pre" | "listing" => Kept("pre"),
        "blockquote" => Kept("blockquote"),
        "table" => Kept("table"),
        "tr" => Kept("tr"),
        "td" => Kept("td"),
        "th" => Kept("th"),
        "div" | "section" | "article" | "main" | "header" | "aside" | "figure" | "figcaption"
        | "details" | "summary" | "form" | "fieldset" | "legend" | "address" | "dl" | "dt"
        | "dd" | "center" | "hgroup" | "caption" | "search" => Kept("div"),
        "br" => Void("br"),
        "hr" => Void("hr"),
        "img" => Void("img"),
        _ => Unwrapped,
    }
}

/// Whether a kept element stands within lines.
pub(super) fn is_inline(name: &str) -> bool {
    matches!(name, "a" | "strong" | "em" | "code")
}

/// Which open elements the start of one closes, and where the search for them ends.
pub(super) fn implied(name: &str) -> (&'static [&'static str], &'static [&'static str]) {
    const BLOCKS: &[&str] = &["div", "li", "td", "th", "blockquote", "table", "ul", "ol"];
    match name {
        "li" => (&["li"], &["ul", "ol", "table"]),
        "tr" => (&["tr"], &["table"]),
        "td" | "th" => (&["td", "th"], &["tr", "table"]),
        "a" => (&["a"], &["td", "th", "li", "table"]),
        "strong" | "em" | "code" => (&[], &[]),
        _ => (&["p"], BLOCKS),
    }
}

/// Whether an element says of itself that nobody sees it, or that it is a menu.
pub(super) fn hides(tag: &Tag<'_>) -> bool {
    let style = tag.attribute("style").is_some_and(|style| {
        let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
        let style = style.to_ascii_lowercase();
        style.contains("display:none") || style.contains("visibility:hidden")
    });
    style
        || mark_of_heading(tag)
        || tag.attribute("hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
        || tag.attribute("role").is_some_and(|role| role.eq_ignore_ascii_case("navigation"))
}

/// The sign beside a heading that links to the heading itself.
fn mark_of_heading(tag: &Tag<'_>) -> bool {
    let marks = ["anchor", "anchor-link", "hash-link", "header-anchor", "headerlink"];
    tag.name == "a"
        && tag.attribute("href").is_some_and(|to| to.starts_with('#'))
        && tag
            .attribute("class")
            .is_some_and(|class| class.split_whitespace().any(|class| marks.contains(&class)))
}

/// Whether an element never has content.
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area" | "col" | "embed" | "input" | "link" | "meta" | "param" | "source" | "track" | "wbr"
    )
}

/// The language that a block of code names.
pub(super) fn language(tag: &Tag<'_>) -> Option<String> {
    let classes = tag.attribute("class")?;
    let names = ["language-", "lang-", "highlight-source-"];
    let language = classes
        .split_whitespace()
        .find_map(|class| names.iter().find_map(|name| class.strip_prefix(name)))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '_' | '-' | '.');
    (language.len() <= 30 && language.chars().all(plain)).then(|| language.to_owned())
}
