//! Outputs are bounded, read in pages and found again; fault row 18 among them.

use std::{fs::FileTimes, io::Write as _, os::unix::fs::PermissionsExt as _, time::Duration};

use super::*;
use crate::lock;

const SMALL: OutputLimits = OutputLimits { output_bytes: 64, session_bytes: 4000, sessions: 3 };

struct Place {
    dir: tempfile::TempDir,
    cancel: Cancel,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), cancel: Cancel::new() }
    }

    fn files(&self, session: &str, limits: OutputLimits) -> OutputFiles {
        OutputFiles::open(&AbsPath::new(self.dir.path()).unwrap(), session, limits).unwrap()
    }

    fn s1(&self) -> OutputFiles {
        self.files("s1", OutputLimits::default())
    }

    fn page(&self, files: &OutputFiles, query: &PageQuery) -> Page {
        files.page("c", query, &self.cancel).unwrap().unwrap()
    }
}

fn query(offset: u64, limit: u64) -> PageQuery {
    PageQuery { offset, limit, max_bytes: 1 << 20, ..PageQuery::default() }
}

fn search(pattern: &str, context: u64) -> PageQuery {
    PageQuery { pattern: Some(pattern.to_owned()), context, ..query(1, 100) }
}

fn told(page: &Page) -> Vec<String> {
    page.lines.iter().map(|line| format!("{}:{}", line.number, line.text)).collect()
}

#[test]
fn pages_follow_each_other_to_the_end_and_a_later_process_reads_them_too() {
    let place = Place::new();
    let text: String = (1..=10).map(|n| format!("line {n}\r\n")).collect();
    let saved = place.s1().save("c", &mut (text.clone() + "end").as_bytes()).unwrap();
    let bytes = text.len() as u64 + 3;
    assert_eq!(saved, Saved { bytes, lines: 11, truncated: false });
    // A store of another process, after a resume.
    let files = place.s1();
    let mut next = Some(1);
    let mut lines = Vec::new();
    while let Some(offset) = next {
        let page = place.page(&files, &query(offset, 4));
        assert_eq!((page.total_lines, page.total_bytes), (11, bytes));
        lines.extend(told(&page));
        next = page.next;
    }
    let mut expected: Vec<String> = (1..=10).map(|n| format!("{n}:line {n}")).collect();
    expected.push("11:end".to_owned());
    assert_eq!(lines, expected);
    assert_eq!(told(&place.page(&files, &query(12, 4))), [""; 0]);
    assert_eq!(files.page("other", &query(1, 1), &place.cancel).unwrap(), None);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&files.dir()), mode(&files.path("c"))), (0o700, 0o600));
}

#[test]
fn an_output_is_replaced_only_when_the_new_one_is_whole() {
    let place = Place::new();
    let files = place.s1();
    files.save("c", &mut &b"old"[..]).unwrap();
    let mut unfinished = files.begin("c").unwrap();
    unfinished.write_all(b"half").unwrap();
    assert_eq!(told(&place.page(&files, &query(1, 9))), ["1:old"]);
    drop(unfinished);
    assert_eq!(fs::read_dir(files.dir()).unwrap().count(), 1);
    files.save("c", &mut &b""[..]).unwrap();
    let page = place.page(&files, &query(1, 9));
    assert_eq!((told(&page), page.total_lines), (vec![], 0));
}

#[test]
fn an_output_over_its_cap_keeps_both_ends_and_says_what_is_missing() {
    let place = Place::new();
    let files = place.files("s1", SMALL);
    // 10 bytes a line; every length of the output, so that the ring ends everywhere.
    for count in 1..40_u64 {
        for extra in 0..10 {
            let mut text: String = (1..=count).map(|n| format!("line {n:04}\n")).collect();
            text.push_str(&"x".repeat(extra));
            let saved = files.save("c", &mut text.as_bytes()).unwrap();
            let page = place.page(&files, &query(1, 1000));
            assert_eq!(saved.bytes, text.len() as u64);
            assert_eq!(saved.truncated, text.len() > 64);
            assert_eq!(page.left_out_bytes, saved.bytes.saturating_sub(64));
            assert_eq!(page.total_lines, count + u64::from(extra > 0));
            assert!(fs::metadata(files.path("c")).unwrap().len() <= 512 + 64);
            if !saved.truncated {
                assert_eq!(page.lines.len() as u64, page.total_lines);
                continue;
            }
            let last = &text[text.len() - 32..];
            let mut expected = vec!["line 0001", "line 0002", "line 0003", "li"];
            let gap = format!("[{} bytes were left out here]", text.len() - 64);
            expected.push(&gap);
            expected.extend(last.lines());
            let shown: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
            assert_eq!(shown, expected);
            // Numbers are those of the whole output.
            for line in page.lines.iter().filter(|line| line.text.len() == 9) {
                if let Some(number) = line.text.strip_prefix("line ") {
                    assert_eq!(number.parse::<u64>().unwrap(), line.number);
                }
            }
            // Small pages lead to the end too.
            let gap = place.page(&files, &query(5, 1));
            assert!(gap.lines.is_empty() || gap.lines[0].number >= 5);
            let (mut next, mut lines) = (Some(1), Vec::new());
            while let Some(offset) = next {
                let page = place.page(&files, &query(offset, 1));
                lines.extend(page.lines);
                assert!(page.next.is_none_or(|next| next > offset));
                next = page.next;
            }
            assert_eq!(lines, page.lines);
        }
    }
}

#[test]
fn a_loop_that_reads_its_own_output_fills_no_disk() {
    // Row 18: each round writes all that it can read, twice.
    let place = Place::new();
    let files = place.files("s1", SMALL);
    files.save("c", &mut &b"a\nb\n"[..]).unwrap();
    for _ in 0..50 {
        let all = told(&place.page(&files, &query(1, u64::MAX))).join("\n").repeat(2);
        files.save("c", &mut all.as_bytes()).unwrap();
        for n in 0..5 {
            files.save(&format!("call {n}"), &mut all.as_bytes()).unwrap();
        }
        let sizes =
            fs::read_dir(files.dir()).unwrap().map(|f| f.unwrap().metadata().unwrap().len());
        assert!(sizes.sum::<u64>() <= SMALL.session_bytes);
    }
    assert!(place.page(&files, &query(1, 1)).left_out_bytes > 0);
}

#[test]
fn a_search_gives_matches_with_lines_around_them() {
    let place = Place::new();
    let files = place.s1();
    let text: String =
        (1..=30).map(|n| format!("{} {n}\r\n", if n % 10 == 0 { "error" } else { "ok" })).collect();
    files.save("c", &mut text.as_bytes()).unwrap();
    let page = place.page(&files, &search("^err.* \\d+$", 0));
    assert_eq!(told(&page), ["10:error 10", "20:error 20", "30:error 30"]);
    assert!(page.lines.iter().all(|line| line.is_match));
    let page = place.page(&files, &PageQuery { limit: 5, ..search("error", 1) });
    assert_eq!(told(&page), ["9:ok 9", "10:error 10", "11:ok 11", "19:ok 19", "20:error 20"]);
    assert_eq!(page.next, Some(21));
    let page = place.page(&files, &PageQuery { offset: 21, ..search("error", 1) });
    assert_eq!(told(&page), ["29:ok 29", "30:error 30"]);
    let page = place.page(&files, &search("nothing", 5));
    assert_eq!((told(&page), page.next), (vec![], None));
    let wrong = files.page("c", &search("(", 0), &place.cancel).unwrap_err();
    assert!(wrong.to_string().contains("pattern `(` makes no sense"), "{wrong}");
    assert_eq!(io::Error::from(wrong).kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn a_line_without_an_end_is_bounded_and_searched_to_its_end() {
    let place = Place::new();
    let files = place.s1();
    let len = 5 * (1 << 20);
    let mut line = "\u{e9}".repeat(len / 2).into_bytes();
    line[len - 12..len - 6].copy_from_slice(b"needle");
    // One across the border of two windows.
    let border = (1 << 20) - 3;
    line[border..border + 5].copy_from_slice(b"cross");
    files.save("c", &mut &line[..]).unwrap();
    let page = place.page(&files, &query(1, 10));
    assert_eq!(page.lines.len(), 1);
    let text = &page.lines[0].text;
    let more = format!(" [{} more bytes]", len - 2000);
    assert!(text.ends_with(&more) && text.len() == 2000 + more.len(), "{}", text.len());
    for (word, at) in [("needle", len - 12 - 200), ("cross", border - 200)] {
        let page = place.page(&files, &search(word, 0));
        let text = &page.lines[0].text;
        assert!(text.starts_with(&format!("[from byte {at}] ")), "{}", &text[..40]);
        assert!(text.contains(word) && text.len() < 2200);
    }
    assert_eq!(place.page(&files, &search("absent", 3)).lines, []);
}

#[test]
fn a_page_is_bounded_by_bytes_and_gives_at_least_a_line() {
    let place = Place::new();
    let files = place.s1();
    files.save("c", &mut &b"12345\n12345\n12345\n"[..]).unwrap();
    for (max_bytes, lines, next) in [(0, 1, Some(2)), (10, 2, Some(3)), (15, 3, None)] {
        let page = place.page(&files, &PageQuery { max_bytes, ..query(1, 10) });
        assert_eq!((page.lines.len(), page.next), (lines, next));
    }
    place.cancel.cancel();
    assert!(files.page("c", &query(1, 10), &place.cancel).is_err());
}

#[test]
fn a_vendors_id_never_names_a_file() {
    let place = Place::new();
    let files = place.s1();
    let ids = ["../../../evil", "/etc/passwd", "a\0b", "", ".", &"long".repeat(1000)];
    for id in ids {
        files.save(id, &mut id.as_bytes()).unwrap();
    }
    for entry in fs::read_dir(files.dir()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    }
    for id in ids {
        let page = files.page(id, &query(1, 1), &place.cancel).unwrap().unwrap();
        assert_eq!(page.total_bytes, id.len() as u64);
    }
    let home = AbsPath::new(place.dir.path()).unwrap();
    assert!(OutputFiles::open(&home, "../x", SMALL).is_err());
}

#[test]
fn old_outputs_old_sessions_and_leftovers_go_and_open_sessions_stay() {
    let place = Place::new();
    let age = |path: &Path, secs| {
        let then = std::time::UNIX_EPOCH + Duration::from_secs(secs);
        File::open(path).unwrap().set_times(FileTimes::new().set_modified(then)).unwrap();
    };
    for n in 0..6 {
        let files = place.files(&format!("old{n}"), OutputLimits::default());
        files.save("c", &mut &b"x"[..]).unwrap();
        age(&files.dir(), 1000 + n);
    }
    let locks = place.dir.path().join("locks");
    let open = lock::WriterLock::take(&locks, "old0").unwrap();
    let files = place.files("s1", SMALL);
    let killed = files.dir().join(format!("{}half", tidy::TEMP));
    fs::create_dir_all(files.dir()).unwrap();
    fs::write(&killed, "half").unwrap();
    let writing = files.begin("w").unwrap();
    assert!(!killed.exists());
    // Another store of the same session takes nothing away that is being written.
    place.files("s1", SMALL).begin("x").unwrap().finish().unwrap();
    writing.finish().unwrap();
    let kept = |n| place.files(&format!("old{n}"), SMALL).path("c").exists();
    assert_eq!([0, 1, 2, 3, 4, 5].map(kept), [true, false, false, false, true, true]);
    assert!(!place.dir.path().join("tasks/old1").exists());
    drop(open);

    // Within a session the oldest outputs go first.
    for n in 0..20_u64 {
        files.save(&n.to_string(), &mut &[b'x'; 500][..]).unwrap();
        age(&files.path(&n.to_string()), 1000 + n);
    }
    let left: Vec<u64> = (0..20).filter(|n| files.path(&n.to_string()).exists()).collect();
    assert_eq!(left, [15, 16, 17, 18, 19]);
    files.clear().unwrap();
    files.clear().unwrap();
    assert!(!files.dir().exists());
}

#[test]
fn a_file_that_is_no_output_is_none() {
    let place = Place::new();
    let files = place.s1();
    for junk in [&b"short"[..], &[b'x'; 2000]] {
        fs::create_dir_all(files.dir()).unwrap();
        fs::write(files.path("c"), junk).unwrap();
        assert_eq!(files.page("c", &query(1, 1), &place.cancel).unwrap(), None);
    }
}
