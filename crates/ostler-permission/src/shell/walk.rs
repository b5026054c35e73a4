//! The second reader: walks a typed syntax tree and follows folders, wrappers and scripts.
//!
//! Every branch is walked, whether it would run or not. What is not modelled is noted as
//! opaque; nothing here decides.

mod names;
mod redirect;

use std::{rc::Rc, sync::Arc};

use brush_parser::{
    Parser, ParserOptions, SourceSpan,
    ast::{self, AndOr, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList},
};
use ostler_stdx::AbsPath;
use redirect::{feeds, mixes};

use super::{
    Command, Effect, How, Reading, Script, agree,
    agree::Heard,
    cwd::Cwds,
    effect, exec, limits,
    listing::{self, Listing},
    unwrap::{self, Inner},
    values::{Choice, Values},
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
    /// Commands of `find -exec` within each other.
    execs: usize,
    values: Values,
    /// The names of files that standard input holds.
    stdin: Option<Arc<Listing>>,
    /// What the last pipeline prints.
    prints: Option<Arc<Listing>>,
}

impl<'a> Walker<'a> {
    /// A walker that knows these values; with none it gathers them.
    pub(super) fn new(home: &'a AbsPath, values: Values) -> Self {
        Self {
            home,
            home_text: home.to_text(),
            out: Script::default(),
            heard: Vec::new(),
            place: Place { bytes: None, span: None },
            depth: 0,
            scripts: 0,
            execs: 0,
            values,
            stdin: None,
            prints: None,
        }
    }

    pub(super) fn values(&self) -> &Values {
        &self.values
    }

    pub(super) fn into_values(self) -> Values {
        self.values
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
        self.apart(|walker| walker.parsed(text, cwds));
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
                let is_pipeline = |list: &CompoundList| match &list.0[..] {
                    [ast::CompoundListItem(and_or, _)] => and_or.additional.is_empty(),
                    _ => false,
                };
                if !matches!(&program.complete_commands[..], [list] if is_pipeline(list)) {
                    self.prints = None;
                }
            }
        }
    }

    /// Walks a substitution; answers the listing that it prints.
    fn substitution(
        &mut self,
        text: &str,
        cwds: &Cwds,
        span: Option<(usize, usize)>,
    ) -> Option<Arc<Listing>> {
        let place = std::mem::replace(&mut self.place, Place { bytes: None, span });
        let prints = self.prints.take();
        self.apart(|walker| walker.parsed(text, cwds));
        self.place = place;
        std::mem::replace(&mut self.prints, prints)
    }

    /// Walks what does not read our standard input and whose variables are its own.
    fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let stdin = self.stdin.take();
        let walked = self.scoped(walk);
        self.stdin = stdin;
        walked
    }

    /// Walks what may not run, or runs in a shell of its own: what it sets may not be set.
    fn scoped<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.values.mark();
        let walked = walk(self);
        self.values.forget(mark);
        walked
    }

    fn list(&mut self, list: &CompoundList, cwds: &Cwds) -> Cwds {
        let mut cwds = cwds.clone();
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            // A command in the background does not move the shell.
            if matches!(separator, ast::SeparatorOperator::Async) {
                self.scoped(|walker| walker.and_or(and_or, &cwds));
            } else {
                cwds = self.and_or(and_or, &cwds);
            }
        }
        if cwds.too_many() {
            self.opaque("the folder changes too often to follow");
        }
        cwds
    }

    fn and_or(&mut self, list: &ast::AndOrList, cwds: &Cwds) -> Cwds {
        let mut flow = self.pipeline(&list.first, cwds);
        let mark = self.values.mark();
        for next in &list.additional {
            flow = match next {
                AndOr::And(pipeline) => {
                    let after = self.pipeline(pipeline, &flow.ok);
                    Flow { ok: after.ok, failed: flow.failed.or(&after.failed) }
                }
                AndOr::Or(pipeline) => {
                    self.values.forget(mark);
                    let after = self.pipeline(pipeline, &flow.failed);
                    Flow { ok: flow.ok.or(&after.ok), failed: after.failed }
                }
            };
        }
        self.values.forget(mark);
        flow.either()
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, cwds: &Cwds) -> Flow {
        let flow = match pipeline.seq.as_slice() {
            [one] => {
                self.prints = None;
                self.command(one, cwds)
            }
            many => {
                // Each stage is a shell of its own.
                let stdin = self.stdin.clone();
                for command in many {
                    self.prints = None;
                    self.scoped(|walker| walker.command(command, cwds));
                    self.stdin = self.prints.take();
                }
                self.prints = std::mem::replace(&mut self.stdin, stdin);
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
                let stdin = self.stdin.clone();
                if redirects.as_ref().is_some_and(|list| list.0.iter().any(feeds)) {
                    self.stdin = None;
                }
                let after = self.compound(compound, cwds);
                self.stdin = stdin;
                // More than one command may print.
                self.prints = None;
                Flow::same(&after)
            }
            ast::Command::Function(function) => {
                self.opaque("the script defines a function");
                self.redirects(function.body.1.as_ref(), cwds);
                self.scoped(|walker| walker.compound(&function.body.0, cwds));
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
                self.scoped(|walker| walker.list(&shell.list, cwds));
                cwds.clone()
            }
            CompoundCommand::IfClause(clause) => {
                let tested = self.list(&clause.condition, cwds);
                let then = self.scoped(|walker| walker.list(&clause.then, &tested));
                let mut after = then.or(&tested);
                for branch in clause.elses.iter().flatten() {
                    let end = self.scoped(|walker| {
                        let from = match &branch.condition {
                            Some(condition) => walker.list(condition, &tested),
                            None => tested.clone(),
                        };
                        walker.list(&branch.body, &from)
                    });
                    after = end.or(&after);
                }
                after
            }
            CompoundCommand::ForClause(clause) => self.for_each(clause, cwds),
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
                        after = self.scoped(|walker| walker.list(body, cwds)).or(&after);
                    }
                }
                after
            }
            CompoundCommand::Arithmetic(arithmetic) => {
                self.arithmetic(&arithmetic.expr.value);
                cwds.clone()
            }
            CompoundCommand::ArithmeticForClause(clause) => self.counted(clause, cwds),
            CompoundCommand::Coprocess(process) => {
                self.opaque("a coprocess is not understood");
                self.scoped(|walker| walker.command(&process.body, cwds));
                cwds.clone()
            }
        }
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
                    let counted = word.raw.trim_matches('"').strip_prefix('$');
                    let counted = counted.is_some_and(|name| self.values.is_number(name));
                    if numeric && !number && !counted {
                        self.opaque("arithmetic on names is not understood");
                    }
                }
            }
        }
    }

    /// Reads a word and walks the scripts in it.
    fn word(&mut self, word: &ast::Word, cwds: &Cwds) -> Word {
        let (mut read, found) = word::read(&word.value, &self.home_text, &self.values);
        read.span = self.place.of(word.loc.as_ref());
        let is_substitution = found.is_substitution;
        let printed = self.found(found, cwds, read.span);
        if is_substitution {
            read.choices = printed.map(Choice::Listed).into_iter().collect();
        }
        read
    }

    /// Takes in what reading a word found; answers what its last script prints.
    fn found(
        &mut self,
        found: word::Found,
        cwds: &Cwds,
        span: Option<(usize, usize)>,
    ) -> Option<Arc<Listing>> {
        for what in found.opaque {
            self.opaque(what);
        }
        for name in found.assigns {
            self.assigned(&name);
            self.values.may_be(&name, None);
        }
        for name in found.counts {
            self.assigned(&name);
            self.values.may_be(&name, Some(vec![Choice::Number]));
        }
        let mut printed = None;
        for script in found.scripts {
            printed = self.substitution(&script, cwds, span);
        }
        printed
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, cwds: &Cwds) -> Flow {
        let mut words = Vec::new();
        let program = simple.word_or_name.as_ref().map(|name| name.value.as_str());
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    self.assignment(assignment, word, program, cwds);
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
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let items = prefix.chain(simple.suffix.iter().flat_map(|suffix| &suffix.0));
        let redirects = || {
            items.clone().filter_map(|item| match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => Some(redirect),
                _ => None,
            })
        };
        let stdin = self.stdin.clone().filter(|_| !redirects().any(feeds));
        // Messages among the names are names of anything.
        if !redirects().any(mixes) {
            let listed = listing::of(&words).map(Arc::new);
            self.prints = listed.or_else(|| stdin.clone().filter(|_| listing::is_kept_by(&words)));
        }
        let prints = self.prints.take();
        let outer = std::mem::replace(&mut self.stdin, stdin);
        let flow = self.run(words, cwds);
        (self.stdin, self.prints) = (outer, prints);
        flow
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
            match unwrap::unwrap(&words, self.stdin.as_ref()) {
                Inner::None => {
                    let plain = readings.len() == 1;
                    let rest = exec::split(&words).map(|split| self.execs(split, cwds));
                    let words = rest.as_deref().unwrap_or(&words);
                    break self.innermost(words, cwds, plain.then_some(&mut flow));
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
        let scripted = readings.iter().flat_map(|reading| unwrap::scripted(&reading.words));
        let hidden: Vec<Vec<Word>> = scripted.chain(unwrap::hidden(&words)).collect();
        readings.extend(hidden.into_iter().map(|words| Reading { words, sure: false }));
        self.out.commands.push(Command { readings, effect });
        flow
    }

    /// Walks what a `find` runs; answers the rest of it.
    fn execs(&mut self, split: exec::Split, cwds: &Cwds) -> Vec<Word> {
        const MOST: usize = 4;
        if self.execs >= MOST {
            self.opaque("commands within commands go too deep");
            return split.find;
        }
        self.execs += 1;
        for words in split.commands {
            self.apart(|walker| walker.run(words, cwds));
        }
        self.execs -= 1;
        split.find
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
        self.names_set(&name, &words[1..]);
        if let Some(why) = effect::changes_the_shell(&name, words) {
            self.opaque(why);
        }
        effect::of(words, cwds)
    }
}
