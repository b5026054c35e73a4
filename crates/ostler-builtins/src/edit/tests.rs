//! What `edit` promises, held on examples.

use proptest::prelude::*;

use crate::{
    edit::apply::{Applied, Change, Count, Refusal, apply},
    text::{Encoding, decode},
};

fn edit_bytes(file: &[u8], old: &str, new: &str, count: Count) -> Result<Vec<u8>, Refusal> {
    let text = decode(file).unwrap();
    apply(&text, Change { old, new, count })
        .map(|applied| text.encoding.encode(&applied.text).unwrap())
}

fn edit(file: &str, old: &str, new: &str) -> Result<String, Refusal> {
    edit_bytes(file.as_bytes(), old, new, Count::One).map(|bytes| String::from_utf8(bytes).unwrap())
}

#[track_caller]
fn check(file: &str, old: &str, new: &str, expected: &str) {
    assert_eq!(edit(file, old, new).as_deref(), Ok(expected));
}

#[test]
fn endings_of_every_kind_stay() {
    check("a\r\nb\r\nc\r\n", "b", "B", "a\r\nB\r\nc\r\n");
    check("a\r\nb\r\nc\r\n", "a\nb\n", "a\nB\n", "a\r\nB\r\nc\r\n");
    check("a\nb\r\nc\rd", "a\nb\nc\nd", "a\nB\nc\nD", "a\nB\r\nc\rD");
    check("a\rb\rc", "b", "B", "a\rB\rc");
    check("a\nb", "b", "B", "a\nB");
    check("a\nb\n", "b\n", "B\n", "a\nB\n");
    check("\u{feff}a\r\nb", "a", "A", "\u{feff}A\r\nb");
    check("a\nb\n", "a\r\nb", "a\r\nB", "a\nB\n");
}

#[test]
fn inserted_lines_take_the_neighbours_ending() {
    check("a\r\nb\r\n", "a", "a\nx\ny", "a\r\nx\r\ny\r\nb\r\n");
    check("a\r\nb\nc\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\nc\n");
    check("a\r\nb", "b", "b\nc", "a\r\nb\r\nc");
    check("a\rb", "b", "b\nc", "a\rb\rc");
    check("ab", "b", "b\nc", "ab\nc");
    check("a\nb\r\nc\r\n", "b", "x\nb", "a\nx\r\nb\r\nc\r\n");
}

#[test]
fn lines_can_go() {
    check("a\r\nb\r\nc", "b\n", "", "a\r\nc");
    check("a\nb\nc", "\nb", "", "a\nc");
    check("abc", "b", "", "ac");
}

#[test]
fn a_place_that_only_looks_alike_keeps_its_bytes() {
    check("a  \nb\t\nc\n", "a\nb\nc", "a\nB\nc", "a  \nB\t\nc\n");
    check(
        "say \u{201c}hi\u{201d} now\nx\n",
        "say \"hi\" now",
        "say \"hi\" then",
        "say \u{201c}hi\u{201d} then\nx\n",
    );
    check("it\u{2019}s\r\nb\r\n", "it's\nb", "it's\nB", "it\u{2019}s\r\nB\r\n");
    check("a\nb\n", "a  \nb", "a\nB", "a\nB\n");
}

#[test]
fn what_names_two_places_is_refused_with_their_lines() {
    let refusal = |file, old| edit(file, old, "new text").unwrap_err().to_string();
    let text = refusal("}\n x\n}\n", "}");
    assert!(text.contains("found 2 times (lines 1, 3)"), "{text}");
    assert!(refusal("}\n}\n}\n", "}\n}\n").contains("2 times (lines 1, 2)"), "overlaps count");
    assert!(refusal("a\nb\r\na\r\nb\n", "a\nb").contains("2 times"), "whatever the endings are");
    assert!(refusal("a \nb\na\t\nb", "a\nb").contains("2 times"), "forgiving finds count alike");
    assert!(refusal(&"x\n".repeat(1000), "x").contains("more than 20 times"));
}

#[test]
fn an_applied_edit_is_recognised() {
    assert_eq!(edit("one\ntwo plus\n", "two minus", "two plus"), Err(Refusal::Applied { line: 2 }));
    assert_eq!(
        edit("use a;\nuse b;\n", "use a;\n", "use a;\nuse b;\n"),
        Err(Refusal::Applied { line: 1 })
    );
    assert_eq!(
        edit("x\r\nuse a;\r\nuse b;\r\n", "use a;", "use a;\nuse b;"),
        Err(Refusal::Applied { line: 2 })
    );
    check("use a;\nuse c;\n", "use a;\n", "use a;\nuse b;\n", "use a;\nuse b;\nuse c;\n");
}

#[test]
fn what_is_not_there_is_said_with_the_nearest_line() {
    let text = edit("fn a() {\n  1\n}\n", "fn a() {\n  2\n}", "x").unwrap_err().to_string();
    assert!(text.contains("its first line is at line 1"), "{text}");
    assert!(matches!(edit("abc", "x", "y"), Err(Refusal::NotFound(_))));
    assert_eq!(edit("abc", "", "y"), Err(Refusal::Empty));
    assert_eq!(edit("abc", "b", "b"), Err(Refusal::Same));
}

#[test]
fn all_places_change_when_asked() {
    let all = |file: &[u8], old, new| edit_bytes(file, old, new, Count::All).unwrap();
    assert_eq!(all(b"a b a\r\na", "a", "aa"), b"aa b aa\r\naa");
    assert_eq!(all(b"x\r\nx\ny", "x\n", "x\nz\n"), b"x\r\nz\r\nx\nz\ny");
}

#[test]
fn encodings_are_kept() {
    let text = "eins\r\nzw\u{f6}lf\r\ndrei \u{1f600}\r\n";
    for encoding in [Encoding::Utf8, Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be] {
        let file = encoding.encode(text).unwrap();
        let expected = encoding.encode(&text.replace("drei", "dr\u{fc}ben")).unwrap();
        assert_eq!(edit_bytes(&file, "drei", "dr\u{fc}ben", Count::One).unwrap(), expected);
        let expected = encoding.encode(&text.replace("lf\r\n", "lf\r\nneu\r\n")).unwrap();
        assert_eq!(
            edit_bytes(&file, "zw\u{f6}lf\n", "zw\u{f6}lf\nneu\n", Count::One).unwrap(),
            expected
        );
    }
}

#[test]
fn unknown_encodings_change_in_ascii_only() {
    // cp1252 with an e acute; GBK with characters whose second byte is an ASCII letter.
    let latin = b"caf\xe9 one\r\ntwo\r\n";
    assert_eq!(edit_bytes(latin, "two", "2\n3", Count::One).unwrap(), b"caf\xe9 one\r\n2\r\n3\r\n");
    assert!(matches!(
        edit_bytes(latin, "caf\u{e9}", "tea", Count::One),
        Err(Refusal::UnknownEncoding(_))
    ));
    assert!(matches!(
        edit_bytes(latin, "two", "zw\u{f6}lf", Count::One),
        Err(Refusal::UnknownEncoding(_))
    ));
    let gbk = b"\x81aa = 1\r\n\x81\x40b\r\n";
    assert!(matches!(edit_bytes(gbk, "aa = 1", "x", Count::One), Err(Refusal::UnknownEncoding(_))));
    assert!(matches!(edit_bytes(gbk, "@b", "x", Count::One), Err(Refusal::UnknownEncoding(_))));
    assert_eq!(
        edit_bytes(gbk, " = 1", " = 2", Count::One).unwrap(),
        b"\x81aa = 2\r\n\x81\x40b\r\n"
    );
}

proptest! {
    #[test]
    fn bytes_outside_the_edit_never_change(
        lines in prop::collection::vec(("[a-c \"\u{201c}\u{e9}]{0,4}", 0usize..3), 1..8),
        at: (prop::sample::Index, prop::sample::Index),
        new in "[a-c\\n\\r\u{e9}\\t ]{0,8}",
        mark in 0usize..4,
        all: bool,
    ) {
        let encoding = [Encoding::Utf8, Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be][mark];
        let source: String =
            lines.iter().flat_map(|(line, ending)| [line.as_str(), ["\n", "\r\n", "\r"][*ending]]).collect();
        let bounds: Vec<usize> = source.char_indices().map(|(at, _)| at).collect();
        let (mut from, mut to) = (bounds[at.0.index(bounds.len())], bounds[at.1.index(bounds.len())]);
        if from > to { std::mem::swap(&mut from, &mut to); }
        let old = &source[from..to];
        let file = encoding.encode(&source).unwrap();
        let text = decode(&file).unwrap();
        prop_assert_eq!(&text.text, &source);
        let count = if all { Count::All } else { Count::One };
        if let Ok(Applied { text: after, places, .. }) = apply(&text, Change { old, new: &new, count }) {
            // What lies between the places is found again, in order, at both ends exactly.
            let first = places.first().unwrap();
            let last = places.last().unwrap();
            prop_assert!(after.starts_with(&source[..first.start]));
            prop_assert!(after.ends_with(&source[last.end..]));
            let mut rest = after.as_str();
            let mut done = 0;
            for place in &places {
                let kept = &source[done..place.start];
                let found = rest.find(kept).unwrap();
                rest = &rest[found + kept.len()..];
                done = place.end;
            }
            // Read with equal endings, the result is the plain replacement.
            let plain = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
            // Without anything between them a kept CR and a kept LF do become one ending.
            let joined = new.is_empty() && source[..first.start].ends_with('\r') && source[last.end..].starts_with('\n');
            if !all && !joined && plain(&source).matches(&plain(old)).count() == 1 {
                prop_assert_eq!(plain(&after), plain(&source).replacen(&plain(old), &plain(&new), 1));
            }
        }
    }

    #[test]
    fn unchanged_lines_of_an_edit_keep_their_bytes(
        endings in prop::collection::vec(0usize..3, 3..12), changed: prop::sample::Index,
    ) {
        let ending = |kind: usize| ["\n", "\r\n", "\r"][kind];
        let changed = changed.index(endings.len());
        let build = |edited: bool| -> String {
            let line = |at: usize| if edited && at == changed { "edited".to_owned() } else { format!("line {at}") };
            endings.iter().enumerate().map(|(at, &kind)| line(at) + ending(kind)).collect()
        };
        let old: String = (0..endings.len()).map(|at| format!("line {at}\n")).collect();
        let new = old.replace(&format!("line {changed}\n"), "edited\n");
        prop_assert_eq!(edit(&build(false), &old, &new).unwrap(), build(true));
    }

    #[test]
    fn any_bytes_are_edited_or_refused(data: Vec<u8>) {
        crate::fuzz_edit(&data);
    }
}
