//! The requests to the person of one session: which wait, and which no longer do.
//!
//! A request that waits stays when the last front end leaves, so that a page can be opened
//! again; it ends by an answer, its time, an interruption or the session's end. What is
//! asked while nobody looks is refused by the gate and never comes here. It decides nothing
//! and keeps no arguments of requests that are over.

use std::collections::VecDeque;

use ostler_core::AskedEvent;
use ostler_protocol::RequestId;

/// Ids of requests that are over, kept to tell "answered elsewhere" from "never was".
const OVER_CAP: usize = 1000;

/// The requests of one session.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    open: Vec<AskedEvent>,
    over: VecDeque<RequestId>,
}

/// What is known of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Known {
    /// It waits.
    Open(Box<AskedEvent>),
    /// It was answered, refused, timed out or was withdrawn.
    Over,
}

impl Prompts {
    pub(super) fn asked(&mut self, asked: &AskedEvent) {
        self.open.push(asked.clone());
    }

    pub(super) fn over(&mut self, id: &RequestId) {
        self.end(|asked| asked.request_id == *id);
    }

    pub(super) fn all_over(&mut self) {
        self.end(|_| true);
    }

    fn end(&mut self, ended: impl Fn(&AskedEvent) -> bool) {
        let (gone, open) = std::mem::take(&mut self.open).into_iter().partition(ended);
        self.open = open;
        let gone: Vec<AskedEvent> = gone;
        self.over.extend(gone.into_iter().map(|asked| asked.request_id));
        while self.over.len() > OVER_CAP {
            self.over.pop_front();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Those that wait, oldest first.
    pub(super) fn open(&self) -> &[AskedEvent] {
        &self.open
    }

    /// What is known of a request; `None`: this session never asked it, or long ago.
    pub(super) fn find(&self, id: &RequestId) -> Option<Known> {
        let open = self.open.iter().find(|asked| asked.request_id == *id);
        open.map(|asked| Known::Open(Box::new(asked.clone())))
            .or_else(|| self.over.contains(id).then_some(Known::Over))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(id: &str) -> AskedEvent {
        AskedEvent {
            request_id: id.into(),
            tool_call_id: "c".into(),
            tool_name: "Bash".to_owned(),
            args: serde_json::Map::new(),
            mode: ostler_protocol::Mode::Default,
            question: ostler_core::Question::default(),
        }
    }

    #[test]
    fn what_is_over_is_told_from_what_never_was() {
        let mut prompts = Prompts::default();
        prompts.asked(&asked("a"));
        prompts.asked(&asked("b"));
        prompts.over(&"a".into());
        assert_eq!(prompts.find(&"a".into()), Some(Known::Over));
        assert_eq!(prompts.find(&"b".into()), Some(Known::Open(Box::new(asked("b")))));
        assert_eq!(prompts.find(&"c".into()), None);
        prompts.all_over();
        assert_eq!((prompts.len(), prompts.find(&"b".into())), (0, Some(Known::Over)));
    }

    #[test]
    fn the_ids_of_what_is_over_are_bounded() {
        let mut prompts = Prompts::default();
        for at in 0..OVER_CAP + 5 {
            prompts.asked(&asked(&at.to_string()));
            prompts.all_over();
        }
        assert_eq!(prompts.over.len(), OVER_CAP);
        assert_eq!(prompts.find(&"4".into()), None);
        assert_eq!(prompts.find(&"5".into()), Some(Known::Over));
    }
}
