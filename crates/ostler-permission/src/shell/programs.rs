//! Programs that only read, each with the options for which that is true.
//!
//! A row is a promise: with these options, whatever the arguments, the program changes
//! nothing and runs nothing. See `flags` for how options are written.

mod archives;
mod languages;
mod system;
mod text;
mod versions;

use super::word::Word;

pub(super) use versions::tells_version;

/// What a program's plain arguments are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Args {
    /// Data, and options cannot do harm either.
    Anything,
    /// Data.
    Data,
    /// Formats that begin with `+`; anything else would set something.
    Plus,
    /// Bundles of letters without a dash, none of which shows the environment.
    Letters,
    /// There are none.
    Nothing,
    /// Paths whose names and sizes are shown; `here`: the folder itself if none is given.
    Look { here: bool },
    /// Files that are read.
    Read,
    /// One file that is read; a second would be written.
    ReadOne,
    /// Files that are read; `@file` would be a list of further arguments.
    ReadNotAt,
    /// Files that are read; `+text` would be a command.
    ReadNotPlus,
    /// Files and folders below which contents are read.
    Search,
    /// A pattern, then files.
    Pattern,
    /// A pattern, then folders whose names are shown.
    Walk,
    /// A program in a language without effects, then files.
    Filter,
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    /// The program, then the sub-commands that the row is about.
    pub(super) name: &'static str,
    pub(super) options: &'static str,
    pub(super) args: Args,
    /// Whether no option of it does harm, so that a file called `-x` may be an argument.
    pub(super) tame: bool,
    /// Options one of which must be there; none if there are none.
    pub(super) needs: &'static [&'static str],
}

const fn row(name: &'static str, args: Args, tame: bool, options: &'static str) -> Program {
    Program { name, options, args, tame, needs: &[] }
}

/// A row of a program that changes something without one of these options.
const fn needing(
    needs: &'static [&'static str],
    name: &'static str,
    args: Args,
    options: &'static str,
) -> Program {
    Program { name, options, args, tame: false, needs }
}

/// The rows, by what the programs are for.
const TABLES: &[&[Program]] = &[text::ROWS, system::ROWS, languages::ROWS, archives::ROWS];

/// The row of a call and how many of its arguments name it: that with the most sub-commands.
pub(super) fn find(name: &str, args: &[Word]) -> Option<(&'static Program, usize)> {
    let fits = |row: &'static Program| {
        let mut names = row.name.split(' ');
        if names.next() != Some(name) {
            return None;
        }
        let mut used = 0;
        for part in names {
            if !args.get(used)?.is(part) {
                return None;
            }
            used += 1;
        }
        Some((row, used))
    };
    TABLES.iter().copied().flatten().filter_map(fits).max_by_key(|(_, used)| *used)
}

/// Programs that follow the links they meet while they walk folders, with an option of each
/// list; an empty list needs none.
const FOLLOWERS: &[(&str, &[&str], &[&str])] = &[
    ("grep", &["-R", "--dereference-recursive"], &[]),
    ("egrep", &["-R", "--dereference-recursive"], &[]),
    ("fgrep", &["-R", "--dereference-recursive"], &[]),
    ("rg", &["-L", "--follow"], &[]),
    ("tree", &["-l"], &[]),
    ("ls", &["-R", "--recursive"], &["-L"]),
    ("du", &["-L"], &[]),
    ("find", &["-L", "-follow"], &[]),
    ("cp", &["-L"], &["-r", "-R", "-a", "--recursive", "--archive"]),
    ("diff", &["-r", "--recursive"], &[]),
];

/// Whether a program with these options follows links below its arguments.
pub(super) fn follows(name: &str, options: &[&str]) -> bool {
    let one = |of: &[&str]| of.is_empty() || options.iter().any(|option| of.contains(option));
    FOLLOWERS.iter().any(|(program, a, b)| *program == name && one(a) && one(b))
        && !(name == "diff" && options.contains(&"--no-dereference"))
}

/// Programs that first look, in the folder and in those above it, for a file that may name
/// another program to run in their place, and the names of such files.
const SWITCHED: &[(&[&str], &[&str])] = &[
    (&["rustc", "rustdoc", "rustfmt", "rustup"], &["rust-toolchain", "rust-toolchain.toml"]),
    (&["cargo"], &["rust-toolchain", "rust-toolchain.toml", ".cargo/config", ".cargo/config.toml"]),
    (&["go"], &["go.mod", "go.work"]),
    (&["bundle"], &["Gemfile.lock", "gems.locked", ".bundle"]),
    (&["ansible"], &["ansible.cfg"]),
    (&["elixir"], &[".erlang"]),
];

/// Files that must not be there for a row of this program to hold.
pub(super) fn switched_by(name: &str) -> &'static [&'static str] {
    let row = SWITCHED.iter().find(|(programs, _)| programs.contains(&name));
    row.map_or(&[], |(_, files)| files)
}
