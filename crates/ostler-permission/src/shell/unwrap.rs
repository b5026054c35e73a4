//! Programs that run another program, and where in their arguments it stands.
//!
//! A wrapper whose options are not understood hides what it runs, so it is never guessed at
//! for an allow rule; for deny rules every suffix of its words is offered as a reading.

use std::sync::Arc;

use super::{
    flags::{self, Arg},
    listing::Listing,
    values::Choice,
    word::Word,
};
use crate::rules::base_name;

/// What a command runs in turn.
pub(super) enum Inner {
    /// Nothing: it is the innermost.
    None,
    /// Another command.
    Command {
        words: Vec<Word>,
        /// Whether the wrapper leaves the command what it is.
        harmless: bool,
        /// What the wrapper changes about it.
        note: Option<String>,
    },
    /// A script, given as one fixed word.
    Script {
        text: String,
        span: Option<(usize, usize)>,
        /// Whether running the script is all it does.
        transparent: bool,
    },
    /// Something, and it cannot be said what.
    Unknown(String),
}

/// A wrapper: its options (see [`flags`]), how many arguments of its own follow them.
struct Wrapper {
    name: &'static str,
    options: &'static str,
    own: usize,
    harmless: bool,
}

const fn wrapper(name: &'static str, options: &'static str, own: usize, harmless: bool) -> Wrapper {
    Wrapper { name, options, own, harmless }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("nohup", "", 0, true),
    wrapper("nice", "-n: --adjustment: -#", 0, true),
    wrapper("time", "-p", 0, true),
    wrapper(
        "timeout",
        "-k: --kill-after: -s: --signal: --preserve-status --foreground -v",
        1,
        true,
    ),
    wrapper("stdbuf", "-i: -o: -e: --input: --output: --error:", 0, true),
    wrapper("ionice", "-c: -n: -t", 0, true),
    wrapper("setsid", "-w --wait -c -f --fork", 0, true),
    wrapper("chronic", "", 0, true),
    wrapper("command", "-p", 0, true),
    wrapper("builtin", "", 0, true),
    wrapper(
        "xargs",
        "-0 --null -r --no-run-if-empty -t -n: -L: -P: -d: -I: -s: --max-args: --max-procs: --delimiter:",
        0,
        true,
    ),
    wrapper("env", "-i --ignore-environment -u: --unset:", 0, true),
    wrapper("busybox", "", 0, false),
    wrapper("toybox", "", 0, false),
    wrapper("sudo", "-n -E -H -S -k -u: -g: --user: --group: --non-interactive", 0, false),
    wrapper("doas", "-n -u:", 0, false),
    wrapper("exec", "-c -l -a:", 0, false),
    wrapper("watch", "-n: -d -t -x -b -e -g -c --interval:", 0, false),
    wrapper("flock", "-n -x -s -w: --timeout: --nonblock", 1, false),
    wrapper("strace", "-f -e: -o: -p: -s: -c", 0, false),
    wrapper("chroot", "--userspec:", 1, false),
    wrapper("unshare", "-r -m -n -p -f -U --map-root-user --mount --net --pid --fork", 0, false),
    wrapper("unbuffer", "", 0, false),
    wrapper("taskset", "-c", 1, false),
    wrapper("chrt", "-f -r -b -i -o", 1, false),
    wrapper("parallel", "-j: --jobs: -k --keep-order", 0, false),
    wrapper("coproc", "", 0, false),
];

/// Shells that take a script after `-c`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish"];

/// What a command runs; `stdin` is the listing that it reads.
pub(super) fn unwrap(words: &[Word], stdin: Option<&Arc<Listing>>) -> Inner {
    let Some(name) = words.first().and_then(|word| word.text.as_deref()) else {
        return Inner::None;
    };
    let name = base_name(name);
    if SHELLS.contains(&name) {
        return shell(words);
    }
    match name {
        "eval" => return joined_script(&words[1..]),
        "trap" if words.len() > 1 => return first_script(&words[1..2]),
        // `command -v` looks a program up, `env` alone lists the environment.
        "command" if words.get(1).is_some_and(|word| word.is("-v") || word.is("-V")) => {
            return Inner::None;
        }
        "env" if words.len() == 1 => return Inner::None,
        _ => {}
    }
    let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else {
        return Inner::None;
    };
    wrapped(wrapper, words, stdin)
}

fn wrapped(wrapper: &Wrapper, words: &[Word], stdin: Option<&Arc<Listing>>) -> Inner {
    let name = wrapper.name;
    let Some((args, rest)) = flags::leading(wrapper.options, &words[1..]) else {
        return Inner::Unknown(format!("the options of `{name}` are not understood"));
    };
    let mut at = 1 + rest + wrapper.own;
    let mut note = match name {
        "sudo" | "doas" => Some(format!("`{name}` runs it as another user")),
        "exec" => Some("`exec` replaces the shell".to_owned()),
        _ if !wrapper.harmless => Some(format!("what `{name}` changes is not understood")),
        _ => None,
    };
    if name == "env" || name == "sudo" || name == "doas" {
        while let Some(text) = words.get(at).and_then(|word| word.text.as_deref()) {
            let Some((set, value)) = text.split_once('=') else { break };
            let plain = super::effect::is_plain_locale(set, Some(value));
            if !plain && !super::effect::is_harmless_name(set) {
                note = Some(format!("setting `{set}` may change what a program does"));
            }
            at += 1;
        }
    }
    let own = words.get(1 + rest..at.min(words.len())).unwrap_or(&[]);
    if own.iter().any(|word| word.text.is_none()) {
        return Inner::Unknown(format!("the arguments of `{name}` are not fixed text"));
    }
    let mut inner = words.get(at..).unwrap_or(&[]).to_vec();
    if inner.is_empty() {
        return match name {
            "xargs" | "time" | "exec" | "builtin" | "command" => Inner::None,
            _ => Inner::Unknown(format!("`{name}` runs nothing that is known")),
        };
    }
    if name == "xargs" || name == "parallel" {
        let listed =
            stdin.filter(|_| name == "xargs").map(|listing| Choice::Listed(Arc::clone(listing)));
        let name_of =
            |raw: &str| Word { choices: listed.iter().cloned().collect(), ..Word::unknown(raw) };
        let replaced = args.iter().find_map(|arg| match arg {
            Arg::Flag { name: "-I", value, .. } => Some(value.unwrap_or("{}")),
            _ => None,
        });
        match replaced {
            // The placeholder may stand in any word.
            Some(place) => {
                for word in &mut inner[1..] {
                    let is_place = word.is(place);
                    let raw = word.raw.clone();
                    *word = if is_place { name_of(&raw) } else { replaced_in(word, place) };
                }
            }
            None => inner.push(name_of("(from standard input)")),
        }
    }
    if inner[0].text.is_none() {
        return Inner::Unknown(format!("what `{name}` runs is not fixed text"));
    }
    Inner::Command { words: inner, harmless: wrapper.harmless && note.is_none(), note }
}

/// A word in which a placeholder may stand.
fn replaced_in(word: &Word, place: &str) -> Word {
    match word.text.as_deref() {
        Some(text) if !text.contains(place) => word.clone(),
        _ => Word { choices: Vec::new(), ..Word::unknown(&word.raw) },
    }
}

fn shell(words: &[Word]) -> Inner {
    let mut script = None;
    for (at, word) in words.iter().enumerate().skip(1) {
        let Some(text) = word.text.as_deref() else {
            return Inner::Unknown("the arguments of a shell are not fixed text".into());
        };
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            break;
        };
        if !letters.chars().all(|c| "celux".contains(c)) {
            return match text {
                "--version" | "--help" => Inner::None,
                _ => Inner::Unknown("the options of a shell are not understood".into()),
            };
        }
        if letters.contains('c') {
            script = Some(at + 1);
            break;
        }
    }
    let name = words[0].text.as_deref().map_or("", base_name);
    match script.and_then(|at| words.get(at)) {
        Some(word) => match &word.text {
            // The script is read as bash reads it.
            Some(text) if name != "bash" && !is_read_alike(name, text) => {
                Inner::Unknown(format!("`{name}` may read its script in another way than bash"))
            }
            Some(text) => Inner::Script { text: text.clone(), span: word.span, transparent: true },
            None => Inner::Unknown("the script of a shell is not fixed text".into()),
        },
        None => Inner::Unknown("a shell runs a script that is not shown".into()),
    }
}

/// Whether a script means to this shell what it means to bash.
fn is_read_alike(shell: &str, script: &str) -> bool {
    const MARKS: &[&str] = &[
        "[[ ", "[[\t", "[[\n", "((", "$'", "$\"", "&>", "|&", "<<<", "<(", ">(", "=(", ";&", "^^",
        ",,",
    ];
    const WORDS: &[&str] = &[
        "builtin",
        "caller",
        "compgen",
        "complete",
        "coproc",
        "declare",
        "dirs",
        "disown",
        "enable",
        "function",
        "help",
        "history",
        "let",
        "local",
        "logout",
        "mapfile",
        "popd",
        "pushd",
        "readarray",
        "select",
        "shopt",
        "source",
        "suspend",
        "typeset",
    ];
    let part = |c: char| !(c.is_alphanumeric() || "_-./=".contains(c));
    matches!(shell, "sh" | "dash" | "ash")
        && !MARKS.iter().any(|mark| {
            // `$((` counts in every shell.
            script.match_indices(mark).any(|(at, _)| *mark != "((" || !script[..at].ends_with('$'))
        })
        && !script.split(part).any(|word| WORDS.contains(&word))
}

fn joined_script(words: &[Word]) -> Inner {
    let texts: Option<Vec<&str>> = words.iter().map(|word| word.text.as_deref()).collect();
    match texts {
        Some(texts) => Inner::Script {
            text: texts.join(" "),
            span: words.first().and_then(|word| word.span),
            transparent: false,
        },
        None => Inner::Unknown("the script of `eval` is not fixed text".into()),
    }
}

fn first_script(words: &[Word]) -> Inner {
    match joined_script(words) {
        Inner::Unknown(_) => Inner::Unknown("the script of `trap` is not fixed text".into()),
        inner => inner,
    }
}

/// Programs whose words after the first are subcommands, never programs.
const SUBCOMMANDS: &[&str] = &[
    "git",
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "pip",
    "pip3",
    "go",
    "docker",
    "podman",
    "kubectl",
    "make",
    "apt",
    "apt-get",
    "brew",
    "gh",
    "systemctl",
    "rustup",
    "dotnet",
    "echo",
    "printf",
    "grep",
    "rg",
    "egrep",
    "fgrep",
    "ls",
    "cat",
    "sed",
    "awk",
    "jq",
    "test",
    "[",
    "cp",
    "mv",
    "rm",
    "mkdir",
    "touch",
    "rmdir",
    "chmod",
    "chown",
    "ln",
    "head",
    "tail",
    "wc",
    "sort",
    "cd",
    "which",
    "type",
    "command",
    "kill",
    "export",
    "read",
    "set",
    "tee",
    "tar",
    "curl",
    "wget",
    "basename",
    "dirname",
    "stat",
    "file",
    "diff",
    "tr",
    "cut",
    "uniq",
    "du",
    "df",
    "date",
    "sleep",
    "exit",
    "true",
    "false",
    "pwd",
    "man",
    "help",
    "unset",
    "local",
    "declare",
    "return",
    "pkill",
    "code",
];

/// Further readings for deny and ask rules: options before a subcommand left out, programs
/// run by `find`, and commands in the arguments of a program that is not known.
pub(super) fn hidden(words: &[Word]) -> Vec<Vec<Word>> {
    let Some(name) = words.first().and_then(|word| word.text.as_deref()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    match base_name(name) {
        "git" => {
            // With an option that is not understood, any later word may be the subcommand.
            let starts = match flags::leading(super::git::GLOBAL, &words[1..]) {
                Some((_, 0)) => 0..0,
                Some((_, rest)) => 1 + rest..2 + rest,
                None => 1..words.len().min(24),
            };
            for start in starts {
                let mut short = vec![words[0].clone()];
                short.extend_from_slice(&words[start..]);
                found.push(short);
            }
        }
        "find" | "fd" | "fdfind" => {
            let runs = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
            for (at, _) in words.iter().enumerate().filter(|(_, w)| runs.iter().any(|r| w.is(r))) {
                found.push(words[at + 1..].to_vec());
            }
        }
        name if SUBCOMMANDS.contains(&name) && !runs_others(name, words) => {}
        _ => {
            // Of a very long command only the beginning: the readings grow with its square.
            let most = if words.len() <= 256 { words.len() } else { 24 };
            for at in 1..most {
                let text = words[at].text.as_deref();
                if text.is_some_and(|text| !text.starts_with('-')) {
                    found.push(words[at..].to_vec());
                    // `ssh host 'rm x'`: one word that is a command.
                    if text.is_some_and(|text| text.contains(' ')) {
                        found.push(
                            text.into_iter()
                                .flat_map(str::split_whitespace)
                                .map(|part| Word::fixed(part, part))
                                .collect(),
                        );
                    }
                }
            }
        }
    }
    found.retain(|words| !words.is_empty());
    found
}

/// Whether a sub-command runs the program that follows it.
fn runs_others(name: &str, words: &[Word]) -> bool {
    let verbs: &[&str] = match name {
        "npm" | "pnpm" | "yarn" => &["exec", "x", "dlx"],
        "rustup" => &["run"],
        "docker" | "podman" | "kubectl" => &["exec", "run"],
        _ => &[],
    };
    let plain = |word: &&Word| word.text.as_deref().is_none_or(|text| !text.starts_with('-'));
    words.iter().skip(1).find(plain).is_some_and(|word| verbs.iter().any(|verb| word.is(verb)))
}

/// The commands of scripts that stand in arguments of a command, for deny and ask rules.
pub(super) fn scripted(words: &[Word]) -> Vec<Vec<Word>> {
    let scripts = super::code::scripts(words);
    let commands = scripts.iter().flat_map(|script| simple_commands(script));
    commands.filter(|words| !words.is_empty()).collect()
}

/// The commands of a script, roughly: words between blanks, commands between separators.
fn simple_commands(script: &str) -> impl Iterator<Item = Vec<Word>> + '_ {
    script.split([';', '|', '&', '\n', '(', ')', '{', '}', '`']).map(|command| {
        command
            .split_whitespace()
            .map(|word| Word::fixed(word, word.trim_matches(['\'', '"', '\\'])))
            .collect()
    })
}
