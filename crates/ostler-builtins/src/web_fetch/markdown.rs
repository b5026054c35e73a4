//! HTML to Markdown and to plain text. The converter recurses and joins, so it gets only
//! what `clean` has bounded.

use std::io;

use htmd::{
    Element, HtmlToMarkdown,
    element_handler::{HandlerResult, Handlers},
    options::{BulletListMarker, Options},
};
use url::Url;

use super::clean::{For, clean};

/// Where a cell and a row of a table start, until the table is put together.
const CELL: char = '\u{1}';
const ROW: char = '\u{2}';

/// A page as text.
#[derive(Debug)]
pub(super) struct Converted {
    pub(super) title: String,
    pub(super) text: String,
    /// Whether the page was longer.
    pub(super) cut: bool,
}

/// Converts a page that came from `base`.
pub(super) fn convert(html: &str, base: &Url, purpose: For) -> io::Result<Converted> {
    let page = clean(html, base, purpose);
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let converter = HtmlToMarkdown::builder()
        .options(options)
        .add_handler(vec!["td", "th"], cell)
        .add_handler(vec!["tr"], row)
        .add_handler(vec!["table"], table)
        .build();
    let text = match purpose {
        For::Markdown => converter.convert(&page.html)?,
        // Only resolves character references. The text must not start the block, where
        // some signs are escaped.
        For::Text => {
            let text = converter.convert(&format!("<pre>.\n{}</pre>", page.html.trim()))?;
            text.strip_prefix(".\n").unwrap_or_default().to_owned()
        }
    };
    Ok(Converted { title: page.title, text: tidy(&text), cut: page.cut })
}

/// No blanks at the ends of lines, and never two empty lines in a row outside of code.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut empty, mut fenced) = (0, false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if fenced || empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim().to_owned()
}

fn cell(handlers: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let content = handlers.walk_children(element.node).content;
    let words: Vec<_> = content.split_whitespace().collect();
    Some(format!("{CELL}{}", words.join(" ").replace('|', "\\|")).into())
}

fn row(handlers: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let content = handlers.walk_children(element.node).content;
    Some(format!("{ROW}{content}").into())
}

/// Columns are not lined up: one long cell would make every row as long.
fn table(handlers: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let content = handlers.walk_children(element.node).content;
    let cells = |row: &str| -> Vec<String> {
        row.split(CELL).skip(1).map(|cell| cell.trim().to_owned()).collect()
    };
    let rows = content.split(ROW).map(cells);
    let rows: Vec<_> = rows.filter(|row| row.iter().any(|cell| !cell.is_empty())).collect();
    let mut out = String::from("\n\n");
    for (at, row) in rows.iter().enumerate() {
        out.push_str(&format!("| {} |\n", row.join(" | ")));
        if at == 0 {
            out.push_str(&format!("|{}\n", " --- |".repeat(row.len())));
        }
    }
    out.push('\n');
    Some(out.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn markdown(html: &str) -> String {
        let base = Url::parse("https://site.test/docs/page").unwrap();
        convert(html, &base, For::Markdown).unwrap().text
    }

    fn plain(html: &str) -> String {
        let base = Url::parse("https://site.test/docs/page").unwrap();
        convert(html, &base, For::Text).unwrap().text
    }

    #[test]
    fn a_page_becomes_what_its_reader_sees() {
        let html = r##"<!doctype html><html><head><title>A &amp; B
            title</title><style>p{}</style><script>if (a < b) "</p>"</script></head>
            <body><nav><ul><li>Menu</ul></nav><header><h1>Head<a class="headerlink" href="#h">#</a></h1></header>
            <p>One <b>bold</b><strong>er</strong> and <i>it</i> &eacute;.<p>Two <a href="../x?a=1&amp;b=2">link</a>,
            <a href="#here">near</a>, <a href="javascript:x()">no</a>.
            <ul><li>a<li>b<ol><li>c</ol></ul>
            <pre class="lang-rust"><span>let</span> a = b &lt; *c;
  // _x_</pre><p hidden>secret</p><div style="display : none">secret<div>x</div>secret</div>
            <span hidden>secret <span>more</span> secret</span>shown<img src=x.png alt="A cat"><img src=y.png>
            <code>a_b <b>c</b></code><footer>Imprint</footer></body></html>"##;
        let base = Url::parse("https://site.test/docs/page").unwrap();
        let page = convert(html, &base, For::Markdown).unwrap();
        assert_eq!(page.title, "A & B title");
        assert!(!page.cut);
        assert_eq!(
            page.text,
            "# Head\n\nOne **bolder** and *it* \u{e9}.\n\nTwo [link](https://site.test/x?a=1&b=2), near, no.\n\n\
             - a\n- b\n  1. c\n\n```rust\nlet a = b < *c;\n  // _x_\n```\n\n\
             shown![A cat](https://site.test/docs/x.png) `a_b c`"
        );
    }

    #[test]
    fn what_shows_nothing_leaves_nothing() {
        assert_eq!(
            markdown("a<a href=/x><img src=i.png></a><ul><li><svg>x</svg></ul><b> </b>b"),
            "a b"
        );
        assert_eq!(markdown("<b>a</b><b></b>c"), "**a**c");
        assert_eq!(
            markdown("<table><tr><th>A<th><tr><td><td>b</table>"),
            "| A |  |\n| --- | --- |\n|  | b |"
        );
    }

    #[test]
    fn tables_are_tables_and_frames_are_not() {
        let html = "<table><caption>T</caption><tr><th>A<th>B<tbody><tr><th>1<td>x|y<tr><td>2<td><p>z</p>z</table>";
        assert_eq!(markdown(html), "T\n\n| A | B |\n| --- | --- |\n| 1 | x\\|y |\n| 2 | z z |");
        let html = "<table><tr><td>left<td><table><tr><td>a<td>b</table></table>";
        let shown = markdown(html);
        assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), ["left", "a", "b"], "{shown}");
    }

    #[test]
    fn plain_text_has_no_marks() {
        let html = "<h1>H*</h1><p>a <b>b</b> <a href=x>c_d</a> &eacute;<ul><li>x<li>y</ul><pre>1\n 2 \\n</pre>";
        assert_eq!(plain(html), "H*\na b c_d \u{e9}\n- x\n- y\n1\n 2 \\n");
        assert_eq!(plain("```"), "```");
        assert_eq!(plain("<ul><li>a<li> <li>b</ul>"), "- a\n- b");
    }

    #[test]
    fn deep_pages_end() {
        for html in [
            "<div>".repeat(20_000),
            "<b>".repeat(20_000),
            "<table><tr><td>".repeat(6_000),
            "<ul><li>".repeat(10_000),
            "<div><table><td></div>".repeat(6_000),
            "<a href=x><p></a>".repeat(6_000),
            "<b x=1>".repeat(300) + &"<p>x</p>".repeat(1000),
            "<svg>".repeat(20_000),
            "<".repeat(50_000),
            "<!--".repeat(20_000),
            "&".repeat(50_000),
        ] {
            let shown = markdown(&format!("start {html} end"));
            assert!(shown.starts_with("start"), "{}", &html[..20]);
        }
    }

    #[test]
    fn a_long_page_is_cut_and_says_so() {
        let base = Url::parse("https://site.test/").unwrap();
        let page = convert(&"<p>word</p>".repeat(200_000), &base, For::Markdown).unwrap();
        assert!(page.cut && page.text.len() < 1 << 20);
    }

    proptest! {
        #[test]
        fn any_mix_of_tags_converts(parts in prop::collection::vec(prop::sample::select(vec![
            "<p>", "</p>", "<div>", "</div>", "<table>", "</table>", "<tr>", "<td>", "</td>", "<th>",
            "<ul>", "</ul>", "<li>", "<ol start=7>", "<pre>", "</pre>", "<code>", "</code>", "<a href=/x>",
            "</a>", "<b>", "</b>", "<h2>", "</h2>", "<nav>", "</nav>", "<span hidden>", "</span>", "<br>",
            "<img src=x alt=y>", "<hr>", "<select>", "<form>", "</form>", "<script>", "</script>", "x", " ", "\n",
        ]), 0..60)) {
            let html = parts.concat();
            let _markdown = markdown(&html);
            let text = plain(&html);
            prop_assert!(!text.contains(['<', CELL, ROW]), "{text}");
        }
    }
}
