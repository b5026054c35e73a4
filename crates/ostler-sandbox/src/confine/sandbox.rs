//! The sandbox of a session: probed once, with its proxy, and what it makes of a command.

use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ostler_stdx::AbsPath;

use super::{
    bubblewrap::{self, Facts, look},
    claims::{Claim, Level, claims},
    inner::{self, Calls, FileRules, Forward, Inet, Spec},
    policy::{Network, Policy},
    probe::{Probe, ProbeOptions},
    protected::{Kind, Protected, protected},
    seatbelt,
};
use crate::{
    Command, Supervisor,
    proxy::{Decide, Proxy},
};

/// The proxy's port inside a name space of its own.
const INSIDE_PORT: u16 = 8119;

/// What a sandbox is made of.
#[derive(Debug)]
pub struct SandboxOptions {
    /// What commands may do.
    pub policy: Policy,
    /// This program, and where `bwrap` is.
    pub probe: ProbeOptions,
    /// Who decides which hosts are reached; without one, none is.
    pub decide: Option<Decide>,
}

/// Why there is no sandbox.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(String);

impl Unavailable {
    pub(super) fn new(what: &str) -> Self {
        Self(what.to_owned())
    }
}

/// Confines the commands of a session.
#[derive(Debug)]
pub struct Sandbox {
    policy: Policy,
    probe: Probe,
    exe: PathBuf,
    weaker: bool,
    empty: PathBuf,
    proxy: Option<Proxy>,
    standing: Standing,
}

impl Sandbox {
    /// Finds out what works here and starts the proxy, if the policy wants one.
    ///
    /// # Errors
    /// [`Unavailable`] says what is missing on this machine.
    pub async fn start(
        supervisor: &Supervisor,
        options: SandboxOptions,
    ) -> Result<Self, Unavailable> {
        let unavailable = |text: String| Unavailable(text);
        let SandboxOptions { mut policy, mut probe, decide } = options;
        // Inside, `/proc/self/exe` would be another program.
        probe.exe = std::fs::canonicalize(&probe.exe)
            .map_err(|error| unavailable(format!("`{}`: {error}", probe.exe.display())))?;
        let found = Probe::run(supervisor, &probe).await;
        if found.level == Level::None {
            return Err(unavailable(found.why_not.join("; ")));
        }
        let temp = policy.temp.get_or_insert_with(|| AbsPath::root().join("tmp")).clone();
        let empty = temp.join(".empty").to_path_buf();
        std::fs::create_dir_all(&empty)
            .map_err(|error| unavailable(format!("cannot make `{}`: {error}", empty.display())))?;
        let proxy = match (&policy.network, decide) {
            (Network::Proxied, Some(decide)) => Some(
                Proxy::start(decide, &temp, policy.local_binding)
                    .await
                    .map_err(|error| unavailable(format!("the proxy does not start: {error}")))?,
            ),
            (Network::Proxied, None) => {
                policy.network = Network::Closed;
                None
            }
            _ => None,
        };
        let (exe, weaker) = (probe.exe, probe.weaker);
        let standing = Standing::default();
        Ok(Self { policy, probe: found, exe, weaker, empty, proxy, standing })
    }

    /// By what means commands are confined.
    #[must_use]
    pub fn level(&self) -> &Level {
        &self.probe.level
    }

    /// What that gives, and what it does not.
    #[must_use]
    pub fn claims(&self) -> Vec<Claim> {
        claims(&self.probe.level, &self.policy)
    }

    /// Why there is no stronger means.
    #[must_use]
    pub fn why_not(&self) -> &[String] {
        &self.probe.why_not
    }

    /// The command as it runs confined, and what to tidy up behind it.
    #[must_use]
    pub fn confine(&self, command: Command) -> (Command, Traces) {
        self.confine_hiding(command, &[])
    }

    /// Like [`Sandbox::confine`], and these paths are hidden from this command too.
    #[must_use]
    pub fn confine_hiding(&self, command: Command, hidden: &[AbsPath]) -> (Command, Traces) {
        let mut policy = self.policy.clone();
        policy.deny_read.extend_from_slice(hidden);
        let names = policy.project.as_ref().filter(|_| policy.files_confined);
        let names = names.map(protected).unwrap_or_default();
        let cwd = command.cwd.clone();
        let (program, args, traces) = match &self.probe.level {
            Level::Bubblewrap { .. } => self.bubblewrap(&policy, &names, cwd.as_path()),
            Level::Landlock { .. } => {
                (self.exe.clone(), self.inner(&self.landlock_spec(&policy)), Traces::default())
            }
            Level::Seatbelt => {
                let profile = seatbelt::profile(&policy, &names, self.port());
                let args = vec![OsString::from("-p"), profile.into()];
                (PathBuf::from("/usr/bin/sandbox-exec"), args, Traces::default())
            }
            // `start` refuses this level; nothing pretends to be confined.
            Level::None => (PathBuf::from("/no-sandbox"), Vec::new(), Traces::default()),
        };
        (self.with_env(command.wrapped(program, args)), traces)
    }

    fn bubblewrap(
        &self,
        policy: &Policy,
        names: &[Protected],
        cwd: &Path,
    ) -> (PathBuf, Vec<OsString>, Traces) {
        let facts = Facts {
            protected: names,
            empty: &self.empty,
            exe: &self.exe,
            look,
            weaker: self.weaker,
        };
        let mut args = bubblewrap::args(policy, &facts, cwd);
        let forward = self
            .proxy
            .as_ref()
            .map(|proxy| Forward { port: INSIDE_PORT, socket: proxy.socket().to_path_buf() });
        let calls = Calls { unix: self.unix_sockets(), inet: Inet::All };
        args.push(self.exe.clone().into());
        args.extend(self.inner(&Spec { calls: Some(calls), forward, ..Spec::default() }));
        let traces = names.iter().filter(|name| name.kind != Kind::Present);
        let traces = self.standing.stand(traces.map(|name| name.path.clone()).collect());
        let bwrap = self.probe.bwrap.clone().unwrap_or_else(|| PathBuf::from("/usr/bin/bwrap"));
        (bwrap, args, traces)
    }

    fn landlock_spec(&self, policy: &Policy) -> Spec {
        let (connect, inet) = match policy.network {
            Network::Open => (None, Inet::All),
            Network::Closed => (Some(Vec::new()), Inet::None),
            Network::Proxied => (Some(self.port().into_iter().collect()), Inet::Streams),
        };
        let denied =
            |list: &[AbsPath]| list.iter().map(|path| path.to_path_buf()).collect::<Vec<_>>();
        let (deny_read, deny_write) = (denied(&policy.deny_read), denied(&policy.deny_write));
        let mut read = around(Path::new("/"), &deny_read);
        read.extend(policy.allow_read.iter().map(|path| path.to_path_buf()));
        // Where reading is denied somewhere below, what a command makes beside it can be
        // read by the next command only: a rule for the folder would let in the file.
        let writable = || policy.write.iter().chain(&policy.temp);
        read.extend(writable().flat_map(|path| around(path.as_path(), &deny_read)));
        let write = writable().flat_map(|path| around(path.as_path(), &deny_write)).collect();
        let bind = policy.local_binding || policy.network == Network::Open;
        let rules = FileRules { read, write, files: policy.files_confined, connect, bind };
        let calls = Calls { unix: self.unix_sockets(), inet };
        Spec { landlock: Some(rules), calls: Some(calls), ..Spec::default() }
    }

    /// Whether sockets of the file system may be made at all: which of them can be
    /// reached is then a matter of what is seen.
    fn unix_sockets(&self) -> bool {
        self.policy.all_unix_sockets
            || !self.policy.unix_sockets.is_empty()
            || self.policy.network == Network::Open
    }

    fn inner(&self, spec: &Spec) -> Vec<OsString> {
        // A plain struct of strings and numbers has a JSON form.
        let spec = serde_json::to_string(spec).unwrap_or_default();
        vec![inner::SWITCH.into(), spec.into()]
    }

    fn port(&self) -> Option<u16> {
        self.proxy.as_ref().map(Proxy::port)
    }

    fn with_env(&self, mut command: Command) -> Command {
        let env = &mut command.env;
        for name in &self.policy.hidden_vars {
            env.remove(name.as_str().as_ref() as &std::ffi::OsStr);
        }
        for (name, value) in &self.policy.masked_vars {
            if let Some(held) = env.get_mut(name.as_str().as_ref() as &std::ffi::OsStr) {
                *held = value.into();
            }
        }
        if let Some(temp) = &self.policy.temp {
            env.insert("TMPDIR".into(), temp.as_os_str().to_owned());
        }
        env.insert("OSTLER_SANDBOX".into(), self.probe.level.name().into());
        if let Some(outside) = self.port() {
            let inside = matches!(self.probe.level, Level::Bubblewrap { .. });
            let port = if inside { INSIDE_PORT } else { outside };
            for (names, value) in [
                (["HTTP_PROXY", "http_proxy"], format!("http://127.0.0.1:{port}")),
                (["HTTPS_PROXY", "https_proxy"], format!("http://127.0.0.1:{port}")),
                (["ALL_PROXY", "all_proxy"], format!("socks5h://127.0.0.1:{port}")),
                (["NO_PROXY", "no_proxy"], "localhost,127.0.0.1,::1".to_owned()),
            ] {
                for name in names {
                    env.insert(name.into(), value.clone().into());
                }
            }
        }
        command
    }
}

/// The empty files and folders that stand for protected names, and how many commands rely
/// on each: what one took away while another runs would leave that one's name open.
#[derive(Debug, Clone, Default)]
struct Standing(Arc<Mutex<HashMap<PathBuf, usize>>>);

impl Standing {
    fn stand(&self, paths: Vec<PathBuf>) -> Traces {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &paths {
            *counts.entry(path.clone()).or_default() += 1;
        }
        Traces { paths, standing: self.clone() }
    }
}

/// What a confined command leaves on the disk although it wrote nothing: the empty files
/// and folders that stood for protected names. Hold it while the command runs; dropped, it
/// removes them.
#[derive(Debug, Default)]
pub struct Traces {
    paths: Vec<PathBuf>,
    standing: Standing,
}

impl Drop for Traces {
    fn drop(&mut self) {
        let mut counts = self.standing.0.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &self.paths {
            let left = counts.get_mut(path).map(|count| {
                *count -= 1;
                *count
            });
            if left == Some(0) {
                counts.remove(path);
                remove_empty(path);
            }
        }
    }
}

/// Only what is still empty is ours; a folder that is not stays by itself.
fn remove_empty(path: &Path) {
    let is_empty_file =
        std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() == 0);
    if is_empty_file {
        drop(std::fs::remove_file(path));
    } else {
        drop(std::fs::remove_dir(path));
    }
}

/// Paths that together are `root` without what is denied: where something below is
/// denied, the entries beside it. What is made there later is not among them.
fn around(root: &Path, denied: &[PathBuf]) -> Vec<PathBuf> {
    if denied.iter().any(|path| root.starts_with(path)) {
        return Vec::new();
    }
    if !denied.iter().any(|path| path.starts_with(root)) {
        return vec![root.to_path_buf()];
    }
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    // A link would let in what it leads to.
    let own =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    own.flat_map(|entry| around(&entry.path(), denied)).collect()
}
