//! Asking on a terminal: the program on a pseudo-terminal, and a person who types.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    process::{Child, Stdio},
};

use nix::pty::openpty;

use crate::support::World;

/// The end of a question for permission.
const ASKS: &str = "or say why not: ";

/// The program with standard input and error on a terminal.
struct Terminal {
    child: Child,
    master: File,
    shown: String,
}

impl Terminal {
    fn run(world: &World, args: &[&str]) -> Self {
        let pty = openpty(None, None).unwrap();
        let mut command = world.ostler(args);
        command.stdin(Stdio::from(pty.slave.try_clone().unwrap()));
        command.stderr(Stdio::from(pty.slave)).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        // The command holds the terminal's other end until it is gone.
        drop(command);
        Self { child, master: File::from(pty.master), shown: String::new() }
    }

    /// What is shown up to and with this text, since the last time.
    fn until(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.shown.find(text) {
                let rest = self.shown.split_off(at + text.len());
                return std::mem::replace(&mut self.shown, rest);
            }
            assert!(self.read() > 0, "`{text}` did not come: {}", self.shown);
        }
    }

    /// Nothing more comes once the program has closed its end.
    fn read(&mut self) -> usize {
        let mut bytes = [0; 4096];
        let read = self.master.read(&mut bytes).unwrap_or(0);
        self.shown.push_str(&String::from_utf8_lossy(&bytes[..read]).replace("\r\n", "\n"));
        read
    }

    fn types(&mut self, line: &str) {
        self.master.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// What the terminal and standard output hold at the end.
    fn end(mut self) -> (String, String) {
        while self.read() > 0 {}
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", self.shown);
        (self.shown, String::from_utf8(output.stdout).unwrap())
    }
}

fn calls(calls: &str) -> String {
    format!(r#"[{{"steps": [{calls}]}}, {{"repeat": true, "steps": [{{"text": "End."}}]}}]"#)
}

fn bash(command: &str) -> String {
    format!(r#"{{"toolUse": {{"name": "Bash", "input": {{"command": "{command}"}}}}}}"#)
}

#[test]
fn all_of_the_command_is_shown_and_nothing_of_it_steers_the_terminal() {
    let long = "x".repeat(3000);
    let command =
        format!(r"echo {long}; touch new\u001b[2K\u001b[1A\r\u202e # harmless\ntouch other");
    let world = World::saying(&calls(&bash(&command)));
    let mut terminal = Terminal::run(&world, &["run", "go"]);
    let question = terminal.until(ASKS);
    assert!(question.contains(&long), "{question}");
    assert!(question.contains("touch new"), "{question}");
    assert!(question.contains("\n    touch other\n"), "a second line looks like one: {question}");
    for bad in ['\u{1b}', '\r', '\u{202e}', '\u{7}'] {
        assert!(!question.contains(bad), "{bad:?} in {question:?}");
    }
    assert!(question.contains('\u{241b}'), "an escape is seen as one: {question}");
    terminal.types("n");
    let (_, out) = terminal.end();
    assert_eq!(out, "End.\n");
    assert!(!world.home.project().join("other").exists());
}

#[test]
fn a_reason_reaches_the_model_and_a_yes_runs_the_call() {
    for (line, runs) in [("y", true), ("use make", false)] {
        let world = World::saying(&calls(&bash("touch new")));
        let mut terminal = Terminal::run(&world, &["run", "go"]);
        let question = terminal.until(ASKS);
        assert!(question.contains("Bash(touch:*)"), "{question}");
        terminal.types(line);
        terminal.end();
        assert_eq!(world.home.project().join("new").exists(), runs, "{line}");
        let told = world.model.requests().pop().unwrap().body["messages"].to_string();
        assert_eq!(told.contains("The user says: use make"), !runs, "{told}");
    }
}

#[test]
fn a_lasting_yes_is_kept_where_it_says() {
    let kept = |folder: std::path::PathBuf| {
        std::fs::read_to_string(folder.join("settings.json")).unwrap_or_default()
    };
    for (line, project, user) in [("a", false, false), ("p", true, false), ("u", false, true)] {
        let twice = format!(
            r#"[{{"steps": [{}]}}, {{"when": {{"turn": 2}}, "steps": [{}]}}, {{"repeat": true, "steps": [{{"text": "End."}}]}}]"#,
            bash("touch one"),
            bash("touch two")
        );
        let world = World::saying(&twice);
        let mut terminal = Terminal::run(&world, &["run", "go"]);
        terminal.until(ASKS);
        terminal.types(line);
        let (rest, _) = terminal.end();
        assert!(!rest.contains(ASKS), "{line}: {rest}");
        assert!(world.home.project().join("two").exists(), "{line}");
        let rule = "Bash(touch:*)";
        assert_eq!(kept(world.home.project().join(".ostler")).contains(rule), project, "{line}");
        assert_eq!(kept(world.home.ostler_home()).contains(rule), user, "{line}");
    }
}

#[test]
fn calls_that_ask_beside_each_other_are_asked_about_one_after_the_other() {
    let read = |name: &str| {
        let path = format!("/etc/{name}");
        format!(r#"{{"toolUse": {{"name": "Read", "input": {{"file_path": "{path}"}}}}}}"#)
    };
    let both = format!("{}, {}", read("hostname"), read("hosts"));
    let world = World::saying(&calls(&both));
    let mut terminal = Terminal::run(&world, &["run", "go"]);
    let first = terminal.until(ASKS);
    assert!(first.contains("hostname") && !first.contains("hosts\n"), "{first}");
    terminal.types("n");
    let second = terminal.until(ASKS);
    assert!(second.contains("hosts"), "{second}");
    terminal.types("y");
    terminal.end();
    let told = world.model.requests().pop().unwrap().body["messages"].to_string();
    assert!(told.contains("does not want this call to run"), "{told}");
}
