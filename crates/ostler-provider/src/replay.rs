//! Test support: plays a recorded answer into a lift, cut into pieces.

use crate::{Failure, ModelEvent, sse, wire::Lifter};

/// The events of `bytes` that arrive in these `pieces`.
pub(crate) fn replay(mut lift: impl Lifter, pieces: &[&[u8]]) -> Vec<ModelEvent> {
    let mut decoder = sse::Decoder::default();
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece, |data| lift.take(data)).unwrap();
        events.extend(lift.events());
    }
    lift.end();
    events.extend(lift.events());
    events
}

/// The same with neighbouring deltas joined: what does not depend on the pieces.
pub(crate) fn joined(events: Vec<ModelEvent>) -> Vec<ModelEvent> {
    let mut out: Vec<ModelEvent> = Vec::new();
    for event in events {
        match (out.last_mut(), event) {
            (
                Some(ModelEvent::TextDelta { text, .. }),
                ModelEvent::TextDelta { text: more, .. },
            )
            | (
                Some(ModelEvent::ThinkingDelta { text, .. }),
                ModelEvent::ThinkingDelta { text: more, .. },
            ) => text.push_str(&more),
            (
                Some(ModelEvent::InputDelta { json, .. }),
                ModelEvent::InputDelta { json: more, .. },
            ) => {
                json.push_str(&more);
            }
            (_, event) => out.push(event),
        }
    }
    out
}

/// Plays `bytes` whole, cut once at every place, and byte by byte; all must agree.
pub(crate) fn every_split<L: Lifter>(bytes: &[u8], lift: impl Fn() -> L) -> Vec<ModelEvent> {
    let whole = joined(replay(lift(), &[bytes]));
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(joined(replay(lift(), &[head, tail])), whole, "cut at {at}");
    }
    let single = bytes.iter().map(std::slice::from_ref).collect::<Vec<_>>();
    assert_eq!(joined(replay(lift(), &single)), whole);
    whole
}

/// The failure that ends the events.
pub(crate) fn failure(events: &[ModelEvent]) -> &Failure {
    let Some(ModelEvent::Failed(failure)) = events.last() else { panic!("{events:?}") };
    failure
}
