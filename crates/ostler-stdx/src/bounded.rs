//! Text with a cap: everything that reaches a model or a person passes through here.

/// Text that was cut to a cap, with what was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounded {
    /// The text that is left, marker included.
    pub text: String,
    /// Bytes that were left out; zero if the text is whole.
    pub omitted: usize,
}

/// The largest index not after `index` that lies on a character boundary.
#[must_use]
pub fn floor_char_boundary(text: &str, index: usize) -> usize {
    if index >= text.len() {
        return text.len();
    }
    (0..=index).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Keeps `head` bytes of the start and `tail` bytes of the end of `text`, whole
/// characters only, with a marker between that says how many bytes are missing
/// and `hint` for how to get them.
#[must_use]
pub fn bound_middle(text: &str, head: usize, tail: usize, hint: &str) -> Bounded {
    if text.len() <= head + tail {
        return Bounded { text: text.to_owned(), omitted: 0 };
    }
    let head_end = floor_char_boundary(text, head);
    let mut tail_start = text.len() - tail;
    while !text.is_char_boundary(tail_start) {
        tail_start += 1;
    }
    let omitted = tail_start - head_end;
    let gap = if hint.is_empty() { String::new() } else { format!("; {hint}") };
    let text = format!(
        "{}\n[... {omitted} bytes left out{gap} ...]\n{}",
        &text[..head_end],
        &text[tail_start..]
    );
    Bounded { text, omitted }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bounded_text_never_splits_a_character(text in "\\PC{0,200}", head in 0usize..80, tail in 0usize..80) {
            let bounded = bound_middle(&text, head, tail, "");
            if bounded.omitted == 0 {
                prop_assert_eq!(bounded.text, text);
            } else {
                prop_assert!(bounded.text.len() <= head + tail + 60);
            }
        }
    }
}
