//! Cutting text to a cap: whatever the text and the cap, the result holds whole characters of
//! both ends, and says exactly how much is missing.

use ostler_stdx::bound_middle;

/// The first byte is the length of the head, the second that of the tail, the rest the text.
pub(crate) fn run(input: &[u8]) {
    let [head, tail, text @ ..] = input else {
        return;
    };
    let text = String::from_utf8_lossy(text);
    let (head, tail) = (usize::from(*head), usize::from(*tail));
    let bounded = bound_middle(&text, head, tail, "");
    if text.len() <= head + tail {
        assert_eq!(bounded.omitted, 0, "text within the cap was cut");
        assert_eq!(bounded.text, text, "text within the cap was changed");
        return;
    }
    assert!(bounded.omitted > 0, "text above the cap was not cut");
    let marker = format!("\n[... {} bytes left out ...]\n", bounded.omitted);
    let kept = text.len() - bounded.omitted;
    assert_eq!(bounded.text.len(), kept + marker.len(), "the marker does not count right");
    assert!(kept <= head + tail, "more was kept than the cap allows");
    // A character has at most four bytes, so at most three are given up at each end.
    assert!(kept + 6 >= head + tail, "more was cut than a character at each end");
    // The text may hold the marker itself, even so that it overlaps with the true one.
    let cut = (0..=bounded.text.len() - marker.len()).any(|at| {
        let Some((start, rest)) = bounded.text.split_at_checked(at) else { return false };
        let end = rest.strip_prefix(&marker);
        end.is_some_and(|end| text.starts_with(start) && text.ends_with(end))
    });
    assert!(cut, "what was kept is not the start and the end of the text");
}
