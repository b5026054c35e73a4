//! ExitPlanMode: ends plan mode with a plan that the person has approved. The asking is
//! done by whoever judges the call; when it runs, the plan is approved.

use ostler_protocol::{Access, Mode};
use ostler_stdx::{AbsPath, floor_char_boundary};
use ostler_tool::{Change, Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::list;

/// Bytes of a plan that are shown again.
const PLAN: usize = 30_000;

/// Ends planning.
#[derive(Debug)]
pub(crate) struct ExitPlanMode;

/// Arguments of ExitPlanMode.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The plan as Markdown, whole: it is what the person reads and decides on.
    #[serde(default)]
    plan: Option<String>,
    /// What the plan will need to run, for the person to see, such as
    /// `{"tool": "Bash", "prompt": "run the tests"}`.
    #[serde(
        default,
        rename = "allowedPrompts",
        alias = "allowed_prompts",
        deserialize_with = "list"
    )]
    allowed_prompts: Vec<AllowedPrompt>,
    /// The mode in which the person wants the plan carried out.
    #[schemars(skip)]
    #[serde(default)]
    mode: Option<After>,
    /// Taken and not used: hosts send it along.
    #[schemars(skip)]
    #[serde(default, rename = "planFilePath")]
    _plan_file_path: Option<String>,
}

/// Something that the plan will need.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct AllowedPrompt {
    /// The tool, such as `Bash`.
    tool: String,
    /// What it will do, in words.
    prompt: String,
}

/// The modes in which a plan can be carried out. None that is wider: that would need a
/// confirmation of its own.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum After {
    Default,
    AcceptEdits,
}

impl Tool for ExitPlanMode {
    const NAME: &'static str = "ExitPlanMode";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("exit_plan_mode.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, _: &Args) -> String {
        "Carry out the plan".to_owned()
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let plan = args.plan.filter(|plan| !plan.trim().is_empty());
        let mut text = String::from("The person approved the plan: carry it out now.");
        if let Some(plan) = &plan {
            let end = floor_char_boundary(plan, PLAN);
            let cut = if end < plan.len() { "\n[the rest is as you wrote it]" } else { "" };
            text.push_str(&format!(" As approved, it reads:\n\n{}{cut}", &plan[..end]));
        }
        let change = match args.mode {
            None => Change::LeavePlan,
            Some(After::Default) => Change::Mode(Mode::Default),
            Some(After::AcceptEdits) => Change::Mode(Mode::AcceptEdits),
        };
        let structured = json!({
            "plan": plan,
            "isAgent": false,
            "allowedPrompts": args.allowed_prompts,
        });
        Ok(ToolOutput::text(text, structured).with_change(change))
    }
}
