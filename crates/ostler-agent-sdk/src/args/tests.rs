//! The command lines that the two SDKs write.

use super::*;

fn words(line: &[&str]) -> Vec<OsString> {
    line.iter().map(OsString::from).collect()
}

fn parsed(line: &[&str]) -> SdkArgs {
    parse(&words(line)).unwrap()
}

#[test]
fn both_orders_and_both_spellings_mean_the_same() {
    let ts = [
        "--output-format",
        "stream-json",
        "--verbose",
        "--input-format",
        "stream-json",
        "--model=m",
        "--max-turns=3",
        "--permission-prompt-tool=stdio",
        "--allowedTools=Read,Bash(git log, x)",
    ];
    let py = [
        "--output-format",
        "stream-json",
        "--verbose",
        "--model",
        "m",
        "--max-turns",
        "3",
        "--permission-prompt-tool",
        "stdio",
        "--allowedTools",
        "Read,Bash(git log, x)",
        "--input-format",
        "stream-json",
    ];
    assert_eq!(parsed(&ts), parsed(&py));
    assert!(is_wanted(&words(&ts)) && is_wanted(&words(&py)));
    assert!(is_wanted(&words(&["ostler", "--input-format=stream-json"])));
    assert!(!is_wanted(&words(&["--input-format", "text", "stream-json"])));
    assert_eq!(parsed(&ts).allowed, ["Read", "Bash(git log, x)"]);
}

#[test]
fn empty_values_and_values_with_a_dash_are_values() {
    let args = parsed(&[
        "--tools=",
        "--system-prompt",
        "",
        "--setting-sources=",
        "--append-system-prompt=-x",
    ]);
    assert_eq!(args.tools, Some(Vec::new()));
    assert_eq!(args.system_prompt.as_deref(), Some(""));
    assert_eq!(args.setting_sources, Some(Vec::new()));
    assert_eq!(args.append_system_prompt.as_deref(), Some("-x"));
    assert_eq!(parsed(&["--tools", "default"]).tools, None);
    assert_eq!(parsed(&["--tools", ""]).tools, Some(Vec::new()));
}

#[test]
fn repeated_flags_accumulate_and_leading_words_are_skipped() {
    let args = parsed(&["script.js", "x", "--add-dir", "/a", "--add-dir=/b", "--mcp-config", "{}"]);
    assert_eq!(args.add_dirs, ["/a", "/b"]);
    assert_eq!(args.mcp_configs, ["{}"]);
}

#[test]
fn unknown_flags_and_bad_ids_have_the_text_that_hosts_match() {
    let error = |line: &[&str]| parse(&words(line)).unwrap_err();
    assert_eq!(error(&["--x"]), "error: unknown option '--x'");
    assert_eq!(error(&["--x=1"]), "error: unknown option '--x'");
    assert_eq!(error(&["--verbose", "stray"]), "error: unknown option 'stray'");
    assert_eq!(error(&["--session-id=abc"]), "Error: Invalid session ID. Must be a valid UUID.");
    assert_eq!(error(&["--model"]), "error: option '--model <value>' argument missing");
    assert!(error(&["--max-turns", "0"]).contains("'0' is invalid"));
}

#[test]
fn what_cannot_be_held_is_refused_and_not_forgotten() {
    for flag in [
        "--max-budget-usd=1",
        "--json-schema={}",
        "--fork-session",
        "--session-mirror",
        "--agent=a",
        "--resume-session-at=u",
        "--permission-prompt-tool=mcp__a__b",
    ] {
        let args = parsed(&[flag]);
        assert_eq!(args.refused.len(), 1, "{flag}");
    }
    assert!(
        parsed(&["--resume-drops-turn="]).refused[0]
            .starts_with("Resume rejected by --resume-drops-turn:")
    );
}

#[test]
fn what_is_left_out_is_said_aloud() {
    let args = parsed(&["--fallback-model=m", "--plugin-dir", "/p", "--plugin-dir-no-mcp", "/q"]);
    assert!(args.refused.is_empty(), "{:?}", args.refused);
    for (line, flag) in
        args.left_out.iter().zip(["fallback-model m", "plugin-dir /p", "plugin-dir-no-mcp /q"])
    {
        assert!(line.starts_with(&format!("warning: `--{flag}` is left out: ")), "{line}");
    }
    assert_eq!(args.left_out.len(), 3);
}

#[test]
fn thinking_and_effort() {
    assert_eq!(parsed(&["--max-thinking-tokens=0"]).thinking, Some(Thinking::Disabled));
    assert_eq!(parsed(&["--max-thinking-tokens", "2000"]).thinking, Some(Thinking::Budget(2000)));
    assert_eq!(parsed(&["--thinking", "adaptive"]).thinking, Some(Thinking::Adaptive));
    assert_eq!(parsed(&["--effort=max"]).effort, Some(Effort::Max));
    let bypass = parsed(&["--permission-mode=bypassPermissions"]);
    assert!(bypass.may_bypass && bypass.mode == Some(Mode::BypassPermissions));
    assert!(!parsed(&["--permission-mode=manual"]).may_bypass);
}
