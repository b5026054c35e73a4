//! What is too much to read: size, nesting, number of nodes.
//!
//! The second parser descends recursively, so nesting is bounded before it sees a script.

/// Scripts above this are not read.
pub(super) const MAX_BYTES: usize = 64 * 1024;
/// Syntax nodes of the first parser.
pub(super) const MAX_NODES: usize = 20_000;
/// Depth of the first parser's tree.
pub(super) const MAX_DEPTH: usize = 100;
/// Scripts within scripts (`sh -c`, substitutions).
pub(super) const MAX_SCRIPTS: usize = 8;
/// Open brackets within each other, quotes or not.
const MAX_BRACKETS: usize = 12;
/// Words that open a compound command.
const MAX_COMPOUND: usize = 60;

/// Why a script is too much, if it is.
pub(super) fn too_much(script: &str) -> Option<&'static str> {
    if script.len() > MAX_BYTES {
        return Some("the script is longer than 64 KiB");
    }
    if script.contains('\0') {
        return Some("the script holds a zero byte");
    }
    let (mut open, mut most) = (0_usize, 0_usize);
    for byte in script.bytes() {
        match byte {
            b'(' | b'{' => open += 1,
            b')' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    let opens = |word: &str| matches!(word, "if" | "for" | "while" | "until" | "case" | "select");
    let compound = script.split(|c: char| !c.is_alphanumeric()).filter(|word| opens(word)).count();
    (most > MAX_BRACKETS || compound > MAX_COMPOUND).then_some("the script is nested too deeply")
}
