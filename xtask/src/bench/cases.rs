//! The benches. Each gives rows for the report; an error means that what was measured did not do
//! what it should, so that a fast failure is never taken for a good figure.

use super::{Bench, deltas, judge, resume, round_trips, search, serve, start};

pub(super) const BENCHES: &[Bench] = &[
    Bench { name: "version", run: start::version },
    Bench { name: "noise", run: start::noise },
    Bench { name: "first-request", run: start::first_request },
    Bench { name: "one-shot", run: start::one_shot },
    Bench { name: "first-reply", run: serve::first_reply },
    Bench { name: "round-trips", run: round_trips::round_trips },
    Bench { name: "deltas", run: deltas::deltas },
    Bench { name: "idle-memory", run: serve::idle_memory },
    Bench { name: "resume", run: resume::resume },
    Bench { name: "list", run: resume::list },
    Bench { name: "search", run: search::search },
    Bench { name: "judge", run: judge::judge },
];
