//! What goes wrong says what to do, with the right exit code, and loses nothing.

use std::{net::TcpListener, os::unix::fs::PermissionsExt as _};

use crate::support::World;

const ANSWER: &str = r#"[{"repeat": true, "steps": [{"text": "Yes."}]}]"#;

/// A model that refuses with this status, for ever.
fn refusing(status: u16, body: &str) -> World {
    World::saying(&format!(
        r#"[{{"repeat": true, "steps": [{{"error": {{"status": {status}, "body": {body}}}}}]}}]"#
    ))
}

#[test]
fn unknown_flag_is_an_error_of_usage() {
    let ran = World::saying(ANSWER).run(&["run", "--modle", "x", "hi"]).exits(2);
    assert!(ran.err.contains("--modle"), "{}", ran.err);
    assert!(ran.err.contains("--model") || ran.err.contains("--mode"), "{}", ran.err);
}

#[test]
fn no_prompt_says_how_to_give_one() {
    let ran = World::saying(ANSWER).run(&["run"]).exits(2);
    assert!(ran.err.contains("there is no prompt"), "{}", ran.err);
}

#[test]
fn no_key_says_how_to_set_one() {
    let world = World::saying(ANSWER);
    let mut command = world.ostler(&["run", "-m", "anthropic/some-model", "hi"]);
    command.env_remove("ANTHROPIC_API_KEY");
    let ran = crate::support::Ran::of(command.output().unwrap()).exits(3);
    assert!(ran.err.contains("ANTHROPIC_API_KEY"), "{}", ran.err);
}

#[test]
fn an_unknown_provider_is_named() {
    let ran =
        World::saying(ANSWER).run(&["run", "-m", "scripted:nowhere.scenario.json", "hi"]).exits(2);
    assert!(ran.err.contains("nowhere.scenario.json"), "{}", ran.err);
}

#[test]
fn a_broken_config_file_is_an_error_of_settings_with_its_place() {
    let world = World::saying(ANSWER);
    let file = world.home.ostler_home().join("config.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{\n  \"current\": ,\n}").unwrap();
    let ran = world.run(&["run", "hi"]).exits(2);
    assert!(ran.err.contains("config.json` line 2, column 14"), "{}", ran.err);
}

#[test]
fn a_refused_key_is_not_tried_again() {
    let world = refusing(
        401,
        r#"{"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}"#,
    );
    let ran = world.run(&["run", "hi"]).exits(3);
    assert!(ran.err.contains("invalid x-api-key"), "{}", ran.err);
    assert_eq!(world.model.requests().len(), 1);
    assert!(!ran.err.contains("dummy-key"), "{}", ran.err);
}

#[test]
fn an_unknown_model_is_named() {
    let world = refusing(
        404,
        r#"{"type": "error", "error": {"type": "not_found_error", "message": "model: nope"}}"#,
    );
    let ran = world.run(&["run", "-m", "anthropic/nope", "hi"]).exits(3);
    assert!(ran.err.contains("nope"), "{}", ran.err);
}

#[test]
fn overload_is_tried_again_with_caps() {
    for status in [429, 500] {
        let world =
            refusing(status, r#"{"type": "error", "error": {"type": "x", "message": "later"}}"#);
        let mut command = world.ostler(&["run", "hi"]);
        command.env("CLAUDE_CODE_MAX_RETRIES", "0");
        let ran = crate::support::Ran::of(command.output().unwrap()).exits(3);
        assert!(ran.err.contains("later"), "{}", ran.err);
    }
}

#[test]
fn a_page_instead_of_an_api_is_called_one() {
    let world = refusing(404, r#""<html><body>Welcome</body></html>""#);
    let ran = world.run(&["run", "hi"]).exits(3);
    assert!(ran.err.to_lowercase().contains("html"), "{}", ran.err);
}

#[test]
fn an_unreachable_server_names_its_address() {
    let world = World::saying(ANSWER);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = world.ostler(&["run", "hi"]);
    command.env("ANTHROPIC_BASE_URL", format!("http://{free}")).env("CLAUDE_CODE_MAX_RETRIES", "0");
    let ran = crate::support::Ran::of(command.output().unwrap()).exits(3);
    assert!(ran.err.contains(&free.to_string()), "{}", ran.err);
}

#[test]
fn print_knows_only_the_codes_0_and_1() {
    let world = refusing(
        401,
        r#"{"type": "error", "error": {"type": "authentication_error", "message": "no"}}"#,
    );
    world.run(&["-p", "hi"]).exits(1);
}

#[test]
fn a_failed_run_keeps_its_session() {
    let world = World::saying(
        r#"[{"steps": [{"error": {"status": 401, "body": {"type": "error", "error": {"type": "authentication_error", "message": "no"}}}}]},
            {"repeat": true, "steps": [{"text": "Here."}]}]"#,
    );
    world.run(&["run", "remember the number 7"]).exits(3);
    world.run(&["run", "-c", "and now?"]).exits(0);
    let request = world.model.requests().pop().unwrap();
    assert!(request.raw.contains("remember the number 7"));
    assert!(!request.raw.contains("API Error"), "our own words about a failure go to no model");
}

#[test]
fn an_unknown_session_is_named() {
    let id = "00000000-0000-4000-8000-000000000000";
    let ran = World::saying(ANSWER).run(&["run", "-s", id, "hi"]).exits(1);
    assert!(ran.err.contains(id), "{}", ran.err);
}

#[test]
fn a_torn_log_is_mended_and_said() {
    let world = World::saying(ANSWER);
    world.run(&["run", "first"]).exits(0);
    let log = world.log();
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"user\",\"mess");
    std::fs::write(&log, &bytes).unwrap();
    world.run(&["run", "-c", "second"]).exits(0);
    let after = std::fs::read(&log).unwrap();
    assert!(after.starts_with(&bytes), "nothing that was there is lost");
    assert!(world.model.requests().pop().unwrap().raw.contains("first"));
}

#[test]
fn a_log_that_cannot_be_read_is_named() {
    let world = World::saying(ANSWER);
    world.run(&["run", "first"]).exits(0);
    let log = world.log();
    let id = log.file_stem().unwrap().to_str().unwrap().to_owned();
    std::fs::write(&log, b"\0\0\0 not a log \xff\n").unwrap();
    std::fs::set_permissions(&log, std::fs::Permissions::from_mode(0o600)).unwrap();
    let ran = world.run(&["session", "show", &id]);
    assert!(ran.code == Some(0) || ran.err.contains(&id), "{ran:#?}");
    // One bad file does not hide the rest.
    world.run(&["run", "second"]).exits(0);
    let rows = world.run(&["session", "list", "--json"]).exits(0);
    assert!(rows.out.contains("second"), "{}", rows.out);
}

#[test]
fn a_home_that_cannot_be_written_says_so() {
    let world = World::saying(ANSWER);
    let mut command = world.ostler(&["run", "hi"]);
    command.env("OSTLER_HOME", "/proc/nowhere");
    let ran = crate::support::Ran::of(command.output().unwrap());
    assert_ne!(ran.code, Some(0));
    assert!(ran.err.contains("/proc/nowhere"), "{}", ran.err);
}

#[test]
fn damaged_settings_are_named_with_their_line_and_skipped() {
    let world = World::saying(ANSWER);
    std::fs::write(world.home.ostler_home().join("settings.json"), "{\n  \"model\": \n}").unwrap();
    let ran = world.run(&["run", "hi"]).exits(0);
    assert!(ran.err.contains("settings.json") && ran.err.contains("line 3"), "{}", ran.err);
}

#[test]
fn a_broken_pipe_is_success() {
    let world = World::saying(ANSWER);
    let mut command = world.ostler(&["run", "hi"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer);
    let status = command.status().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_full_disk_stops_the_run_before_it_shows_more() {
    let world = World::saying(
        r#"[{"steps": [{"repeatText": {"text": "words and words ", "count": 4000}}]}, {"repeat": true, "steps": [{"text": "Room again."}]}]"#,
    );
    // Files may hold 8 KiB; a write beyond fails as one on a full disk does.
    let mut command = std::process::Command::new("bash");
    let ours = world.ostler(&[]);
    command.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" run --output-format events hello"]);
    command.arg(env!("CARGO_BIN_EXE_ostler")).current_dir(world.home.project()).env_clear();
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(std::process::Stdio::null());
    let ran = crate::support::Ran::of(command.output().unwrap()).exits(1);
    let last = ran.lines().into_iter().rfind(|line| line["seq"].is_u64()).unwrap();
    assert_eq!(
        (last["type"].as_str(), last["reason"].as_str()),
        (Some("done"), Some("failed")),
        "{last}"
    );
    let failure = ran.lines().into_iter().find(|line| line["type"] == "session.error").unwrap();
    assert_eq!(failure["kind"], "storage", "{failure}");
    assert!(failure["hint"].as_str().unwrap().contains("disk space"), "{failure}");
    let shown = ran.out.matches("words and words").count();
    world.run(&["run", "-c", "go on"]).exits(0);
    let request = world.model.requests().pop().unwrap();
    assert!(request.raw.matches("words and words").count() >= shown, "what was shown is kept");
}
