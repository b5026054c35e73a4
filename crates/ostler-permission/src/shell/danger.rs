//! Marks the parts of a script that deserve a look before it is allowed.
//!
//! For the eye only: no verdict depends on a mark.

use ostler_protocol::event::AskSpan;

use super::{Command, Script, word::Word};
use crate::rules::base_name;

/// Marks of everything that the walk found.
pub(crate) fn spans(script: &str, read: &Script) -> Vec<AskSpan> {
    let mut marks = Vec::new();
    for command in &read.commands {
        for reading in command.readings.iter().filter(|reading| !reading.words.is_empty()) {
            words(&reading.words, &mut marks);
        }
    }
    piped_shell(&read.commands, &mut marks);
    marks.retain(|mark: &AskSpan| {
        (mark.end as usize) <= script.len()
            && mark.start < mark.end
            && script.is_char_boundary(mark.start as usize)
            && script.is_char_boundary(mark.end as usize)
    });
    marks
}

fn mark(marks: &mut Vec<AskSpan>, from: &Word, to: &Word, why: &str) {
    let (Some((start, _)), Some((_, end))) = (from.span, to.span) else { return };
    if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) {
        marks.push(AskSpan { start, end, why: why.into() });
    }
}

fn words(words: &[Word], marks: &mut Vec<AskSpan>) {
    let first = &words[0];
    let Some(name) = first.text.as_deref().map(base_name) else {
        return mark(marks, first, first, "the program is not known before it runs");
    };
    let letters = |letter: char| {
        words[1..].iter().any(|word| {
            word.text.as_deref().is_some_and(|text| {
                text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
            })
        })
    };
    match name {
        "sudo" | "doas" | "su" => mark(marks, first, first, "runs as another user"),
        "rm" if letters('r') || letters('R') || words.iter().any(|w| w.is("--recursive")) => {
            mark(marks, first, &words[words.len() - 1], "removes whole folders");
        }
        "dd" | "mkfs" | "shred" | "fdisk" | "wipefs" => {
            mark(marks, first, &words[words.len() - 1], "overwrites disks or files for good");
        }
        "eval" | "source" | "." => mark(marks, first, first, "runs text as a script"),
        "chmod" if words.iter().any(|word| word.is("777") || word.is("-R")) => {
            mark(marks, first, &words[words.len() - 1], "changes who may write");
        }
        "git" if words.iter().any(|word| word.is("--hard")) => {
            mark(marks, first, &words[words.len() - 1], "throws changes away");
        }
        "git" if words.get(1).is_some_and(|word| word.is("push")) && letters('f') => {
            mark(marks, first, &words[words.len() - 1], "rewrites what others have");
        }
        _ => {}
    }
    for word in &words[1..] {
        let force = ["--force", "--no-verify", "--delete", "--no-preserve-root"];
        if force.iter().any(|flag| word.is(flag)) {
            mark(marks, word, word, "switches a safeguard off");
        }
    }
}

/// A download followed by a shell that reads it.
fn piped_shell(commands: &[Command], marks: &mut Vec<AskSpan>) {
    let program = |command: &Command| {
        let words = &command.readings.iter().rfind(|reading| reading.sure)?.words;
        Some(base_name(words.first()?.text.as_deref()?).to_owned())
    };
    for pair in commands.windows(2) {
        let fetches = matches!(program(&pair[0]).as_deref(), Some("curl" | "wget"));
        let runs = matches!(
            program(&pair[1]).as_deref(),
            Some("sh" | "bash" | "zsh" | "dash" | "python" | "python3" | "node" | "perl" | "ruby")
        );
        if fetches
            && runs
            && let (Some(a), Some(b)) = (pair[0].readings.first(), pair[1].readings.first())
            && let (Some(from), Some(to)) = (a.words.first(), b.words.last())
        {
            mark(marks, from, to, "runs what was downloaded");
        }
    }
}
