//! Git's configuration files, read as `git config` documents them (git-config(1), "Syntax").
//!
//! Strict: a file that is not understood to its end is an error, never a shorter list.

use std::{iter::Peekable, str::Chars};

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSetting {
    /// `section.name` or `section.subsection.name`; section and name in lower case.
    pub key: String,
    /// Its value without quotes; nothing for a name that stands alone and means true.
    pub value: Option<String>,
}

impl GitSetting {
    /// Section, subsection (perhaps empty) and name.
    pub(super) fn parts(&self) -> (&str, &str, &str) {
        let (section, rest) = self.key.split_once('.').unwrap_or((&self.key, ""));
        match rest.rsplit_once('.') {
            Some((sub, name)) => (section, sub, name),
            None => (section, "", rest),
        }
    }
}

/// The settings of one file, in its order.
///
/// # Errors
/// What is not understood, with its line.
pub fn git_settings(text: &str) -> Result<Vec<GitSetting>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    if let Some(odd) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(format!("its settings hold the control character {odd:?}"));
    }
    let mut reader = Reader { rest: text.chars().peekable(), line: 1 };
    let mut section = String::new();
    let mut settings = Vec::new();
    while let Some(c) = reader.next() {
        match c {
            '\n' | ' ' | '\t' => {}
            '#' | ';' => reader.comment(),
            '[' => section = reader.section()?,
            c if c.is_ascii_alphabetic() && !section.is_empty() => {
                let (name, value) = reader.setting(c)?;
                settings.push(GitSetting { key: format!("{section}.{name}"), value });
            }
            _ => return Err(reader.odd()),
        }
    }
    Ok(settings)
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.next();
        self.line += usize::from(next == Some('\n'));
        next
    }

    fn odd(&self) -> String {
        format!("line {} of its settings is not understood", self.line)
    }

    fn comment(&mut self) {
        while self.rest.next_if(|c| *c != '\n').is_some() {}
    }

    fn blanks(&mut self) {
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    }

    /// What follows `[`.
    fn section(&mut self) -> Result<String, String> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(']') if !name.is_empty() => return Ok(name),
                Some(c) if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') => {
                    name.push(c.to_ascii_lowercase());
                }
                Some(' ' | '\t') if !name.is_empty() => break,
                _ => return Err(self.odd()),
            }
        }
        self.blanks();
        if self.next() != Some('"') {
            return Err(self.odd());
        }
        name.push('.');
        loop {
            match self.next() {
                Some('"') => break,
                Some('\\') => name.push(self.next().filter(|c| *c != '\n').ok_or(self.odd())?),
                Some(c) if c != '\n' => name.push(c),
                _ => return Err(self.odd()),
            }
        }
        if self.next() == Some(']') { Ok(name) } else { Err(self.odd()) }
    }

    /// A name and its value.
    fn setting(&mut self, first: char) -> Result<(String, Option<String>), String> {
        let mut name = String::from(first.to_ascii_lowercase());
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
            name.push(c.to_ascii_lowercase());
        }
        self.blanks();
        match self.rest.peek() {
            None | Some('\n') => Ok((name, None)),
            Some('#' | ';') => {
                self.comment();
                Ok((name, None))
            }
            Some('=') => {
                self.next();
                self.blanks();
                Ok((name, Some(self.value()?)))
            }
            Some(_) => Err(self.odd()),
        }
    }

    fn value(&mut self) -> Result<String, String> {
        let mut value = String::new();
        // How much of it is there for certain: blanks at the end are not.
        let mut kept = 0;
        let mut quoted = false;
        loop {
            match self.next() {
                None if !quoted => break,
                Some('\n') if !quoted => break,
                None | Some('\n') => return Err(self.odd()),
                Some('"') => {
                    quoted = !quoted;
                    kept = value.len();
                }
                Some('#' | ';') if !quoted => self.comment(),
                Some('\\') => {
                    match self.next() {
                        Some('\n') => continue,
                        Some('n') => value.push('\n'),
                        Some('t') => value.push('\t'),
                        Some('b') => value.push('\u{8}'),
                        Some(c @ ('\\' | '"')) => value.push(c),
                        _ => return Err(self.odd()),
                    }
                    kept = value.len();
                }
                Some(c) => {
                    value.push(c);
                    if quoted || !matches!(c, ' ' | '\t') {
                        kept = value.len();
                    }
                }
            }
        }
        value.truncate(kept);
        Ok(value)
    }
}
