//! `awk`: its programs can run others and write files, so one is read token by token.
//!
//! Let through is what computes and prints. Whatever could be a pipe, a redirection, a file
//! that the program names or a call that is put together while it runs is not, and neither is
//! text in which versions of `awk` may see another program than this reader.

use super::{
    How, Touch,
    cwd::Cwds,
    effect,
    flags::{self, Arg},
    word::Word,
};

const OPTIONS: &str = "-F: -v: --field-separator: --assign: --posix --re-interval";

/// What a call of `awk` reads.
pub(super) fn read(words: &[Word], cwds: &Cwds) -> Result<Vec<Touch>, String> {
    let (options, at) = flags::leading(OPTIONS, words).ok_or(effect::OPTIONS)?;
    let fixed = |arg: &Arg<'_>| !matches!(arg, Arg::Flag { name: "-F" | "-v", value: None, .. });
    if !options.iter().all(fixed) {
        return Err("has an option whose value is not fixed text".into());
    }
    let program = words.get(at).ok_or("has no program")?;
    let text = program.text.as_deref().ok_or("has a program that is not fixed text")?;
    if !only_prints(text) {
        return Err("has a program that may write or run something".into());
    }
    let mut touches = Vec::new();
    for word in &words[at + 1..] {
        effect::path(word, How::Read, true, cwds, &mut touches)?;
    }
    Ok(touches)
}

/// A part of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Name(&'a str),
    /// A number, a text or a regular expression.
    Value,
    Newline,
    Mark(char),
}

/// Names with which a program reads files, runs commands or changes what it reads.
const REFUSED: &[&str] = &["system", "extension", "ARGV", "ARGC", "PROCINFO", "SYMTAB", "FUNCTAB"];

/// Whether a program only computes and prints to standard output.
fn only_prints(program: &str) -> bool {
    let Some(tokens) = tokens(program) else { return false };
    // Open brackets since the last `print`, if it has not ended.
    let mut printing: Option<usize> = None;
    let mut getting = false;
    let mut before = Token::Newline;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            Token::Name(name) if REFUSED.contains(&name) => return false,
            Token::Name("print" | "printf") => printing = Some(0),
            Token::Name("getline") => getting = true,
            Token::Name(_) | Token::Value => {}
            Token::Newline if !continues(before) => (printing, getting) = (None, false),
            Token::Newline => {}
            Token::Mark(';' | '}' | '{') => (printing, getting) = (None, false),
            Token::Mark('(') => printing = printing.map(|open| open + 1),
            Token::Mark(')') => match printing {
                Some(0) => printing = None,
                open => printing = open.map(|open| open - 1),
            },
            Token::Mark('>') if printing == Some(0) => return false,
            Token::Mark('<') if getting => return false,
            // `||` is two marks side by side.
            Token::Mark('|') => {
                let double =
                    before == Token::Mark('|') || tokens.get(at + 1) == Some(&Token::Mark('|'));
                let triple =
                    before == Token::Mark('|') && tokens.get(at + 1) == Some(&Token::Mark('|'));
                if !double || triple {
                    return false;
                }
            }
            Token::Mark('@') => return false,
            Token::Mark(_) => {}
        }
        before = *token;
    }
    true
}

/// Whether a statement goes on after a line that ends so.
fn continues(last: Token<'_>) -> bool {
    matches!(last, Token::Mark(',' | '&' | '|' | '?' | ':'))
}

/// The parts of a program; nothing if it is not clear where they begin and end.
fn tokens(program: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        let (token, after) = match c {
            ' ' | '\t' => (None, &rest[1..]),
            '\n' => (Some(Token::Newline), &rest[1..]),
            '\\' => (None, rest.strip_prefix("\\\n")?),
            '#' => (None, rest.find('\n').map_or("", |end| &rest[end..])),
            '"' => (Some(Token::Value), quoted(&rest[1..])?),
            '/' if divides(&tokens)? => (Some(Token::Mark('/')), &rest[1..]),
            '/' => (Some(Token::Value), regex(&rest[1..])?),
            c if c.is_ascii_alphabetic() || c == '_' => {
                let part = |c: char| !c.is_ascii_alphanumeric() && c != '_';
                let (name, after) = rest.split_at(rest.find(part).unwrap_or(rest.len()));
                (Some(Token::Name(name)), after)
            }
            c if c.is_ascii_digit() => {
                let part = |c: char| !c.is_ascii_alphanumeric() && c != '.';
                (Some(Token::Value), &rest[rest.find(part).unwrap_or(rest.len())..])
            }
            c if c.is_ascii_punctuation() && !"'`".contains(c) => {
                (Some(Token::Mark(c)), &rest[1..])
            }
            _ => return None,
        };
        tokens.extend(token);
        rest = after;
    }
    Some(tokens)
}

/// Whether a slash after these parts divides, or else opens a regular expression; nothing if
/// versions may differ.
fn divides(before: &[Token<'_>]) -> Option<bool> {
    const WORDS: &[&str] = &["print", "printf", "return", "in", "else", "do", "exit"];
    const UNCLEAR: &[&str] = &["getline", "case", "next", "nextfile", "delete", "func", "function"];
    let mut back = before.iter().rev();
    match back.next() {
        Some(Token::Name(name)) if UNCLEAR.contains(name) => None,
        Some(Token::Name(name)) => Some(!WORDS.contains(name)),
        Some(Token::Value | Token::Mark(']')) => Some(true),
        // `x++ / 2` or `x + /y/`
        Some(Token::Mark(sign @ ('+' | '-'))) => {
            (back.next() != Some(&Token::Mark(*sign))).then_some(false)
        }
        Some(Token::Mark(')')) => ends_a_condition(before).map(|ends| !ends),
        None | Some(Token::Newline | Token::Mark(_)) => Some(false),
    }
}

/// Whether the bracket that closes here belongs to an `if` or its like.
fn ends_a_condition(tokens: &[Token<'_>]) -> Option<bool> {
    let mut open = 0_usize;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token {
            Token::Mark(')') => open += 1,
            Token::Mark('(') => open = open.checked_sub(1)?,
            _ => {}
        }
        if open == 0 {
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            return Some(matches!(before, Some(Token::Name("if" | "while" | "for" | "switch"))));
        }
    }
    None
}

/// What follows a text, which must end in its line.
fn quoted(text: &str) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some(&text[at + 1..]),
            '\\' => drop(chars.next()?),
            '\n' => return None,
            _ => {}
        }
    }
    None
}

/// What follows a regular expression. Versions differ about `/` within a set, so a set that
/// holds one, or whose end is not the next `]`, is not read.
fn regex(text: &str) -> Option<&str> {
    let mut chars = text.char_indices();
    let mut in_set = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => return None,
            '\\' => drop(chars.next()?),
            '/' if in_set => return None,
            '/' => return Some(&text[at + 1..]),
            '[' if in_set => return None,
            '[' => {
                in_set = true;
                let set = text[at + 1..].trim_start_matches('^');
                if set.starts_with(']') {
                    return None;
                }
            }
            ']' => in_set = false,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::only_prints;

    #[test]
    fn programs_that_compute_and_print_are_read() {
        for program in [
            "{print $1}",
            "NR>1 {s+=$3} END {print s/NR}",
            "/^## /{print NR, $0}",
            "!seen[$0]++",
            "{ if (length($0) > max) max = length($0) } END { print max }",
            "BEGIN { for (i = 1; i <= 7; i++) print int(101 * rand()) }",
            "/start/,/end/",
            "$1 ~ /a|b/ || $2 == \"x | y\" { print ($3 > 4) }",
            "{getline; print}",
            "{ print a[1] / 2 }",
            "# a comment: system(\"x\")\n{ print }",
            "{ printf \"%s > %s\\n\", $1, $2 }",
            "{ print (a + b) / 2, (c) / 3; if (x) /y/; z = w[1] / 2 }",
            "{ print $1 + /x/ }",
            "NR % 2 == 0 { print; next } { x = (1 < 2) ? 3 : 4 }",
        ] {
            assert!(only_prints(program), "{program}");
        }
    }

    #[test]
    fn programs_that_may_do_more_are_not() {
        for program in [
            "BEGIN{system(\"id\")}",
            "{print > \"f\"}",
            "{print $1 >> \"f\"}",
            "{print | \"sh\"}",
            "{print |& \"sh\"}",
            "BEGIN{\"id\" | getline x}",
            "BEGIN{while ((getline line < \"/etc/passwd\") > 0) print line}",
            "BEGIN{getline < \"/etc/passwd\"}",
            "BEGIN{ARGV[1]=\"/etc/passwd\";ARGC=2}",
            "@load \"filefuncs\"",
            "BEGIN{f=\"system\";@f(\"id\")}",
            "{printf(\"x\") > \"f\"}",
            "{print(1)(2) > \"f\"}",
            "{print 1,\n2 > \"f\"}",
            "{print 1 \\\n > \"f\"}",
            "{if(1)/\"/;print \"x\" > \"f\" #\"/}",
            "/[/]/{print \"]/\" > \"f\" }#/",
            "/[]/]\"/{print > \"f\" #\"/",
            "{ print \"unclosed }",
            "{ print `id` }",
            "{print a ||| b}",
            "BEGIN{if(1)/#/;system(x)}",
            "BEGIN{while((1))/#/;system(x)}",
            "{ print $/;/ / 2 > f }",
            "{ x++/#/; system(y) }",
            "{ getline/#/; system(y) }",
            "{ extension(a, b) }",
            "{ $/\"/; print > \"f\" #\"/\n }",
        ] {
            assert!(!only_prints(program), "{program}");
        }
    }
}
