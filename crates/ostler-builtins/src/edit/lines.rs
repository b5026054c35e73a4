//! Finds a block of whole lines whose blanks were given otherwise than the file has them,
//! and gives the new lines the indentation of the file.
//!
//! Finds only; what it gives is written by the exact way.

use std::{collections::BTreeMap, ops::Range};

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Which blanks may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blanks {
    /// Those at both ends of a line.
    Indentation,
    /// Besides the number and kind of those between words.
    Inner,
}

/// Where a block stands, and what is to be put there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// In the text, without the ending of the last line.
    pub(crate) place: Range<usize>,
    pub(crate) new: String,
}

/// The places of `text` whose lines are those of `old` but for blanks, at most `most`.
/// All endings are `\n`. A block whose indentation differs from `old` in no steady way is
/// left out.
pub(crate) fn find(text: &str, old: &str, new: &str, blanks: Blanks, most: usize) -> Vec<Block> {
    // An ending after the last line belongs to both texts or to none.
    let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
        (Some(old), Some(new)) => (old, new),
        (Some(_), None) => return Vec::new(),
        (None, _) => (old, new),
    };
    let given: Vec<&str> = old.split('\n').collect();
    let keys: Vec<String> = given.iter().map(|line| key(line, blanks)).collect();
    // A block of blank lines is everywhere.
    if keys.iter().all(String::is_empty) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let offsets: Vec<usize> = lines
        .iter()
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len() + 1;
            Some(start)
        })
        .collect();
    let folded: Vec<String> = lines.iter().map(|line| key(line, blanks)).collect();
    let new: Vec<&str> = new.split('\n').collect();
    let mut found = Vec::new();
    for (at, window) in folded.windows(keys.len()).enumerate() {
        if window != keys {
            continue;
        }
        let last = at + keys.len() - 1;
        let place = offsets[at]..offsets[last] + lines[last].len();
        let Some(new) = translate(&given, &lines[at..=last], &new) else { continue };
        found.push(Block { place, new });
        if found.len() == most {
            break;
        }
    }
    found
}

fn key(line: &str, blanks: Blanks) -> String {
    match blanks {
        Blanks::Indentation => line.trim().to_owned(),
        Blanks::Inner => line.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// The new lines as the file would have them: lines that stay are the file's own, others
/// get its indentation.
fn translate(given: &[&str], file: &[&str], new: &[&str]) -> Option<String> {
    let mut indents = BTreeMap::new();
    for (given, file) in given.iter().zip(file).filter(|(given, _)| !given.trim().is_empty()) {
        if *indents.entry(indent(given)).or_insert(indent(file)) != indent(file) {
            return None;
        }
    }
    let mut kept = vec![None; new.len()];
    for op in capture_diff_slices(Algorithm::Myers, given, new) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            (0..len).for_each(|at| kept[new_index + at] = Some(file[old_index + at]));
        }
    }
    let line = |(at, line): (usize, &&str)| match kept[at] {
        Some(kept) => Some(kept.to_owned()),
        None if line.trim().is_empty() => Some((*line).to_owned()),
        None => Some(format!("{}{}", indented(&indents, indent(line))?, line.trim_start())),
    };
    let lines: Option<Vec<String>> = new.iter().enumerate().map(line).collect();
    lines.map(|lines| lines.join("\n"))
}

/// An indentation of the given text as the file would have it: what it adds to the longest
/// one that is known is added to that one's form.
fn indented(indents: &BTreeMap<&str, &str>, wanted: &str) -> Option<String> {
    if let Some(file) = indents.get(wanted) {
        return Some((*file).to_owned());
    }
    let known = indents.iter().filter(|(given, _)| wanted.starts_with(**given));
    if let Some((given, file)) = known.max_by_key(|(given, _)| given.len()) {
        let more = &wanted[given.len()..];
        // Tabs and spaces are not mixed on a guess.
        let mixes = file.contains('\t') && more.contains(' ')
            || !file.is_empty() && !file.contains('\t') && more.contains('\t');
        return (!mixes).then(|| format!("{file}{more}"));
    }
    // Less than any: the same goes from the shortest.
    let (given, file) = indents.iter().min_by_key(|(given, _)| given.len())?;
    let less = given.strip_prefix(wanted)?;
    file.strip_suffix(less).map(str::to_owned)
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str, old: &str, new: &str, blanks: Blanks) -> Option<String> {
        match find(text, old, new, blanks, 3).as_slice() {
            [block] => Some(format!(
                "{}{}{}",
                &text[..block.place.start],
                block.new,
                &text[block.place.end..]
            )),
            _ => None,
        }
    }

    #[test]
    fn new_lines_get_the_files_indentation() {
        let text = "fn a() {\n        if x {\n            y();\n        }\n}\n";
        let old = "if x {\n    y();\n}";
        let new = "if x {\n    y();\n    if z {\n        w();\n    }\n}";
        let expected = "fn a() {\n        if x {\n            y();\n            if z {\n                w();\n            }\n        }\n}\n";
        assert_eq!(only(text, old, new, Blanks::Indentation).as_deref(), Some(expected));
        assert_eq!(
            only("\ta\n\t\tb\n", "    a\n        b\n", "    a\n        c\n", Blanks::Indentation),
            Some("\ta\n\t\tc\n".to_owned())
        );
    }

    #[test]
    fn no_steady_indentation_or_only_blanks_is_no_find() {
        assert_eq!(only("a\n  b\n", "  a\n  b\n", "  a\n  c\n", Blanks::Indentation), None);
        assert_eq!(only("\n\n", "  \n", "x\n", Blanks::Indentation), None);
        assert_eq!(only("  a\n", " a", "\tb\n a", Blanks::Indentation), None);
        assert_eq!(only("x = a\n", "x  =  a", "x  =  b", Blanks::Indentation), None);
        assert_eq!(only("x = a\n", "x  =  a", "x = b", Blanks::Inner).as_deref(), Some("x = b\n"));
    }
}
