//! What several hooks mean together: deny > defer > ask > allow, the first block counts,
//! texts add up. Pure.

use serde_json::Value;

use crate::{Answer, Decision, NewInput, PermissionAnswer};

/// What all hooks of one event said together. The default is that none said anything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The strongest decision about the call.
    pub decision: Option<Decision>,
    /// Why, from the hook that decided or blocked.
    pub reason: Option<String>,
    /// The name of that hook.
    pub by: Option<String>,
    /// Whether a hook stands in the way, for events other than `PreToolUse`.
    pub block: bool,
    /// Another input for the call.
    pub input: Option<NewInput>,
    /// Texts for the model.
    pub context: Vec<String>,
    /// The turn ends, with words why.
    pub stop: Option<String>,
    /// Shown to the person.
    pub messages: Vec<String>,
    /// Another output of the tool.
    pub output: Option<Value>,
    /// An answer in the person's place.
    pub permission: Option<PermissionAnswer>,
    /// Whether the model may try a refused call again.
    pub retry: bool,
    /// A title for the session.
    pub title: Option<String>,
    /// Whether the person's own words are left out.
    pub suppress_prompt: bool,
}

/// Combines answers with the names of their hooks, strongest settings first.
#[must_use]
pub(crate) fn combine(answers: impl IntoIterator<Item = (String, Answer)>) -> Outcome {
    let mut all = Outcome::default();
    for (name, answer) in answers {
        all.take(name, answer);
    }
    // What a denied call would have had for an input concerns nobody.
    if all.decision >= Some(Decision::Defer) {
        all.input = None;
    }
    all
}

impl Outcome {
    fn take(&mut self, name: String, answer: Answer) {
        let decides = answer.decision > self.decision || (answer.block && !self.block);
        let refuses = |permission: &Option<PermissionAnswer>| {
            matches!(permission, Some(PermissionAnswer::Deny { .. }))
        };
        if decides {
            self.decision = self.decision.max(answer.decision);
            self.reason = answer.reason;
            self.by = Some(name.clone());
        }
        self.block |= answer.block;
        if self.permission.is_none() || (refuses(&answer.permission) && !refuses(&self.permission))
        {
            if answer.permission.is_some() {
                self.by = Some(name);
            }
            self.permission = answer.permission.or_else(|| self.permission.take());
        }
        // A hook that refuses has no say in what is run.
        if answer.decision < Some(Decision::Defer) && self.input.is_none() {
            self.input = answer.input;
        }
        self.context.extend(answer.context);
        self.stop = self.stop.take().or(answer.stop);
        self.messages.extend(answer.message);
        self.output = self.output.take().or(answer.output);
        self.retry |= answer.retry;
        self.title = self.title.take().or(answer.title);
        self.suppress_prompt |= answer.suppress_prompt;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn answer(decision: Option<Decision>, reason: &str) -> Answer {
        Answer { decision, reason: Some(reason.to_owned()), ..Answer::default() }
    }

    fn named(answers: Vec<Answer>) -> Vec<(String, Answer)> {
        answers.into_iter().enumerate().map(|(at, answer)| (format!("h{at}"), answer)).collect()
    }

    #[test]
    fn the_strongest_decision_counts_in_every_order() {
        use Decision::{Allow, Ask, Defer, Deny};
        let all = [None, Some(Allow), Some(Ask), Some(Defer), Some(Deny)];
        for first in all {
            for second in all {
                let outcome = combine(named(vec![answer(first, "one"), answer(second, "two")]));
                assert_eq!(outcome.decision, first.max(second));
                let expected = match (first, second) {
                    (None, None) => None,
                    _ if second > first => Some("two"),
                    _ => Some("one"),
                };
                assert_eq!(outcome.reason.as_deref(), expected, "{first:?} {second:?}");
            }
        }
    }

    #[test]
    fn the_first_new_input_counts_and_none_of_a_refused_call() {
        let input = |decision, command: &str| {
            let whole = Map::from_iter([("command".to_owned(), json!(command))]);
            Answer { input: Some(NewInput::Whole(whole)), ..answer(decision, "") }
        };
        let allowed = combine(named(vec![input(None, "a"), input(Some(Decision::Allow), "b")]));
        assert_eq!(allowed.input.unwrap().apply(&Map::new())["command"], "a");
        let denied = combine(named(vec![input(None, "a"), answer(Some(Decision::Deny), "no")]));
        assert_eq!(denied.input, None);
        let refuser = combine(named(vec![input(Some(Decision::Deny), "a")]));
        assert_eq!(refuser.input, None);
    }

    #[test]
    fn texts_add_up_and_a_refusal_beats_a_permission() {
        let allow = PermissionAnswer::Allow { updated_input: None, updates: Vec::new() };
        let deny = PermissionAnswer::Deny { message: None, interrupt: false };
        let one = Answer {
            context: vec!["a".to_owned()],
            message: Some("m".to_owned()),
            permission: Some(allow.clone()),
            ..Answer::default()
        };
        let two = Answer {
            context: vec!["b".to_owned()],
            stop: Some("enough".to_owned()),
            permission: Some(deny.clone()),
            block: true,
            reason: Some("r".to_owned()),
            ..Answer::default()
        };
        for answers in [vec![one.clone(), two.clone()], vec![two, one.clone()]] {
            let outcome = combine(named(answers));
            assert_eq!(outcome.permission, Some(deny.clone()));
            assert_eq!(outcome.context.len(), 2);
            assert_eq!((outcome.stop.as_deref(), outcome.block), (Some("enough"), true));
            assert_eq!((outcome.reason.as_deref(), outcome.messages.len()), (Some("r"), 1));
        }
        assert_eq!(combine(named(vec![one, Answer::default()])).permission, Some(allow));
    }
}
