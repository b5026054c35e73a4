//! Doors for fuzzing: whatever the bytes, nothing here panics.

use crate::{
    chat, messages,
    scenario::{Scenario, Script, Vars},
    sse,
    wire::Lifter,
};

/// Decodes and lifts bytes as an answer of the Messages wire.
pub fn fuzz_anthropic_sse(bytes: &[u8]) {
    lift(bytes, &mut messages::Lift::new("fuzz", "m", None));
}

/// Decodes and lifts bytes as an answer of the Chat Completions wire.
pub fn fuzz_chat_sse(bytes: &[u8]) {
    lift(bytes, &mut chat::Lift::new("fuzz", "m", None, "seed"));
}

/// Reads bytes as a scenario and asks it once.
pub fn fuzz_scenario(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(scenario) = Scenario::parse("fuzz", &text, &Vars::new()) {
        drop(Script::new(scenario).next(&crate::ModelRequest::default()));
    }
}

fn lift(bytes: &[u8], lift: &mut dyn Lifter) {
    let mut decoder = sse::Decoder::default();
    // Cut where the bytes themselves say, so that cuts are fuzzed too.
    let cut = bytes.first().map_or(1, |byte| usize::from(*byte) % 17 + 1);
    for piece in bytes.chunks(cut) {
        if decoder.push(piece, |data| lift.take(data)).is_err() {
            return;
        }
    }
    if let Some(data) = decoder.finish() {
        lift.take(&data);
    }
    lift.end();
    drop(lift.events());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SEEDS: [&[u8]; 3] = [
        include_bytes!("../tests/fixtures/anthropic/everything.sse"),
        include_bytes!("../tests/fixtures/openai/everything.sse"),
        include_bytes!("demo.scenario.json"),
    ];

    proptest! {
        /// Recorded answers with some bytes replaced, left out or doubled.
        #[test]
        fn damaged_answers_do_not_panic(
            seed in 0usize..SEEDS.len(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 0..12),
        ) {
            let mut bytes = SEEDS[seed].to_vec();
            for (at, byte, how) in damage {
                let at = at.index(bytes.len());
                match how {
                    0 => bytes[at] = byte,
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, byte),
                }
            }
            fuzz_anthropic_sse(&bytes);
            fuzz_chat_sse(&bytes);
            fuzz_scenario(&bytes);
        }
    }
}
