//! Why a call is judged as it is, part by part.
//!
//! Every part is judged as if it stood alone, by the same steps as the whole, so what is
//! explained cannot differ from what is decided. Nothing here decides anything itself.

use super::{
    Call, Judgement, Reason, Verdict,
    accesses::{Place, Seen, SeenAccess},
    decide_finally, judge_seen,
    script::ScriptSeen,
};
use crate::{
    rules::canonical_tool,
    shell::{Command, How, Kind, Script},
};

/// A judgement with the way it was reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What [`judge`](super::judge) says of the same call.
    pub judgement: Judgement,
    /// Its parts in the order in which they were read: one for each command, redirection and
    /// construct of a script, one for each other access.
    pub steps: Vec<Step>,
}

/// One part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The part: a command as written, or what is accessed.
    pub part: String,
    /// Where it stands in the script, in bytes, if that is known.
    pub span: Option<(usize, usize)>,
    /// What it would do, one sentence each without a full stop; empty if it does nothing.
    pub effects: Vec<String>,
    /// What would happen to it alone. The strictest of all steps is what happens to the call,
    /// except that a rule on the whole script speaks for every part.
    pub verdict: Verdict,
    /// Which rule, mode or check says so.
    pub reason: Reason,
}

/// Judges one call and says how each of its parts was judged.
#[must_use]
pub fn explain(call: &Call<'_>) -> Explanation {
    let tool = canonical_tool(call.tool);
    let seen = Seen::new(call, tool);
    let mut steps = Vec::new();
    for access in &seen.list {
        match access {
            SeenAccess::Shell(script) => script_steps(call, tool, script, &mut steps),
            SeenAccess::Path(place) => {
                let part = place.path.to_text();
                let alone = SeenAccess::Path(place.clone());
                steps.push(step(call, tool, part, None, vec![place.describe()], alone));
            }
            SeenAccess::Network { url, host } => {
                let effects = vec![access.cell(call.mode).1];
                let alone = SeenAccess::Network { url, host };
                steps.push(step(call, tool, (*url).to_owned(), None, effects, alone));
            }
            SeenAccess::Mcp { hint } => {
                let effects = vec![access.cell(call.mode).1];
                let alone = SeenAccess::Mcp { hint: *hint };
                steps.push(step(call, tool, tool.to_owned(), None, effects, alone));
            }
            SeenAccess::Nothing => {
                steps.push(step(call, tool, tool.to_owned(), None, vec![], SeenAccess::Nothing));
            }
            SeenAccess::Unknown => {
                let effects = vec![access.cell(call.mode).1];
                steps.push(step(call, tool, tool.to_owned(), None, effects, SeenAccess::Unknown));
            }
        }
    }
    Explanation { judgement: judge_seen(call, tool, &seen), steps }
}

fn step(
    call: &Call<'_>,
    tool: &str,
    part: String,
    span: Option<(usize, usize)>,
    effects: Vec<String>,
    alone: SeenAccess<'_>,
) -> Step {
    let seen = Seen { list: vec![alone], read_only: false };
    let (verdict, reason) = decide_finally(call, tool, &seen);
    Step { part, span, effects, verdict, reason }
}

fn script_steps(call: &Call<'_>, tool: &str, seen: &ScriptSeen<'_>, steps: &mut Vec<Step>) {
    let text = seen.text;
    let alone = |script: Script, redirects: Vec<Place>, commands: Vec<Vec<Place>>| {
        let maybe = Vec::new();
        SeenAccess::Shell(Box::new(ScriptSeen { text, script, redirects, commands, maybe }))
    };
    for (what, opaque) in [(&seen.script.opaque, true), (&seen.script.unclear, false)] {
        for why in what {
            let mut script = Script::default();
            if opaque { &mut script.opaque } else { &mut script.unclear }.push(why.clone());
            let alone = alone(script, vec![], vec![]);
            steps.push(step(call, tool, text.to_owned(), None, vec![why.clone()], alone));
        }
    }
    for (command, places) in seen.each() {
        let words = command.readings.first().map_or(&[][..], |reading| &reading.words);
        let raw: Vec<&str> = words.iter().map(|word| word.raw.as_str()).collect();
        let starts = words.iter().filter_map(|word| word.span);
        let span = starts.reduce(|all, word| (all.0.min(word.0), all.1.max(word.1)));
        let script = Script { commands: vec![command.clone()], ..Script::default() };
        // Arguments that may be paths are for deny rules; those of this command only.
        let mut alone = ScriptSeen {
            text,
            script,
            redirects: vec![],
            commands: vec![places.to_vec()],
            maybe: vec![],
        };
        alone.maybe = alone.maybe_places(call.facts);
        let alone = SeenAccess::Shell(Box::new(alone));
        steps.push(step(call, tool, raw.join(" "), span, effects(command, places), alone));
    }
    for place in &seen.redirects {
        let part = if place.writes() { "> " } else { "< " }.to_owned() + &place.path.to_text();
        let alone = alone(Script::default(), vec![place.clone()], vec![]);
        steps.push(step(call, tool, part, None, vec![place.describe()], alone));
    }
}

/// What a command does, in words.
fn effects(command: &Command, places: &[Place]) -> Vec<String> {
    let mut effects = Vec::new();
    match command.effect.kind {
        Kind::Other => effects.push(command.effect.why.clone()),
        Kind::Read | Kind::Files => {}
    }
    for place in places {
        let text = match place.how {
            How::Look => place.describe().replacen("it reads", "it looks at", 1),
            How::Search => place.describe().replacen("it reads", "it reads below", 1),
            How::Repository => place.describe().replacen("it reads", "it runs git in", 1),
            How::History => place.describe().replacen("it reads", "it shows contents of", 1),
            How::Read | How::Write | How::Maybe => place.describe(),
        };
        if !effects.contains(&text) {
            effects.push(text);
        }
    }
    effects
}

#[cfg(test)]
mod tests {
    use ostler_protocol::Mode;

    use super::super::tests::Case;
    use crate::{ReasonKind, Verdict};

    #[test]
    fn every_part_of_a_script_has_its_own_reason() {
        let case = Case::bash("ls src; rm -rf x | cat /etc/passwd > out")
            .deny("Bash(rm:*)")
            .allow("Read(//etc/**)");
        let found = case.explain();
        let steps: Vec<_> = found
            .steps
            .iter()
            .map(|step| {
                (step.part.as_str(), step.verdict, step.reason.kind, step.reason.rule.as_deref())
            })
            .collect();
        assert_eq!(
            steps,
            [
                ("ls src", Verdict::Allow, ReasonKind::Mode, None),
                ("rm -rf x", Verdict::Deny, ReasonKind::Rule, Some("Bash(rm:*)")),
                ("cat /etc/passwd", Verdict::Allow, ReasonKind::Rule, Some("Read(//etc/**)")),
                ("> /p/out", Verdict::Ask, ReasonKind::Mode, None),
            ]
        );
        assert_eq!(found.steps[0].effects, ["it looks at `/p/src` in the project"]);
        assert_eq!(found.steps[1].span, Some((8, 16)));
        assert_eq!(found.judgement, case.judge());
    }

    #[test]
    fn what_is_not_understood_is_a_step() {
        let found = Case::bash("f() { ls; }; f").explain();
        assert_eq!(found.steps[0].effects, ["the script defines a function"]);
        assert_eq!(found.steps[0].verdict, Verdict::Ask);
        assert_eq!(found.judgement.verdict, Verdict::Ask);
    }

    #[test]
    fn other_accesses_have_one_step_each() {
        let found = Case::fetch("https://a.b/c", "a.b").explain();
        assert_eq!(found.steps[0].part, "https://a.b/c");
        assert_eq!(found.steps[0].effects, ["it reaches out to `a.b`"]);
        let found = Case::read("/p/x").mode(Mode::Plan).explain();
        assert_eq!(found.steps[0].verdict, Verdict::Allow);
    }

    #[test]
    fn the_strictest_step_is_what_happens() {
        for script in [
            "ls",
            "ls; make",
            "cat /etc/passwd",
            "echo x > out; ls",
            "rm -rf .",
            "cd src && touch a",
            "echo $(make)",
            "python3 .env",
        ] {
            for mode in Mode::ALL {
                let case = Case::bash(script).mode(mode).deny("Read(.env)");
                let found = case.explain();
                let strictest = found.steps.iter().map(|step| step.verdict).max();
                assert_eq!(strictest, Some(found.judgement.verdict), "[{}] {script}", mode.name());
            }
        }
    }
}
