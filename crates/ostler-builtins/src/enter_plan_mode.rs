//! EnterPlanMode: from now on nothing is changed until a plan is approved. Can only make
//! the session's mode stricter or leave it as it is.

use ostler_protocol::{Access, Mode};
use ostler_stdx::AbsPath;
use ostler_tool::{Change, Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Turns to planning.
#[derive(Debug)]
pub(crate) struct EnterPlanMode;

/// Arguments of EnterPlanMode: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

impl Tool for EnterPlanMode {
    const NAME: &'static str = "EnterPlanMode";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("enter_plan_mode.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, _: &Args) -> String {
        "Plan first".to_owned()
    }

    async fn run(&self, _: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let text = "Plan mode is on: read and search, change nothing. When the plan is ready, \
                    call ExitPlanMode with it; the person decides.";
        Ok(ToolOutput::text(text, json!({ "message": text })).with_change(Change::Mode(Mode::Plan)))
    }
}
