//! Questions to the person: calls of AskUserQuestion and ExitPlanMode, as the wire shows
//! them, and the person's answers as arguments of the call.
//!
//! To the gate such a call is one that must be asked about; an answer is a yes with the
//! answers added to the arguments, as Agent SDK hosts give it (agent-sdk.md section 6).

use ostler_core::AskedEvent;
use ostler_protocol::{
    Mode,
    event::{PlanAllowed, QuestionAsked, QuestionKind, QuestionOption, QuestionSpec},
};
use serde_json::{Map, Value};

/// The modes in which an approved plan can be carried out, without those that need a
/// confirmation of their own.
const PLAN_MODES: [Mode; 2] = [Mode::Default, Mode::AcceptEdits];

/// What a call asks the person; `None` if it asks for permission.
#[must_use]
pub fn asked(asked: &AskedEvent) -> Option<QuestionAsked> {
    let kind = kind(&asked.tool_name)?;
    let (questions, plan, allowed, modes) = match kind {
        QuestionKind::Question => (questions(&asked.args)?, None, Vec::new(), Vec::new()),
        QuestionKind::Plan => {
            (Vec::new(), text(&asked.args, "plan"), allowed(&asked.args), PLAN_MODES.to_vec())
        }
    };
    Some(QuestionAsked {
        request_id: asked.request_id.clone(),
        tool_call_id: asked.tool_call_id.clone(),
        kind,
        questions,
        plan,
        allowed,
        modes,
        asked_at: asked.question.asked_at,
        expires_at: asked.question.expires_at,
    })
}

fn kind(tool: &str) -> Option<QuestionKind> {
    match tool {
        "AskUserQuestion" => Some(QuestionKind::Question),
        "ExitPlanMode" => Some(QuestionKind::Plan),
        _ => None,
    }
}

fn text(value: &Map<String, Value>, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// `None` if the arguments are no questions: then the call is asked about as any other.
fn questions(args: &Map<String, Value>) -> Option<Vec<QuestionSpec>> {
    let list = args.get("questions")?.as_array()?;
    list.iter().map(|question| spec(question.as_object()?)).collect()
}

fn spec(question: &Map<String, Value>) -> Option<QuestionSpec> {
    let options = question.get("options")?.as_array()?.iter().map(|option| {
        let option = option.as_object()?;
        Some(QuestionOption {
            label: text(option, "label")?,
            description: text(option, "description").unwrap_or_default(),
            preview: text(option, "preview"),
        })
    });
    Some(QuestionSpec {
        question: text(question, "question")?,
        header: text(question, "header").unwrap_or_default(),
        options: options.collect::<Option<_>>()?,
        multiple: question.get("multiSelect").and_then(Value::as_bool).unwrap_or(false),
        custom: true,
    })
}

fn allowed(args: &Map<String, Value>) -> Vec<PlanAllowed> {
    let list = args.get("allowedPrompts").and_then(Value::as_array);
    let row = |entry: &Value| {
        let entry = entry.as_object()?;
        Some(PlanAllowed { tool: text(entry, "tool")?, text: text(entry, "prompt")? })
    };
    list.into_iter().flatten().filter_map(row).collect()
}

/// The arguments with the person's answers, one per question in order.
#[must_use]
pub fn answered(
    args: &Map<String, Value>,
    questions: &[QuestionSpec],
    answers: Vec<String>,
) -> Map<String, Value> {
    let mut args = args.clone();
    let given = questions.iter().zip(answers).filter(|(_, answer)| !answer.is_empty());
    let given: Map<String, Value> =
        given.map(|(spec, answer)| (spec.question.clone(), Value::String(answer))).collect();
    args.insert("answers".to_owned(), Value::Object(given));
    args
}

/// The answers that arguments hold, one per question in order.
pub(crate) fn answers_of(args: Option<&Map<String, Value>>, questions: &[String]) -> Vec<String> {
    let answers = args.and_then(|args| args.get("answers")).and_then(Value::as_object);
    let answer =
        |question: &String| answers.and_then(|answers| text(answers, question)).unwrap_or_default();
    questions.iter().map(answer).collect()
}
