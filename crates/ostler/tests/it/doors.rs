//! The same scenario through every door: the same files, and traces that mean the same.
//!
//! A trace is what a person could tell of a run: what was said, asked, allowed and done.
//! Ids, times and where deltas were cut are left out.

mod browser;
mod sdk;

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::support::{Ran, World};

pub(crate) const PROMPT: &str = "correct the greeting";

/// What every door must tell of the scenario.
pub(crate) fn expected(world: &World) -> Vec<String> {
    let trace = [
        "user correct the greeting",
        "thinking The greeting is in greet.sh.",
        "text I look at the script first.",
        "result Read true",
        "text There is a typo; I correct it.",
        "ask Edit",
        "allow",
        "result Edit true",
        "ask Bash",
        "allow",
        "result Bash true",
        "text Corrected the greeting; the test passes.",
        "end",
    ];
    assert_eq!(world.file("greet.sh"), "echo \"Hello, $1!\"\n", "the change is on disk");
    trace.map(str::to_owned).to_vec()
}

/// The trace of events of our own protocol; events are taken in the order of the stream.
pub(crate) fn trace_of_events(events: &[Value]) -> Vec<String> {
    let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
    events
        .iter()
        .filter_map(|event| match event["type"].as_str()? {
            "user_message" => Some(format!("user {}", event["blocks"][0]["text"].as_str()?)),
            "thinking" => Some(format!("thinking {}", text(event, "content"))),
            "text" => Some(format!("text {}", text(event, "content"))),
            "permission_asked" => Some(format!("ask {}", text(event, "toolName"))),
            "permission.answered" => Some("allow".to_owned()),
            "tool_complete" => {
                Some(format!("result {} {}", text(event, "toolName"), event["success"]))
            }
            "done" => Some("end".to_owned()),
            _ => None,
        })
        .collect()
}

/// Frames of a session's events: numbered, each number once, none missing.
pub(crate) fn assert_numbered(events: &[Value]) {
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    let expected: Vec<u64> = (numbers[0]..numbers[0] + numbers.len() as u64).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn run_asks_on_the_terminal() {
    let world = World::playing("edit.scenario.json");
    let pty = nix::pty::openpty(None, None).unwrap();
    let mut command = world.ostler(&["run", "--output-format", "events", PROMPT]);
    command.stdin(pty.slave.try_clone().unwrap()).stderr(pty.slave).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(command);
    let answers = std::thread::spawn(move || answer_yes(File::from(pty.master)));
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let shown = answers.join().unwrap();
    assert!(shown.contains("sh test.sh"), "{shown}");
    let ran = Ran { code: Some(0), out, err: String::new() };
    let events: Vec<Value> =
        ran.lines().into_iter().filter(|event| event["seq"].is_u64()).collect();
    assert_numbered(&events);
    assert_eq!(trace_of_events(&events), expected(&world));
    world.model.assert_clean();
}

#[test]
fn nothing_that_others_wrote_steers_the_terminal() {
    // Told as a title, a command, a path, an answer and, in the end, a failure.
    let world = World::saying(
        r#"[{"when": {"turn": 1}, "steps": [
             {"text": "look \u001b]0;owned\u0007 \u009b2J"},
             {"toolUse": {"name": "Bash", "input":
               {"command": "sh\u001b[1A test.sh", "description": "Run\r\nostler: all is well \u202e"}}},
             {"toolUse": {"name": "Edit", "input":
               {"file_path": "${cwd}/greet.sh", "old_string": "Helo", "new_string": "He\u001b[8mllo"}}}]},
            {"when": {"toolResultFor": "Edit"},
             "steps": [{"error": {"status": 400, "body": "bad \u001b[31m request"}}]}]"#,
    );
    let pty = nix::pty::openpty(None, None).unwrap();
    let mut command = world.ostler(&["run", "go"]);
    let end = || pty.slave.try_clone().unwrap();
    command.stdin(end()).stderr(end()).stdout(end());
    let mut child = command.spawn().unwrap();
    drop((command, pty.slave));
    let shown = answer_yes(File::from(pty.master));
    assert_eq!(child.wait().unwrap().code(), Some(3), "{shown}");
    for told in
        ["\u{241b}]0;owned\u{2407}", "sh\u{241b}[1A test.sh", "Run\u{240d}\u{240a}ostler", "+ "]
    {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    // Our own dim lines are all that is left; the terminal itself adds `\r` before `\n`.
    let ours = shown.replace("\x1b[2m", "").replace("\x1b[0m", "").replace("\r\n", "\n");
    let steers = |c: &char| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c);
    assert_eq!(ours.chars().find(steers), None, "{ours:?}");
}

/// Types `y` at each question; ends when the terminal does. Gives what was shown.
fn answer_yes(mut terminal: File) -> String {
    let mut shown = String::new();
    let mut answered = 0;
    let mut buffer = [0; 4096];
    // A closed terminal reads as an error on Linux.
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        let asked = shown.matches("or say why not: ").count();
        while answered < asked {
            answered += 1;
            terminal.write_all(b"y\n").unwrap();
        }
    }
    shown
}

/// A client of `ostler serve`.
struct Serve {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    events: Vec<Value>,
    id: u64,
}

impl Serve {
    fn start(world: &World) -> Self {
        let mut command = world.ostler(&["serve"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, events: Vec::new(), id: 0 }
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        writeln!(self.input, "{request}").unwrap();
        self.id
    }

    /// The next frame; events are kept.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the stream goes on");
        let frame: Value = serde_json::from_str(&line).unwrap();
        if frame["type"].is_string() && frame["seq"].is_u64() {
            self.events.push(frame.clone());
        }
        frame
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let frame = self.next();
            if frame["id"] == id {
                assert_eq!(frame.get("error"), None, "{frame}");
                return frame["result"].clone();
            }
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    fn end(self) -> i32 {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn serve_speaks_json_rpc_on_stdio() {
    let world = World::playing("edit.scenario.json");
    let mut serve = Serve::start(&world);
    let discovered = serve.call("rpc.discover", json!({}));
    assert!(discovered["methods"].as_array().unwrap().len() > 10);
    let started = serve.call("session.start", json!({}));
    let session = started["sessionId"].clone();
    let sent = serve.send("session.send", json!({"sessionId": session, "message": PROMPT}));
    let result = loop {
        let frame = serve.next();
        if frame["type"] == "permission_asked" {
            let params = json!({"requestId": frame["requestId"], "decision": "allow-once"});
            serve.send("permission.answer", params);
        }
        if frame["id"] == sent {
            break frame["result"].clone();
        }
    };
    assert_eq!(result["success"], true, "{result}");
    assert_eq!(
        serve.events.last().unwrap()["type"],
        "done",
        "the answer comes after the last event"
    );
    assert_numbered(&serve.events);
    assert_eq!(trace_of_events(&serve.events), expected(&world));
    assert_eq!(serve.end(), 0);
    world.model.assert_clean();
}

#[test]
fn serve_names_what_is_wrong_with_a_request() {
    let world = World::playing("edit.scenario.json");
    let mut serve = Serve::start(&world);
    writeln!(serve.input, "{{not json").unwrap();
    let unknown = serve.send("session.fly", json!({}));
    let frame = serve.next();
    assert_eq!(
        (frame["id"].as_u64(), frame["error"]["code"].as_i64()),
        (Some(unknown), Some(-32601))
    );
    serve.send("session.send", json!({"sessionId": 3, "message": "x"}));
    let error = serve.next()["error"].clone();
    assert_eq!(error["code"], -32602);
    assert_eq!(error["data"]["field"], "sessionId");
    assert_eq!(serve.end(), 0);
}

#[test]
fn print_allows_what_rules_allow() {
    let world = World::playing("edit.scenario.json");
    let args =
        ["-p", PROMPT, "--output-format", "stream-json", "--allowedTools", "Edit Bash(sh test.sh)"];
    let ran = world.run(&args).exits(0);
    let trace = sdk::trace_of_frames(&ran.lines());
    let unasked: Vec<_> = expected(&world)
        .into_iter()
        .filter(|line| !line.starts_with("ask ") && line != "allow" && !line.starts_with("user "))
        .collect();
    assert_eq!(trace, unasked);
    world.model.assert_clean();
}
