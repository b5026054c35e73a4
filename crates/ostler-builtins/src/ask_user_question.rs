//! AskUserQuestion: the person's answers to questions. The asking is done by whoever
//! judges the call; when it runs, the answers stand in its arguments.

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value, json};

use crate::args::list;

/// Characters of a question, an answer, and a preview.
const QUESTION: usize = 1000;
const ANSWER: usize = 10_000;
const PREVIEW: usize = 5000;
/// Characters of a header (ipc.md 2.11) and of a label.
const HEADER: usize = 30;
const LABEL: usize = 100;

/// Asks the person.
#[derive(Debug)]
pub(crate) struct AskUserQuestion;

/// Arguments of AskUserQuestion.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The questions, 1 to 4.
    #[serde(deserialize_with = "questions")]
    questions: Vec<Question>,
    /// The answers by question, as whoever asked gives them.
    #[schemars(skip)]
    #[serde(default)]
    answers: Option<Map<String, Value>>,
    /// What the person said besides.
    #[schemars(skip)]
    #[serde(default)]
    response: Option<String>,
    /// Taken and not used: hosts send it along.
    #[schemars(skip)]
    #[serde(default, rename = "annotations")]
    _annotations: Option<Value>,
    /// Likewise.
    #[schemars(skip)]
    #[serde(default, rename = "metadata")]
    _metadata: Option<Value>,
}

/// A question.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Question {
    /// The whole question, with a question mark.
    question: String,
    /// A word or two that name it, at most 30 characters.
    #[serde(default)]
    header: String,
    /// What can be chosen, 2 to 4; the person can always answer in their own words.
    options: Vec<Choice>,
    /// Whether several can be chosen.
    #[serde(default, rename = "multiSelect", alias = "multiple")]
    multi_select: bool,
}

/// An option.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Choice {
    /// A few words that name it.
    label: String,
    /// What choosing it means.
    #[serde(default)]
    description: String,
    /// What it would look like, such as code or a sketch, as Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
}

/// The questions; what nobody could answer is refused before anyone is asked.
fn questions<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Question>, D::Error> {
    let questions: Vec<Question> = list(from)?;
    check(&questions).map_err(D::Error::custom)?;
    Ok(questions)
}

fn check(questions: &[Question]) -> Result<(), String> {
    if !(1..=4).contains(&questions.len()) {
        return Err(format!("questions has {} entries: ask 1 to 4 at a time", questions.len()));
    }
    for (at, question) in questions.iter().enumerate() {
        let name = format!("questions[{at}]");
        text(&format!("{name}.question"), &question.question, QUESTION)?;
        text(&format!("{name}.header"), &question.header, HEADER)?;
        if questions[..at].iter().any(|other| other.question == question.question) {
            return Err(format!("{name} asks what another one asks"));
        }
        let options = &question.options;
        if !(2..=4).contains(&options.len()) {
            return Err(format!(
                "{name} has {} options: give 2 to 4, the person can always answer in their own words",
                options.len()
            ));
        }
        for (number, option) in options.iter().enumerate() {
            let name = format!("{name}.options[{number}]");
            text(&format!("{name}.label"), &option.label, LABEL)?;
            if options[..number].iter().any(|other| other.label == option.label) {
                return Err(format!("{name}.label is that of another option"));
            }
            let long = option.preview.iter().chain([&option.description]);
            if long.map(|text| text.chars().count()).max().unwrap_or(0) > PREVIEW {
                return Err(format!("{name} has a text of more than {PREVIEW} characters"));
            }
        }
    }
    Ok(())
}

fn text(name: &str, text: &str, most: usize) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err(format!("{name} is empty"));
    }
    if text.chars().count() > most {
        return Err(format!("{name} has more than {most} characters"));
    }
    Ok(())
}

impl Tool for AskUserQuestion {
    const NAME: &'static str = "AskUserQuestion";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("ask_user_question.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, args: &Args) -> String {
        args.questions.first().map_or_else(|| Self::NAME.to_owned(), |first| first.question.clone())
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let response = args.response.filter(|text| !text.trim().is_empty());
        if args.answers.is_none() && response.is_none() {
            let text = "nobody answered: go on with the most sensible choice and say which it was, \
                        or end here and say what has to be decided";
            return Err(ToolError::Tell(text.to_owned()));
        }
        let answers = args.answers.unwrap_or_default();
        let mut given = Map::new();
        let mut told = String::from("The person answered:\n");
        for question in &args.questions {
            let answer = answers.get(&question.question).map(spoken).unwrap_or_default();
            let answer: String = answer.chars().take(ANSWER).collect();
            let shown = if answer.is_empty() { "(no answer)" } else { &answer };
            told.push_str(&format!("- {}: {shown}\n", question.question));
            if !answer.is_empty() {
                given.insert(question.question.clone(), Value::String(answer));
            }
        }
        let mut structured = json!({ "questions": args.questions, "answers": given });
        if let Some(response) = response {
            let response: String = response.chars().take(ANSWER).collect();
            told.push_str(&format!("They said besides: {response}\n"));
            structured["response"] = Value::String(response);
        }
        Ok(ToolOutput::text(told.trim_end(), structured))
    }
}

/// An answer as text: hosts also send lists of labels.
fn spoken(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(labels) => labels.iter().map(spoken).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
