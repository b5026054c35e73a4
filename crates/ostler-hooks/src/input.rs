//! The input object of a hook: what every event has in common, then its own fields.

use serde_json::{Map, Value, json};

use crate::Event;

/// What every input holds (agent-sdk.md 5.5). What is unknown is left out, never invented.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Common {
    /// The session.
    pub session_id: String,
    /// Its transcript on disk; empty if it has none.
    pub transcript_path: String,
    /// The folder that tools work in.
    pub cwd: String,
    /// The mode in force.
    pub permission_mode: Option<String>,
    /// The message that the turn answers.
    pub prompt_id: Option<String>,
    /// How hard the model tries.
    pub effort: Option<String>,
}

impl Common {
    /// The input of an event; `fields` are its own.
    #[must_use]
    pub fn input(&self, event: Event, fields: Map<String, Value>) -> Map<String, Value> {
        let mut input = Map::from_iter([
            ("session_id".to_owned(), json!(self.session_id)),
            ("transcript_path".to_owned(), json!(self.transcript_path)),
            ("cwd".to_owned(), json!(self.cwd)),
            ("hook_event_name".to_owned(), json!(event.name())),
        ]);
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                input.insert(key.to_owned(), value);
            }
        };
        put("permission_mode", self.permission_mode.as_ref().map(|mode| json!(mode)));
        put("prompt_id", self.prompt_id.as_ref().map(|id| json!(id)));
        put("effort", self.effort.as_ref().map(|level| json!({"level": level})));
        input.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
        input
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_left_out() {
        let common =
            Common { session_id: "s".to_owned(), cwd: "/p".to_owned(), ..Common::default() };
        let fields =
            Map::from_iter([("prompt".to_owned(), json!("x")), ("model".to_owned(), Value::Null)]);
        let input = common.input(Event::UserPromptSubmit, fields);
        let expected = json!({
            "session_id": "s", "transcript_path": "", "cwd": "/p",
            "hook_event_name": "UserPromptSubmit", "prompt": "x",
        });
        assert_eq!(Value::Object(input), expected);
    }

    #[test]
    fn what_is_known_is_there() {
        let common = Common {
            session_id: "s".to_owned(),
            transcript_path: "/t.jsonl".to_owned(),
            cwd: "/p".to_owned(),
            permission_mode: Some("plan".to_owned()),
            prompt_id: Some("p1".to_owned()),
            effort: Some("high".to_owned()),
        };
        let input = common.input(Event::Stop, Map::new());
        assert_eq!(input["permission_mode"], "plan");
        assert_eq!(input["prompt_id"], "p1");
        assert_eq!(input["effort"], json!({"level": "high"}));
    }
}
