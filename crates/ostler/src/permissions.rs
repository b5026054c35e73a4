//! `permissions explain`: how a call would be judged, printed for a person.

use std::path::Path;

use ostler_host::{Asking, Explained, Host, Part, RuleAt};

use crate::{
    args::{PermissionsArgs, PermissionsCommand},
    exit::Exit,
    housekeeping::{json, with_host},
    visible::{visible, visible_line},
};

/// `permissions`.
pub(crate) fn permissions(args: &PermissionsArgs) -> Exit {
    let PermissionsCommand::Explain { call, mode, cwd, json: as_json } = &args.command;
    with_host(
        async |host: &Host| {
            let cwd = host.env().cwd.join(cwd.as_deref().unwrap_or(Path::new("")));
            host.explain(&Asking { call: call.clone(), cwd, mode: *mode })
        },
        |explained| if *as_json { json(&explained) } else { shown(&explained) },
    )
}

fn shown(explained: &Explained) -> String {
    let mut text = String::new();
    for warning in &explained.warnings {
        text.push_str(&format!("note: {}\n", visible_line(warning)));
    }
    text.push_str(&format!(
        "{} in `{}`, mode `{}`\n\n",
        explained.tool,
        visible_line(&explained.cwd),
        explained.mode.name()
    ));
    for (at, stage) in explained.stages.iter().enumerate() {
        let sign = if stage.decides { "=>" } else { "  " };
        text.push_str(&format!(
            "{sign} {}. {:<28} {}\n",
            at + 1,
            stage.name,
            visible_line(&stage.outcome)
        ));
        push_rule(&mut text, 34, stage.rule.as_ref());
    }
    text.push_str("\nparts, each as if it stood alone\n");
    explained.parts.iter().for_each(|part| push_part(&mut text, part));
    text.push_str(&format!("\n{}: {}\n", explained.verdict, visible(&explained.reason)));
    if let Some(rules) = &explained.suggested {
        text.push_str(&format!("would be allowed by: {}\n", visible_line(rules)));
    }
    text
}

fn push_part(text: &mut String, part: &Part) {
    text.push_str(&format!("  {:<5} {}\n", part.verdict, visible_line(&part.part)));
    for effect in &part.effects {
        text.push_str(&format!("        - {}\n", visible_line(effect)));
    }
    text.push_str(&format!("        because {}\n", visible_line(&part.reason)));
    push_rule(text, 8, part.rule.as_ref());
}

fn push_rule(text: &mut String, indent: usize, rule: Option<&RuleAt>) {
    let Some(rule) = rule else { return };
    let line = rule.line.map(|line| format!(", line {line}")).unwrap_or_default();
    text.push_str(&format!(
        "{:indent$}rule `{}` of {}{line}\n",
        "",
        visible_line(&rule.rule),
        visible_line(&rule.source)
    ));
}
