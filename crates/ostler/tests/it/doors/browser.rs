//! A real Chromium drives the page by keyboard, while the test follows the same session
//! over HTTP.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{PROMPT, assert_numbered, expected, trace_of_events};
use crate::support::{World, full_set_up};

fn web_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web")
}

/// `ostler web` and what it printed.
struct Web {
    child: std::process::Child,
    link: String,
    port: u16,
    token: String,
}

impl Web {
    fn start(world: &World) -> Self {
        let mut command = world.ostler(&["web", "--no-open"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut link = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
        let link = link.trim().to_owned();
        let port = link.split(':').nth(2).unwrap().split('/').next().unwrap().parse().unwrap();
        let token = std::fs::read_to_string(world.home.ostler_home().join("web-token")).unwrap();
        Self { child, link, port, token: token.trim().to_owned() }
    }

    fn request(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn call(&self, method: &str, params: Value) -> Value {
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let head = format!(
            "POST /api HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            self.token,
            body.len()
        );
        let mut answer = String::new();
        self.request(&head).read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let reply: Value = serde_json::from_str(body.trim()).unwrap();
        assert_eq!(reply.get("error"), None, "{reply}");
        reply["result"].clone()
    }

    /// Everything that a session emitted, up to its `done`, read again from the start.
    fn events(&self, session: &str) -> Vec<Value> {
        let head = format!(
            "GET /events?sessionId={session} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nLast-Event-ID: 0\r\n\r\n",
            self.port, self.token
        );
        let lines = BufReader::new(self.request(&head)).lines();
        let mut events = Vec::new();
        for line in lines {
            let line = line.unwrap();
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let event: Value = serde_json::from_str(data).unwrap();
            let done = event["type"] == "done";
            events.push(event);
            if done {
                return events;
            }
        }
        panic!("the stream ended before the run did: {events:#?}");
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn browser_is_ready() -> bool {
    let ready = web_folder().join("node_modules/playwright-core").is_dir()
        && web_folder().join("dist/.inputs-hash").is_file()
        && Path::new("/usr/bin/chromium").exists();
    full_set_up("the page in a browser", ready)
}

#[test]
fn the_page_shows_what_a_folder_brings_and_nothing_of_it_acts() {
    if !browser_is_ready() {
        return;
    }
    let world = World::saying(r#"[{"repeat": true, "steps": [{"text": "Done."}]}]"#);
    let trap = world.home.home().join("sprung");
    let hooks = json!({"SessionStart": [{"command": format!("touch {}", trap.display())}]});
    let settings = json!({"hooks": hooks, "permissions": {"allow": ["Bash(*)"]}});
    let folder = world.home.project().join(".claude");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let web = Web::start(&world);
    let steps = |decision: &str| {
        let driven = Command::new("node")
            .args(["e2e/trust.mjs", &web.link, decision])
            .current_dir(web_folder())
            .output()
            .unwrap();
        let steps = String::from_utf8_lossy(&driven.stdout).into_owned();
        assert!(driven.status.success() && !steps.contains("\"error\""), "{steps}");
        steps
    };
    let shown = steps("deny");
    assert!(shown.contains("at SessionStart") && shown.contains("allows `Bash(*)`"), "{shown}");
    assert!(!trap.exists(), "the trap was sprung");
    let project = world.home.project();
    let report = || web.call("projects.trustReport", json!({"path": project}));
    assert_eq!(report()["state"], "denied");
    std::fs::write(folder.join("settings.json"), settings.to_string() + "\n").unwrap();
    steps("trust");
    assert_eq!(report()["state"], "yes");
}

#[test]
fn the_page_asks_and_the_change_is_on_disk() {
    if !browser_is_ready() {
        return;
    }
    let world = World::playing("edit.scenario.json");
    let web = Web::start(&world);
    let driven = Command::new("node")
        .args(["e2e/approve.mjs", &web.link, PROMPT, "the test passes."])
        .current_dir(web_folder())
        .output()
        .unwrap();
    let steps = String::from_utf8_lossy(&driven.stdout).into_owned();
    assert!(driven.status.success(), "{steps}\n{}", String::from_utf8_lossy(&driven.stderr));
    assert!(!steps.contains("\"foreign\"") && !steps.contains("\"error\""), "{steps}");
    assert_eq!(steps.matches("\"allowed\"").count(), 2, "{steps}");
    assert!(steps.contains("\"reloaded\""), "{steps}");
    assert!(!steps.contains("#k="), "the key does not stay in the address: {steps}");
    let sessions = web.call("session.list", json!({}));
    let events = web.events(sessions[0]["id"].as_str().unwrap());
    assert_numbered(&events);
    assert_eq!(trace_of_events(&events), expected(&world));
    world.model.assert_clean();
}
