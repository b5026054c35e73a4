//! Relative links of Markdown documents must lead somewhere. Links to other hosts are not
//! followed: the check needs no network.

use std::collections::BTreeSet;

use crate::workspace::SourceFile;

/// Complaints about links that lead nowhere.
pub(super) fn check(files: &[SourceFile]) -> Vec<String> {
    let mut there = BTreeSet::new();
    for file in files {
        // Each folder on the way may be linked too.
        let ends = file.path.match_indices('/').map(|(at, _)| at).chain([file.path.len()]);
        there.extend(ends.map(|end| file.path[..end].to_owned()));
    }
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.extension() == "md") {
        for link in links(&file.text) {
            if let Some(target) = resolve(&file.path, link)
                && !target.is_empty()
                && !there.contains(&target)
                && !on_disk(&target)
            {
                complaints.push(format!(
                    "`{}` links to `{link}`, which is not there: mend the link or write the file",
                    file.path
                ));
            }
        }
    }
    complaints
}

/// Files that are not text (images) are not among the files that were read.
fn on_disk(target: &str) -> bool {
    crate::workspace::root().join(target).exists()
}

/// The targets of all links and images, code left out.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fence = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => links_of_line(line, &mut found),
            _ => {}
        }
    }
    found
}

fn links_of_line<'a>(line: &'a str, found: &mut Vec<&'a str>) {
    if let Some(target) = definition(line) {
        found.push(target);
        return;
    }
    // Every second piece stands between backquotes: code, not a link. A link whose text is code
    // is still seen, because its target stands outside of them.
    let mut code = false;
    for piece in line.split('`') {
        if !code {
            for (at, _) in piece.match_indices("](") {
                let rest = &piece[at + 2..];
                let end = rest.find(')').unwrap_or(rest.len());
                found.extend(rest[..end].split_whitespace().next());
            }
        }
        code = !code;
    }
}

/// The target of a `[name]: target` line.
fn definition(line: &str) -> Option<&str> {
    let (name, target) = line.strip_prefix('[')?.split_once("]: ")?;
    let plain = !name.contains(['[', ']', ' ']) || !target.trim().contains(' ');
    if plain { target.split_whitespace().next() } else { None }
}

/// The path a link means, relative to the root; `None` if it leads out of the tree's files.
fn resolve(from: &str, link: &str) -> Option<String> {
    let link = link.trim_start_matches('<').trim_end_matches('>');
    let path = link.split(['#', '?']).next().unwrap_or_default();
    let foreign = link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:");
    if foreign || path.is_empty() {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    if !path.starts_with('/') {
        parts.extend(from.split('/'));
        parts.pop();
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            // A link out of the repository cannot be checked by anybody who has only it.
            ".." if parts.pop().is_none() => return Some(format!("..{path}")),
            ".." => {}
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn broken(text: &str) -> Vec<String> {
        let files = [
            file("docs/guide/a.md", text),
            file("docs/b.md", ""),
            file("crates/x/README.md", "[up](../../docs/b.md)"),
        ];
        let named = |said: &String| said.split('`').nth(3).unwrap_or_default().to_owned();
        check(&files).iter().map(named).collect()
    }

    #[test]
    fn good_links_pass() {
        let text = "[b](../b.md#part), [folder](../../crates/x/) ![i](../b.md \"title\")\n\
                    [root](/docs/b.md) [`code`](../b.md) [self](#here) <https://example.org/x.md>\n\
                    [web](https://example.org/none.md) [mail](mailto:a@example.org)\n\n[ref]: ../b.md\n";
        assert_eq!(broken(text), [""; 0]);
    }

    #[test]
    fn broken_links_are_named() {
        let text = "[b](b.md) and [`c`](../c.md)\n[ref]: ../none.md\n[out](../../../x.md)\n";
        assert_eq!(broken(text), ["b.md", "../c.md", "../none.md", "../../../x.md"]);
    }

    #[test]
    fn code_is_not_a_link() {
        let text = "```md\n[x](none.md)\n~~~\n[x](none.md)\n```\n`[x](none.md)` ~~~~ \n";
        assert_eq!(broken(text), [""; 0]);
    }
}
