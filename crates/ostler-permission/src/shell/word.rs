//! Words: what is fixed text after quotes are removed, what is a wildcard, what is unknown.
//!
//! Only expansions whose sole effect is to make text are let through; the others are named
//! so that the judge can say what it did not understand.

use brush_parser::{
    ParserOptions,
    word::{self, ParameterExpr, ParameterTransformOp, TildeExpr, WordPiece, WordPieceWithSource},
};

use super::values::{Choice, MOST, Values};

/// One word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// As written.
    pub(crate) raw: String,
    /// What it is after expansion, if that is certain.
    pub(crate) text: Option<String>,
    /// A pattern of file names, if that is all that is uncertain.
    pub(crate) wild: Option<String>,
    /// What it may be, if it is not fixed but certainly one of these.
    pub(crate) choices: Vec<Choice>,
    /// Whether it is a pattern of file names below a folder that is not known.
    pub(crate) loose: bool,
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
    /// Whether the word is one substitution, outside quotes, and nothing else.
    pub(super) is_substitution: bool,
    /// Names that expansions set.
    pub(super) assigns: Vec<String>,
    /// Names that arithmetic may set.
    pub(super) counts: Vec<String>,
    /// What is not modelled.
    pub(super) opaque: Vec<String>,
}

struct Reader<'a> {
    home: &'a str,
    values: &'a Values,
    found: Found,
    /// What the text may be; several only if values of variables stand in it.
    texts: Vec<String>,
    varied: bool,
    /// What a variable that is the whole word may be.
    whole: Option<Vec<Choice>>,
    known: bool,
    wild: bool,
    set_open: bool,
    quoted_special: bool,
    splits: bool,
}

/// Reads a word as the second parser gives it.
pub(super) fn read(raw: &str, home: &str, values: &Values) -> (Word, Found) {
    if let Some(text) = plain(raw) {
        return (Word::fixed(raw, text), Found::default());
    }
    let Ok(pieces) = word::parse(raw, &ParserOptions::default()) else {
        return (Word::unknown(raw), not_read(raw));
    };
    let mut reader = Reader::new(home, values);
    for piece in &pieces {
        reader.piece(&piece.piece, false);
    }
    if may_be_braces(&pieces, raw) {
        reader.known = false;
        reader.splits = true;
    }
    reader.found.is_substitution =
        matches!(&pieces[..], [piece] if matches!(piece.piece, WordPiece::CommandSubstitution(_)));
    let choices = reader.choices(is_one_expansion(&pieces));
    let fixed = reader.known && !reader.varied;
    let wild = fixed && reader.wild && !reader.quoted_special;
    let text = reader.texts.swap_remove(0);
    let word = Word {
        raw: raw.to_owned(),
        text: (fixed && !reader.wild).then(|| text.clone()),
        wild: wild.then_some(text),
        loose: reader.wild && choices.is_empty() && !wild,
        choices,
        splits: reader.splits || reader.wild,
        span: None,
    };
    (word, reader.found)
}

/// Whether a word is one expansion, quoted or not, and nothing else.
fn is_one_expansion(pieces: &[WordPieceWithSource]) -> bool {
    match pieces {
        [piece] => match &piece.piece {
            WordPiece::ParameterExpansion(_) | WordPiece::ArithmeticExpression(_) => true,
            WordPiece::DoubleQuotedSequence(inner) => is_one_expansion(inner),
            _ => false,
        },
        _ => false,
    }
}

/// The text of a word in which nothing has a meaning of its own, or that is quoted as a whole
/// and holds nothing that has one there; most words are, and the grammar is slow.
fn plain(raw: &str) -> Option<&str> {
    let is_plain = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_./,:=@%+-".contains(&byte))
    };
    if is_plain(raw) {
        return Some(raw);
    }
    let within = |mark: char| raw.strip_prefix(mark)?.strip_suffix(mark);
    // What is fixed text in quotes may still be a pattern for a rule to compare, so no more
    // than plain characters and blanks are taken.
    [within('\''), within('"')]
        .into_iter()
        .flatten()
        .find(|text| text.split(' ').all(|part| part.is_empty() || is_plain(part)))
}

/// Reads the body of a here-document whose expansions take place.
pub(super) fn read_heredoc(body: &str, values: &Values) -> Found {
    match word::parse_heredoc(body, &ParserOptions::default()) {
        Err(_) => not_read("<<"),
        Ok(pieces) => {
            let mut reader = Reader::new("", values);
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
    fn new(home: &'a str, values: &'a Values) -> Self {
        Self {
            home,
            values,
            found: Found::default(),
            texts: vec![String::new()],
            varied: false,
            whole: None,
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
                self.push(text);
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
                self.arithmetic(&expression.value);
                self.whole = Some(vec![Choice::Number]);
                self.known = false;
            }
        }
    }

    fn literal(&mut self, text: &str) {
        self.quoted_special |= text.contains(['*', '?', '[', '\\']);
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        self.texts.iter_mut().for_each(|so_far| so_far.push_str(text));
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
        if !only_makes_text(expression) {
            return self.not_modelled("an expansion that is more than `$name`");
        }
        match expression {
            ParameterExpr::Parameter { parameter: word::Parameter::Named(name), .. } => {
                self.variable(name, quoted);
            }
            ParameterExpr::AssignDefaultValues { parameter, .. } => {
                if let word::Parameter::Named(name) = parameter {
                    self.found.assigns.push(name.clone());
                }
                self.unknown(quoted);
            }
            _ => self.unknown(quoted),
        }
    }

    /// Puts the values of a variable in its place.
    fn variable(&mut self, name: &str, quoted: bool) {
        if !quoted && self.values.may_be_pattern(name) {
            self.found.opaque.push(format!("`${name}` outside quotes may become file names"));
        }
        let Some(choices) = self.values.of(name) else { return self.unknown(quoted) };
        let text = |choice: &Choice| match choice {
            Choice::Text(text) if quoted || is_one_plain_word(text) => Some(text.clone()),
            _ => None,
        };
        let texts: Option<Vec<String>> = choices.iter().map(text).collect();
        match texts {
            Some(texts) if (1..=MOST).contains(&(texts.len() * self.texts.len())) => {
                self.quoted_special |= texts.iter().any(|t| t.contains(['*', '?', '[', '\\']));
                let with = |so_far: &String| {
                    texts.iter().map(|text| format!("{so_far}{text}")).collect::<Vec<_>>()
                };
                self.texts = self.texts.iter().flat_map(with).collect();
                self.varied = true;
            }
            _ => {
                let stays = |choice: &Choice| match choice {
                    Choice::Text(text) => quoted || is_one_plain_word(text),
                    Choice::Match(_) => quoted,
                    Choice::Listed(_) | Choice::Number => true,
                };
                if choices.iter().all(stays) {
                    self.whole = Some(choices.to_vec());
                }
                let number = |choice: &Choice| matches!(choice, Choice::Number | Choice::Text(_));
                let one = self.whole.is_some() && choices.iter().all(number);
                self.unknown(quoted || one);
            }
        }
    }

    /// What the word may be if it is not fixed text.
    fn choices(&mut self, is_one_expansion: bool) -> Vec<Choice> {
        if let Some(whole) = self.whole.take() {
            return if is_one_expansion { whole } else { Vec::new() };
        }
        let is_clear = !self.wild || !self.quoted_special;
        if !self.known || !self.varied || !is_clear {
            return Vec::new();
        }
        let wild = self.wild;
        let texts = self.texts.iter().cloned();
        texts.map(|text| if wild { Choice::Match(text) } else { Choice::Text(text) }).collect()
    }

    /// A name in arithmetic may hold text that is evaluated and runs commands.
    fn arithmetic(&mut self, expression: &str) {
        let names = names_in_arithmetic(expression);
        let numbers =
            names.as_ref().is_some_and(|names| names.iter().all(|n| self.values.is_number(n)));
        if !numbers {
            self.found.opaque.push("arithmetic on names is not understood".to_owned());
        }
        if expression.contains('=') || expression.contains("++") || expression.contains("--") {
            self.found.counts.extend(names.into_iter().flatten().map(str::to_owned));
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

/// Whether a value stays one word outside quotes, and that very word.
fn is_one_plain_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "*?[\\".contains(c))
}

/// Whether an expansion only makes text of the values of its names.
fn only_makes_text(expression: &ParameterExpr) -> bool {
    use ParameterExpr as Expr;
    let inert = |text: &Option<String>| text.as_deref().is_none_or(is_inert);
    match expression {
        Expr::Parameter { parameter, indirect } | Expr::ParameterLength { parameter, indirect } => {
            !indirect && is_plain(parameter)
        }
        Expr::UseDefaultValues { parameter, indirect, default_value: text, .. }
        | Expr::AssignDefaultValues { parameter, indirect, default_value: text, .. }
        | Expr::IndicateErrorIfNullOrUnset { parameter, indirect, error_message: text, .. }
        | Expr::UseAlternativeValue { parameter, indirect, alternative_value: text, .. }
        | Expr::RemoveSmallestSuffixPattern { parameter, indirect, pattern: text }
        | Expr::RemoveLargestSuffixPattern { parameter, indirect, pattern: text }
        | Expr::RemoveSmallestPrefixPattern { parameter, indirect, pattern: text }
        | Expr::RemoveLargestPrefixPattern { parameter, indirect, pattern: text }
        | Expr::UppercaseFirstChar { parameter, indirect, pattern: text }
        | Expr::UppercasePattern { parameter, indirect, pattern: text }
        | Expr::LowercaseFirstChar { parameter, indirect, pattern: text }
        | Expr::LowercasePattern { parameter, indirect, pattern: text } => {
            !indirect && is_plain(parameter) && inert(text)
        }
        Expr::ReplaceSubstring { parameter, indirect, pattern, replacement, .. } => {
            !indirect && is_plain(parameter) && is_inert(pattern) && inert(replacement)
        }
        Expr::Substring { parameter, indirect, offset, length } => {
            !indirect
                && is_plain(parameter)
                && is_plain_arithmetic(&offset.value)
                && length.as_ref().is_none_or(|length| is_plain_arithmetic(&length.value))
        }
        // A prompt may hold commands.
        Expr::Transform { parameter, indirect, op } => {
            !indirect && is_plain(parameter) && !matches!(op, ParameterTransformOp::PromptExpand)
        }
        Expr::VariableNames { .. } => true,
        Expr::MemberKeys { .. } => true,
    }
}

/// Whether text within an expansion holds none but plain names.
fn is_inert(text: &str) -> bool {
    let opens = |(at, _): (usize, &str)| {
        let next = text[at + 1..].chars().next();
        next.is_none_or(|c| c.is_ascii_alphanumeric() || c == '_' || c == '\'')
    };
    !text.contains('`')
        && !text.contains("<(")
        && !text.contains(">(")
        && text.match_indices('$').all(opens)
}

/// The names in arithmetic; nothing if there is more than names, numbers and operators.
pub(super) fn names_in_arithmetic(expression: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = expression;
    while let Some(c) = rest.chars().next() {
        let part = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let end = rest.find(part).unwrap_or(rest.len());
        rest = match c {
            c if c.is_ascii_alphabetic() || c == '_' => {
                names.push(&rest[..end]);
                &rest[end..]
            }
            c if c.is_ascii_digit() => &rest[end..],
            '$' if rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                &rest[1..]
            }
            c if c.is_ascii_whitespace() || "+-*/%()<>=!&|^~?:,".contains(c) => &rest[1..],
            _ => return None,
        };
    }
    Some(names)
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
