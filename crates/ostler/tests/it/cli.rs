//! The commands and flags of the program.

use crate::support::World;

const ANSWER: &str = r#"[{"repeat": true, "steps": [{"text": "Four, I think."}]}]"#;

#[test]
fn version_starts_with_the_compatibility_version() {
    let world = World::saying(ANSWER);
    let ran = world.run(&["--version"]).exits(0);
    assert!(ran.out.starts_with("2.1.332 (Ostler "), "{}", ran.out);
    assert_eq!(ran.out, world.run(&["-v"]).exits(0).out);
}

#[test]
fn run_and_print_answer_on_standard_output() {
    let world = World::saying(ANSWER);
    assert_eq!(world.run(&["run", "two and two?"]).exits(0).out, "Four, I think.\n");
    let ran = world.run(&["-p", "two and two?"]).exits(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("Four, I think.\n", ""));
    world.model.assert_clean();
}

#[test]
fn standard_input_is_appended_to_the_prompt() {
    let world = World::saying(ANSWER);
    world.run_with_input(&["-p", "what is this?"], b"a diff\n").exits(0);
    let request = world.model.requests().pop().unwrap();
    let text = request.body["messages"][0]["content"].to_string();
    assert!(text.contains("what is this?\\n\\na diff"), "{text}");
}

#[test]
fn json_is_one_result_and_stream_json_all_frames() {
    let world = World::saying(ANSWER);
    let ran = world.run(&["-p", "two?", "--output-format", "json"]).exits(0);
    let lines = ran.lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["type"], "result");
    assert_eq!(lines[0]["result"], "Four, I think.");
    let ran = world.run(&["-p", "two?", "--output-format", "stream-json"]).exits(0);
    let types: Vec<_> =
        ran.lines().iter().map(|line| line["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(types, ["system", "assistant", "result"]);
}

#[test]
fn events_are_those_of_our_own_protocol() {
    let world = World::saying(ANSWER);
    let ran = world.run(&["run", "two?", "--output-format", "events"]).exits(0);
    let lines = ran.lines();
    let types: Vec<_> =
        lines.iter().filter_map(|line| line["seq"].as_u64().and(line["type"].as_str())).collect();
    assert_eq!(types.first(), Some(&"session.created"), "{types:?}");
    assert_eq!(types.last(), Some(&"done"), "{types:?}");
    let text: String = lines
        .iter()
        .filter(|l| l["type"] == "text_delta")
        .map(|l| l["delta"].as_str().unwrap())
        .collect();
    assert_eq!(text, "Four, I think.");
}

#[test]
fn continue_goes_on_with_the_newest_session_of_the_folder() {
    let world = World::saying(ANSWER);
    world.run(&["run", "first"]).exits(0);
    world.run(&["run", "-c", "second"]).exits(0);
    let request = world.model.requests().pop().unwrap();
    assert_eq!(request.request.messages.len(), 3);
    world.model.assert_clean();
    world.log();
}

#[test]
fn sessions_are_listed_and_shown() {
    let world = World::saying(ANSWER);
    world.run(&["run", "what is two and two?"]).exits(0);
    let rows = world.run(&["session", "list", "--json"]).exits(0);
    let rows: serde_json::Value = serde_json::from_str(&rows.out).unwrap();
    assert_eq!(rows[0]["title"], "what is two and two?");
    let id = rows[0]["id"].as_str().unwrap();
    let shown = world.run(&["session", "show", id]).exits(0);
    assert!(shown.out.contains("Four, I think."), "{}", shown.out);
}

#[test]
fn the_chat_wire_answers_as_well() {
    let world = World::saying(ANSWER);
    let mut command = world.ostler(&["-p", "-m", "openai/some-model", "two?"]);
    command.env("OPENAI_BASE_URL", world.model.chat_url()).env("OPENAI_API_KEY", "dummy-key");
    let ran = crate::support::Ran::of(command.output().unwrap()).exits(0);
    assert_eq!(ran.out, "Four, I think.\n");
    assert_eq!(world.model.requests()[0].wire, ostler_test::Wire::Chat);
    world.model.assert_clean();
}

#[test]
fn commands_see_no_credentials() {
    let replies = r#"[{"when": {"toolResultFor": "Bash"}, "steps": [{"text": "seen"}]},
        {"steps": [{"toolUse": {"name": "Bash", "input": {"command": "env"}}}]}]"#;
    let world = World::saying(replies);
    world.run(&["-p", "--dangerously-skip-permissions", "look"]).exits(0);
    let request = world.model.requests().pop().unwrap();
    assert!(request.raw.contains("PATH="), "{}", request.raw);
    assert!(!request.raw.contains("dummy-key"), "{}", request.raw);
}

#[test]
fn a_prompt_of_five_megabytes_arrives_whole() {
    let world = World::saying(ANSWER);
    world.model.ignore_prefixes();
    let prompt = "x".repeat(5 << 20);
    world.run_with_input(&["-p"], prompt.as_bytes()).exits(0);
    assert!(world.model.requests()[0].raw.len() > 5 << 20);
}

#[test]
fn a_call_is_explained_without_being_run() {
    let world = World::saying(ANSWER);
    let ran = world.run(&["permissions", "explain", "Bash(ls && touch new)"]).exits(0);
    assert!(ran.out.contains("the mode's default"), "{}", ran.out);
    assert!(ran.out.contains("\nask: "), "{}", ran.out);
    assert!(ran.out.contains("would be allowed by: Bash(touch:*)"), "{}", ran.out);
    let ran = world
        .run(&["permissions", "explain", "Bash(touch new)", "--mode", "plan", "--json"])
        .exits(0);
    let explained: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&explained["verdict"], &explained["mode"]), (&"deny".into(), &"plan".into()));
    let ran = world.run(&["permissions", "explain", "Git(status)"]).exits(2);
    assert!(ran.err.contains("there is no tool `Git`") && ran.err.contains("hint: the tools are"));
}

#[test]
fn a_session_is_traced_from_its_log() {
    let world = World::saying(
        r#"[{"steps": [{"toolUse": {"name": "Glob", "input": {"pattern": "*"}}}]}, {"repeat": true, "steps": [{"text": "End."}]}]"#,
    );
    let id = "0b6f1a52-5a3c-4f0e-9a77-1c2d3e4f5a6b";
    world.run(&["run", "look", "--session-id", id]).exits(0);
    let ran = world.run(&["trace", id]).exits(0);
    for part in ["look", "allow   Glob by mode", "tool    Glob succeeded", "end     end after"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let ran = world.run(&["trace", id, "--json"]).exits(0);
    let rows: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&rows[0]["what"], &rows[0]["prompt"]), (&"run".into(), &"look".into()));
    let ran = world.run(&["trace", "nothing"]).exits(1);
    assert!(ran.err.contains("there is no session"), "{}", ran.err);
}
