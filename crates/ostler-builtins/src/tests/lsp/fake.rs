//! A language server that knows functions by their `fn`, and misbehaves in ways that are
//! asked for by a variable. It checks what it is told as the protocol wants it, and asks
//! its client what servers ask.

#![expect(clippy::exit, reason = "the process is the server's alone")]

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, Read as _, Write as _},
    path::PathBuf,
};

use serde_json::{Value, json};

/// The variable that names the mode.
pub(super) const MODE: &str = "FAKE_LANGUAGE_SERVER";

/// Serves until its client goes, if this process was started for it.
pub(super) fn serve_if_asked() {
    #[expect(clippy::disallowed_methods, reason = "the variable is for this process alone")]
    let Ok(mode) = std::env::var(MODE) else { return };
    if mode == "early" {
        std::process::exit(3);
    }
    if mode == "garbage" {
        let mut out = std::io::stdout().lock();
        while out.write_all(&[b'x'; 4096]).and_then(|()| out.flush()).is_ok() {}
    }
    // What the harness wrote about this test has no line end.
    println!();
    let mut server = Server {
        mode,
        documents: BTreeMap::new(),
        root: PathBuf::new(),
        next: 0,
        asked: Vec::new(),
    };
    while let Some(message) = read() {
        server.take(&message);
    }
    std::process::exit(0);
}

struct Server {
    mode: String,
    documents: BTreeMap<String, (i64, String)>,
    root: PathBuf,
    next: u64,
    /// Requests of ours that wait, with what the answer must be.
    asked: Vec<(u64, Value)>,
}

impl Server {
    fn take(&mut self, message: &Value) {
        let id = &message["id"];
        let params = &message["params"];
        let Some(method) = message["method"].as_str() else {
            let at = self.asked.iter().position(|(own, _)| json!(own) == *id);
            let (_, expected) = self.asked.remove(at.expect("an answer to what was not asked"));
            assert_eq!(message["result"], expected, "{message}");
            return;
        };
        match method {
            "initialize" => self.greet(id, params),
            "initialized" => {
                self.ask(
                    "workspace/configuration",
                    json!({"items": [{}, {}]}),
                    json!([null, null]),
                );
                self.ask("client/registerCapability", json!({"registrations": []}), Value::Null);
                self.ask("window/workDoneProgress/create", json!({"token": "t"}), Value::Null);
            }
            "textDocument/didOpen" => {
                let item = &params["textDocument"];
                let text = item["text"].as_str().unwrap().to_owned();
                let uri = item["uri"].as_str().unwrap();
                assert!(item["languageId"] == "rust" && !self.documents.contains_key(uri));
                self.set(uri, 1, text);
            }
            "textDocument/didChange" => {
                let uri = params["textDocument"]["uri"].as_str().unwrap();
                let version = params["textDocument"]["version"].as_i64().unwrap();
                assert!(self.documents[uri].0 < version);
                let text = params["contentChanges"][0]["text"].as_str().unwrap().to_owned();
                self.set(uri, version, text);
            }
            "$/cancelRequest" => fs::write(self.root.join("cancelled"), "").unwrap(),
            _ if id.is_null() => {}
            method => self.answer(id, method, params),
        }
    }

    fn greet(&mut self, id: &Value, params: &Value) {
        self.root = PathBuf::from(params["rootPath"].as_str().unwrap());
        let mut capabilities = json!({"positionEncoding": "utf-16", "hoverProvider": true});
        if self.mode == "pull" {
            capabilities["diagnosticProvider"] = json!({});
        }
        send(&json!({"jsonrpc": "2.0", "id": id, "result": {"capabilities": capabilities}}));
        if self.mode == "deaf" {
            loop {
                std::thread::park();
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value, expected: Value) {
        self.next += 1;
        self.asked.push((self.next, expected));
        send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
    }

    fn set(&mut self, uri: &str, version: i64, text: String) {
        if self.mode == "good" {
            let findings = findings(&text);
            let params = json!({"uri": uri, "version": version, "diagnostics": findings});
            send(
                &json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params}),
            );
        }
        self.documents.insert(uri.to_owned(), (version, text));
    }

    fn answer(&mut self, id: &Value, method: &str, params: &Value) {
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default().to_owned();
        if method != "textDocument/hover" {
            match self.mode.as_str() {
                "crash" => {
                    eprintln!("info: fine so far\nerror: the fake server fell over");
                    std::process::exit(7);
                }
                "hang" => {
                    fs::write(self.root.join("asked"), "").unwrap();
                    return;
                }
                "nojson" => return write(b"{\"id\": "),
                "huge" => return write(&vec![b' '; 20 << 20]),
                "refuse" | "unable" => {
                    let code = if self.mode == "refuse" { -32603 } else { -32601 };
                    let error = json!({"code": code, "message": "not today"});
                    return send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                }
                _ => {}
            }
        }
        let result = match method {
            "textDocument/hover" => {
                let word = self.word(&uri, &params["position"]);
                json!({"contents": [{"language": "rust", "value": format!("fn {word}")}, "a word"]})
            }
            "textDocument/definition" => {
                let word = self.word(&uri, &params["position"]);
                let range = self.places(&uri, &word).into_iter().next();
                json!([{"targetUri": uri, "targetRange": range, "targetSelectionRange": range}])
            }
            "textDocument/references" if self.mode == "many" => {
                let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
                json!(vec![json!({"uri": uri, "range": range}); 5000])
            }
            "textDocument/references" => {
                let word = self.word(&uri, &params["position"]);
                self.load();
                let all = self.documents.keys().flat_map(|uri| {
                    self.places(uri, &word)
                        .into_iter()
                        .map(move |range| json!({"uri": uri, "range": range}))
                });
                json!(all.collect::<Vec<_>>())
            }
            "textDocument/documentSymbol" => {
                let all = self.functions(&uri).into_iter().map(|(name, range)| {
                    let inner = json!({"name": "inner", "detail": format!("of {name}"), "kind": 13, "range": range, "selectionRange": range});
                    json!({"name": name, "kind": 12, "range": range, "selectionRange": range, "children": [inner]})
                });
                json!(all.collect::<Vec<_>>())
            }
            "workspace/symbol" => {
                self.load();
                let query = params["query"].as_str().unwrap().to_owned();
                let all = self.documents.keys().flat_map(|uri| {
                    self.functions(uri).into_iter().map(move |(name, range)| {
                        json!({"name": name, "kind": 12, "containerName": "a", "location": {"uri": uri, "range": range}})
                    })
                });
                json!(
                    all.filter(|one| one["name"].as_str().unwrap().contains(&query))
                        .collect::<Vec<_>>()
                )
            }
            "textDocument/diagnostic" => {
                json!({"kind": "full", "items": findings(&self.documents[&uri].1)})
            }
            other => panic!("`{other}` was not expected"),
        };
        send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// What is on the disk and not open.
    fn load(&mut self) {
        for name in ["a.rs", "b.rs"] {
            let path = self.root.join("src").join(name);
            let uri = format!("file://{}", path.display());
            if !self.documents.contains_key(&uri)
                && let Ok(text) = fs::read_to_string(path)
            {
                self.documents.insert(uri, (0, text));
            }
        }
    }

    fn text(&self, uri: &str) -> &str {
        &self.documents[uri].1
    }

    /// The word at a place that is counted in UTF-16 units.
    fn word(&self, uri: &str, position: &Value) -> String {
        let line = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
        let unit = usize::try_from(position["character"].as_u64().unwrap()).unwrap();
        let units: Vec<u16> = self.text(uri).lines().nth(line).unwrap().encode_utf16().collect();
        let is_word =
            |unit: &u16| char::from_u32((*unit).into()).is_some_and(char::is_alphanumeric);
        let start = units[..unit].iter().rposition(|unit| !is_word(unit)).map_or(0, |at| at + 1);
        let rest = units[start..].iter().copied().take_while(is_word).collect::<Vec<_>>();
        String::from_utf16(&rest).unwrap()
    }

    fn places(&self, uri: &str, word: &str) -> Vec<Value> {
        let lines = self.text(uri).lines().enumerate();
        let all = lines.flat_map(|(number, line)| {
            line.match_indices(word).map(move |(at, _)| range(number, line, at, word.len()))
        });
        all.collect()
    }

    fn functions(&self, uri: &str) -> Vec<(String, Value)> {
        let lines = self.text(uri).lines().enumerate();
        let all = lines.filter_map(|(number, line)| {
            let name = line.strip_prefix("fn ")?.split('(').next()?;
            Some((name.to_owned(), range(number, line, 3, name.len())))
        });
        all.collect()
    }
}

fn range(number: usize, line: &str, at: usize, len: usize) -> Value {
    let unit = |at: usize| line[..at].encode_utf16().count();
    let point = |at: usize| json!({"line": number, "character": unit(at)});
    json!({"start": point(at), "end": point(at + len)})
}

fn findings(text: &str) -> Vec<Value> {
    let lines = text.lines().enumerate();
    let all = lines.flat_map(|(number, line)| {
        let found = |word: &str| line.find(word).map(|at| range(number, line, at, word.len()));
        let bug = found("BUG").map(|range| json!({"range": range, "severity": 1, "code": "E1", "source": "fake", "message": "there is a bug"}));
        let care = found("WARN").map(|range| json!({"range": range, "severity": 2, "source": "fake", "message": "take care"}));
        bug.into_iter().chain(care)
    });
    all.collect()
}

fn read() -> Option<Value> {
    let mut input = std::io::stdin().lock();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            header => length = header.strip_prefix("Content-Length: ").unwrap().parse().unwrap(),
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}

fn send(message: &Value) {
    write(message.to_string().as_bytes());
}

fn write(body: &[u8]) {
    let mut out = std::io::stdout().lock();
    write!(out, "Content-Length: {}\r\n\r\n", body.len()).unwrap();
    out.write_all(body).unwrap();
    out.flush().unwrap();
}
