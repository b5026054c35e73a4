//! The child: reads a PDF from its input, writes what it found as JSON, within limits that
//! it sets itself before it looks at a byte.

use std::{
    io::{self, Read as _, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
};

use nix::sys::resource::{Resource, setrlimit};
use pdf_extract::{Document, PlainTextOutput, output_doc_page};

use super::{Found, Pages, SWITCH, TIME};

/// Bytes of address space, and of a page's text that are kept.
const MEMORY: u64 = 1 << 30;
const PAGE: usize = 100_000;
/// Bytes of text of all pages, so that the answer fits.
const ALL: usize = 400_000;

/// Takes the role of the PDF reader if this process was started for it; the exit code if
/// so. A `main` calls it first.
#[must_use]
pub fn pdf_main() -> Option<ExitCode> {
    serve_if_asked().map(ExitCode::from)
}

/// [`pdf_main`] with the exit code as a number.
pub(super) fn serve_if_asked() -> Option<u8> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != SWITCH {
        return None;
    }
    let pages = args.next()?.into_string().ok()?.parse().ok()?;
    Some(match serve(&pages) {
        Ok(()) => 0,
        Err(_) => 1,
    })
}

fn serve(pages: &Pages) -> io::Result<()> {
    setrlimit(Resource::RLIMIT_AS, MEMORY, MEMORY)?;
    setrlimit(Resource::RLIMIT_CPU, TIME.as_secs(), TIME.as_secs())?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_FSIZE, 0, 0)?;
    // What panics is said as an error.
    std::panic::set_hook(Box::new(|_| {}));
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    let found = find(&bytes, pages);
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, &found)?;
    out.flush()
}

/// The texts of pages. Never panics.
pub(super) fn find(bytes: &[u8], pages: &Pages) -> Found {
    catch_unwind(|| texts(bytes, pages)).unwrap_or_else(|_| failed("it is damaged"))
}

fn failed(error: &str) -> Found {
    Found { error: Some(error.to_owned()), ..Found::default() }
}

fn texts(bytes: &[u8], pages: &Pages) -> Found {
    const LOCKED: &str =
        "it is encrypted: decrypt it first, for example with `qpdf --decrypt` in Bash";
    // What is encrypted may look damaged.
    let locked = bytes.windows(8).any(|part| part == b"/Encrypt");
    let Ok(mut document) = Document::load_mem(bytes) else {
        return failed(if locked { LOCKED } else { "it is damaged: its structure cannot be read" });
    };
    if document.is_encrypted() && document.decrypt("").is_err() {
        return failed(LOCKED);
    }
    let numbers = document.get_pages();
    let Ok(total) = u32::try_from(numbers.len()) else { return failed("it has too many pages") };
    if total == 0 {
        return failed(if locked { LOCKED } else { "it is damaged: it has no pages" });
    }
    let mut left = ALL;
    let texts = pages.iter().filter(|page| numbers.contains_key(page)).map(|page| {
        let text = catch_unwind(AssertUnwindSafe(|| text(&document, page))).ok().flatten();
        let text = text.map(|mut text| {
            text.truncate(ostler_stdx::floor_char_boundary(&text, PAGE.min(left)));
            left -= text.len();
            text
        });
        (page, text)
    });
    Found { total, texts: texts.collect(), error: None }
}

fn text(document: &Document, page: u32) -> Option<String> {
    let mut text = String::new();
    output_doc_page(document, &mut PlainTextOutput::new(&mut text), page).ok()?;
    Some(text)
}

/// Reads a PDF from arbitrary bytes in this process, for the fuzzer. Must not panic.
///
/// The first line names the pages.
pub fn fuzz_pdf(data: &[u8]) {
    let (pages, file) =
        data.split_at(data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len()));
    if let Ok(pages) = String::from_utf8_lossy(pages).parse::<Pages>() {
        let found = find(file, &pages);
        assert!(found.texts.iter().all(|(page, _)| (1..=found.total).contains(page)));
    }
}
