//! Which requests a reply answers. Pure.

use ostler_protocol::{Block, Message, Role};

use super::When;
use crate::ModelRequest;

/// What the predicates look at, gathered once per request.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The person's last words, without system reminders.
    pub(super) last_user_text: String,
    /// The results that the request ends with.
    pub(super) results: Vec<Answer>,
    /// Which request it is since the person's last words, from 1.
    pub(super) turn: u64,
    system: String,
    model: String,
}

/// One tool result.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) id: String,
    pub(super) tool: Option<String>,
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl View {
    pub(super) fn of(request: &ModelRequest) -> Self {
        let messages = &request.messages;
        let tail = messages.iter().rposition(is_assistant).map_or(0, |at| at + 1);
        let results = messages[tail..].iter().flat_map(|message| &message.content);
        let results = results.filter_map(|block| answer(block, messages)).collect();
        let mut last_user_text = String::new();
        let mut turn = 1;
        for (at, message) in messages.iter().enumerate().rev() {
            if is_assistant(message) {
                if !last_user_text.is_empty() {
                    break;
                }
                // Several assistant messages in a row are one answer.
                let first = at == 0 || !is_assistant(&messages[at - 1]);
                turn += u64::from(first);
            } else {
                let words = words(message);
                if !words.is_empty() {
                    last_user_text = if last_user_text.is_empty() {
                        words
                    } else {
                        words + "\n" + &last_user_text
                    };
                }
            }
        }
        let system = request.system.iter().map(|block| block.text.as_str());
        let system = system.collect::<Vec<_>>().join("\n");
        Self { last_user_text, results, turn, system, model: request.model.clone() }
    }
}

impl When {
    /// Whether all conditions hold.
    pub(super) fn holds(&self, view: &View) -> bool {
        let has = |wanted: &Option<String>, text: &str| {
            wanted.as_ref().is_none_or(|wanted| text.contains(wanted.as_str()))
        };
        has(&self.last_user_text, &view.last_user_text)
            && has(&self.system_contains, &view.system)
            && self.model.as_ref().is_none_or(|model| *model == view.model)
            && self.turn.is_none_or(|turn| turn == view.turn)
            && (!self.about_results() || view.results.iter().any(|answer| self.fits(answer)))
    }

    fn about_results(&self) -> bool {
        self.tool_result_for.is_some()
            || self.tool_result_contains.is_some()
            || self.tool_result_is_error.is_some()
    }

    fn fits(&self, answer: &Answer) -> bool {
        let named = |wanted: &String| answer.id == *wanted || answer.tool.as_ref() == Some(wanted);
        self.tool_result_for.as_ref().is_none_or(named)
            && self.tool_result_contains.as_ref().is_none_or(|text| answer.text.contains(text))
            && self.tool_result_is_error.is_none_or(|is_error| is_error == answer.is_error)
    }
}

fn is_assistant(message: &Message) -> bool {
    message.role == Role::Assistant
}

fn words(message: &Message) -> String {
    let texts = message.content.iter().filter_map(|block| match block {
        Block::Text { text } if !text.trim_start().starts_with("<system-reminder>") => {
            Some(text.as_str())
        }
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn answer(block: &Block, messages: &[Message]) -> Option<Answer> {
    let Block::ToolResult { tool_use_id, content, is_error } = block else { return None };
    let calls = messages.iter().rev().flat_map(|message| &message.content);
    let tool = calls.into_iter().find_map(|block| match block {
        Block::ToolUse { id, name, .. } if id == tool_use_id => Some(name.clone()),
        _ => None,
    });
    let is_error = is_error.unwrap_or(false);
    Some(Answer { id: tool_use_id.clone(), tool, text: content.text(), is_error })
}
