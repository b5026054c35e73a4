//! Skill: gives the model the instructions of a skill by name. Reads `SKILL.md` files in
//! the skill folders of the project and of the person, and runs nothing of them.

mod find;

use ostler_protocol::Access;
use ostler_stdx::{AbsPath, floor_char_boundary};
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    files::blocking,
    hands::Hands,
    skill::find::{Found, find, known},
};

/// Names of skills that are told if one is not there.
const KNOWN: usize = 50;
/// Characters of arguments.
const ARGUMENTS: usize = 4000;

/// Loads skills.
#[derive(Debug)]
pub(crate) struct Skill(pub(crate) Hands);

/// Arguments of Skill.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The skill's name.
    #[serde(alias = "name", alias = "command")]
    skill: String,
    /// What the skill is to be used on, as its instructions want it.
    #[serde(default)]
    args: Option<String>,
}

impl Tool for Skill {
    const NAME: &'static str = "Skill";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("skill.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, args: &Args) -> String {
        format!("Skill {}", args.skill)
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let (hands, inner) = (self.0.clone(), cx.clone());
        blocking(&cx, move || load(&args, &hands, &inner.cwd)).await
    }
}

fn load(args: &Args, hands: &Hands, project: &AbsPath) -> Result<ToolOutput, ToolError> {
    let name = args.skill.trim().trim_start_matches('/');
    let Some(found) = find(name, project, hands)? else {
        return Err(missing(name, project, hands));
    };
    if found.persons_only {
        return Err(ToolError::Tell(format!(
            "only the person starts the skill `{name}`: tell them about it if it would help"
        )));
    }
    Ok(shown(name, args.args.as_deref().unwrap_or_default(), &found, hands.limits.shown_bytes))
}

fn missing(name: &str, project: &AbsPath, hands: &Hands) -> ToolError {
    let mut names = known(project, hands);
    let more = names.len().saturating_sub(KNOWN);
    names.truncate(KNOWN);
    let names = match names.as_slice() {
        [] => "there are none here".to_owned(),
        names => format!("there are {}", names.join(", ")),
    };
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    ToolError::Tell(format!("there is no skill `{name}`: {names}{more}"))
}

fn shown(name: &str, arguments: &str, found: &Found, cap: usize) -> ToolOutput {
    let arguments: String = arguments.trim().chars().take(ARGUMENTS).collect();
    let end = floor_char_boundary(&found.body, cap);
    let body = &found.body[..end];
    let mut text = format!("Skill `{name}`; paths in it start at {}\n\n", found.folder);
    let placed = body.contains("$ARGUMENTS");
    text.push_str(body.trim());
    if end < found.body.len() {
        text.push_str(&format!("\n\n[cut here: Read {} for the rest]", found.file));
    }
    if placed {
        text = text.replace("$ARGUMENTS", &arguments);
        let end = floor_char_boundary(&text, cap + cap / 2);
        text.truncate(end);
    } else if !arguments.is_empty() {
        text.push_str(&format!("\n\nArguments: {arguments}"));
    }
    if !found.files.is_empty() {
        text.push_str(&format!("\n\nFiles beside it: {}", found.files.join(", ")));
    }
    let structured = json!({ "success": true, "commandName": name, "path": found.file.to_text() });
    ToolOutput::text(text, structured)
}
