//! What Read promises of PDFs, held on small ones made here.
#![expect(unsafe_code, reason = "a function that runs before main needs a link section")]

use std::fmt::Write as _;

use serde_json::json;

use crate::tests::bench::{Bench, text};

// The test program is its own child, although its `main` is the harness's.
// SAFETY: the loader calls what stands in this section, one after another in the only
// thread, after the C library and std's arguments are set up; `enter` matches the
// expected type but for arguments that it does not look at.
#[used]
#[unsafe(link_section = ".init_array")]
static ENTRY: extern "C" fn() = enter;

extern "C" fn enter() {
    if let Some(code) = super::child::serve_if_asked() {
        #[expect(clippy::exit, reason = "there is no main to return from yet")]
        std::process::exit(code.into());
    }
}

/// A PDF whose pages say the texts; `trailer` is put into its trailer.
pub(crate) fn pdf(texts: &[&str], trailer: &str) -> Vec<u8> {
    let kids: String = (0..texts.len()).map(|at| format!("{} 0 R ", 4 + at * 2)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", texts.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
    ];
    for (at, text) in texts.iter().enumerate() {
        let content = 5 + at * 2;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Resources << /Font << /F1 3 0 R >> >> /Contents {content} 0 R >>"
        ));
        let stream = if text.is_empty() {
            String::new()
        } else {
            format!("BT /F1 12 Tf 20 200 Td ({text}) Tj ET")
        };
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    let mut out = "%PDF-1.4\n".to_owned();
    let mut table = String::new();
    for (at, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", out.len()).unwrap();
        writeln!(out, "{} 0 obj\n{object}\nendobj", at + 1).unwrap();
    }
    let (start, size) = (out.len(), objects.len() + 1);
    write!(out, "xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n").unwrap();
    out.into_bytes()
}

#[tokio::test]
async fn pages_are_shown_as_asked() {
    let bench = Bench::new();
    bench.file("a.pdf", pdf(&["first", "second", "third"], ""));
    let all = bench.text("Read", json!({"file_path": "a.pdf"})).await;
    for part in ["<page number=\"1\" of=\"3\">\nfirst\n</page>", "second", "third"] {
        assert!(all.contains(part), "{all}");
    }
    let output = bench.call("Read", json!({"file_path": "a.pdf", "pages": "2-9"})).await.unwrap();
    assert!(!text(&output).contains("first") && text(&output).contains("second"));
    assert_eq!(output.structured["type"], "text");
    let one = bench.text("Read", json!({"file_path": "a.pdf", "pages": 3})).await;
    assert!(one.contains("third") && !one.contains("second"));
    let refused = bench.refused("Read", json!({"file_path": "a.pdf", "pages": "4"})).await;
    assert!(refused.contains("3 pages"), "{refused}");
    let refused = bench.refused("Read", json!({"file_path": "a.pdf", "pages": "x"})).await;
    assert!(refused.contains("1-5,8"), "{refused}");
}

#[tokio::test]
async fn many_pages_must_be_named() {
    let bench = Bench::new();
    bench.file("a.pdf", pdf(&["text"; 11], ""));
    let refused = bench.refused("Read", json!({"file_path": "a.pdf"})).await;
    assert!(refused.contains("11 pages"), "{refused}");
    let told = bench.text("Read", json!({"file_path": "a.pdf", "pages": "11"})).await;
    assert!(told.contains("number=\"11\""), "{told}");
}

#[tokio::test]
async fn pages_without_text_are_given_as_they_are() {
    let bench = Bench::new();
    let file = pdf(&["", ""], "");
    bench.file("a.pdf", &file);
    let output = bench.call("Read", json!({"file_path": "a.pdf"})).await.unwrap();
    assert_eq!(output.structured["type"], "pdf");
    assert_eq!(output.structured["file"]["originalSize"], file.len());
    assert!(matches!(output.content[0], ostler_protocol::Block::Document { .. }));
}

#[tokio::test]
async fn damage_and_encryption_are_said() {
    let bench = Bench::new();
    bench.file("a.pdf", "%PDF-1.4\nnothing");
    let refused = bench.refused("Read", json!({"file_path": "a.pdf"})).await;
    assert!(refused.contains("damaged"), "{refused}");
    let locked = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (01234567890123456789012345678901) /U (01234567890123456789012345678901) >> /ID [(a) (a)]";
    bench.file("b.pdf", pdf(&["secret"], locked));
    let refused = bench.refused("Read", json!({"file_path": "b.pdf"})).await;
    assert!(refused.contains("encrypted"), "{refused}");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn the_child_has_limits_before_it_reads_a_byte() {
    use ostler_sandbox::{Command, Supervisor};
    use ostler_stdx::AbsPath;
    let exe = std::env::current_exe().unwrap();
    let supervisor = Supervisor::new(&exe);
    let command = Command::new(exe, AbsPath::root()).args([super::SWITCH, "1"]);
    // Its input stays open, so that it waits for a first byte.
    let child = supervisor.spawn_piped(&command).await.unwrap();
    let limit = |limits: &str, name: &str| {
        let row = limits.lines().find(|line| line.starts_with(name)).unwrap();
        row[name.len()..].split_whitespace().next().unwrap().to_owned()
    };
    loop {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.pid())).unwrap();
        // The last one that it sets.
        if limit(&limits, "Max file size") == "0" {
            assert_eq!(limit(&limits, "Max address space"), (1_u64 << 30).to_string());
            assert_eq!(limit(&limits, "Max cpu time"), super::TIME.as_secs().to_string());
            assert_eq!(limit(&limits, "Max core file size"), "0");
            break;
        }
        tokio::task::yield_now().await;
    }
    child.kill().await;
    supervisor.shutdown().await;
}

#[tokio::test]
async fn what_breaks_the_child_is_an_error_of_the_call() {
    let bench = Bench::new();
    let deep = format!("/X {}{}", "[".repeat(300_000), "]".repeat(300_000));
    bench.file("deep.pdf", pdf(&["text"], &deep));
    let called = bench.call("Read", json!({"file_path": "deep.pdf"})).await;
    let said = called.map_or_else(|error| error.to_string(), |output| text(&output));
    assert!(said.contains("damaged") || said.contains("text"), "{said}");
    // The tools go on.
    bench.file("a.pdf", pdf(&["fine"], ""));
    assert!(bench.text("Read", json!({"file_path": "a.pdf"})).await.contains("fine"));
}
