//! Listings: commands that print names of files, one a line, each below a folder that they
//! were given. What reads such names reads files below those folders and no others.
//!
//! A name with blanks or quotes in it may be taken apart by whoever reads it; whether there
//! are such names is for the facts to say.

use super::{
    flags::{self, Arg},
    word::Word,
};

/// What a listing prints: paths that begin with one of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listing {
    /// Files or folders as spelled, and whether each is a pattern.
    pub(crate) roots: Vec<(String, bool)>,
}

impl Listing {
    fn here() -> Self {
        Self { roots: vec![(".".to_owned(), false)] }
    }

    fn below<'w>(words: impl Iterator<Item = &'w Word>) -> Option<Self> {
        let mut roots = Vec::new();
        for word in words {
            let (path, wild) = match (&word.text, &word.wild) {
                (Some(text), _) => (text, false),
                (None, Some(wild)) => (wild, true),
                (None, None) => return None,
            };
            if path.is_empty() || path.starts_with(['-', '*', '?', '[']) || !is_one_word(path) {
                return None;
            }
            roots.push((path.clone(), wild));
        }
        Some(Self { roots })
    }
}

/// Whether a name stays one word wherever a shell or `xargs` reads it, and is no option.
#[must_use]
pub fn is_one_word(name: &str) -> bool {
    !name.starts_with('-')
        && !name.contains(|c: char| c.is_whitespace() || c.is_control() || "'\"\\".contains(c))
}

/// What a command prints, if that is a listing.
pub(super) fn of(words: &[Word]) -> Option<Listing> {
    let (name, args) = words.split_first()?;
    match name.text.as_deref()? {
        "find" => find(args),
        "git" => git(args),
        "grep" => grep(args),
        "rg" => rg(args),
        "ls" => args.iter().all(|word| word.is("-1")).then(Listing::here),
        _ => None,
    }
}

fn find(args: &[Word]) -> Option<Listing> {
    const OTHER_OUTPUT: &[&str] = &["-printf", "-ls", "-exec", "-execdir", "-ok", "-okdir"];
    let says = |word: &Word, what: &[&str]| word.text.as_deref().is_some_and(|t| what.contains(&t));
    let plain = |word: &Word| {
        !says(word, OTHER_OUTPUT)
            && word.text.as_deref().is_none_or(|text| !text.starts_with("-fprint"))
    };
    if !args.iter().all(plain) {
        return None;
    }
    find_roots(args)
}

/// The folders in which `find` begins.
pub(super) fn find_roots(args: &[Word]) -> Option<Listing> {
    let expression = |word: &Word| {
        word.text.as_deref().is_some_and(|t| t.starts_with('-') || matches!(t, "!" | "(" | ","))
    };
    let args =
        &args[args.iter().take_while(|word| ["-H", "-P"].iter().any(|o| word.is(o))).count()..];
    let end = args.iter().position(expression).unwrap_or(args.len());
    match &args[..end] {
        [] => Some(Listing::here()),
        roots => Listing::below(roots.iter()),
    }
}

/// `git ls-files` prints names below the folder that it runs in.
fn git(args: &[Word]) -> Option<Listing> {
    let (first, rest) = args.split_first()?;
    let options = "-c -d -m -o -z --cached --deleted --modified --others --exclude-standard";
    let args = first.is("ls-files").then(|| flags::all(options, rest))??;
    let inside = |arg: &Arg<'_>| match arg {
        Arg::Flag { .. } => true,
        Arg::Plain(word) => word
            .text
            .as_deref()
            .or(word.wild.as_deref())
            .is_some_and(|path| !path.contains("..") && !path.starts_with([':', '/'])),
    };
    args.iter().all(inside).then(Listing::here)
}

/// The files with a match.
fn grep(args: &[Word]) -> Option<Listing> {
    let options = "-r -R -l -L -i -E -F -w -x -v -s -Z -I --include: --exclude: --exclude-dir: -e:";
    let args = flags::all(options, args)?;
    let has = |names: &[&str]| {
        args.iter().any(|arg| matches!(arg, Arg::Flag { name, .. } if names.contains(name)))
    };
    if !has(&["-l", "-L"]) {
        return None;
    }
    let plain = args.iter().filter_map(|arg| match arg {
        Arg::Plain(word) => Some(*word),
        Arg::Flag { .. } => None,
    });
    let files: Vec<&Word> = plain.skip(usize::from(!has(&["-e"]))).collect();
    match files.is_empty() {
        true if has(&["-r", "-R"]) => Some(Listing::here()),
        true => None,
        false => Listing::below(files.into_iter()),
    }
}

fn rg(args: &[Word]) -> Option<Listing> {
    let options =
        "-l -i -F -w -s -S -0 --files --files-with-matches --hidden -g: --glob: -t: --type: -e:";
    let args = flags::all(options, args)?;
    let has = |names: &[&str]| {
        args.iter().any(|arg| matches!(arg, Arg::Flag { name, .. } if names.contains(name)))
    };
    let files = has(&["--files"]);
    if !files && !has(&["-l", "--files-with-matches"]) {
        return None;
    }
    let plain = args.iter().filter_map(|arg| match arg {
        Arg::Plain(word) => Some(*word),
        Arg::Flag { .. } => None,
    });
    let roots: Vec<&Word> = plain.skip(usize::from(!files && !has(&["-e"]))).collect();
    if roots.is_empty() { Some(Listing::here()) } else { Listing::below(roots.into_iter()) }
}

/// Filters that print whole lines of what they read, with the options for which that is so,
/// and how many arguments follow these.
const FILTERS: &[(&str, &str, usize)] = &[
    ("grep", "-v -i -E -F -w -x -e: -P -m:", 1),
    ("egrep", "-v -i -w -x", 1),
    ("fgrep", "-v -i -w -x", 1),
    ("head", "-n: -#", 0),
    ("tail", "-n: -#", 0),
    ("sort", "-u -n -r -f -V -z", 0),
    ("uniq", "-u -d", 0),
    ("cat", "", 0),
    ("shuf", "-n:", 0),
];

/// Whether a command passes on some lines of its input as they are.
pub(super) fn is_kept_by(words: &[Word]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    let row = FILTERS.iter().find(|(program, ..)| name.is(program));
    let Some((_, options, most)) = row else { return false };
    flags::all(options, rest).is_some_and(|args| {
        let plain = args.iter().filter(|arg| matches!(arg, Arg::Plain(_))).count();
        // With a pattern in an option, the first argument is a file that is read instead.
        let given = args.iter().any(|arg| matches!(arg, Arg::Flag { name: "-e", .. }));
        plain <= if given { 0 } else { *most }
    })
}
