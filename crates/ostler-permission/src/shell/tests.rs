//! What is read from a script, apart from any rule or mode.

use std::time::Instant;

use super::*;

fn read(script: &str) -> Script {
    let cwd = AbsPath::root().join("p");
    analyse(script, &cwd, &AbsPath::root().join("home/u"))
}

fn touched(script: &str) -> Vec<String> {
    read(script)
        .touches()
        .filter(|touch| touch.how != How::Maybe)
        .map(|touch| {
            let last = touch.last.as_ref().map(|last| format!(" {last}")).unwrap_or_default();
            format!("{:?} {}{last}", touch.how, touch.path)
        })
        .collect()
}

#[test]
fn words_lose_their_quotes() {
    for (script, want) in [
        ("a 'b c' \"d e\" f\\ g", vec![vec!["a", "b c", "d e", "f g"]]),
        ("a \"x\\\"y\\n\"", vec![vec!["a", "x\"y\\n"]]),
        ("a; b && c | d", vec![vec!["a"], vec!["b"], vec!["c"], vec!["d"]]),
        ("a $(b) \"$x\"", vec![vec!["b"], vec!["a", "$(b)", "\"$x\""]]),
        ("a ~/x ~", vec![vec!["a", "//x", "/"]]),
        ("a > b c", vec![vec!["a", "c"]]),
        ("a 2>&1 b", vec![vec!["a", "b"]]),
        ("", vec![]),
        ("# only a comment", vec![]),
    ] {
        assert_eq!(
            shell_words(script),
            Some(
                want.iter()
                    .map(|words| { words.iter().map(|word| (*word).to_owned()).collect() })
                    .collect()
            ),
            "{script}"
        );
    }
    assert_eq!(shell_words("a 'b"), None);
    assert_eq!(shell_words("$x y"), None);
    // One of the readers takes this for two words, so it is not understood.
    assert_eq!(shell_words("a\\\nb c"), None);
}

#[test]
fn paths_follow_the_folder() {
    assert_eq!(touched("cat a"), ["Read /p/a"]);
    assert_eq!(touched("cd b && cat a"), ["Look /p/b", "Read /p/b/a"]);
    // After a `;` the `cd` may have failed.
    assert_eq!(touched("cd b; cat a"), ["Look /p/b", "Read /p/b/a", "Read /p/a"]);
    assert_eq!(touched("cd b || cat a"), ["Look /p/b", "Read /p/a"]);
    assert_eq!(touched("(cd b); cat a"), ["Look /p/b", "Read /p/a"]);
    assert_eq!(touched("cd b | cat a"), ["Look /p/b", "Read /p/a"]);
    assert_eq!(touched("cd b & cat a"), ["Look /p/b", "Read /p/a"]);
    assert_eq!(touched("cd; cat a"), ["Look /home/u", "Read /home/u/a", "Read /p/a"]);
    assert_eq!(touched("cat a/*/b.rs"), ["Read /p/a b.rs"]);
    assert_eq!(touched("cat */../../x"), ["Read / x"]);
    assert_eq!(touched("cat a/*/../../x"), ["Read / x"]);
    assert_eq!(touched("cat < a > b"), ["Read /p/a", "Write /p/b"]);
    assert_eq!(touched("cat -- -a"), ["Read /p/-a"]);
    assert_eq!(touched("cp a b"), ["Search /p/a", "Write /p/b/a", "Write /p/b"]);
    assert_eq!(touched("grep -e x a b"), ["Read /p/a", "Read /p/b"]);
    assert_eq!(touched("grep x a"), ["Read /p/a"]);
    assert_eq!(touched("rg x"), ["Search /p"]);
}

#[test]
fn dots_after_names_are_remembered() {
    let script = read("cat a/../b");
    let hops = &script.touches().next().unwrap().hops;
    assert_eq!(hops.len(), 1);
    assert_eq!((hops[0].0.to_text(), hops[0].1.to_text()), ("/p/a".into(), "/p".into()));
}

#[test]
fn what_is_not_understood_is_named() {
    for (script, want) in [
        ("f() { ls; }", "the script defines a function"),
        ("$x", "the program `$x` is not fixed text"),
        ("ls 'x", "the script is not well-formed for the shell grammar"),
        ("eval \"$x\"", "the script of `eval` is not fixed text"),
        ("bash x", "a shell runs a script that is not shown"),
        ("timeout --odd 1 ls", "the options of `timeout` are not understood"),
        ("cd $x", "the folder after `cd` is not known"),
        ("echo ${x@P}", "an expansion that is more than `$name` is not understood"),
    ] {
        let opaque = read(script).opaque;
        assert!(opaque.iter().any(|what| what == want), "{script}: {opaque:?}");
    }
}

/// The two readers must hear the same words wherever both are right, or people are asked
/// for nothing.
#[test]
fn the_readers_agree_on_common_scripts() {
    for script in [
        "a 2>/dev/null b",
        "a <<X b\ntext\nX",
        "a <<'X' | b\ntext $(no)\nX",
        "a <<-X\n\ttext\n\tX",
        "a && b || c; d & e",
        "if a; then b; elif c; then d; else e; fi",
        "for x in a b \"$c\"; do d \"$x\"; done",
        "while read -r line; do a \"$line\"; done < f",
        "case \"$x\" in a|b) c;; *) d;; esac",
        "A=1 B=\"$(c)\" d e",
        "a=\"b c\"; d=(e f)",
        "a \"$(b \"$(c 'd')\")\"",
        "[[ $a == b* && -n $c ]] && d",
        "[ \"$a\" = 'b c' ] || d",
        "a \\\n  b \\\n  c",
        "a | b |& c",
        "! a | b",
        "{ a; b; } > c 2>&1",
        "(a; b) | c",
        "a &> b",
        "a <<< \"b c\"",
        "a <(b) >(c)",
        "export A=b C",
        "a 'it'\\''s'",
        "a --x=y -z=\"w v\"",
        "a é \"ü\" 'ß'",
        "a {b,c} d*e [f]g",
        "a # comment\nb",
        "a 1 2 3",
        "a -1 +2",
        "echo $? $# $@ $1 ${#x}",
        "a `b c`",
    ] {
        let opaque = read(script).opaque;
        assert_eq!(opaque, [""; 0], "{script}");
    }
}

/// Parsers that go back and try again can take exponential time on nested brackets.
#[test]
fn nested_scripts_are_read_or_refused_in_bounded_time() {
    for (open, close) in [
        ("$(", ")"),
        ("(", ")"),
        ("((", "))"),
        ("$((", "))"),
        ("${x:-", "}"),
        ("\"$(", ")\""),
        ("{ ", ";}"),
        ("if ", ""),
        ("! ", ""),
        ("[[ ( ", ""),
        ("`", "`"),
        ("$[", "]"),
        ("<(", ")"),
        ("case x in x) ", ""),
        ("a=(", ")"),
        ("f() { ", ";}"),
        ("x$(", ")"),
        ("\\\\$(", ")"),
        ("a[", "]"),
        ("'", ""),
        ("<<X ", ""),
        ("a && ", ""),
        ("a | ", ""),
        ("a;", ""),
        ("${", "}"),
        ("$'", ""),
        ("{a,", "}"),
        ("@(", ")"),
    ] {
        for depth in [6, 12, 60, 3000] {
            let script = format!("echo {}b{}", open.repeat(depth), close.repeat(depth));
            // Time that grows exponentially never comes near; a busy machine may once.
            let bounded = (0..4).any(|_| {
                let start = Instant::now();
                read(&script);
                read(&script[5..]);
                start.elapsed().as_millis() < 3000
            });
            assert!(bounded, "{open} x {depth}");
        }
    }
}

#[test]
fn an_ordinary_script_is_read_quickly() {
    let script = "cd src && git status --short | head -20; grep -rn 'fn main' . 2>/dev/null";
    read(script);
    let best = (0..50)
        .map(|_| {
            let start = Instant::now();
            assert!(read(script).is_read_only());
            start.elapsed()
        })
        .min()
        .unwrap();
    // Unoptimised and on a busy machine; the best of many runs says what the work costs.
    assert!(best.as_millis() < 20, "{best:?}");
}
