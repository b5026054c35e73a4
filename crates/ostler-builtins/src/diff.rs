//! The change of one file, as people and the Agent SDK see it. Bounded in time and size.

use std::time::{Duration, Instant};

use ostler_protocol::{DiffHunk, DiffLine, FileDiff, FileStatus};
use ostler_stdx::{AbsPath, floor_char_boundary};
use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use crate::text::{Line, split_lines};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// Changed lines above which hunks are left out.
const MAX_CHANGED: usize = 2000;
/// Bytes of a line above which it is cut in the picture of the change.
const MAX_LINE: usize = 2000;
/// How long the search for the smallest difference may take; then a coarse one is shown.
const PATIENCE: Duration = Duration::from_millis(200);

/// The change from `before`, absent for a new file, to `after`.
pub(crate) fn file_diff(path: &AbsPath, before: Option<&str>, after: &str) -> FileDiff {
    let mut old = split_lines(before.unwrap_or_default());
    let mut new = split_lines(after);
    for lines in [&mut old, &mut new] {
        // No line comes after the last ending.
        if lines.last() == Some(&("", "")) {
            lines.pop();
        }
    }
    let ops = line_ops(&old, &new);
    let mut diff = FileDiff {
        path: path.to_text(),
        status: if before.is_some() { FileStatus::Modified } else { FileStatus::Added },
        added: 0,
        removed: 0,
        binary: false,
        hunks: Vec::new(),
        truncated: false,
    };
    for op in &ops {
        let changed = !matches!(op, DiffOp::Equal { .. });
        diff.removed += if changed { count(op.old_range().len()) } else { 0 };
        diff.added += if changed { count(op.new_range().len()) } else { 0 };
    }
    let mut left = MAX_CHANGED;
    for group in group_diff_ops(ops, CONTEXT) {
        let hunk = hunk(&old, &new, &group, &mut left, &mut diff.truncated);
        diff.hunks.extend(hunk);
        if left == 0 && diff.truncated {
            break;
        }
    }
    diff
}

/// The change of a file that is not text.
pub(crate) fn binary_diff(path: &AbsPath, status: FileStatus) -> FileDiff {
    FileDiff {
        path: path.to_text(),
        status,
        added: 0,
        removed: 0,
        binary: true,
        hunks: Vec::new(),
        truncated: false,
    }
}

/// The `structuredPatch` of the Agent SDK (agent-sdk.md section 6): lines with their sign.
pub(crate) fn structured_patch(diff: &FileDiff) -> Value {
    let hunk = |hunk: &DiffHunk| {
        let lines = hunk.lines.iter().map(|line| {
            let sign = match line.op {
                ostler_protocol::DiffOp::Context => ' ',
                ostler_protocol::DiffOp::Added => '+',
                ostler_protocol::DiffOp::Removed => '-',
            };
            format!("{sign}{}", line.text)
        });
        json!({
            "oldStart": hunk.old_start, "oldLines": hunk.old_lines,
            "newStart": hunk.new_start, "newLines": hunk.new_lines,
            "lines": lines.collect::<Vec<_>>(),
        })
    };
    diff.hunks.iter().map(hunk).collect()
}

/// The steps from `old` to `new`. What is equal at both ends is set aside first, so a
/// small edit of a big file costs no more than reading it.
fn line_ops(old: &[Line<'_>], new: &[Line<'_>]) -> Vec<DiffOp> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail =
        old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let deadline = Some(Instant::now() + PATIENCE);
    let mut ops = Vec::new();
    if head > 0 {
        ops.push(DiffOp::Equal { old_index: 0, new_index: 0, len: head });
    }
    for op in capture_diff_slices_deadline(Algorithm::Myers, old_middle, new_middle, deadline) {
        ops.push(shift(op, head));
    }
    if tail > 0 {
        ops.push(DiffOp::Equal {
            old_index: old.len() - tail,
            new_index: new.len() - tail,
            len: tail,
        });
    }
    ops
}

fn shift(op: DiffOp, by: usize) -> DiffOp {
    match op {
        DiffOp::Equal { old_index, new_index, len } => {
            DiffOp::Equal { old_index: old_index + by, new_index: new_index + by, len }
        }
        DiffOp::Delete { old_index, old_len, new_index } => {
            DiffOp::Delete { old_index: old_index + by, old_len, new_index: new_index + by }
        }
        DiffOp::Insert { old_index, new_index, new_len } => {
            DiffOp::Insert { old_index: old_index + by, new_index: new_index + by, new_len }
        }
        DiffOp::Replace { old_index, old_len, new_index, new_len } => DiffOp::Replace {
            old_index: old_index + by,
            old_len,
            new_index: new_index + by,
            new_len,
        },
    }
}

fn hunk(
    old: &[Line<'_>],
    new: &[Line<'_>],
    group: &[DiffOp],
    left: &mut usize,
    truncated: &mut bool,
) -> Option<DiffHunk> {
    let first = group.first()?;
    let (old_start, new_start) = (first.old_range().start, first.new_range().start);
    let mut lines = Vec::new();
    let (mut old_lines, mut new_lines) = (0, 0);
    for op in group {
        let (context, removed, added) = match op {
            DiffOp::Equal { .. } => (&old[op.old_range()], &[][..], &[][..]),
            _ => (&[][..], &old[op.old_range()], &new[op.new_range()]),
        };
        lines.extend(
            context.iter().map(|line| shown(*line, ostler_protocol::DiffOp::Context, truncated)),
        );
        old_lines += context.len();
        new_lines += context.len();
        for (op, part) in
            [(ostler_protocol::DiffOp::Removed, removed), (ostler_protocol::DiffOp::Added, added)]
        {
            let fits = part.len().min(*left);
            *left -= fits;
            *truncated |= fits < part.len();
            lines.extend(part[..fits].iter().map(|line| shown(*line, op, truncated)));
            *(if op == ostler_protocol::DiffOp::Removed {
                &mut old_lines
            } else {
                &mut new_lines
            }) += fits;
        }
    }
    // As in unified diffs: a side without lines is named by the line before it.
    let start = |start: usize, lines: usize| count(if lines == 0 { start } else { start + 1 });
    Some(DiffHunk {
        old_start: start(old_start, old_lines),
        old_lines: count(old_lines),
        new_start: start(new_start, new_lines),
        new_lines: count(new_lines),
        lines,
    })
}

fn shown((text, _): Line<'_>, op: ostler_protocol::DiffOp, truncated: &mut bool) -> DiffLine {
    if text.len() <= MAX_LINE {
        return DiffLine { op, text: text.to_owned() };
    }
    *truncated = true;
    DiffLine { op, text: format!("{}\u{2026}", &text[..floor_char_boundary(text, MAX_LINE)]) }
}

fn count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> FileDiff {
        file_diff(&AbsPath::root().join("f"), Some(before), after)
    }

    #[test]
    fn a_changed_line_stands_between_its_neighbours() {
        let diff = diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
        assert_eq!((diff.added, diff.removed, diff.truncated), (1, 1, false));
        assert_eq!(
            structured_patch(&diff),
            json!([{"oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 7,
                    "lines": [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"]}])
        );
    }

    #[test]
    fn a_new_file_is_all_added() {
        let diff = file_diff(&AbsPath::root().join("f"), None, "a\nb\n");
        assert_eq!((diff.status, diff.added, diff.removed), (FileStatus::Added, 2, 0));
        assert_eq!(
            (diff.hunks[0].old_start, diff.hunks[0].old_lines, diff.hunks[0].new_start),
            (0, 0, 1)
        );
    }

    #[test]
    fn only_an_ending_is_a_change() {
        assert_eq!(diff("a\nb\n", "a\r\nb\n").added, 1);
        assert_eq!(diff("a\nb", "a\nb\n").added, 1);
        assert!(diff("a\nb", "a\nb").hunks.is_empty());
    }

    #[test]
    fn large_changes_are_cut_and_counted() {
        let lines =
            |prefix: &str, n: usize| (0..n).map(|i| format!("{prefix}{i}\n")).collect::<String>();
        let diff = diff(&lines("a", 30_000), &lines("b", 30_000));
        assert_eq!((diff.added, diff.removed), (30_000, 30_000));
        assert!(diff.truncated);
        assert!(
            diff.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>()
                <= MAX_CHANGED + 2 * CONTEXT
        );
    }

    #[test]
    fn a_long_line_is_cut_in_the_picture() {
        let diff = diff("x", &"y".repeat(1 << 20));
        assert!(diff.truncated);
        assert!(diff.hunks[0].lines.iter().all(|line| line.text.len() < MAX_LINE + 4));
    }
}
