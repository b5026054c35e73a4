//! Everyday lines that somebody tampered with: a harmful part put in at a random place, a path
//! that leads out, a variable set before it, other quotes, two lines run into one.

use super::product::HARMFUL;
use crate::everyday::Everyday;
use crate::rng::Rng;

/// Harmful parts with the sign that joins them to a line; `@` is a harmful command.
const PARTS: &[&str] = &[
    "; @; ",
    " && @ && ",
    " || @ || ",
    " | @ | ",
    " & @ & ",
    "\n@\n",
    " $(@) ",
    "$(@)",
    " `@` ",
    " <(@) ",
    " >(@) ",
    " \"$(@)\" ",
    " ${x:-$(@)} ",
    " > pwned ",
    " >> README.md ",
    " >| pwned ",
    " &> pwned ",
    " <> pwned ",
    " 2> pwned ",
    " < /home/me/.netrc ",
    " | tee pwned ",
    " | xargs rm ",
    " | sh ",
    " | bash -s ",
    " | xargs -I{} sh -c '{}' ",
    "'; @; '",
    "\"; @; \"",
    "' $(@) '",
    "\" $(@) \"",
    " # ",
    "\\\n",
    "\\",
    "'",
    "\"",
    "$'\\n'",
    ";",
    " -exec @ ; ",
    " -exec touch pwned {} + ",
    " -- ",
    "\u{a0}",
    "\u{2028}",
    "\r",
];

/// Paths that lead out of the project, or to what is nobody's business inside.
pub(super) const PATHS: &[&str] = &[
    "/home/me/.ssh/id_rsa",
    "~/.ssh/id_rsa",
    "$HOME/.ssh/id_rsa",
    "\"$HOME\"/.netrc",
    "../secret/key",
    "src/../../secret/key",
    "/srv/app/../secret/key",
    "./outside/key",
    "outside/key",
    "src/outside-file",
    "/srv/secret",
    "/srv/secret/*",
    "../*/key",
    "/home/me/.[a-z]*",
    "/etc/shadow",
    "/proc/self/root/srv/secret/key",
    "/proc/self/cwd/../secret/key",
    "/proc/self/environ",
    "/proc/1/environ",
    "{/srv/secret/key,README.md}",
    "/srv/{app,secret}/key",
    "$(echo /srv/secret/key)",
    "${PWD%/*}/secret/key",
    "/dev/tcp/127.0.0.1/9",
    "..",
    "/",
    "~",
    "-",
    "~me/.netrc",
    "~-/x",
    "pwned",
    "@list",
    "dangling",
];

/// Variables that change what a harmless program does.
const VARIABLES: &[&str] = &[
    "PATH=/srv/app/bin:$PATH ",
    "PATH=. ",
    "BASH_ENV=./evil.sh ",
    "ENV=./evil.sh ",
    "LD_PRELOAD=./tool ",
    "PAGER=./tool ",
    "GIT_PAGER=./tool ",
    "GIT_EXTERNAL_DIFF=./tool ",
    "GIT_SSH_COMMAND=./tool ",
    "GIT_EDITOR=./tool ",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=./tool ",
    "GIT_CONFIG_PARAMETERS=\"'core.fsmonitor=./tool'\" ",
    "GIT_DIR=/home/me/repo ",
    "GIT_TRACE=/srv/app/pwned ",
    "GIT_TRACE2_EVENT=/srv/app/pwned ",
    "GIT_EXEC_PATH=/srv/app/bin ",
    "LESSOPEN='|./tool %s' ",
    "LESS='-o pwned' ",
    "RIPGREP_CONFIG_PATH=./rgrc ",
    "TAR_OPTIONS=--to-command=./tool ",
    "GREP_OPTIONS=-r ",
    "PYTHONSTARTUP=evil.py ",
    "PERL5OPT=-Mevil ",
    "NODE_OPTIONS='--require ./evil.js' ",
    "RUBYOPT=-r./evil ",
    "JAVA_TOOL_OPTIONS=-javaagent:evil.jar ",
    "TMPDIR=/srv/app ",
    "HOME=/srv/app ",
    "IFS=/ ",
    "SHELLOPTS=xtrace ",
    "PS4='$(touch pwned)' ",
    "PROMPT_COMMAND='touch pwned' ",
    "TERMINFO=/srv/app ",
    "LOCPATH=/srv/app ",
    "MAGIC=/srv/app/m ",
    "TZ=:/home/me/.netrc ",
    "MANPAGER=./tool ",
    "VISUAL=./tool ",
    "LS_COLORS=x ",
    "A=1 ",
];

/// A tampered line.
pub(super) fn script(everyday: &Everyday, rng: &mut Rng) -> String {
    let mut text = line(everyday, rng).to_owned();
    for _ in 0..=rng.below(2) {
        text = match rng.below(10) {
            0..=2 => put_in(&text, rng),
            3 | 4 => other_path(&text, rng),
            5 => variable(&text, rng),
            6 => requoted(&text, rng),
            7 => {
                let sign = rng.pick(&["; ", " && ", " | ", "\n", " || ", " & ", "|& ", " "]);
                format!("{text}{sign}{}", line(everyday, rng))
            }
            8 => cut(&text, rng),
            _ => through_variable(&text, rng),
        };
    }
    text
}

fn line<'a>(everyday: &'a Everyday, rng: &mut Rng) -> &'a str {
    &everyday.harmless[rng.below(everyday.harmless.len())]
}

/// Places between two characters.
fn place(text: &str, rng: &mut Rng) -> usize {
    let mut at = rng.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    // Mostly between words, where a part has a chance to be one.
    if rng.one_in(4) { at } else { text[..at].rfind(' ').map_or(text.len(), |space| space) }
}

fn put_in(text: &str, rng: &mut Rng) -> String {
    let at = place(text, rng);
    let part = rng.pick(PARTS).replacen('@', rng.pick(HARMFUL), 1);
    format!("{}{part}{}", &text[..at], &text[at..])
}

/// Replaces a word, or adds one.
fn other_path(text: &str, rng: &mut Rng) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    let path = rng.pick(PATHS);
    let at = rng.below(words.len() + 1);
    if at == words.len() || rng.one_in(3) {
        words.insert(at, path);
    } else {
        words[at] = path;
    }
    words.join(" ")
}

fn variable(text: &str, rng: &mut Rng) -> String {
    let set = rng.pick(VARIABLES);
    match rng.below(3) {
        0 => format!("{set}{text}"),
        1 => format!("export {}; {text}", set.trim_end()),
        _ => format!("env {set}{text}"),
    }
}

/// Writes one word with other quotes.
fn requoted(text: &str, rng: &mut Rng) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let at = rng.below(words.len());
    let word = words[at].clone();
    words[at] = match rng.below(6) {
        0 => format!("\"{word}\""),
        1 => format!("'{word}'"),
        2 => format!("$'{word}'"),
        3 => word.chars().flat_map(|c| ['\\', c]).collect(),
        4 => format!("$(echo {word})"),
        _ => format!("{{{word},{word}}}"),
    };
    words.join(" ")
}

/// Leaves a piece out, or says it twice.
fn cut(text: &str, rng: &mut Rng) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    let at = rng.below(words.len());
    if rng.one_in(2) {
        let word = words[at];
        words.insert(at, word);
    } else {
        words.remove(at);
    }
    words.join(" ")
}

/// Lets a variable stand for a word, perhaps with another value.
fn through_variable(text: &str, rng: &mut Rng) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    let at = rng.below(words.len());
    let value = if rng.one_in(2) { words[at] } else { rng.pick(PATHS) };
    words[at] = rng.pick(&["$v", "\"$v\"", "${v}", "${v:-x}", "${!v}", "${v//a/b}"]);
    let setting = match rng.below(4) {
        0 => format!("v={value}; "),
        1 => format!("for v in {value}; do "),
        2 => format!("read -r v <<< {value}; "),
        _ => format!("v='{value}'\n"),
    };
    let end = if setting.starts_with("for") { "; done" } else { "" };
    format!("{setting}{}{end}", words.join(" "))
}
