//! Hunks applied to a text, as a pure function. Never guesses between two places.

use super::parse::Hunk;
use crate::{
    edit::{apply::Neighbours, rewrite::Rewriter},
    text::split_lines,
};

/// Lines named in a refusal.
const NAMED: usize = 20;

/// The text with all hunks applied; the error is for the model.
pub(crate) fn apply(source: &str, hunks: &[Hunk]) -> Result<String, String> {
    let mut lines = split_lines(source);
    if lines.last() == Some(&("", "")) {
        lines.pop();
    }
    let mut offsets = vec![0];
    for (line, ending) in &lines {
        offsets.push(offsets.last().copied().unwrap_or(0) + line.len() + ending.len());
    }
    let contents: Vec<&str> = lines.iter().map(|(line, _)| *line).collect();
    let (mut out, mut done, mut from) = (String::with_capacity(source.len()), 0, 0);
    let mut neighbours = Neighbours::of(source);
    for (at, hunk) in hunks.iter().enumerate() {
        let first =
            place(&contents, from, hunk).map_err(|why| format!("hunk {}: {why}", at + 1))?;
        let last = first + hunk.old.len();
        let region = offsets[first]..offsets[last];
        // Lines with their endings, but for a last one that has none.
        let closed =
            last < lines.len() || lines.last().is_none_or(|(_, ending)| !ending.is_empty());
        let end =
            if closed && last > first || first < lines.len() && last == first { "\n" } else { "" };
        let whole = |lines: &[String]| {
            let text = lines.join("\n");
            if lines.is_empty() { text } else { text + end }
        };
        let (old, mut new) = (whole(&hunk.old), whole(&hunk.new));
        if first == lines.len() && !hunk.new.is_empty() {
            // Added at the end: after a last line without ending comes one.
            let open = lines.last().is_some_and(|(_, ending)| ending.is_empty());
            new = if open { format!("\n{new}") } else { new + "\n" };
        }
        out.push_str(&source[done..region.start]);
        let neighbour = neighbours.ending(region.end);
        let part = Rewriter::new(&old, &new).rewrite(
            &source[region.clone()],
            neighbour,
            (&out, &source[region.end..]),
        );
        out.push_str(&part);
        done = region.end;
        from = last;
    }
    out.push_str(&source[done..]);
    Ok(out)
}

/// The index of the first line of a hunk.
fn place(lines: &[&str], from: usize, hunk: &Hunk) -> Result<usize, String> {
    let mut start = from;
    if let Some(header) = &hunk.header {
        let found = (from..lines.len())
            .find(|&at| lines[at].trim_end() == header.trim_end())
            .or_else(|| (from..lines.len()).find(|&at| lines[at].trim() == header.trim()));
        start = found.ok_or_else(|| {
            format!("the line `{header}` behind `@@` was not found after line {from}")
        })? + 1;
    }
    let count = hunk.old.len();
    if count == 0 {
        return Ok(if hunk.header.is_some() && !hunk.ends_file { start } else { lines.len() });
    }
    let equal: [fn(&str, &str) -> bool; 2] = [|a, b| a == b, |a, b| a.trim_end() == b.trim_end()];
    for equal in equal {
        let is_at = |at: usize| {
            lines[at..at + count].iter().zip(&hunk.old).all(|(line, old)| equal(line, old))
        };
        let mut found: Vec<usize> = (start..(lines.len() + 1).saturating_sub(count))
            .filter(|&at| is_at(at))
            .take(NAMED)
            .collect();
        if hunk.ends_file {
            found.retain(|at| at + count == lines.len());
        }
        match found.as_slice() {
            [] => {}
            [only] => return Ok(*only),
            // What stands first behind its header is meant.
            [first, ..] if hunk.header.is_some() => return Ok(*first),
            _ => {
                let lines: Vec<_> = found.iter().map(|at| (at + 1).to_string()).collect();
                return Err(format!(
                    "its lines are in {} places (lines {}): add context or a line behind `@@`",
                    found.len(),
                    lines.join(", ")
                ));
            }
        }
    }
    let first = hunk.old.iter().find(|line| !line.trim().is_empty()).map_or("", String::as_str);
    Err(format!(
        "its context and old lines (from `{}`) were not found after line {start}: read the file again",
        first.chars().take(100).collect::<String>()
    ))
}
