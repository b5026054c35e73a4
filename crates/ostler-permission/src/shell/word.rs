//! Words: what is fixed text after quotes are removed, what is a wildcard, what is unknown.
//!
//! Only expansions whose sole effect is to make text are let through; the others are named
//! so that the judge can say what it did not understand.

use brush_parser::{
    ParserOptions,
    word::{self, ParameterExpr, TildeExpr, WordPiece, WordPieceWithSource},
};

/// One word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// As written.
    pub(crate) raw: String,
    /// What it is after expansion, if that is certain.
    pub(crate) text: Option<String>,
    /// A pattern of file names, if that is all that is uncertain.
    pub(crate) wild: Option<String>,
    /// Whether it may become several words.
    pub(crate) splits: bool,
    /// Where it stands in the outermost script, in bytes.
    pub(crate) span: Option<(usize, usize)>,
}

impl Word {
    /// Whether it is certainly this text.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text.as_deref() == Some(text)
    }

    /// A word that is not known before it runs.
    pub(crate) fn unknown(raw: &str) -> Self {
        Self { raw: raw.to_owned(), splits: true, ..Self::default() }
    }

    /// A word that is known.
    pub(crate) fn fixed(raw: &str, text: &str) -> Self {
        Self { raw: raw.to_owned(), text: Some(text.to_owned()), ..Self::default() }
    }
}

/// What reading a word found beside its text.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Scripts in substitutions.
    pub(super) scripts: Vec<String>,
    /// What is not modelled.
    pub(super) opaque: Vec<String>,
}

struct Reader<'a> {
    home: &'a str,
    found: Found,
    text: String,
    known: bool,
    wild: bool,
    set_open: bool,
    quoted_special: bool,
    splits: bool,
}

/// Reads a word as the second parser gives it.
pub(super) fn read(raw: &str, home: &str) -> (Word, Found) {
    let Ok(pieces) = word::parse(raw, &ParserOptions::default()) else {
        return (Word::unknown(raw), not_read(raw));
    };
    let mut reader = Reader::new(home);
    for piece in &pieces {
        reader.piece(&piece.piece, false);
    }
    if may_be_braces(&pieces, raw) {
        reader.known = false;
        reader.splits = true;
    }
    let wild = reader.wild && reader.known && !reader.quoted_special;
    let word = Word {
        raw: raw.to_owned(),
        text: (reader.known && !reader.wild).then(|| reader.text.clone()),
        wild: wild.then_some(reader.text),
        splits: reader.splits || reader.wild,
        span: None,
    };
    (word, reader.found)
}

/// Reads the body of a here-document whose expansions take place.
pub(super) fn read_heredoc(body: &str) -> Found {
    match word::parse_heredoc(body, &ParserOptions::default()) {
        Err(_) => not_read("<<"),
        Ok(pieces) => {
            let mut reader = Reader::new("");
            for piece in &pieces {
                reader.piece(&piece.piece, true);
            }
            reader.found
        }
    }
}

fn not_read(raw: &str) -> Found {
    Found { opaque: vec![format!("the word `{raw}` could not be read")], ..Found::default() }
}

/// Braces outside quotes that may be expanded to several words.
fn may_be_braces(pieces: &[WordPieceWithSource], raw: &str) -> bool {
    let open = pieces.iter().any(|piece| match &piece.piece {
        WordPiece::Text(text) => text.contains('{'),
        _ => false,
    });
    open && (raw.contains(',') || raw.contains(".."))
}

impl<'a> Reader<'a> {
    fn new(home: &'a str) -> Self {
        Self {
            home,
            found: Found::default(),
            text: String::new(),
            known: true,
            wild: false,
            set_open: false,
            quoted_special: false,
            splits: false,
        }
    }

    fn piece(&mut self, piece: &WordPiece, quoted: bool) {
        match piece {
            WordPiece::Text(text) if quoted => self.literal(text),
            WordPiece::Text(text) => {
                self.wild |= text.contains(['*', '?']);
                // A set opens and closes outside quotes, perhaps around quoted text.
                let close = text.rfind(']');
                self.wild |= self.set_open && close.is_some();
                if let Some(open) = text.find('[') {
                    self.wild |= close.is_some_and(|close| close > open);
                    self.set_open = true;
                }
                if text.contains('(') {
                    self.unknown(quoted);
                }
                self.text.push_str(text);
            }
            WordPiece::SingleQuotedText(text) => self.literal(text),
            WordPiece::AnsiCQuotedText(_) => self.not_modelled("`$'..'` quoting"),
            WordPiece::DoubleQuotedSequence(pieces) => {
                for piece in pieces {
                    self.piece(&piece.piece, true);
                }
            }
            WordPiece::GettextDoubleQuotedSequence(_) => self.not_modelled("`$\"..\"` quoting"),
            WordPiece::TildeExpansion(TildeExpr::Home) => {
                let home = self.home;
                self.literal(home);
            }
            WordPiece::TildeExpansion(_) => self.not_modelled("a `~name` folder"),
            WordPiece::ParameterExpansion(expression) => self.parameter(expression, quoted),
            WordPiece::CommandSubstitution(script) => {
                self.found.scripts.push(script.clone());
                self.unknown(quoted);
            }
            WordPiece::BackquotedCommandSubstitution(script) => {
                if script.contains('\\') {
                    self.not_modelled("a backslash within backquotes");
                }
                self.found.scripts.push(script.clone());
                self.unknown(quoted);
            }
            WordPiece::EscapeSequence(text) => self.escape(text, quoted),
            WordPiece::ArithmeticExpression(expression) => {
                if !is_plain_arithmetic(&expression.value) {
                    self.not_modelled("arithmetic on names");
                }
                self.unknown(quoted);
            }
        }
    }

    fn literal(&mut self, text: &str) {
        self.quoted_special |= text.contains(['*', '?', '[', '\\']);
        self.text.push_str(text);
    }

    fn escape(&mut self, text: &str, quoted: bool) {
        let Some(c) = text.strip_prefix('\\') else { return self.literal(text) };
        match c {
            "\n" => {}
            "$" | "`" | "\"" | "\\" => self.literal(c),
            _ if quoted => self.literal(text),
            _ => self.literal(c),
        }
    }

    fn parameter(&mut self, expression: &ParameterExpr, quoted: bool) {
        let plain = match expression {
            ParameterExpr::Parameter { parameter, indirect: false } => is_plain(parameter),
            ParameterExpr::ParameterLength { parameter, indirect: false } => is_plain(parameter),
            ParameterExpr::UseDefaultValues {
                parameter,
                indirect: false,
                default_value: Some(value),
                ..
            } => {
                is_plain(parameter)
                    && value.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c))
            }
            _ => false,
        };
        if plain {
            self.unknown(quoted);
        } else {
            self.not_modelled("an expansion that is more than `$name`");
        }
    }

    fn unknown(&mut self, quoted: bool) {
        self.known = false;
        self.splits |= !quoted;
    }

    fn not_modelled(&mut self, what: &str) {
        self.known = false;
        self.splits = true;
        self.found.opaque.push(format!("{what} is not understood"));
    }
}

/// Names and positions; an index can run a command.
fn is_plain(parameter: &word::Parameter) -> bool {
    match parameter {
        word::Parameter::Named(_)
        | word::Parameter::Positional(_)
        | word::Parameter::Special(_) => true,
        word::Parameter::NamedWithIndex { index, .. } => {
            !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit())
        }
        word::Parameter::NamedWithAllIndices { .. } => true,
    }
}

/// Arithmetic on numbers only: a name may hold text that is evaluated and runs commands.
pub(super) fn is_plain_arithmetic(expression: &str) -> bool {
    expression
        .chars()
        .all(|c| c.is_ascii_digit() || c.is_whitespace() || "+-*/%()<>=!&|".contains(c))
}
