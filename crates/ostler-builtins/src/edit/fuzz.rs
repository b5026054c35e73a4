//! One edit from arbitrary bytes, for the fuzzer and the property tests.

use crate::{
    edit::apply::{Applied, Change, Count, apply},
    text::{Encoding, decode, unify},
};

/// Cuts `data` into a file and an edit, applies it, and checks that no byte outside of
/// the edited places changed. Panics if one did.
///
/// The first byte chooses how the rest is cut and whether all places are meant.
pub fn fuzz_edit(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let (file, edit) = rest.split_at(rest.len() * usize::from(choice >> 4) / 16);
    let (old, new) = edit.split_at(edit.len() / 2);
    let Ok(text) = decode(file) else { return };
    let old = if choice & 2 == 0 {
        String::from_utf8_lossy(old).into_owned()
    } else {
        // A part of the file itself, so that edits are found.
        let chars = text.text.chars().skip(old.first().map_or(0, |&skip| usize::from(skip) % 32));
        chars.take(usize::from(choice >> 2 & 3) + 1).collect()
    };
    let new = String::from_utf8_lossy(new);
    let count = if choice & 1 == 0 { Count::One } else { Count::All };
    let Ok(Applied { text: after, places, .. }) =
        apply(&text, Change { old: &old, new: &new, count })
    else {
        return;
    };
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return };
    assert!(after.starts_with(&text.text[..first.start]), "bytes before the edit changed");
    assert!(after.ends_with(&text.text[last.end..]), "bytes after the edit changed");
    // An older encoding may not have the characters that the edit adds.
    let holds = text.encoding.encode(&after).is_some();
    assert!(
        holds || matches!(text.encoding, Encoding::Legacy(_)),
        "the encoding cannot hold the result"
    );
    if places.len() == 1
        && !text.text.contains('\r')
        && text.text.contains(&old)
        && !old.contains('\r')
    {
        assert!(
            after == text.text.replacen(&old, &unify(&new), 1),
            "the result is not the replacement"
        );
    }
}
