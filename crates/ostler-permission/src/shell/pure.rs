//! Lines of code that only show what an interpreter is: its version, its platform, a sum, a
//! field of a JSON file. Anything else handed to an interpreter is code like any other.

use super::{How, Touch, cwd::Cwds, word::Word};

/// What a call of an interpreter with such a line touches.
pub(super) fn read(name: &str, args: &[Word], cwds: &Cwds) -> Option<Vec<Touch>> {
    let [option, code] = args else { return None };
    let code = code.text.as_deref()?;
    match (name, option.text.as_deref()?) {
        ("node", "-p" | "-e" | "--print" | "--eval") => node(code, cwds),
        ("python" | "python3", "-c") => python(code).then(Vec::new),
        _ => None,
    }
}

fn node(code: &str, cwds: &Cwds) -> Option<Vec<Touch>> {
    let code = code.trim().trim_end_matches(';').trim_end();
    let code = called(code, "console.log").unwrap_or(code);
    if is_sum(code) || is_field(code, "process", &["version", "versions", "platform", "arch"]) {
        return Some(Vec::new());
    }
    // A file of that name is read as data and never runs.
    let rest = code.strip_prefix("require(")?;
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (path, fields) = rest[1..].split_once(quote)?;
    let fields = fields.strip_prefix(')')?;
    if !path.starts_with("./") || !path.ends_with(".json") || path.contains('\\') {
        return None;
    }
    if !fields.is_empty() && !fields.strip_prefix('.')?.split('.').all(is_name) {
        return None;
    }
    let mut touches = Vec::new();
    cwds.touch(How::Read, path, false, &mut touches);
    Some(touches)
}

/// Statements that import `sys`, which no file can stand in for, and print.
fn python(code: &str) -> bool {
    const SHOWN: &[&str] =
        &["version", "version_info", "executable", "prefix", "platform", "maxsize", "path"];
    code.split([';', '\n']).map(str::trim).all(|line| {
        line == "import sys"
            || called(line, "print")
                .is_some_and(|shown| is_sum(shown) || is_field(shown, "sys", SHOWN))
    })
}

/// The argument of a call that is all there is.
fn called<'c>(code: &'c str, function: &str) -> Option<&'c str> {
    Some(code.strip_prefix(function)?.strip_prefix('(')?.strip_suffix(')')?.trim())
}

/// `of.first.further`
fn is_field(code: &str, of: &str, first: &[&str]) -> bool {
    let mut names = code.split('.');
    names.next() == Some(of)
        && names.next().is_some_and(|name| first.contains(&name))
        && names.all(is_name)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Numbers and operators that take no time.
fn is_sum(code: &str) -> bool {
    let plain = |c: char| c.is_ascii_digit() || " +-/%.".contains(c);
    !code.is_empty() && code.chars().all(|c| plain(c) || c == '*') && !code.contains("**")
}

#[cfg(test)]
mod tests {
    use ostler_stdx::AbsPath;

    use super::*;

    fn is_pure(name: &str, option: &str, code: &str) -> bool {
        let words = [Word::fixed(option, option), Word::fixed(code, code)];
        read(name, &words, &Cwds::one(AbsPath::root().join("p"))).is_some()
    }

    #[test]
    fn only_lines_that_show_what_is_known_are_pure() {
        for (name, option, code) in [
            ("node", "-p", "process.version"),
            ("node", "-p", "process.versions.v8"),
            ("node", "-e", "console.log(process.platform);"),
            ("node", "-p", "require('./package.json').version"),
            ("node", "-p", "1 + 1"),
            ("python3", "-c", "import sys; print(sys.version)"),
            ("python3", "-c", "print(1 + 1)"),
        ] {
            assert!(is_pure(name, option, code), "{code}");
        }
        for (name, option, code) in [
            ("node", "-p", "process.exit"),
            ("node", "-p", "process.env"),
            ("node", "-p", "require('./x.js')"),
            ("node", "-p", "require('./a.json').x()"),
            ("node", "-p", "require('./a.json')[require('./x')]"),
            ("node", "-p", "require('./\\x61.json')"),
            ("node", "-p", "require('a.json')"),
            ("node", "-p", "console.log(process.platform) + require('./x')"),
            ("node", "-r", "process.version"),
            ("python3", "-c", "import os; print(os.name)"),
            ("python3", "-c", "import sys, x"),
            ("python3", "-c", "print(sys.modules['os'].system('x'))"),
            ("python3", "-c", "print(9**9**9)"),
            ("python3", "-m", "print(1)"),
            ("perl", "-e", "1"),
        ] {
            assert!(!is_pure(name, option, code), "{code}");
        }
    }
}
