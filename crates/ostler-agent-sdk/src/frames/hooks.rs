//! Frames of hooks (agent-sdk.md 3.1): of all with `--include-hook-events`, else only of
//! `SessionStart`.

use ostler_host::core::HookRun;
use serde_json::{Value, json};

use super::Projector;

impl Projector {
    fn shows(&self, run: &HookRun) -> bool {
        self.options.hook_events || matches!(run.event.as_str(), "SessionStart" | "Setup")
    }

    pub(super) fn hook_started(&mut self, run: &HookRun, out: &mut Vec<String>) {
        if self.shows(run) {
            out.push(self.system(frame("hook_started", run)));
        }
    }

    pub(super) fn hook_ran(&mut self, run: &HookRun, out: &mut Vec<String>) {
        if !self.shows(run) {
            return;
        }
        let mut frame = frame("hook_response", run);
        let both = [&run.stdout, &run.stderr].into_iter().filter(|text| !text.is_empty());
        frame["output"] = json!(both.cloned().collect::<Vec<_>>().join("\n"));
        frame["stdout"] = json!(run.stdout);
        frame["stderr"] = json!(run.stderr);
        frame["outcome"] = json!(run.outcome);
        if let Some(code) = run.exit_code {
            frame["exit_code"] = json!(code);
        }
        out.push(self.system(frame));
    }
}

fn frame(subtype: &str, run: &HookRun) -> Value {
    json!({
        "subtype": subtype,
        "hook_id": run.id,
        "hook_name": run.name,
        "hook_event": run.event,
    })
}
