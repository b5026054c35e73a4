//! What `edit` promises, held on examples.

use proptest::prelude::*;

use crate::{
    edit::apply::{Applied, Change, Count, Matcher, Refusal, apply},
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
fn legacy_encodings_are_kept_and_written() {
    use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1252};
    for (encoding, text, old, new) in [
        (
            WINDOWS_1252,
            "caf\u{e9} cr\u{e8}me \u{201c}d\u{e9}j\u{e0} vu\u{201d}\r\ntwo\r\n",
            "two",
            "zw\u{f6}lf",
        ),
        (
            WINDOWS_1252,
            "caf\u{e9} cr\u{e8}me \u{201c}d\u{e9}j\u{e0} vu\u{201d}\r\ntwo\r\n",
            "caf\u{e9}",
            "t\u{e9}",
        ),
        (
            GBK,
            "\u{8fd9}\u{662f}\u{4e00}\u{4e2a}\u{7b80}\u{5355}\u{7684}\u{4e2d}\u{6587}\u{6587}\u{4ef6}\r\nx = 1\r\n",
            "\u{4e2d}\u{6587}",
            "\u{4e2d}\u{56fd}",
        ),
        (
            SHIFT_JIS,
            "\u{3053}\u{308c}\u{306f}\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{6587}\u{7ae0}\u{3067}\u{3059}\u{3002}\u{8868}\nx\n",
            "\u{8868}",
            "\u{8868}\u{8a9e}",
        ),
    ] {
        let file = encoding.encode(text).0;
        let expected = encoding.encode(&text.replacen(old, new, 1)).0.into_owned();
        let looks = decode(&file).unwrap().encoding;
        assert_eq!(edit_bytes(&file, old, new, Count::One), Ok(expected), "{looks:?}");
    }
}

fn found_by(file: &str, old: &str, new: &str) -> (Matcher, String) {
    let text = decode(file.as_bytes()).unwrap();
    let applied = apply(&text, Change { old, new, count: Count::One }).unwrap();
    (applied.matcher, applied.text)
}

#[test]
fn the_matcher_that_found_it_is_said() {
    let check = |file: &str, old: &str, new: &str, matcher: Matcher, expected: &str| {
        assert_eq!(found_by(file, old, new), (matcher, expected.to_owned()));
    };
    check("a\nb\n", "a", "c", Matcher::Exact, "c\nb\n");
    check(
        "one \u{2014} two\u{2026} x\n",
        "one - two... x",
        "one - two... y",
        Matcher::Looks,
        "one \u{2014} two\u{2026} y\n",
    );
    // The accent that the edit does not touch stays decomposed.
    check(
        "cafe\u{301} noir\n",
        "caf\u{e9} noir",
        "caf\u{e9} blanc",
        Matcher::NormalForm,
        "cafe\u{301} blanc\n",
    );
    check(
        "caf\u{e9} noir\r\n",
        "cafe\u{301} noir",
        "cafe\u{301} blanc",
        Matcher::NormalForm,
        "caf\u{e9} blanc\r\n",
    );
    check(
        "x\r\n\t\tif a {\r\n\t\t\tb\r\n",
        "if a {\n\tb",
        "if a {\n\tc\n\td",
        Matcher::Indentation,
        "x\r\n\t\tif a {\r\n\t\t\tc\r\n\t\t\td\r\n",
    );
    check("  x  =  1; // y\n", "x = 1; // y", "x = 2; // y", Matcher::Inner, "  x = 2; // y\n");
    check(
        "print(\"a\");\nb\n",
        "print(\\\"a\\\");\\nb",
        "print(\\\"c\\\");\\nb",
        Matcher::Escapes,
        "print(\"c\");\nb\n",
    );
}

#[test]
fn a_forgiving_find_is_unique_or_refused() {
    let text = edit("  a {\n    b\n  }\n    a {\n      b\n    }\n", "a {\n  b\n}", "a {\n  c\n}")
        .unwrap_err();
    assert!(text.to_string().contains("2 times (lines 1, 4)"), "{text}");
    // A part of a character with its marks is no place.
    assert!(matches!(edit("cafe\u{301}s\n", "\u{2009}cafe", "tea"), Err(Refusal::NotFound(_))));
    assert!(matches!(edit("\u{a0}cafe\u{301}s\n", " cafe", "tea"), Err(Refusal::NotFound(_))));
    assert!(matches!(
        edit("  new line();\n", "    new line();", "  new line();"),
        Err(Refusal::Applied { line: 1 })
    ));
    assert!(matches!(
        edit("say \u{201c}hello you\u{201d}\n", "say hallo", "say \"hello you\""),
        Err(Refusal::Applied { line: 1 })
    ));
}

#[test]
fn unknown_encodings_change_in_ascii_only() {
    // Damaged UTF-8; GBK with characters whose second byte is an ASCII letter.
    let latin = b"\xc3\xa9 \xc3\xa9 caf\xe9 one\r\ntwo\r\n";
    assert_eq!(
        edit_bytes(latin, "two", "2\n3", Count::One).unwrap(),
        b"\xc3\xa9 \xc3\xa9 caf\xe9 one\r\n2\r\n3\r\n"
    );
    assert!(matches!(
        edit_bytes(latin, "caf\u{e9}", "tea", Count::One),
        Err(Refusal::UnknownEncoding(_))
    ));
    assert!(matches!(
        edit_bytes(latin, "two", "zw\u{f6}lf", Count::One),
        Err(Refusal::UnknownEncoding(_))
    ));
    let gbk = b"\x01\x81aa = 1\r\n\x81\x40b\r\n";
    assert!(matches!(edit_bytes(gbk, "aa = 1", "x", Count::One), Err(Refusal::UnknownEncoding(_))));
    assert!(matches!(edit_bytes(gbk, "@b", "x", Count::One), Err(Refusal::UnknownEncoding(_))));
    assert_eq!(
        edit_bytes(gbk, " = 1", " = 2", Count::One).unwrap(),
        b"\x01\x81aa = 2\r\n\x81\x40b\r\n"
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
    fn exactly_the_meant_bytes_differ_in_any_encoding(
        which in 0usize..8,
        lines in prop::collection::vec(("[a-c\u{e9}\u{e4} ]{0,5}", 0usize..3), 1..8),
        at: (prop::sample::Index, prop::sample::Index),
        new in "[x\u{e9}\u{e4}]{1,4}",
    ) {
        use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1252};
        let cjk = |text: &str| text.replace('\u{e9}', "\u{8868}").replace('\u{e4}', "\u{4e00}");
        let encode = |text: &str| match which {
            0..=3 => [Encoding::Utf8, Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be][which].encode(text).unwrap(),
            4 | 5 => WINDOWS_1252.encode(text).0.into_owned(),
            6 => GBK.encode(text).0.into_owned(),
            _ => SHIFT_JIS.encode(text).0.into_owned(),
        };
        let endings = ["\n", "\r\n", "\r"];
        let mut source: String = lines.iter().flat_map(|(line, ending)| [line.as_str(), endings[*ending]]).collect();
        // What tells the encoding, and the place that is edited.
        source.push_str(["d\u{e9}j\u{e0} vu, cr\u{e8}me br\u{fb}l\u{e9}e, gar\u{e7}on <", "<"][usize::from(which > 5)]);
        let new = if which > 5 { source = cjk(&source); cjk(&new) } else { new };
        let telling = ["", "\u{8fd9}\u{4e2a}\u{7b80}\u{5355}", "\u{3053}\u{308c}\u{306f}\u{65e5}\u{672c}\u{8a9e}\u{306e}"][which.saturating_sub(5)];
        source.push_str(telling);
        let ends = [at.0.index(3), at.1.index(3)].map(|at| endings[at]);
        let build = |middle: &str| encode(&format!("{source}{}<{middle}>{}z", ends[0], ends[1]));
        let file = build("old place");
        let decoded = decode(&file).unwrap();
        prop_assert!(decoded.encoding.encode(&decoded.text).as_ref() == Some(&file));
        match apply(&decoded, Change { old: "<old place>", new: &format!("<{new}>"), count: Count::One }) {
            Ok(applied) => {
                // A wrong guess may lack the characters, or spell them otherwise; the rest stays.
                let Some(after) = decoded.encoding.encode(&applied.text) else { return Ok(()) };
                let (head, foot) = (build("").len(), encode(&format!(">{}z", ends[1])).len());
                let foot = foot - decoded.encoding.mark().len();
                let head = head - foot;
                prop_assert_eq!(&after[..head], &file[..head]);
                prop_assert_eq!(&after[after.len() - foot..], &file[file.len() - foot..]);
                if which < 4 {
                    prop_assert_eq!(after, build(&new));
                }
            }
            Err(refusal) => prop_assert!(matches!(refusal, Refusal::UnknownEncoding(_)), "{refusal}"),
        }
    }

    #[test]
    fn any_bytes_are_edited_or_refused(data: Vec<u8>) {
        crate::fuzz_edit(&data);
    }
}
