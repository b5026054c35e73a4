//! kill -9 before and after each effect of a run, then resume: nothing that was shown is
//! lost, and the next request is the one that an unbroken session would send if it had
//! been stopped there.

use std::process::Stdio;

use ostler_protocol::{Block, Message};
use serde_json::Value;

use crate::support::{PROJECT, Ran, World, scenario_file};

const PROMPT: &str = "correct the greeting";
const NEXT: &str = "and then?";
const ALLOWED: &str = "Edit Bash(sh test.sh)";

/// One world for all places; its project and home are made new each time.
struct Crashes {
    world: World,
}

impl Crashes {
    fn new() -> Self {
        Self { world: World::saying(r#"[{"repeat": true, "steps": [{"text": "Nothing."}]}]"#) }
    }

    fn fresh(&self) {
        for folder in [self.world.home.ostler_home(), self.world.home.project()] {
            std::fs::remove_dir_all(&folder).unwrap();
            std::fs::create_dir_all(&folder).unwrap();
        }
        self.world.home.write(PROJECT).unwrap();
    }

    /// Runs the scenario in process, killed at a place if one is given.
    fn run(&self, place: Option<u32>) -> Ran {
        self.fresh();
        let scenario = format!("scripted:{}", scenario_file("edit.scenario.json").display());
        let args = [
            "run",
            "-m",
            &scenario,
            "--allowed-tools",
            ALLOWED,
            "--output-format",
            "events",
            PROMPT,
        ];
        let mut command = self.world.ostler(&args);
        command.stdin(Stdio::null());
        if let Some(place) = place {
            command.env("OSTLER_FAILPOINT", place.to_string());
        }
        Ran::of(command.output().unwrap())
    }

    /// Goes on against the server and gives the messages that it was asked with.
    fn resume(&self) -> Vec<Message> {
        let before = self.world.model.requests().len();
        self.world.model.invalidate_prefix();
        self.world.run(&["run", "-c", "-m", "anthropic/m", NEXT]).exits(0);
        self.world.model.assert_clean();
        let requests = self.world.model.requests();
        requests[before].request.messages.clone()
    }
}

/// A conversation as comparable pieces: ids are left out.
fn pieces(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .flat_map(|message| &message.content)
        .map(|block| match block {
            Block::Text { text } => format!("text {text}"),
            Block::Thinking { thinking, .. } => format!("thinking {thinking}"),
            Block::ToolUse { name, input, .. } => format!("call {name} {input}"),
            Block::ToolResult { content, is_error, .. } => {
                format!("result {is_error:?} {}", content.text())
            }
            other => format!("{other:?}"),
        })
        .collect()
}

/// What the events on standard output showed for good, and the words so far.
fn shown(ran: &Ran) -> (Vec<String>, String) {
    let mut whole = Vec::new();
    let mut words = String::new();
    for line in ran.out.lines() {
        // A killed process may leave half a line.
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        match event["type"].as_str() {
            Some("text_delta") => words.push_str(event["delta"].as_str().unwrap()),
            Some("text") => words.clear(),
            Some("tool_complete") => whole.push(event["result"].as_str().unwrap().to_owned()),
            _ => {}
        }
    }
    (whole, words)
}

/// The pieces that a stop adds: results for open calls, the note, the next prompt.
fn is_closing(piece: &str) -> bool {
    piece.contains("The call was interrupted before it finished")
        || piece.starts_with("text [Request interrupted by user")
        || piece == format!("text {NEXT}")
}

#[test]
fn a_killed_run_resumes_with_the_request_of_an_unbroken_one() {
    let crashes = Crashes::new();
    crashes.run(None).exits(0);
    let unbroken = pieces(&crashes.resume());
    assert_eq!(unbroken.last(), Some(&format!("text {NEXT}")));
    let unbroken = &unbroken[..unbroken.len() - 1];
    let mut place = 0;
    let mut reached_end = false;
    while !reached_end {
        place += 1;
        let ran = crashes.run(Some(place));
        reached_end = ran.code == Some(0);
        let (whole, words) = shown(&ran);
        let resumed = pieces(&crashes.resume());
        let kept: Vec<_> = resumed.iter().filter(|piece| !is_closing(piece)).collect();
        // Every piece is the unbroken session's, in order; the last may be words cut off.
        for (at, piece) in kept.iter().enumerate() {
            let same = unbroken.get(at) == Some(piece);
            let cut_off = at + 1 == kept.len()
                && unbroken.get(at).is_some_and(|whole| whole.starts_with(piece.as_str()));
            assert!(
                same || cut_off,
                "place {place}: piece {at} is {piece:?}, not {:?}",
                unbroken.get(at)
            );
        }
        for result in &whole {
            assert!(
                kept.iter().any(|piece| piece.contains(result.trim_end())),
                "place {place}: {result:?} was shown and is lost"
            );
        }
        assert!(
            words.is_empty() || kept.iter().any(|piece| piece.contains(&words)),
            "place {place}: {words:?} was shown and is lost"
        );
        assert_eq!(resumed.last(), Some(&format!("text {NEXT}")), "place {place}");
        assert!(place < 500, "the scenario has an end");
    }
    assert!(place > 20, "places are reached: {place}");
}

#[test]
fn two_processes_cannot_write_to_one_session() {
    let world = World::saying(
        r#"[{"steps": [{"stall": true}]}, {"repeat": true, "steps": [{"text": "Mine."}]}]"#,
    );
    let mut first = world.ostler(&["run", "wait"]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The lock is held from before the request until the end.
    while world.model.requests().is_empty() {
        std::thread::yield_now();
    }
    let id = world.log().file_stem().unwrap().to_str().unwrap().to_owned();
    let ran = world.run(&["run", "-s", &id, "mine too"]).exits(1);
    assert!(ran.err.contains(&first.id().to_string()), "{}", ran.err);
    first.kill().unwrap();
    first.wait().unwrap();
    world.run(&["run", "-s", &id, "now mine"]).exits(0);
}

/// The in-process model and the server play the same scenario.
#[test]
fn the_scripted_model_needs_no_server() {
    let world = World::playing("edit.scenario.json");
    let scenario = format!("scripted:{}", scenario_file("edit.scenario.json").display());
    let ran = world.run(&["-p", "-m", &scenario, "--allowed-tools", ALLOWED, PROMPT]).exits(0);
    assert_eq!(ran.out, "Corrected the greeting; the test passes.\n");
    assert_eq!(world.file("greet.sh"), "echo \"Hello, $1!\"\n");
    assert!(world.model.requests().is_empty());
}
