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
const MAX_COMPOUND: usize = 40;
/// `case` words: the second parser's time grows exponentially with their nesting.
const MAX_CASES: usize = 8;

/// Bars and here-documents: the time for one pipeline, and for words that open such documents,
/// grows with the square of their number.
const MAX_BARS: usize = 1_000;
const MAX_DOCUMENTS: usize = 250;

/// Why a script is too much, if it is.
pub(super) fn too_much(script: &str) -> Option<&'static str> {
    if script.len() > MAX_BYTES {
        return Some("the script is longer than 64 KiB");
    }
    // What separates words for one reader of these is part of a word for another.
    let odd = |c: char| match c {
        '\n' | '\t' | ' ' => false,
        c => c.is_control() || c.is_whitespace(),
    };
    if script.contains(odd) {
        return Some("the script holds control characters or odd spaces");
    }
    if script.matches('|').count() > MAX_BARS || script.matches("<<").count() > MAX_DOCUMENTS {
        return Some("the script has too many parts");
    }
    let (brackets, compound) = nesting(script);
    let cases = script.split(|c: char| !c.is_alphanumeric()).filter(|word| *word == "case").count();
    (brackets > MAX_BRACKETS || compound > MAX_COMPOUND || cases > MAX_CASES)
        .then_some("the script is nested too deeply")
}

/// Whether reading it may need more stack than a worker thread has.
pub(super) fn needs_room(script: &str) -> bool {
    let (brackets, compound) = nesting(script);
    brackets > 2 || compound > 3 || script.matches('!').count() > 20
}

/// Open brackets within each other, and words that open a compound command.
fn nesting(script: &str) -> (usize, usize) {
    let (mut open, mut most) = (0_usize, 0_usize);
    for byte in script.bytes() {
        match byte {
            b'(' | b'{' | b'[' => open += 1,
            b')' | b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    let opens = |word: &str| matches!(word, "if" | "for" | "while" | "until" | "case" | "select");
    let compound = script.split(|c: char| !c.is_alphanumeric()).filter(|word| opens(word)).count();
    (most, compound)
}
