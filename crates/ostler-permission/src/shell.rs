//! Reads a shell script and says what it would do.
//!
//! Two independent parsers must read the same list of commands; what they do not agree on,
//! and every construct that is not modelled, is noted and makes the judge ask. The script is
//! judged by the words that would run, never by its text alone, and nothing is ever run.

mod agree;
mod awk;
mod builtins;
mod code;
mod cwd;
mod danger;
mod effect;
mod exec;
mod files;
mod filter;
mod find;
mod flags;
mod git;
mod limits;
mod listing;
mod programs;
mod pure;
mod sed;
mod table;
mod tar;
#[cfg(test)]
mod tests;
mod unwrap;
mod values;
mod walk;
mod word;

use std::cell::RefCell;

use ostler_protocol::event::AskSpan;
use ostler_stdx::AbsPath;

pub(crate) use danger::spans;
pub use listing::is_one_word;
pub(crate) use word::Word;

/// A script, taken apart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    /// Every simple command that may run, those in substitutions included.
    pub(crate) commands: Vec<Command>,
    /// What redirections read and write.
    pub(crate) redirects: Vec<Touch>,
    /// Why the list of commands may not be complete.
    pub(crate) opaque: Vec<String>,
    /// Commands are known, but something about their effects is not.
    pub(crate) unclear: Vec<String>,
    /// Why a redirection may open a file that is not known, if one may.
    pub(crate) opens: Option<String>,
    /// Parts that deserve a look.
    pub(crate) spans: Vec<AskSpan>,
}

/// One simple command.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    /// The command as written, then what each wrapper (`env`, `timeout`) runs, outermost
    /// first. Readings that are only possible come last.
    pub(crate) readings: Vec<Reading>,
    /// What the innermost command does.
    pub(crate) effect: Effect,
}

/// One way to read a command's words.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) words: Vec<Word>,
    /// Whether this is what runs for certain, with nothing around it that matters; only
    /// such a reading can be allowed.
    pub(crate) sure: bool,
}

/// Words to compare with a pattern.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<'a> {
    pub(crate) words: &'a [Word],
}

impl Form<'_> {
    /// The words as written, one space between.
    pub(crate) fn raw(&self) -> String {
        self.join(|word| &word.raw)
    }

    /// The words without their quotes, where they are fixed text.
    pub(crate) fn text(&self) -> String {
        self.join(|word| word.text.as_ref().unwrap_or(&word.raw))
    }

    fn join<'a>(&'a self, pick: impl Fn(&'a Word) -> &'a String) -> String {
        let parts: Vec<&str> = self.words.iter().map(|word| pick(word).as_str()).collect();
        parts.join(" ")
    }
}

/// What a command does to the machine.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub(crate) kind: Kind,
    /// For [`Kind::Other`]: why it is not known to only read.
    pub(crate) why: String,
    pub(crate) touches: Vec<Touch>,
    /// Files that make it one of unknown effect if they are there.
    pub(crate) unless: Vec<AbsPath>,
    /// Where the program lies, if its first word says so; a link may lead to another.
    pub(crate) programs: Vec<AbsPath>,
    /// Why it may run programs that its words do not name, if it may.
    pub(crate) runs: Option<String>,
    /// Why it may open files that its words do not name, if it may.
    pub(crate) opens: Option<String>,
}

impl Effect {
    /// Of a command that only reads.
    pub(crate) fn reads(touches: Vec<Touch>) -> Self {
        Self {
            kind: Kind::Read,
            why: String::new(),
            touches,
            unless: Vec::new(),
            programs: Vec::new(),
            runs: None,
            opens: None,
        }
    }

    /// Of a command that may do anything.
    pub(crate) fn other(why: impl Into<String>, touches: Vec<Touch>) -> Self {
        Self { kind: Kind::Other, why: why.into(), ..Self::reads(touches) }
    }
}

/// How much is known of a command's effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It only reads what its touches name.
    Read,
    /// One of `mkdir touch rm rmdir mv cp sed`; it changes only what its touches name.
    Files,
    /// Anything.
    Other,
}

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Names and sizes are looked at.
    Look,
    /// Its content is read.
    Read,
    /// Contents below it are read.
    Search,
    /// The folder in which git finds its repository, and runs what its configuration names.
    Repository,
    /// The same, and contents of files that the repository keeps are shown.
    History,
    /// It is created, changed or removed.
    Write,
    /// An argument of a program that is not modelled; only deny and ask rules care.
    Maybe,
}

/// One path that a command uses.
#[derive(Debug, Clone)]
pub(crate) struct Touch {
    pub(crate) how: How,
    /// The path; for a glob the folder before its first wildcard.
    pub(crate) path: AbsPath,
    /// The last component of a glob.
    pub(crate) last: Option<String>,
    /// The components of a glob from its first wildcard on; none of another path, nor of a
    /// glob with `..` in them.
    pub(crate) glob: Vec<String>,
    /// Whether links that are met below it are followed.
    pub(crate) follows: bool,
    /// Whether names below it are taken apart at blanks and quotes.
    pub(crate) worded: bool,
    /// Whether nothing that the glob matches may begin with a dash: it would be an option.
    pub(crate) dashless: bool,
    /// Where `..` follows a name: the path so far and the folder above it. If the first is a
    /// link, the kernel goes elsewhere than the text says.
    pub(crate) hops: Vec<(AbsPath, AbsPath)>,
}

impl Script {
    /// Every path that must be looked up to judge this script.
    pub(crate) fn each_path(&self, visit: &mut dyn FnMut(&AbsPath)) {
        for touch in self.touches() {
            visit(&touch.path);
            for (below, above) in &touch.hops {
                visit(below);
                visit(above);
            }
        }
        let effects = self.commands.iter().map(|command| &command.effect);
        effects.flat_map(|effect| effect.unless.iter().chain(&effect.programs)).for_each(visit);
    }

    /// Everything touched, by redirections and by commands.
    pub(crate) fn touches(&self) -> impl Iterator<Item = &Touch> {
        self.redirects.iter().chain(self.commands.iter().flat_map(|c| &c.effect.touches))
    }

    /// Whether it is understood and changes nothing.
    pub(crate) fn is_read_only(&self) -> bool {
        self.opaque.is_empty()
            && self.unclear.is_empty()
            && self.commands.iter().all(|command| command.effect.kind == Kind::Read)
            && self.touches().all(|touch| touch.how != How::Write)
    }
}

thread_local! {
    // One judgement takes the same script apart to know what to look up, and again to judge.
    static LAST: RefCell<Option<(String, AbsPath, AbsPath, Script)>> = const { RefCell::new(None) };
}

/// Takes a script apart. `cwd` is the folder it starts in, `home` what `~` stands for.
pub(crate) fn analyse(script: &str, cwd: &AbsPath, home: &AbsPath) -> Script {
    LAST.with_borrow_mut(|last| {
        if let Some((text, from, of, read)) = last
            && text == script
            && from == cwd
            && of == home
        {
            return read.clone();
        }
        let read = taken_apart(script, cwd, home);
        *last = Some((script.to_owned(), cwd.clone(), home.clone(), read.clone()));
        read
    })
}

fn taken_apart(script: &str, cwd: &AbsPath, home: &AbsPath) -> Script {
    if !limits::needs_room(script) {
        return analyse_here(script, cwd, home);
    }
    // The second parser descends with large frames; nested scripts get a stack of their own.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let read = thread.spawn_scoped(scope, || analyse_here(script, cwd, home));
        match read.map(|handle| handle.join()) {
            Ok(Ok(read)) => read,
            Ok(Err(_)) | Err(_) => {
                Script { opaque: vec!["the script could not be read".into()], ..Script::default() }
            }
        }
    })
}

/// Room for the deepest script that the limits let through, in an unoptimised build.
const STACK: usize = 64 << 20;

fn analyse_here(script: &str, cwd: &AbsPath, home: &AbsPath) -> Script {
    let walk = |known: values::Values| {
        let mut walker = walk::Walker::new(home, known);
        walker.script(script, &cwd::Cwds::one(cwd.clone()), None, 0);
        walker
    };
    let first = walk(values::Values::default());
    let mut read = if first.values().any_known() {
        walk(first.into_values().complete()).into_script()
    } else {
        first.into_script()
    };
    read.spans.extend(spans(script, &read));
    read.spans.sort_by_key(|span| (span.start, span.end));
    read.spans.dedup();
    read
}

/// The simple commands of a script as lists of words, quotes removed where a word is fixed
/// text. Nothing if the script is not fully understood.
#[must_use]
pub fn shell_words(script: &str) -> Option<Vec<Vec<String>>> {
    let root = AbsPath::root();
    let script = analyse(script, &root, &root);
    if !script.opaque.is_empty() {
        return None;
    }
    let words = |command: &Command| {
        let words = command.readings.first().map_or(&[][..], |reading| &reading.words);
        words.iter().map(|word| word.text.clone().unwrap_or_else(|| word.raw.clone())).collect()
    };
    Some(script.commands.iter().map(words).collect())
}
