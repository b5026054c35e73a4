//! Tells UTF-16 without a mark by its looks, as some Windows programs write it. Never by a
//! guess about words: nearly all units of the start are plain ASCII.

/// Which byte of a unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The lower one.
    Little,
    /// The upper one.
    Big,
}

/// Bytes looked at.
const LOOKED_AT: usize = 512;

/// The order of bytes, if this is the start of UTF-16 without a mark.
pub(crate) fn unmarked(head: &[u8]) -> Option<Order> {
    let head = &head[..head.len().min(LOOKED_AT) & !1];
    if head.len() < 8 || !head.contains(&0) {
        return None;
    }
    let plain = |unit: &&[u8], zero: usize| {
        unit[zero] == 0 && matches!(unit[1 - zero], b'\t' | b'\n' | b'\r' | b' '..=b'~')
    };
    let share = |zero| head.chunks(2).filter(|unit| plain(unit, zero)).count() * 20;
    let wanted = head.len() / 2 * 19;
    match () {
        () if share(1) >= wanted => Some(Order::Little),
        () if share(0) >= wanted => Some(Order::Big),
        () => None,
    }
}
