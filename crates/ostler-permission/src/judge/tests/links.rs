//! Globs and walks: what they meet counts, wherever links lead.

use ostler_protocol::Mode;

use super::{Case, expect_all};
use crate::Verdict::{self, *};

fn expect(case: impl Fn(&str) -> Case, wanted: &[(&str, Verdict)]) {
    expect_all(
        wanted.iter().map(|(command, want)| ((*command).to_owned(), case(command).judge(), *want)),
    );
}

#[test]
fn a_glob_is_what_it_matches() {
    let case = |command: &str| {
        Case::bash(command)
            .files(&["/p/a/secret", "/p/src/x.rs", "/p/y.rs"])
            .link("/p/out/secret", "/etc/secret")
            .link("/p/link.txt", "/etc/passwd")
            .mode(Mode::AcceptEdits)
    };
    expect(
        case,
        &[
            ("cat */secret", Ask),
            ("cat a*/secret", Allow),
            ("cat *.txt", Ask),
            ("cat *.rs", Allow),
            ("cat src/*.rs | wc -l", Allow),
            ("wc -l *", Ask),
            ("head -1 l*", Ask),
            ("grep x */secret", Ask),
            ("ls -l */*.rs", Allow),
            ("sed -i s/a/b/ *.rs", Ask),
            ("sed -i s/a/b/ y*.rs", Allow),
            ("sed -i s/a/b/ l*.txt", Ask),
            ("rm y*.rs", Allow),
            ("cp l* copy.txt", Ask),
            ("cat nothing*", Allow),
            ("cd src && cat ?.rs", Allow),
        ],
    );
    expect(|command| case(command).too_much(), &[("cat *.rs", Ask), ("ls src", Allow)]);
}

#[test]
fn a_name_that_would_be_an_option_asks() {
    let case = |command: &str| Case::bash(command).files(&["/p/a.txt", "/p/-x", "/p/src/-y"]);
    expect(
        case,
        &[
            ("rg foo *", Ask),
            ("sort *", Ask),
            ("wc -l *", Ask),
            ("sha256sum *", Ask),
            ("cat *", Allow),
            ("sort a*", Allow),
            ("sort *.txt", Allow),
            ("sort src/*", Allow),
        ],
    );
    let case = |command: &str| Case::bash(command).files(&["/p/a.txt"]);
    expect(case, &[("rg foo *", Allow), ("sort *", Allow), ("wc -l *", Allow)]);
}

#[test]
fn walks_that_follow_links_go_where_these_lead() {
    let case = |command: &str| {
        Case::bash(command)
            .files(&["/p/a/x.rs", "/p/b/y.rs"])
            .link("/p/a/out", "/etc")
            .link("/p/b/in", "/p/a/x.rs")
            .mode(Mode::AcceptEdits)
    };
    expect(
        case,
        &[
            ("grep -R x .", Ask),
            ("grep -R x", Ask),
            ("grep -nR x a", Ask),
            ("grep -R x b", Allow),
            ("grep -R x b*", Allow),
            ("grep -R x a* b", Ask),
            ("grep -r x a", Allow),
            ("grep --dereference-recursive x a", Ask),
            ("rg -L x", Ask),
            ("rg --follow x b", Allow),
            ("rg x", Allow),
            ("find -L . -name x", Ask),
            ("find . -follow -name x", Ask),
            ("find b -follow", Allow),
            ("find . -name x", Allow),
            ("tree -l", Ask),
            ("tree", Allow),
            ("ls -RL a", Ask),
            ("ls -R a", Allow),
            ("du -sL a", Ask),
            ("diff -r a b", Ask),
            ("diff -r --no-dereference a b", Allow),
            ("cp -rL a c", Ask),
            ("cp -r a c", Allow),
            ("cp -rL b c", Allow),
        ],
    );
    expect(|command| case(command).too_much(), &[("grep -R x b", Ask), ("grep -r x b", Allow)]);
}

#[test]
fn rules_that_deny_reading_hold_for_what_is_met() {
    let case = |command: &str| {
        Case::bash(command)
            .files(&["/p/.env", "/p/key.pem", "/p/src/x.rs"])
            .link("/p/src/innocent", "/p/.env")
            .deny("Read(.env)")
            .deny("Read(*.pem)")
            .allow("Bash")
    };
    expect(
        case,
        &[
            ("cat .e*", Deny),
            ("cat *", Deny),
            ("cat *.pem", Deny),
            ("cat src/*", Deny),
            ("cat src/i*", Deny),
            ("cat src/*.rs", Allow),
            ("grep -R x src", Deny),
            ("grep -r x .", Ask),
            ("python3 src/i*", Deny),
            ("python3 src/x*", Allow),
        ],
    );
    // Hidden names are matched by no wildcard, and the disk says that no other is there.
    let hidden = Case::bash("cat *").files(&["/p/.env", "/p/a"]).deny("Read(.env)");
    assert_eq!(hidden.verdict(), Allow);
    // What the script makes itself nobody has seen.
    let made = Case::bash("mv a b.pem; cat *").deny("Read(*.pem)").mode(Mode::AcceptEdits);
    assert_eq!(made.verdict(), Ask);
}
