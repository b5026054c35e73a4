//! A host in a home to throw away, and a front end that watches it.

use std::sync::Arc;

use ostler_host::{Attachment, Environment, Host, HostOptions, outlet::Slow};
use ostler_protocol::{
    RpcError,
    methods::{Caller, TransportKind, dispatch},
};
use ostler_test::TempHome;
use serde_json::{Value, json};

pub(crate) struct TestHost {
    pub(crate) home: TempHome,
    pub(crate) host: Host,
    pub(crate) caller: Caller,
    pub(crate) window: Attachment,
}

/// The scenario that a test writes.
const SCRIPT: &str = "scripted:test.scenario.json";

/// Tells the runtime's time as if it had begun at a certain moment.
#[derive(Debug)]
struct RuntimeClock(tokio::time::Instant);

impl ostler_stdx::Clock for RuntimeClock {
    fn now_ms(&self) -> i64 {
        1_800_000_000_000 + i64::try_from(self.0.elapsed().as_millis()).unwrap()
    }
}

impl TestHost {
    pub(crate) fn new(files: &str) -> Self {
        let home = TempHome::with_project(files).unwrap();
        let host = Self::open(&home);
        let window = host.attach("test", Slow::Wait, true);
        Self { home, caller: caller(), window, host }
    }

    /// A host whose time is that of the runtime, so that a paused one passes at once.
    pub(crate) fn with_runtime_time(files: &str) -> Self {
        let home = TempHome::with_project(files).unwrap();
        let mut options = Self::options(&home);
        options.clock = Arc::new(RuntimeClock(tokio::time::Instant::now()));
        let host = Host::open(options);
        let window = host.attach("test", Slow::Wait, true);
        Self { home, caller: caller(), window, host }
    }

    /// A host that knows no model.
    pub(crate) fn without_model(files: &str) -> Self {
        let home = TempHome::with_project(files).unwrap();
        let host = Host::open(HostOptions { model: None, ..Self::options(&home) });
        let window = host.attach("test", Slow::Wait, true);
        Self { home, caller: caller(), window, host }
    }

    /// With a policy of the machine.
    pub(crate) fn with_policy(files: &str, policy: &str) -> Self {
        let host = Self::new(files);
        host.policy(policy);
        host
    }

    /// Writes the machine's policy.
    pub(crate) fn policy(&self, text: &str) {
        std::fs::write(self.policy_path(), text).unwrap();
    }

    pub(crate) fn policy_path(&self) -> std::path::PathBuf {
        policy_path(&self.home)
    }

    fn open(home: &TempHome) -> Host {
        Host::open(Self::options(home))
    }

    fn options(home: &TempHome) -> HostOptions {
        let vars =
            home.env().into_iter().map(|(name, value)| (name.into(), value.into_os_string()));
        let path = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        let env = Environment::new(vars.chain(path), home.project());
        let mut options = HostOptions::new(env, std::env::current_exe().unwrap());
        // Named here as on a command line: a front end cannot name a scenario file.
        options.model = Some(SCRIPT.to_owned());
        options.managed = policy_path(home);
        options
    }

    /// A second process over the same home.
    pub(crate) fn reopened(self) -> Self {
        let host = Self::open(&self.home);
        let window = host.attach("test", Slow::Wait, true);
        Self { host, window, ..self }
    }

    pub(crate) fn scenario(&self, replies: Value) -> String {
        let file = self.home.project().join("test.scenario.json");
        std::fs::write(&file, json!({"name": "test", "replies": replies}).to_string()).unwrap();
        SCRIPT.to_owned()
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        dispatch(&self.host, &self.caller, method, Some(params)).await
    }

    /// A session that plays these replies.
    pub(crate) async fn start(&self, replies: Value) -> String {
        let model = self.scenario(replies);
        let started = self.call("session.start", json!({"model": model})).await.unwrap();
        started["sessionId"].as_str().unwrap().to_owned()
    }

    /// The next event of a session.
    pub(crate) async fn next(&self) -> Value {
        loop {
            let published = self.window.events.next().await.unwrap();
            if published.seq > 0 {
                return serde_json::from_str(&published.json).unwrap();
            }
        }
    }

    /// Events up to and with one of this type.
    pub(crate) async fn until(&self, kind: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            events.push(self.next().await);
            if events.last().unwrap()["type"] == kind {
                return events;
            }
        }
    }

    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.project().join(name)).unwrap()
    }
}

/// Where the machine's policy of a test lies.
fn policy_path(home: &TempHome) -> std::path::PathBuf {
    home.ostler_home().with_file_name("managed.json")
}

pub(crate) fn caller() -> Caller {
    Caller { client: "test".to_owned(), transport: TransportKind::InProcess }
}

/// The types of events, progress left out.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    let types = events.iter().map(|event| event["type"].as_str().unwrap());
    types.filter(|kind| !matches!(*kind, "tool_input" | "tool_progress")).collect()
}

/// Shares a host between a request that waits and the test that answers it.
pub(crate) fn shared(host: TestHost) -> Arc<TestHost> {
    Arc::new(host)
}
