//! Text for a model from what was meant for a terminal.

/// A name on one line: a line end or another control character in it is shown by its escape,
/// so that it cannot look like an entry of its own.
pub(crate) fn one_line(name: &str) -> String {
    if !name.contains(char::is_control) {
        return name.to_owned();
    }
    let mut shown = String::with_capacity(name.len() + 8);
    for character in name.chars() {
        match character.is_control() {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

/// Leaves out terminal control sequences (ECMA-48 CSI, OSC and the like) and other
/// control characters but tab and newline. Of a line that is drawn over by CR, as
/// progress bars do, the last state stays.
pub(crate) fn strip_controls(text: &str) -> String {
    if !text.bytes().any(|byte| byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7f) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut line_start = 0;
    let mut chars = text.chars().peekable();
    while let Some(character) = chars.next() {
        match character {
            '\u{1b}' => skip_sequence(&mut chars),
            '\r' => match chars.peek() {
                None | Some('\n' | '\r') => {}
                Some(_) => out.truncate(line_start),
            },
            '\u{8}' => {
                if out.len() > line_start {
                    out.pop();
                }
            }
            '\n' => {
                out.push('\n');
                line_start = out.len();
            }
            '\t' => out.push('\t'),
            other if other.is_control() => {}
            other => out.push(other),
        }
    }
    out
}

/// The rest of a sequence behind ESC.
fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        // CSI: parameters, then one final byte.
        Some('[') => {
            while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            let _last = chars.next_if(|c| matches!(c, '@'..='~'));
        }
        // OSC, DCS, SOS, PM, APC: up to BEL or ST, within one line.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(next) = chars.next_if(|&c| c != '\n') {
                if next == '\u{7}' {
                    return;
                }
                if next == '\u{1b}' && chars.next_if_eq(&'\\').is_some() {
                    return;
                }
            }
        }
        // Charset selection and the like: intermediates, then one more.
        Some(' '..='/') => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            let _last = chars.next_if(|&c| c != '\n');
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_titles_and_progress_bars_go() {
        let check = |text: &str, expected: &str| assert_eq!(strip_controls(text), expected);
        check("\u{1b}[1;31mred\u{1b}[0m\tx\n", "red\tx\n");
        check("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\link", "alink");
        check("10%\r50%\r100%\ndone\r\n", "100%\ndone\n");
        check("ab\u{8}c\u{0}", "ac");
        check("\u{1b}(Bx\u{1b}", "x");
        check("\u{1b}[31", "");
        check("plain \u{e9}", "plain \u{e9}");
    }

    proptest! {
        #[test]
        fn no_control_is_left(text in "[\\x00-\\x7f]{0,40}") {
            let left = strip_controls(&text);
            prop_assert!(!left.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
