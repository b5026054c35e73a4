//! `search grep|glob PATTERN ROOT [MORE]`: runs a search tool once and prints the files that it
//! found, so that a whole process can be compared with another search program. `MORE` is a JSON
//! object of further arguments; then what the model reads is printed.
//! It shows what the tool shows and decides nothing.

use std::{error::Error, ffi::OsString, io::Write as _};

use ostler_builtins::{Gate, Hands, Limits, WebSettings, register};
use ostler_protocol::Block;
use ostler_sandbox::Supervisor;
use ostler_stdx::AbsPath;
use ostler_tool::{Registry, ToolCx};
use serde_json::{Map, Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let ([verb, pattern, root], more) = match words.as_slice() {
        [verb, pattern, root] => ([verb, pattern, root], None),
        [verb, pattern, root, more] => ([verb, pattern, root], Some(more)),
        _ => return Err("usage: search grep|glob PATTERN ROOT [MORE]".into()),
    };
    let (tool, pattern) = (verb.to_string_lossy(), pattern.to_string_lossy());
    let root = AbsPath::new(std::path::Path::new(root).canonicalize()?)?;
    let mut registry = Registry::default();
    register(&mut registry, hands())?;
    let tool = registry.get(&tool).cloned().ok_or("there is `grep` and `glob`")?;
    let cx = ToolCx::quiet(root);
    let mut args = Map::from_iter([("pattern".to_owned(), json!(pattern))]);
    if let Some(more) = more {
        args.extend(serde_json::from_str::<Map<String, Value>>(&more.to_string_lossy())?);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let output = runtime.block_on(tool.run(args, cx)).map_err(|error| error.to_string())?;
    if more.is_some() {
        let text = output.content.iter().map(|block| match block {
            Block::Text { text } => format!("{text}\n"),
            _ => String::new(),
        });
        std::io::stdout().write_all(text.collect::<String>().as_bytes())?;
        return Ok(());
    }
    let found = output.structured["filenames"].as_array().into_iter().flatten();
    let lines: String = found.filter_map(Value::as_str).map(|name| format!("{name}\n")).collect();
    std::io::stdout().write_all(lines.as_bytes())?;
    Ok(())
}

/// No command is run, so what only commands need is empty.
fn hands() -> Hands {
    Hands {
        supervisor: Supervisor::new("/proc/self/exe"),
        env: std::collections::BTreeMap::default(),
        shell: "bash".into(),
        home: None,
        gate: Gate::open(),
        private: Vec::new(),
        tasks: ostler_stdx::AbsPath::root(),
        web: WebSettings::default(),
        shelter: None,
        limits: Limits::default(),
    }
}
