//! A temporary project with all tools.

use std::{collections::BTreeMap, ffi::OsString, fs, path::Path, sync::Arc};

use ostler_protocol::{Block, FileDiff};
use ostler_sandbox::Supervisor;
use ostler_stdx::AbsPath;
use ostler_tool::{Registry, ToolCx, ToolError, ToolOutput};
use serde_json::{Map, Value};

use crate::{Gate, Hands, Limits, WebSettings, register};

pub(crate) struct Bench {
    _dir: tempfile::TempDir,
    /// The project; `home` and `outside` lie beside it.
    pub(crate) root: AbsPath,
    pub(crate) registry: Registry,
    pub(crate) cx: ToolCx,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Hands)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = AbsPath::new(dir.path().canonicalize().unwrap()).unwrap();
        for folder in ["project", "home", "outside"] {
            fs::create_dir(base.join(folder)).unwrap();
        }
        let env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("GREETING", "hello")];
        let mut hands = Hands {
            supervisor: Supervisor::new(std::env::current_exe().unwrap()),
            env: env
                .map(|(name, value)| (OsString::from(name), OsString::from(value)))
                .into_iter()
                .collect::<BTreeMap<_, _>>(),
            shell: "bash".into(),
            home: Some(base.join("home")),
            gate: Gate::open(),
            private: vec![base.join("project/.own")],
            tasks: base.join("own/tasks"),
            web: WebSettings::default(),
            shelter: None,
            limits: Limits::default(),
        };
        change(&mut hands);
        let mut registry = Registry::default();
        register(&mut registry, hands).unwrap();
        let root = base.join("project");
        let cx = ToolCx::quiet(root.clone());
        Self { _dir: dir, root, registry, cx }
    }

    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> AbsPath {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.root.join(path)).unwrap()
    }

    pub(crate) async fn call(&self, tool: &str, args: Value) -> Result<ToolOutput, ToolError> {
        Arc::clone(self.registry.get(tool).unwrap()).run(object(args), self.cx.clone()).await
    }

    pub(crate) async fn preview(&self, tool: &str, args: Value) -> Vec<FileDiff> {
        Arc::clone(self.registry.get(tool).unwrap()).preview(object(args), self.cx.clone()).await
    }

    /// The text of a call that works.
    pub(crate) async fn text(&self, tool: &str, args: Value) -> String {
        text(&self.call(tool, args).await.unwrap())
    }

    /// What is said about a call that is refused.
    pub(crate) async fn refused(&self, tool: &str, args: Value) -> String {
        self.call(tool, args).await.unwrap_err().to_string()
    }
}

pub(crate) fn object(args: Value) -> Map<String, Value> {
    args.as_object().unwrap().clone()
}

pub(crate) fn text(output: &ToolOutput) -> String {
    let texts = output.content.iter().map(|block| match block {
        Block::Text { text } => text.clone(),
        other => format!("{other:?}"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// All files below a folder with their content.
pub(crate) fn snapshot(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_string_lossy().into_owned();
        if path.is_symlink() {
            files.insert(
                name,
                fs::read_link(&path).unwrap().to_string_lossy().into_owned().into_bytes(),
            );
        } else if path.is_dir() {
            files.extend(snapshot(&path));
        } else if path.is_file() {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}
