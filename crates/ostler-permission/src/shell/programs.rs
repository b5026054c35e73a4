//! Programs that only read, each with the options for which that is true.
//!
//! A row is a promise: with these options, whatever the arguments, the program changes
//! nothing and runs nothing. See `flags` for how options are written.

use super::word::Word;

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
    /// A pattern, then files.
    Pattern,
    /// A program in a language without effects, then files.
    Filter,
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) options: &'static str,
    pub(super) args: Args,
    /// Whether no option of it does harm, so that a file called `-x` may be an argument.
    pub(super) tame: bool,
}

const fn row(name: &'static str, args: Args, tame: bool, options: &'static str) -> Program {
    Program { name, options, args, tame }
}

const GREP: &str = "-n -i -l -L -c -w -x -h -H -E -F -P -G -v -o -q -s -r -R -a -I -z -Z -b -T -U -e: -f< -A: -B: -C: -m: -# -y -D: --color? --colour? --include: --exclude: --exclude-dir: --exclude-from< --line-number --ignore-case --no-ignore-case --files-with-matches --files-without-match --count --word-regexp --line-regexp --no-filename --with-filename --extended-regexp --fixed-strings --perl-regexp --basic-regexp --invert-match --only-matching --quiet --silent --no-messages --recursive --dereference-recursive --text --binary-files: --null --null-data --byte-offset --initial-tab --regexp: --file< --after-context: --before-context: --context: --max-count: --label: --line-buffered --version --help";
const HASH: &str = "-b -t -c --check --binary --text --tag -z --zero --quiet --status --strict -w --warn --ignore-missing -a: --algorithm:";

const ROWS: &[Program] = &[
    row("echo", Args::Anything, true, ""),
    row("true", Args::Anything, true, ""),
    row("false", Args::Anything, true, ""),
    row(":", Args::Anything, true, ""),
    row("exit", Args::Anything, true, ""),
    row("return", Args::Anything, true, ""),
    row("break", Args::Anything, true, ""),
    row("continue", Args::Anything, true, ""),
    row("shift", Args::Anything, true, ""),
    row("basename", Args::Anything, true, ""),
    row("dirname", Args::Anything, true, ""),
    row("which", Args::Anything, true, ""),
    row("type", Args::Anything, true, ""),
    row("seq", Args::Anything, true, ""),
    row("sleep", Args::Anything, true, ""),
    row("wait", Args::Nothing, true, ""),
    row("pwd", Args::Nothing, true, "-L -P"),
    row("whoami", Args::Nothing, true, ""),
    row("id", Args::Data, true, "-u -g -n -G -r -un -gn --user --group --name --groups"),
    row("groups", Args::Nothing, true, ""),
    row("hostname", Args::Nothing, true, "-f -s -i -I"),
    row("uname", Args::Nothing, true, "-a -s -n -r -v -m -p -i -o --all"),
    row("arch", Args::Nothing, true, ""),
    row("nproc", Args::Nothing, true, "--all"),
    row("uptime", Args::Nothing, true, "-p -s"),
    row("free", Args::Nothing, true, "-h -m -g -k -b -t --human"),
    row("tty", Args::Nothing, true, "-s"),
    row("env", Args::Nothing, true, ""),
    row("printenv", Args::Data, true, "-0 --null"),
    row("locale", Args::Nothing, true, "-a"),
    row(
        "ps",
        Args::Letters,
        true,
        "-e -f -a -u: -x -A -o: -p: -l -w -ef -aux --sort: --no-headers --forest",
    ),
    row(
        "date",
        Args::Plus,
        false,
        "-u -R -I? -Iseconds -Idate -d: --date: --utc --rfc-3339: --iso-8601? -r<",
    ),
    row(
        "ls",
        Args::Look { here: true },
        true,
        "-l -a -A -h -1 -R -r -t -S -s -d -i -n -o -g -F -p -G -c -u -U -C -x -m -Q -b -L -H -k -v -X -Z -N -q -f -B -w: -I: -T: --all --almost-all --human-readable --recursive --reverse --size --directory --color? --time? --sort: --full-time --group-directories-first --classify? --inode --numeric-uid-gid --ignore: --hide: --time-style: --si --no-group --indicator-style: --format: --width: --zero --block-size: --file-type --help --version",
    ),
    row(
        "tree",
        Args::Look { here: true },
        false,
        "-L: -a -d -f -i -I: -P: -s -h -D -C -n -F -p -u -g -r -t --dirsfirst --gitignore --noreport --prune --du -J -X -l --filelimit: --charset: --sort: --matchdirs",
    ),
    row(
        "stat",
        Args::Look { here: false },
        true,
        "-c: -f -L -t -x -s --format: --printf: --dereference --file-system --terse",
    ),
    row(
        "file",
        Args::Look { here: false },
        false,
        "-b -i -L -h -k -z -s --brief --mime --mime-type --mime-encoding --dereference -I --extension",
    ),
    row(
        "du",
        Args::Look { here: true },
        true,
        "-s -h -a -c -d: -k -m -b -x -L -0 -S --max-depth: --summarize --human-readable --all --total --apparent-size --exclude: --bytes --si --time? --block-size: --one-file-system",
    ),
    row(
        "df",
        Args::Look { here: false },
        true,
        "-h -T -i -k -m -a -l -P -t: -x: --human-readable --print-type --inodes --total --output?",
    ),
    row(
        "realpath",
        Args::Look { here: false },
        true,
        "-e -m -s -q -z -L -P --relative-to: --relative-base: --canonicalize-existing --canonicalize-missing --no-symlinks",
    ),
    row("readlink", Args::Look { here: false }, true, "-f -e -m -n -q -v -z --canonicalize"),
    row(
        "cat",
        Args::Read,
        true,
        "-n -b -s -A -E -T -v -e -t -u --number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs",
    ),
    row("tac", Args::Read, true, "-b -r -s: --separator:"),
    row("nl", Args::Read, true, "-b: -n: -s: -v: -w: -i: -f: -h: -ba"),
    row("rev", Args::Read, true, ""),
    row(
        "head",
        Args::Read,
        true,
        "-n: -c: -q -v -z -# --lines: --bytes: --quiet --silent --verbose",
    ),
    row(
        "tail",
        Args::Read,
        true,
        "-n: -c: -q -v -f -F -s: -z -r -# --lines: --bytes: --quiet --silent --verbose --follow? --pid: --retry",
    ),
    row("wc", Args::Read, true, "-l -w -c -m -L --lines --words --bytes --chars --max-line-length"),
    row(
        "cut",
        Args::Read,
        true,
        "-d: -f: -c: -b: -s -n -z --delimiter: --fields: --characters: --bytes: --complement --only-delimited --output-delimiter:",
    ),
    row("paste", Args::Read, true, "-d: -s -z --delimiters: --serial"),
    row("fold", Args::Read, true, "-w: -s -b --width: --spaces"),
    row("fmt", Args::Read, true, "-w: -s -u"),
    row("column", Args::Read, true, "-t -s: -c: -n -x -o: --table --separator:"),
    row("expand", Args::Read, true, "-t: -i"),
    row(
        "diff",
        Args::Read,
        true,
        "-u -U: -c -C: -r -N -q -s -w -b -B -i -y -W: -a -e -E -Z -t -d -p -x: -# --unified? --context? --recursive --new-file --brief --side-by-side --suppress-common-lines --color? --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --exclude: --strip-trailing-cr --text --minimal --label: -I: --width: --report-identical-files --no-dereference",
    ),
    row("cmp", Args::Read, true, "-s -l -b -n: -i: --silent --quiet --bytes:"),
    row(
        "comm",
        Args::Read,
        true,
        "-1 -2 -3 -z --nocheck-order --check-order --total --output-delimiter:",
    ),
    row("join", Args::Read, true, "-1: -2: -t: -a: -o: -e: -v: -i -j:"),
    row("od", Args::Read, true, "-A: -t: -N: -j: -w? -v -c -x -b -d -a -An"),
    row("hexdump", Args::Read, true, "-C -n: -s: -v -c -x"),
    row("xxd", Args::ReadOne, false, "-l: -s: -c: -g: -p -b -u -e -i"),
    row("strings", Args::ReadNotAt, false, "-n: -a -t: -e: -f"),
    row("md5sum", Args::Read, true, HASH),
    row("sha1sum", Args::Read, true, HASH),
    row("sha256sum", Args::Read, true, HASH),
    row("sha512sum", Args::Read, true, HASH),
    row("shasum", Args::Read, true, HASH),
    row("cksum", Args::Read, true, HASH),
    row("base64", Args::Read, true, "-d -D -w: -i --decode --wrap: --ignore-garbage"),
    row(
        "sort",
        Args::Read,
        false,
        "-n -r -u -k: -t: -f -h -V -b -d -g -i -M -s -z -c -C -m -R --numeric-sort --reverse --unique --key: --field-separator: --human-numeric-sort --version-sort --ignore-case --stable --check? --general-numeric-sort --zero-terminated --month-sort",
    ),
    row(
        "uniq",
        Args::ReadOne,
        false,
        "-c -d -u -i -D -f: -s: -w: -z --count --repeated --unique --ignore-case --skip-fields: --skip-chars: --check-chars:",
    ),
    row("tr", Args::Data, true, "-d -s -c -C -t --delete --squeeze-repeats --complement"),
    row("grep", Args::Pattern, true, GREP),
    row("egrep", Args::Pattern, true, GREP),
    row("fgrep", Args::Pattern, true, GREP),
    row(
        "rg",
        Args::Pattern,
        false,
        "-n -N -i -S -s -l -c -w -x -H -I -F -P -v -o -q -u -uu -uuu -a -U -0 -p -L -. -e: -f< -g: -t: -T: -A: -B: -C: -m: -M: -d: -j: -r: -E: --line-number --no-line-number --ignore-case --smart-case --case-sensitive --files-with-matches --files-without-match --count --count-matches --word-regexp --line-regexp --with-filename --no-filename --fixed-strings --pcre2 --invert-match --only-matching --quiet --text --multiline --multiline-dotall --null --pretty --follow --hidden --no-ignore --no-ignore-vcs --no-ignore-parent --no-heading --heading --files --type-list --glob: --iglob: --type: --type-not: --type-add: --regexp: --file< --after-context: --before-context: --context: --max-count: --max-columns: --max-depth: --max-filesize: --threads: --replace: --color: --colors: --sort: --sortr: --stats --json --vimgrep --column --no-column --trim --crlf --no-messages --passthru --no-config --encoding: --glob-case-insensitive --unrestricted --one-file-system --context-separator: --version --help -h -V",
    ),
    row(
        "jq",
        Args::Filter,
        false,
        "-r -c -e -s -S -n -M -C -j -a -R --raw-output --compact-output --exit-status --slurp --sort-keys --null-input --monochrome-output --color-output --join-output --raw-input --tab --indent: --unbuffered --seq --stream",
    ),
];

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

/// The row of a program.
pub(super) fn find(name: &str) -> Option<&'static Program> {
    ROWS.iter().find(|row| row.name == name)
}

/// Programs that, asked for their version, do nothing else; not those that first run or fetch
/// what a file of the project names (`yarn`, `cargo`, `rustup`, `go`).
const VERSIONED: &[&str] = &[
    "node", "npm", "python", "python3", "pip", "pip3", "java", "javac", "gcc", "g++", "clang",
    "make", "cmake", "docker", "deno", "bun", "ruby", "php", "perl", "lua", "gh", "curl", "wget",
    "psql", "sqlite3", "ffmpeg", "tar", "zip", "unzip", "jq", "rg", "fd", "sed", "awk", "bash",
    "zsh", "sh",
];

/// Whether a call only asks for the version.
pub(super) fn tells_version(name: &str, args: &[Word]) -> bool {
    let [arg] = args else { return false };
    VERSIONED.contains(&name) && arg.is("--version")
}
