//! Pages that the session fetched lately, so that reading on costs no second fetch.
//! Kept in memory, bounded, for a quarter of an hour.

use std::sync::{Arc, Mutex, PoisonError};

use ostler_stdx::floor_char_boundary;

/// Milliseconds for which a page is kept.
const KEPT_MS: i64 = 15 * 60 * 1000;
/// Bytes of all kept pages.
const KEPT_BYTES: usize = 16 << 20;

/// A page as text.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) text: String,
    /// Whether it was longer than what is kept.
    pub(super) cut: bool,
    /// Bytes of the answer.
    pub(super) bytes: usize,
    pub(super) code: u16,
    pub(super) code_text: String,
}

/// The pages of a session. Kept in `ostler_tool::SessionState`.
#[derive(Debug, Default)]
pub(super) struct Pages(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    key: String,
    at_ms: i64,
    page: Arc<Page>,
}

impl Pages {
    /// The page, if it is young enough.
    pub(super) fn get(&self, key: &str, now_ms: i64) -> Option<Arc<Page>> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|kept| (0..KEPT_MS).contains(&(now_ms - kept.at_ms)));
        pages.iter().find(|kept| kept.key == key).map(|kept| Arc::clone(&kept.page))
    }

    /// Keeps a page; the oldest go if there are too many.
    pub(super) fn keep(&self, key: String, page: &Arc<Page>, now_ms: i64) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|kept| kept.key != key);
        pages.push(Kept { key, at_ms: now_ms, page: Arc::clone(page) });
        let size = |pages: &Vec<Kept>| pages.iter().map(|kept| kept.page.text.len()).sum::<usize>();
        while pages.len() > 1 && size(&pages) > KEPT_BYTES {
            pages.remove(0);
        }
    }
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// Characters before it and up to its end, and in all.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) total: usize,
}

/// The part that starts at a character and has at most `cap` bytes; it ends with a line
/// where one ends near.
pub(super) fn part(text: &str, offset: usize, cap: usize) -> Part<'_> {
    let start = text.char_indices().nth(offset).map_or(text.len(), |(at, _)| at);
    let rest = &text[start..];
    let mut end = floor_char_boundary(rest, cap);
    if end < rest.len()
        && let Some(line) = rest[..end].rfind('\n')
        && line > cap / 4 * 3
    {
        end = line + 1;
    }
    let from = text[..start].chars().count();
    let to = from + rest[..end].chars().count();
    Part { text: &rest[..end], from, to, total: to + rest[end..].chars().count() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(text: &str) -> Arc<Page> {
        Arc::new(Page {
            title: String::new(),
            text: text.to_owned(),
            cut: false,
            bytes: 0,
            code: 200,
            code_text: String::new(),
        })
    }

    #[test]
    fn pages_grow_old_and_make_room() {
        let pages = Pages::default();
        pages.keep("a".to_owned(), &page("first"), 0);
        assert!(pages.get("a", KEPT_MS - 1).is_some());
        assert!(pages.get("b", 1).is_none());
        assert!(pages.get("a", KEPT_MS).is_none());
        for at in 0..40 {
            pages.keep(at.to_string(), &page(&"x".repeat(1 << 20)), 5);
        }
        assert!(pages.get("39", 5).is_some() && pages.get("0", 5).is_none());
    }

    proptest! {
        #[test]
        fn parts_in_a_row_are_the_whole(text in "[a\u{fc}\n]{0,200}", cap in 4usize..50) {
            let (mut all, mut at) = (String::new(), 0);
            loop {
                let part = part(&text, at, cap);
                all.push_str(part.text);
                prop_assert_eq!((part.from, part.total), (at, text.chars().count()));
                prop_assert!(part.text.len() <= cap);
                if part.to == part.total { break; }
                prop_assert!(part.to > at);
                at = part.to;
            }
            prop_assert_eq!(all, text);
        }
    }
}
