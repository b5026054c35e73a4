//! Commands within commands: everyday lines and harmful commands, put into each other at random.

use super::product::HARMFUL;
use crate::everyday::Everyday;
use crate::rng::Rng;

/// How deep a nest may be.
const DEEPEST: usize = 3;

/// A nest.
pub(super) fn script(everyday: &Everyday, rng: &mut Rng) -> String {
    node(everyday, rng, DEEPEST)
}

fn node(everyday: &Everyday, rng: &mut Rng, deep: usize) -> String {
    if deep == 0 || rng.one_in(4) {
        return leaf(everyday, rng);
    }
    let mut sub = || node(everyday, rng, deep - 1);
    let (one, two) = (sub(), sub());
    match rng.below(26) {
        0 => format!("{one}; {two}"),
        1 => format!("{one} && {two}"),
        2 => format!("{one} || {two}"),
        3 => format!("{one} | {two}"),
        4 => format!("{one}\n{two}"),
        5 => format!("({one}\n)"),
        6 => format!("{{ {one}\n}}"),
        7 => format!("if {one}\nthen {two}\nfi"),
        8 => format!("for x in $({one}\n); do {two}\ndone"),
        9 => format!("for x in README.md src; do {one}\necho \"$x\"; done"),
        10 => format!("while read -r x; do {one}\ndone < a.txt"),
        11 => format!("case $({one}\n) in *) {two}\n;; esac"),
        12 => format!("echo \"$({one}\n)\""),
        13 => format!("x=$({one}\n); echo \"$x\"; {two}"),
        14 => format!("cat <<EOF\n$({one}\n)\nEOF\n{two}"),
        15 => format!("cat <<'EOF'\n{one}\nEOF\n{two}"),
        16 => format!("diff <({one}\n) <({two}\n)"),
        17 => format!("f() {{ {one}\n}}; f"),
        18 => format!("cd src && {one}"),
        19 => format!("cd .. ; {one}"),
        20 => format!("(cd src; {one}\n); {two}"),
        21 => format!("{one} > /dev/null 2>&1; {two}"),
        22 => format!("printf '%s\\n' \"$({one}\n)\" | {two}"),
        23 => format!("bash -c {}", single_quoted(&one)),
        24 => format!("find . -name '*.rs' -exec sh -c {} _ {{}} \\;", single_quoted(&one)),
        _ => format!("echo a.txt | xargs -I F sh -c {}", single_quoted(&one)),
    }
}

fn leaf(everyday: &Everyday, rng: &mut Rng) -> String {
    if rng.one_in(12) {
        return rng.pick(HARMFUL).to_owned();
    }
    everyday.harmless[rng.below(everyday.harmless.len())].clone()
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_inside_quotes_stays_one_word() {
        assert_eq!(single_quoted("echo 'a'"), r"'echo '\''a'\'''");
    }
}
