//! The second reader: walks a typed syntax tree and follows folders, wrappers and scripts.
//!
//! Every branch is walked, whether it would run or not. What is not modelled is noted as
//! opaque; nothing here decides.

use std::rc::Rc;

use brush_parser::{
    Parser, ParserOptions, SourceSpan,
    ast::{
        self, AndOr, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, IoFileRedirectKind,
        IoFileRedirectTarget, IoRedirect,
    },
};
use ostler_stdx::AbsPath;

use super::{
    Command, Effect, How, Reading, Script, agree,
    agree::Heard,
    cwd::Cwds,
    effect, limits,
    unwrap::{self, Inner},
    word::{self, Word},
};

/// Where the text being read stands in the outermost script.
#[derive(Debug, Clone)]
struct Place {
    /// Bytes of each character, for the outermost script; within others every part has the
    /// span of the word that holds it.
    bytes: Option<Rc<Vec<usize>>>,
    span: Option<(usize, usize)>,
}

impl Place {
    fn of(&self, span: Option<&SourceSpan>) -> Option<(usize, usize)> {
        match (&self.bytes, span) {
            (Some(bytes), Some(span)) => {
                let byte = |index: usize| bytes.get(index).or(bytes.last()).copied();
                Some((byte(span.start.index)?, byte(span.end.index)?))
            }
            _ => self.span,
        }
    }
}

/// The folders after a command that worked and after one that failed.
struct Flow {
    ok: Cwds,
    failed: Cwds,
}

impl Flow {
    fn same(cwds: &Cwds) -> Self {
        Self { ok: cwds.clone(), failed: cwds.clone() }
    }

    fn either(self) -> Cwds {
        self.ok.or(&self.failed)
    }
}

pub(super) struct Walker<'a> {
    home: &'a AbsPath,
    home_text: String,
    out: Script,
    /// The commands in this reader's view, to compare with the other's.
    heard: Vec<Heard>,
    place: Place,
    depth: usize,
    scripts: usize,
}

impl<'a> Walker<'a> {
    pub(super) fn new(home: &'a AbsPath) -> Self {
        Self {
            home,
            home_text: home.to_text(),
            out: Script::default(),
            heard: Vec::new(),
            place: Place { bytes: None, span: None },
            depth: 0,
            scripts: 0,
        }
    }

    pub(super) fn into_script(mut self) -> Script {
        for notes in [&mut self.out.opaque, &mut self.out.unclear] {
            notes.dedup();
            notes.truncate(8);
        }
        self.out
    }

    fn opaque(&mut self, what: impl Into<String>) {
        self.out.opaque.push(what.into());
    }

    fn unclear(&mut self, what: impl Into<String>) {
        self.out.unclear.push(what.into());
    }

    /// Reads a script that a shell runs as a whole: both readers, compared.
    pub(super) fn script(
        &mut self,
        text: &str,
        cwds: &Cwds,
        span: Option<(usize, usize)>,
        depth: usize,
    ) {
        if depth > limits::MAX_SCRIPTS {
            return self.opaque("scripts within scripts go too deep");
        }
        if let Some(why) = limits::too_much(text) {
            return self.opaque(why);
        }
        let bytes = (depth == 0).then(|| {
            Rc::new(text.char_indices().map(|(at, _)| at).chain([text.len()]).collect::<Vec<_>>())
        });
        let place = std::mem::replace(&mut self.place, Place { bytes, span });
        let outer = (std::mem::take(&mut self.heard), self.depth);
        self.depth = depth;
        let first = agree::commands(text);
        self.parsed(text, cwds);
        let mut second = std::mem::replace(&mut self.heard, outer.0);
        self.depth = outer.1;
        self.place = place;
        match first {
            Err(why) => self.opaque(why),
            Ok(mut first) => {
                first.sort();
                second.sort();
                if first != second {
                    self.opaque("two readers of shell scripts disagree about its commands");
                }
            }
        }
    }

    /// The second reader alone, for text that the first has read as part of the whole.
    fn parsed(&mut self, text: &str, cwds: &Cwds) {
        self.scripts += 1;
        if self.scripts > 64 {
            return self.opaque("there are too many scripts within the script");
        }
        let mut parser = Parser::new(text.as_bytes(), &ParserOptions::default());
        match parser.parse_program() {
            Err(_) => self.opaque("the script could not be read to its end"),
            Ok(program) => {
                let mut cwds = cwds.clone();
                for list in &program.complete_commands {
                    cwds = self.list(list, &cwds);
                }
            }
        }
    }

    fn substitution(&mut self, text: &str, cwds: &Cwds, span: Option<(usize, usize)>) {
        let place = std::mem::replace(&mut self.place, Place { bytes: None, span });
        self.parsed(text, cwds);
        self.place = place;
    }

    fn list(&mut self, list: &CompoundList, cwds: &Cwds) -> Cwds {
        let mut cwds = cwds.clone();
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            let after = self.and_or(and_or, &cwds);
            // A command in the background does not move the shell.
            if !matches!(separator, ast::SeparatorOperator::Async) {
                cwds = after;
            }
        }
        if cwds.too_many() {
            self.opaque("the folder changes too often to follow");
        }
        cwds
    }

    fn and_or(&mut self, list: &ast::AndOrList, cwds: &Cwds) -> Cwds {
        let mut flow = self.pipeline(&list.first, cwds);
        for next in &list.additional {
            flow = match next {
                AndOr::And(pipeline) => {
                    let after = self.pipeline(pipeline, &flow.ok);
                    Flow { ok: after.ok, failed: flow.failed.or(&after.failed) }
                }
                AndOr::Or(pipeline) => {
                    let after = self.pipeline(pipeline, &flow.failed);
                    Flow { ok: flow.ok.or(&after.ok), failed: after.failed }
                }
            };
        }
        flow.either()
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, cwds: &Cwds) -> Flow {
        let flow = match pipeline.seq.as_slice() {
            [one] => self.command(one, cwds),
            many => {
                // Each stage is a shell of its own.
                for command in many {
                    self.command(command, cwds);
                }
                Flow::same(cwds)
            }
        };
        match pipeline.bang {
            true => Flow { ok: flow.failed, failed: flow.ok },
            false => flow,
        }
    }

    fn command(&mut self, command: &ast::Command, cwds: &Cwds) -> Flow {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, cwds),
            ast::Command::Compound(compound, redirects) => {
                self.redirects(redirects.as_ref(), cwds);
                let after = self.compound(compound, cwds);
                Flow::same(&after)
            }
            ast::Command::Function(function) => {
                self.opaque("the script defines a function");
                self.redirects(function.body.1.as_ref(), cwds);
                self.compound(&function.body.0, cwds);
                Flow::same(cwds)
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref(), cwds);
                self.test(&test.expr, cwds);
                // Its operands are no commands; substitutions in them are heard on their own.
                self.heard.push(vec!["[[".into()]);
                Flow::same(cwds)
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, cwds: &Cwds) -> Cwds {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list, cwds),
            CompoundCommand::Subshell(shell) => {
                self.list(&shell.list, cwds);
                cwds.clone()
            }
            CompoundCommand::IfClause(clause) => {
                let tested = self.list(&clause.condition, cwds);
                let mut after = self.list(&clause.then, &tested).or(&tested);
                for branch in clause.elses.iter().flatten() {
                    let from = match &branch.condition {
                        Some(condition) => self.list(condition, &tested),
                        None => tested.clone(),
                    };
                    after = self.list(&branch.body, &from).or(&after);
                }
                after
            }
            CompoundCommand::ForClause(clause) => {
                self.assigned(&clause.variable_name);
                for value in clause.values.iter().flatten() {
                    self.word(value, cwds);
                }
                self.looped(cwds, |walker, cwds| walker.list(&clause.body.list, cwds))
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => self
                .looped(cwds, |walker, cwds| {
                    let tested = walker.list(&clause.0, cwds);
                    walker.list(&clause.1.list, &tested)
                }),
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value, cwds);
                let mut after = cwds.clone();
                for item in &clause.cases {
                    for pattern in &item.patterns {
                        self.word(pattern, cwds);
                    }
                    if let Some(body) = &item.cmd {
                        after = self.list(body, cwds).or(&after);
                    }
                }
                after
            }
            CompoundCommand::Arithmetic(arithmetic) => {
                if !word::is_plain_arithmetic(&arithmetic.expr.value) {
                    self.opaque("arithmetic on names is not understood");
                }
                cwds.clone()
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                self.opaque("an arithmetic loop is not understood");
                self.list(&clause.body.list, cwds);
                cwds.clone()
            }
            CompoundCommand::Coprocess(process) => {
                self.opaque("a coprocess is not understood");
                self.command(&process.body, cwds);
                cwds.clone()
            }
        }
    }

    fn looped(&mut self, cwds: &Cwds, mut body: impl FnMut(&mut Self, &Cwds) -> Cwds) -> Cwds {
        let after = body(self, cwds).or(cwds);
        if after != *cwds {
            self.opaque("a loop changes the folder");
        }
        after
    }

    fn test(&mut self, expr: &ast::ExtendedTestExpr, cwds: &Cwds) {
        use ast::{BinaryPredicate as Binary, ExtendedTestExpr as Test, UnaryPredicate as Unary};
        match expr {
            Test::And(a, b) | Test::Or(a, b) => {
                self.test(a, cwds);
                self.test(b, cwds);
            }
            Test::Not(a) | Test::Parenthesized(a) => self.test(a, cwds),
            Test::UnaryTest(predicate, word) => {
                if matches!(
                    predicate,
                    Unary::ShellVariableIsSetAndAssigned | Unary::ShellVariableIsSetAndNameRef
                ) {
                    self.opaque("a test of a variable's name is not understood");
                }
                self.word(word, cwds);
            }
            Test::BinaryTest(predicate, a, b) => {
                let numeric = matches!(
                    predicate,
                    Binary::ArithmeticEqualTo
                        | Binary::ArithmeticNotEqualTo
                        | Binary::ArithmeticLessThan
                        | Binary::ArithmeticLessThanOrEqualTo
                        | Binary::ArithmeticGreaterThan
                        | Binary::ArithmeticGreaterThanOrEqualTo
                );
                for word in [a, b] {
                    let word = self.word(word, cwds);
                    let number = word.text.is_some_and(|text| word::is_plain_arithmetic(&text));
                    if numeric && !number {
                        self.opaque("arithmetic on names is not understood");
                    }
                }
            }
        }
    }

    /// Reads a word and walks the scripts in it.
    fn word(&mut self, word: &ast::Word, cwds: &Cwds) -> Word {
        let (mut read, found) = word::read(&word.value, &self.home_text);
        read.span = self.place.of(word.loc.as_ref());
        for what in found.opaque {
            self.opaque(what);
        }
        for script in found.scripts {
            self.substitution(&script, cwds, read.span);
        }
        read
    }

    /// The value of a name is changed; some names change what programs do.
    fn assigned(&mut self, name: &str) {
        if !effect::is_harmless_name(name) {
            self.unclear(format!("setting `{name}` may change what a program does"));
        }
    }

    fn assignment(&mut self, assignment: &ast::Assignment, raw: &ast::Word, cwds: &Cwds) {
        self.heard.push(vec!["=".into(), agree::plain(&raw.value)]);
        match &assignment.name {
            ast::AssignmentName::VariableName(name) => self.assigned(name),
            ast::AssignmentName::ArrayElementName(..) => {
                self.opaque("assigning to an element of an array is not understood");
            }
        }
        match &assignment.value {
            ast::AssignmentValue::Scalar(value) => {
                self.word(value, cwds);
            }
            ast::AssignmentValue::Array(values) => {
                for (index, value) in values {
                    if index.is_some() {
                        self.opaque("assigning to an element of an array is not understood");
                    }
                    self.word(value, cwds);
                }
            }
        }
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, cwds: &Cwds) -> Flow {
        let mut words = Vec::new();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    self.assignment(assignment, word, cwds);
                }
                item => words.extend(self.item(item, cwds)),
            }
        }
        if let Some(name) = &simple.word_or_name {
            words.push(self.word(name, cwds));
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            words.extend(self.item(item, cwds));
        }
        if words.is_empty() {
            return Flow::same(cwds);
        }
        self.hear(&words);
        self.run(words, cwds)
    }

    /// A redirection is walked; anything else is a word.
    fn item(&mut self, item: &CommandPrefixOrSuffixItem, cwds: &Cwds) -> Option<Word> {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                self.redirect(redirect, cwds);
                None
            }
            CommandPrefixOrSuffixItem::Word(word)
            | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => Some(self.word(word, cwds)),
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, shell) => {
                self.list(&shell.list, cwds);
                let raw = match kind {
                    ast::ProcessSubstitutionKind::Read => "<(",
                    ast::ProcessSubstitutionKind::Write => ">(",
                };
                Some(Word::fixed(raw, "/dev/fd/63"))
            }
        }
    }

    fn hear(&mut self, words: &[Word]) {
        let name = words[0].raw.as_str();
        let squeezed = matches!(
            name,
            "[" | "declare" | "typeset" | "export" | "readonly" | "local" | "unset" | "unsetenv"
        );
        let plain: Heard = words.iter().map(|word| agree::plain(&word.raw)).collect();
        self.heard.push(if squeezed { agree::squeezed(&plain.concat()) } else { plain });
    }

    /// Follows wrappers to what runs in the end, and notes what it does.
    fn run(&mut self, words: Vec<Word>, cwds: &Cwds) -> Flow {
        let mut readings = vec![Reading { words: words.clone(), sure: true }];
        let mut words = words;
        let mut sure = true;
        let mut flow = Flow::same(cwds);
        let effect = loop {
            match unwrap::unwrap(&words) {
                Inner::None => {
                    let plain = readings.len() == 1;
                    break self.innermost(&words, cwds, plain.then_some(&mut flow));
                }
                Inner::Command { words: inner, harmless, note } => {
                    sure &= harmless;
                    if let Some(note) = note {
                        self.unclear(note);
                    }
                    if inner.is_empty() || readings.len() > 12 {
                        break Effect::other("a wrapper runs nothing that is known", Vec::new());
                    }
                    readings.push(Reading { words: inner.clone(), sure });
                    words = inner;
                }
                Inner::Script { text, span, transparent } => {
                    let depth = self.depth + 1;
                    self.script(&text, cwds, span, depth);
                    break if transparent {
                        Effect::reads(Vec::new())
                    } else {
                        self.opaque("a script that is put together while it runs");
                        Effect::other("it runs a script", Vec::new())
                    };
                }
                Inner::Unknown(why) => {
                    self.opaque(why);
                    break self.innermost(&words, cwds, None);
                }
            }
        };
        for words in unwrap::hidden(&words) {
            readings.push(Reading { words, sure: false });
        }
        self.out.commands.push(Command { readings, effect });
        flow
    }

    fn innermost(&mut self, words: &[Word], cwds: &Cwds, flow: Option<&mut Flow>) -> Effect {
        let Some(name) = words[0].text.clone() else {
            self.opaque(format!("the program `{}` is not fixed text", words[0].raw));
            return Effect::other("its program is not known before it runs", Vec::new());
        };
        if name == "cd" {
            if let (Some(flow), Some(to)) = (flow, effect::cd_target(words, self.home)) {
                flow.ok = cwds.enter(&to);
                let mut touches = Vec::new();
                cwds.touch(How::Look, &to, false, &mut touches);
                return Effect::reads(touches);
            }
            self.opaque("the folder after `cd` is not known");
        }
        if let Some(why) = effect::changes_the_shell(&name, words) {
            self.opaque(why);
        }
        effect::of(words, cwds)
    }

    fn redirects(&mut self, list: Option<&ast::RedirectList>, cwds: &Cwds) {
        for redirect in list.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, cwds);
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect, cwds: &Cwds) {
        match redirect {
            IoRedirect::File(fd, kind, target) => {
                if may_open_output_to_read(*fd, kind, target) {
                    self.unclear("standard output or error may become a file opened to read");
                }
                self.file_redirect(kind, target, cwds);
            }
            IoRedirect::OutputAndError(word, _) => {
                self.redirect_target(word, &[How::Write], cwds);
            }
            IoRedirect::HereString(_, word) => {
                self.heard.push(vec!["<<<".into(), agree::plain(&word.value)]);
                self.word(word, cwds);
            }
            IoRedirect::HereDocument(_, document) => {
                self.heard.push(vec!["<<".into(), agree::plain(&document.here_end.value)]);
                if document.requires_expansion {
                    let found = word::read_heredoc(&document.doc.value);
                    for what in found.opaque {
                        self.opaque(what);
                    }
                    let span = self.place.of(document.doc.loc.as_ref());
                    for script in found.scripts {
                        self.substitution(&script, cwds, span);
                    }
                }
            }
        }
    }

    fn file_redirect(
        &mut self,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        cwds: &Cwds,
    ) {
        let how: &[How] = match kind {
            IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => &[How::Read],
            IoFileRedirectKind::ReadAndWrite => &[How::Read, How::Write],
            IoFileRedirectKind::Write
            | IoFileRedirectKind::Append
            | IoFileRedirectKind::Clobber
            | IoFileRedirectKind::DuplicateOutput => &[How::Write],
        };
        match target {
            IoFileRedirectTarget::Filename(word) => self.redirect_target(word, how, cwds),
            IoFileRedirectTarget::Fd(number) => {
                self.heard.push(vec![">".into(), number.to_string()]);
            }
            IoFileRedirectTarget::Duplicate(word) => {
                let number = word.value.trim_end_matches('-');
                if number.bytes().all(|byte| byte.is_ascii_digit()) {
                    self.heard.push(vec![">".into(), agree::plain(&word.value)]);
                } else {
                    self.redirect_target(word, how, cwds);
                }
            }
            IoFileRedirectTarget::ProcessSubstitution(kind, shell) => {
                let raw = match kind {
                    ast::ProcessSubstitutionKind::Read => "<(",
                    ast::ProcessSubstitutionKind::Write => ">(",
                };
                self.heard.push(vec![">".into(), raw.into()]);
                self.list(&shell.list, cwds);
            }
        }
    }

    fn redirect_target(&mut self, word: &ast::Word, how: &[How], cwds: &Cwds) {
        self.heard.push(vec![">".into(), agree::plain(&word.value)]);
        let word = self.word(word, cwds);
        match &word.text {
            Some(path) => {
                for how in how {
                    cwds.touch(*how, path, false, &mut self.out.redirects);
                }
            }
            None => {
                self.unclear(format!(
                    "the target `{}` of a redirection is not fixed text",
                    word.raw
                ));
            }
        }
    }
}

/// Whether descriptor 1 or 2 may end up as one that was only opened to read: by its name
/// (`/dev/stdout`) a program could then write to a file that nobody judged as written.
fn may_open_output_to_read(
    fd: Option<ast::IoFd>,
    kind: &IoFileRedirectKind,
    target: &IoFileRedirectTarget,
) -> bool {
    let is_output = |fd: i64| matches!(fd, 1 | 2);
    let (usual, copies) = match kind {
        IoFileRedirectKind::Read => (0, false),
        IoFileRedirectKind::DuplicateInput => (0, true),
        IoFileRedirectKind::DuplicateOutput => (1, true),
        IoFileRedirectKind::ReadAndWrite
        | IoFileRedirectKind::Write
        | IoFileRedirectKind::Append
        | IoFileRedirectKind::Clobber => return false,
    };
    if !is_output(fd.map_or(usual, i64::from)) {
        return false;
    }
    let from = match target {
        IoFileRedirectTarget::Fd(from) => Some(i64::from(*from)),
        // `>&word`: a number, a number that moves (`3-`), a dash that closes, or a file.
        IoFileRedirectTarget::Duplicate(word) => match word.value.trim_end_matches('-') {
            "" => return false,
            number => number.parse().ok(),
        },
        IoFileRedirectTarget::Filename(_) | IoFileRedirectTarget::ProcessSubstitution(..) => None,
    };
    match (copies, from) {
        (true, Some(from)) => !is_output(from),
        (true, None) => matches!(kind, IoFileRedirectKind::DuplicateInput),
        (false, _) => true,
    }
}
