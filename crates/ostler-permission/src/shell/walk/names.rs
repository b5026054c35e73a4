//! What a script's names are set to: assignments, loops, arithmetic and builtins.

use brush_parser::ast;

use super::{
    super::{
        agree,
        cwd::Cwds,
        effect,
        values::{self, Choice},
        word::{self, Word},
    },
    Walker,
};

impl Walker<'_> {
    /// `for name in words`.
    pub(super) fn for_each(&mut self, clause: &ast::ForClauseCommand, cwds: &Cwds) -> Cwds {
        self.assigned(&clause.variable_name);
        let words = clause.values.iter().flatten().map(|value| self.word(value, cwds));
        let words: Vec<Word> = words.collect();
        effect::looks(&words, cwds, &mut self.out.redirects);
        if let Some(word) = words.iter().find(|word| word.loose) {
            self.unclear(format!("`{}` names files of a folder that is not known", word.raw));
        }
        // Without a list they are the arguments of the script.
        let each = clause.values.as_ref().map(|_| words.iter().map(values::looped));
        let choices = each.and_then(|each| {
            each.collect::<Option<Vec<_>>>().map(|lists| lists.into_iter().flatten().collect())
        });
        let name = &clause.variable_name;
        self.looped(cwds, |walker, cwds| {
            walker.values.give(name, choices);
            walker.list(&clause.body.list, cwds)
        })
    }

    /// `for ((i = 0; i < 9; i++))`.
    pub(super) fn counted(
        &mut self,
        clause: &ast::ArithmeticForClauseCommand,
        cwds: &Cwds,
    ) -> Cwds {
        let texts = [&clause.initializer, &clause.condition, &clause.updater];
        let mut texts = texts.map(|part| part.as_ref().map_or("", |part| part.value.as_str()));
        // The first part sets the name that the others count with.
        if let Some((name, value)) = texts[0].split_once('=')
            && let name = name.trim()
            && word::names_in_arithmetic(name).is_some_and(|names| names == [name])
        {
            self.arithmetic(value);
            self.assigned(name);
            self.values.give(name, Some(vec![Choice::Number]));
            texts[0] = "";
        }
        for text in texts {
            self.arithmetic(text);
        }
        self.looped(cwds, |walker, cwds| walker.list(&clause.body.list, cwds))
    }

    /// Arithmetic on numbers, and on names that hold no more than numbers.
    pub(super) fn arithmetic(&mut self, text: &str) {
        let Some(names) = word::names_in_arithmetic(text) else {
            return self.opaque("arithmetic on names is not understood");
        };
        for name in names {
            if !self.values.is_number(name) {
                self.opaque("arithmetic on names is not understood");
            }
            if text.contains('=') || text.contains("++") || text.contains("--") {
                self.values.may_be(name, Some(vec![Choice::Number]));
            }
        }
    }

    pub(super) fn looped(
        &mut self,
        cwds: &Cwds,
        body: impl FnOnce(&mut Self, &Cwds) -> Cwds,
    ) -> Cwds {
        let after = self.scoped(|walker| body(walker, cwds)).or(cwds);
        if after != *cwds {
            self.opaque("a loop changes the folder");
        }
        after
    }

    /// The value of a name is changed; some names change what programs do.
    pub(super) fn assigned(&mut self, name: &str) {
        if !effect::is_own_name(name) {
            self.unclear(format!("setting `{name}` may change what a program does"));
        }
    }

    /// An assignment; `program`: the command that alone sees it, if there is one.
    pub(super) fn assignment(
        &mut self,
        assignment: &ast::Assignment,
        raw: &ast::Word,
        program: Option<&str>,
        cwds: &Cwds,
    ) {
        self.heard.push(vec!["=".into(), agree::plain(&raw.value)]);
        let value = match &assignment.value {
            ast::AssignmentValue::Scalar(value) => Some(self.word(value, cwds)),
            ast::AssignmentValue::Array(values) => {
                for (index, value) in values {
                    if index.is_some() {
                        self.opaque("assigning to an element of an array is not understood");
                    }
                    let word = self.word(value, cwds);
                    if word.loose {
                        self.unclear(format!("`{}` names files that are not known", word.raw));
                    }
                    effect::looks([&word], cwds, &mut self.out.redirects);
                }
                None
            }
        };
        let ast::AssignmentName::VariableName(name) = &assignment.name else {
            return self.opaque("assigning to an element of an array is not understood");
        };
        let fixed = value.as_ref().and_then(|value| value.text.as_deref());
        match program {
            None => {
                if assignment.append || !effect::is_plain_locale(name, fixed) {
                    self.assigned(name);
                }
                let choices = value.as_ref().filter(|_| !assignment.append);
                self.values.give(name, choices.and_then(values::assigned));
            }
            Some(program) => {
                let own = (name == "IFS" && program == "read")
                    || effect::is_plain_pager(name, fixed)
                    || (effect::is_plain_locale(name, fixed) && !assignment.append)
                    || effect::is_harmless_name(name);
                if !own {
                    self.unclear(format!("setting `{name}` may change what a program does"));
                }
                // Builtins of some shells keep it.
                self.values.may_be(name, None);
            }
        }
    }

    /// Notes the names that a builtin sets.
    pub(super) fn names_set(&mut self, builtin: &str, args: &[Word]) {
        match builtin {
            "read" => {
                let plain = matches!(args, [r, name] if r.is("-r") && name.text.is_some());
                let line = self.stdin.clone().filter(|_| plain);
                for name in args.iter().filter_map(|word| word.text.as_deref()) {
                    let listed = line.clone().map(|listing| vec![Choice::Listed(listing)]);
                    self.values.give(name, listed);
                }
            }
            "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "printf"
            | "mapfile" | "readarray" | "getopts" | "let" | "wait" => {
                for word in args {
                    let end = |c: char| !c.is_alphanumeric() && c != '_';
                    let name = word.raw.split(end).next().unwrap_or_default();
                    self.values.may_be(name, None);
                }
            }
            _ => {}
        }
    }
}
