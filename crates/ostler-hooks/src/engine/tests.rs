//! Hooks that behave in every bad way: whoever waits for them goes on within the time limit,
//! and nothing is left behind.

use std::{path::Path, time::Instant};

use futures::future::BoxFuture;
use serde_json::json;

use super::*;
use crate::{Common, Decision, Only, Source, parse};

/// A time limit for hooks that never end by themselves, in seconds.
const SHORT: f64 = 0.3;

/// By then whoever waits goes on: limit, grace, killing, and a busy machine.
const SOON: Duration = Duration::from_secs(8);

/// Notes what it is told.
#[derive(Debug, Default)]
struct Notes {
    started: Mutex<Vec<String>>,
    ended: Mutex<Vec<(String, RunEnd)>>,
    late: Mutex<Vec<Late>>,
    changed: tokio::sync::Notify,
}

impl Observer for Notes {
    fn started(&self, run: &Run) {
        lock(&self.started).push(run.id.clone());
    }

    fn ended(&self, run: &Run, end: RunEnd) {
        assert!(lock(&self.started).contains(&run.id), "an end without a start");
        lock(&self.ended).push((run.hook.name.clone(), end));
        self.changed.notify_waiters();
    }

    fn late(&self, _: &Run, late: Late) {
        lock(&self.late).push(late);
        self.changed.notify_waiters();
    }
}

struct Place {
    dir: tempfile::TempDir,
    notes: Arc<Notes>,
    engine: Engine,
    supervisor: Supervisor,
}

fn place(hooks: Value) -> Place {
    place_with(hooks, None)
}

fn place_with(hooks: Value, model: Option<Arc<dyn AskModel>>) -> Place {
    let dir = tempfile::tempdir().unwrap();
    let source = Source { file: "test".to_owned(), is_managed: false, hooks };
    let parsed = parse(&[source], Only::All);
    assert_eq!(parsed.warnings, Vec::<String>::new());
    let notes = Arc::new(Notes::default());
    let supervisor = Supervisor::new(std::env::current_exe().unwrap());
    let path = "/usr/local/bin:/usr/bin:/bin";
    let engine = Engine::new(EngineParts {
        hooks: parsed.hooks,
        supervisor: supervisor.clone(),
        env: BTreeMap::from([("PATH".into(), path.into())]),
        variables: HashMap::from([("SECRET".to_owned(), "s3cret".to_owned())]),
        project: AbsPath::new(dir.path()).unwrap(),
        model,
        observer: Arc::<Notes>::clone(&notes),
        ids: IdGen::seeded(1),
    });
    Place { dir, notes, engine, supervisor }
}

impl Place {
    fn firing(&self, event: Event, fields: Value) -> Firing {
        let common = Common {
            session_id: "s1".to_owned(),
            cwd: self.dir.path().to_str().unwrap().to_owned(),
            ..Common::default()
        };
        let fields = fields.as_object().unwrap().clone();
        let subject = fields.get("tool_name").and_then(Value::as_str).map(str::to_owned);
        Firing {
            event,
            subject,
            input: common.input(event, fields),
            tool_use_id: None,
            fits: None,
            limit: None,
            cancel: Cancel::new(),
        }
    }

    async fn call(&self) -> Outcome {
        let fields =
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
        self.fire(Event::PreToolUse, fields).await
    }

    /// Fires; fails if that takes longer than any hook may.
    async fn fire(&self, event: Event, fields: Value) -> Outcome {
        let begin = Instant::now();
        let outcome = self.engine.fire(self.firing(event, fields)).await;
        assert!(begin.elapsed() < SOON, "it took {:?}", begin.elapsed());
        outcome
    }

    fn last(&self) -> RunEnd {
        lock(&self.notes.ended).last().unwrap().1.clone()
    }

    /// Waits until something is so of what was noted.
    async fn until(&self, reached: impl Fn(&Notes) -> bool) {
        let all = async {
            loop {
                let changed = self.notes.changed.notified();
                if reached(&self.notes) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(SOON, all).await.expect("it never came");
    }
}

fn guard(command: &str) -> Value {
    json!({"PreToolUse": [{"command": command, "timeout": SHORT}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn torture_leaves_whoever_waits_alive() {
    let big =
        r#"i=0; printf '{"systemMessage":"'; head -c 1000000 /dev/zero | tr '\0' x; printf '"}'"#;
    let table: [(&str, &str, RunOutcome, Option<&str>); 17] = [
        ("reads its input and copies it", "cat", RunOutcome::Success, None),
        ("never reads its input", "exec 0<&-; exit 0", RunOutcome::Success, None),
        ("loops for ever", "while :; do :; done", RunOutcome::Error, Some("did not end within")),
        ("waits for ever", "sleep 1000", RunOutcome::Error, Some("did not end within")),
        ("a child holds its output", "sleep 1000 & echo hi", RunOutcome::Success, None),
        (
            "a detached child holds its output",
            "setsid sleep 1000 & exit 0",
            RunOutcome::Success,
            None,
        ),
        ("one megabyte of answer", big, RunOutcome::Success, None),
        ("output without end", "yes", RunOutcome::Error, Some("")),
        ("no UTF-8", r"printf '\377\376{\200'", RunOutcome::Success, None),
        (
            "no UTF-8 in an answer",
            r#"printf '{"systemMessage":"\377"}'"#,
            RunOutcome::Success,
            None,
        ),
        ("exit 1", "echo why >&2; exit 1", RunOutcome::Error, Some("exit code 1: why")),
        ("exit 255", "exit 255", RunOutcome::Error, Some("exit code 255")),
        ("killed", "kill -9 $$", RunOutcome::Error, Some("signal 9")),
        (
            "ignores TERM",
            "trap '' TERM; while :; do :; done",
            RunOutcome::Error,
            Some("did not end within"),
        ),
        ("is not there", "/no/such/hook", RunOutcome::Error, Some("exit code 127")),
        (
            "wrong kind of answer",
            r#"echo '{"continue": "maybe"}'"#,
            RunOutcome::Error,
            Some("`continue`"),
        ),
        (
            "breeds, bounded",
            "for i in 1 2 3 4 5 6 7 8 9; do (sleep 1000; sleep 1000) & done; wait",
            RunOutcome::Error,
            Some("did not end within"),
        ),
    ];
    for (what, command, outcome, problem) in table {
        let place = place(guard(command));
        let said = place.call().await;
        assert_eq!((said.decision, said.block), (None, false), "{what}");
        let end = place.last();
        assert_eq!(end.outcome, outcome, "{what}: {end:?}");
        match problem {
            None => assert_eq!(end.problem, None, "{what}"),
            Some(words) => {
                assert!(end.problem.as_deref().unwrap().contains(words), "{what}: {end:?}")
            }
        }
        assert_eq!(lock(&place.notes.ended).len(), 1, "{what}");
        place.supervisor.shutdown().await;
        let left: Vec<_> = std::fs::read_dir(place.dir.path()).unwrap().collect();
        assert!(left.is_empty(), "{what}: {left:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_missing_fails_alone() {
    let place = place(json!({"PreToolUse": [
        {"command": "/no/such/program", "args": []},
        {"command": "echo no >&2; exit 2"},
    ]}));
    let said = place.call().await;
    assert_eq!((said.decision, said.reason.as_deref()), (Some(Decision::Deny), Some("no")));
    assert_eq!(said.by.as_deref(), Some("PreToolUse-1"));
    let ended = lock(&place.notes.ended).clone();
    assert_eq!(ended.len(), 2);
    let missing = ended.iter().find(|(name, _)| name == "PreToolUse-0").unwrap();
    assert!(missing.1.problem.as_deref().unwrap().contains("/no/such/program"), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_blocks_where_the_hook_says_so() {
    for command in ["exit 1", "sleep 1000", "kill -9 $$", "echo '{\"continue\":1}'"] {
        let place = place(json!({"PreToolUse": [
            {"command": command, "timeout": SHORT, "onFailure": "block"},
        ]}));
        let said = place.call().await;
        assert_eq!(said.decision, Some(Decision::Deny), "{command}");
        assert!(said.reason.unwrap().contains("PreToolUse-0"), "{command}");
        assert!(place.last().blocked.is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn input_variables_and_folder_arrive() {
    let place = place(json!({"PreToolUse": [{
        "command": "cat > input; env > env; pwd > pwd",
        "env": {"OWN": "mine"},
    }]}));
    assert_eq!(place.call().await, Outcome::default());
    let read = |name: &str| std::fs::read_to_string(place.dir.path().join(name)).unwrap();
    let input: Value = serde_json::from_str(&read("input")).unwrap();
    let cwd = place.dir.path().to_str().unwrap();
    assert_eq!(
        input,
        json!({
            "session_id": "s1", "transcript_path": "", "cwd": cwd, "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t",
        })
    );
    assert_eq!(
        Path::new(read("pwd").trim()).canonicalize().unwrap(),
        place.dir.path().canonicalize().unwrap()
    );
    let env = read("env");
    for family in ["CLAUDE", "OSTLER"] {
        for (name, value) in [
            ("PROJECT_DIR", cwd),
            ("SESSION_ID", "s1"),
            ("CWD", cwd),
            ("TOOL_NAME", "Bash"),
            ("TOOL_INPUT", r#"{"command":"ls"}"#),
            ("HOOK_EVENT", "PreToolUse"),
        ] {
            let line = format!("{family}_{name}={value}");
            assert!(env.lines().any(|found| found == line), "{line} in {env}");
        }
    }
    assert!(env.lines().any(|line| line == "OWN=mine"));
    assert!(!env.contains("s3cret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn matchers_filters_doubles_and_once_choose() {
    let place = place(json!({"PreToolUse": [
        {"name": "all", "command": "echo '{\"systemMessage\":\"all\"}'"},
        {"name": "double", "command": "echo '{\"systemMessage\":\"all\"}'"},
        {"name": "bash", "matcher": "Bash", "command": "echo '{\"systemMessage\":\"bash\"}'"},
        {"name": "edit", "matcher": "Edit", "command": "echo '{\"systemMessage\":\"edit\"}'"},
        {"name": "git", "if": "Bash(git *)", "command": "echo '{\"systemMessage\":\"git\"}'"},
        {"name": "once", "once": true, "command": "echo '{\"systemMessage\":\"once\"}'"},
    ], "Stop": [{"command": "echo '{\"systemMessage\":\"stop\"}'"}]}));
    assert_eq!(place.call().await.messages, ["all", "bash", "once"]);
    assert_eq!(place.call().await.messages, ["all", "bash"]);
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "git status"}});
    let mut firing = place.firing(Event::PreToolUse, fields);
    firing.fits = Some(Arc::new(|rule| rule == "Bash(git *)"));
    assert_eq!(place.engine.fire(firing).await.messages, ["all", "bash", "git"]);
    assert!(place.engine.has(Event::Stop) && !place.engine.has(Event::SessionEnd));
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_side_by_side_and_combine_in_order() {
    // Each waits for what the other makes: one after the other, they would never end.
    let wait = |mine: &str, other: &str| {
        format!(
            "touch {mine}; while [ ! -e {other} ]; do sleep 0.01; done; echo '{{\"context\":\"{mine}\"}}'"
        )
    };
    let place = place(json!({"PreToolUse": [
        {"command": wait("a", "b"), "timeout": 7}, {"command": wait("b", "a"), "timeout": 7},
    ]}));
    assert_eq!(place.call().await.context, ["a", "b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn background_hooks_are_not_waited_for_and_speak_later() {
    let place = place(json!({"PostToolUse": [
        {"command": "while [ ! -e go ]; do sleep 0.01; done; echo '{\"systemMessage\":\"late\"}'", "async": true, "timeout": 7},
        {"command": "while [ ! -e go ]; do sleep 0.01; done; echo wake >&2; exit 2", "asyncRewake": true, "timeout": 7},
        {"command": "echo '{\"async\":true,\"asyncTimeout\":7000}'; while [ ! -e go ]; do sleep 0.01; done", "timeout": 7},
    ]}));
    let fields = json!({"tool_name": "Bash", "tool_input": {}});
    assert_eq!(place.fire(Event::PostToolUse, fields).await, Outcome::default());
    assert_eq!(lock(&place.notes.ended).len(), 0);
    std::fs::write(place.dir.path().join("go"), "").unwrap();
    place.until(|notes| lock(&notes.ended).len() == 3 && lock(&notes.late).len() == 3).await;
    let late = lock(&place.notes.late).clone();
    assert_eq!(late.iter().filter(|late| late.wakes).count(), 1);
    assert!(late.iter().any(|late| late.answer.message.as_deref() == Some("late")));
}

#[tokio::test(flavor = "multi_thread")]
async fn background_hooks_are_bounded_and_end_with_the_session() {
    let many: Vec<_> = (0..IN_BACKGROUND + 3)
        .map(|at| json!({"command": format!("sleep 100{at}"), "async": true}))
        .collect();
    let place = place(json!({"Stop": many}));
    place.fire(Event::Stop, json!({})).await;
    {
        let ended = lock(&place.notes.ended);
        assert_eq!(ended.len(), 3);
        assert!(ended[0].1.problem.as_deref().unwrap().contains("too many hooks"));
    }
    let begin = Instant::now();
    place.engine.shutdown().await;
    assert!(begin.elapsed() < SOON);
    let ended = lock(&place.notes.ended);
    assert_eq!(ended.len(), IN_BACKGROUND + 3);
    let stopped = ended.iter().filter(|(_, end)| end.outcome == RunOutcome::Cancelled);
    assert_eq!(stopped.count(), IN_BACKGROUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interruption_stops_hooks_at_once() {
    let place = place(
        json!({"PreToolUse": [{"command": "touch there; sleep 1000", "onFailure": "block"}]}),
    );
    let firing = place.firing(Event::PreToolUse, json!({"tool_name": "Bash"}));
    let cancel = firing.cancel.clone();
    let there = place.dir.path().join("there");
    let stop = async {
        while !there.exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let begin = Instant::now();
    let (outcome, ()) = tokio::join!(place.engine.fire(firing), stop);
    assert!(begin.elapsed() < SOON);
    assert_eq!(place.last().outcome, RunOutcome::Cancelled);
    // What guards a call guards it also while it is stopped.
    assert_eq!(outcome.decision, Some(Decision::Deny));
}

/// A model that says what it was told to say, and notes what it was asked.
#[derive(Debug)]
struct Oracle(&'static str, Mutex<Vec<(String, Option<String>)>>);

impl AskModel for Oracle {
    fn ask(
        &self,
        question: String,
        model: Option<String>,
        _: Cancel,
    ) -> BoxFuture<'static, Result<String, String>> {
        lock(&self.1).push((question, model));
        let words = self.0;
        Box::pin(async move {
            match words {
                "" => std::future::pending().await,
                "!" => Err("no credit".to_owned()),
                words => Ok(words.to_owned()),
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_is_asked_and_its_silence_ends_by_itself() {
    let hooks = json!({"Stop": [{"type": "prompt", "prompt": "done? $ARGUMENTS", "model": "m"}]});
    let oracle = Arc::new(Oracle(r#"{"ok":false,"reason":"not yet"}"#, Mutex::default()));
    let place = place_with(hooks.clone(), Some(Arc::<Oracle>::clone(&oracle)));
    let said =
        place.engine.fire(place.firing(Event::Stop, json!({"stop_hook_active": false}))).await;
    assert_eq!((said.block, said.reason.as_deref()), (true, Some("not yet")));
    let asked = lock(&oracle.1).clone();
    assert!(asked[0].0.starts_with("done? {") && asked[0].0.contains("stop_hook_active"));
    assert_eq!(asked[0].1.as_deref(), Some("m"));
    for (words, problem) in [("", "it did not end within 30.0 s"), ("!", "no credit")] {
        let place = place_with(hooks.clone(), Some(Arc::new(Oracle(words, Mutex::default()))));
        let said = place.engine.fire(place.firing(Event::Stop, json!({}))).await;
        assert_eq!(said, Outcome::default());
        assert_eq!(place.last().problem.unwrap(), problem);
    }
}

#[tokio::test]
async fn kinds_that_are_not_available_say_so_and_honour_on_failure() {
    for kind in ["agent", "mcp_tool"] {
        let hook = |failure: Value| json!({"PreToolUse": [{"type": kind, "prompt": "x", "onFailure": failure}]});
        let open = place(hook(Value::Null));
        assert_eq!(open.call().await, Outcome::default());
        assert!(open.last().problem.unwrap().contains("not available in this version"));
        assert_eq!(place(hook(json!("block"))).call().await.decision, Some(Decision::Deny));
    }
}

/// Callbacks that answer as their id says.
#[derive(Debug)]
struct Host;

impl Callbacks for Host {
    fn call(
        &self,
        id: String,
        input: Map<String, Value>,
        _: Option<String>,
        _: Cancel,
    ) -> BoxFuture<'static, Result<Value, String>> {
        Box::pin(async move {
            match id.as_str() {
                "silent" => std::future::pending().await,
                "error" => Err("thrown".to_owned()),
                "odd" => Ok(json!("words")),
                "empty" => Ok(json!({})),
                _ => Ok(json!({"systemMessage": input["hook_event_name"]})),
            }
        })
    }
}

fn callback(id: &str) -> Hook {
    Hook {
        event: Event::PreToolUse,
        name: id.to_owned(),
        matcher: crate::Matcher::All,
        action: Action::Callback { id: id.to_owned() },
        filter: None,
        timeout: None,
        once: false,
        in_background: false,
        wakes: false,
        blocks_on_failure: false,
        status: None,
        from: "host".to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn callbacks_are_another_source_of_hooks() {
    let place = place(json!({}));
    assert!(place.engine.is_empty());
    for (id, outcome, decision) in [
        ("speaks", RunOutcome::Success, None),
        ("empty", RunOutcome::Success, None),
        ("error", RunOutcome::Error, None),
        ("odd", RunOutcome::Error, None),
        ("silent", RunOutcome::Error, Some(Decision::Deny)),
    ] {
        place.engine.register(vec![callback(id)], Arc::new(Host));
        let said =
            place.engine.fire(place.firing(Event::PreToolUse, json!({"tool_name": "x"}))).await;
        assert_eq!((place.last().outcome, said.decision), (outcome, decision), "{id}");
        let spoken: &[&str] = if id == "speaks" { &["PreToolUse"] } else { &[] };
        assert_eq!(said.messages, spoken, "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_that_are_replaced_refuse_what_they_guarded() {
    let place = place(json!({}));
    place.engine.register(vec![callback("silent")], Arc::new(Host));
    let fire = place.engine.fire(place.firing(Event::PreToolUse, json!({"tool_name": "x"})));
    let replace = async {
        tokio::task::yield_now().await;
        place.engine.register(vec![callback("empty")], Arc::new(Host));
    };
    let (said, ()) = tokio::join!(fire, replace);
    assert_eq!(said.decision, Some(Decision::Deny));
    assert!(said.reason.unwrap().contains("try again"));
}

/// Answers one request per line of a script with a status and a body, and gives what came.
async fn serve(
    status: u16,
    extra: &str,
    body: Vec<u8>,
) -> (String, tokio::task::JoinHandle<String>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let head = format!("HTTP/1.1 {status} X\r\n{extra}content-length: {}\r\n\r\n", body.len());
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        let mut chunk = [0; 4096];
        while !request.ends_with(b"}") {
            let len = stream.read(&mut chunk).await.unwrap();
            request.extend_from_slice(&chunk[..len]);
        }
        stream.write_all(head.as_bytes()).await.unwrap();
        // A reader that has heard enough goes away.
        stream.write_all(&body).await.unwrap_or_default();
        String::from_utf8(request).unwrap()
    });
    (url, task)
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_are_asked_and_their_trouble_is_told() {
    let deny = json!({"decision": "block", "reason": "r"}).to_string();
    let long = vec![b'x'; (4 << 20) + 1];
    let table = [
        (200, "", deny.clone().into_bytes(), Some(Decision::Deny), None),
        (204, "", Vec::new(), None, None),
        (500, "", deny.clone().into_bytes(), None, Some("answered 500")),
        (
            302,
            "location: http://127.0.0.1:9/\r\n",
            Vec::new(),
            None,
            Some("redirects are not followed"),
        ),
        (200, "", long, None, Some("longer than 4 MiB")),
        (200, "", b"{\"continue\":1}".to_vec(), None, Some("`continue`")),
        (200, "", b"\xff\xfe".to_vec(), None, None),
    ];
    for (status, extra, body, decision, problem) in table {
        let (url, task) = serve(status, extra, body).await;
        let place = place(json!({"PreToolUse": [{
            "type": "http", "url": url, "timeout": 5,
            "headers": {"X-Auth": "Bearer $SECRET", "X-Other": "[$HOME]"}, "allowedEnvVars": ["SECRET"],
        }]}));
        assert_eq!(place.call().await.decision, decision, "{status}");
        let end = place.last();
        match problem {
            None => assert_eq!(end.problem, None, "{status}"),
            Some(words) => assert!(end.problem.clone().unwrap().contains(words), "{end:?}"),
        }
        let request = task.await.unwrap();
        assert!(request.starts_with("POST /hook "), "{request}");
        assert!(
            request.contains("x-auth: Bearer s3cret") && request.contains("x-other: []"),
            "{request}"
        );
        assert!(request.contains(r#""hook_event_name":"PreToolUse""#), "{request}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_silent_or_absent_costs_its_time_limit() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}/", listener.local_addr().unwrap());
    let place = place(json!({"PreToolUse": [{"type": "http", "url": silent, "timeout": SHORT}]}));
    assert_eq!(place.call().await, Outcome::default());
    assert!(place.last().problem.unwrap().contains("did not end within"));
    drop(listener);
    assert_eq!(place.call().await, Outcome::default());
    assert_eq!(place.last().outcome, RunOutcome::Error);
}
