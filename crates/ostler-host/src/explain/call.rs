//! A call as a person writes it: `Bash(git status)`, `Edit(src/a.rs)`, `mcp__srv__tool`, or
//! `Tool {"key": "value"}`. Guesses nothing: what is not one of these is an error.

use ostler_permission::canonical_tool;
use ostler_protocol::{Access, ErrorKind, RpcError};
use ostler_stdx::AbsPath;
use ostler_tool::Registry;
use serde_json::{Map, Value};

/// The argument that stands in the parentheses, by tool.
const MAIN: &[(&str, &str)] = &[
    ("Bash", "command"),
    ("Monitor", "command"),
    ("Read", "file_path"),
    ("Write", "file_path"),
    ("Edit", "file_path"),
    ("NotebookEdit", "notebook_path"),
    ("LS", "path"),
    ("Glob", "path"),
    ("Grep", "path"),
    ("WebFetch", "url"),
    ("WebSearch", "query"),
    ("Agent", "subagent_type"),
    ("Skill", "skill"),
];

/// The tool's canonical name and the arguments.
pub(super) fn parse(
    text: &str,
    tools: &Registry,
    home: &AbsPath,
) -> Result<(String, Map<String, Value>), RpcError> {
    let text = text.trim();
    let end = text.find(['(', '{']).unwrap_or(text.len());
    let (name, rest) = (text[..end].trim(), text[end..].trim());
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(wrong(format!("`{text}` does not begin with the name of a tool")));
    }
    let tool = match tools.get(name) {
        Some(tool) => tool.name().to_owned(),
        None => canonical_tool(name).to_owned(),
    };
    let known = tools.get(&tool);
    if known.is_none() && !tool.starts_with("mcp__") {
        return Err(unknown(name, tools));
    }
    let mut args = if rest.starts_with('{') {
        serde_json::from_str(rest)
            .map_err(|error| wrong(format!("the arguments are not a JSON object: {error}")))?
    } else {
        main_argument(&tool, rest, home)?
    };
    if let Some(known) = known
        && !rest.starts_with('{')
    {
        fill(&mut args, known.schema());
    }
    Ok((tool, args))
}

fn main_argument(tool: &str, rest: &str, home: &AbsPath) -> Result<Map<String, Value>, RpcError> {
    if rest.is_empty() {
        return Ok(Map::new());
    }
    let Some(inner) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return Err(wrong(format!("`{rest}` does not end with `)`")));
    };
    let Some((_, key)) = MAIN.iter().find(|(name, _)| *name == tool) else {
        let text = format!("`{tool}` has no argument that stands for the call");
        return Err(wrong(text));
    };
    let value = match *key {
        "command" if inner.ends_with(":*") => {
            let text = format!("`{inner}` is the pattern of a rule; write a whole command");
            return Err(wrong(text));
        }
        "file_path" | "notebook_path" | "path" => path(inner, home),
        "url" => match inner.strip_prefix("domain:") {
            Some(host) => format!("https://{host}/"),
            None => inner.to_owned(),
        },
        _ => inner.to_owned(),
    };
    Ok(Map::from_iter([((*key).to_owned(), Value::from(value))]))
}

/// A path as rules write it: `~/x` is below the home, `//x` absolute.
fn path(written: &str, home: &AbsPath) -> String {
    match (written.strip_prefix("~/"), written.strip_prefix("//")) {
        (Some(below), _) => home.join(below).to_text(),
        (_, Some(below)) => format!("/{below}"),
        _ => written.to_owned(),
    }
}

/// Gives the other arguments that the tool wants a value that says nothing: what is judged
/// is the one that was written.
fn fill(args: &mut Map<String, Value>, schema: &Value) {
    let required = schema["required"].as_array().into_iter().flatten();
    for key in required.filter_map(Value::as_str) {
        let empty = match schema["properties"][key]["type"].as_str() {
            Some("string") => Value::from(""),
            Some("boolean") => Value::from(false),
            Some("integer" | "number") => Value::from(0),
            Some("array") => Value::Array(Vec::new()),
            Some("object") => Value::Object(Map::new()),
            _ => continue,
        };
        args.entry(key).or_insert(empty);
    }
}

/// A tool of a server is judged by its name; the server is not asked what it claims.
pub(super) fn mcp_access(tool: &str) -> Vec<Access> {
    let server = tool.strip_prefix("mcp__").and_then(|rest| rest.split("__").next());
    let server = server.unwrap_or_default().to_owned();
    vec![Access::Mcp { server, read_only_hint: false }]
}

fn wrong(text: String) -> RpcError {
    RpcError::new(ErrorKind::Usage, text).hint(
        "write it as a rule, such as `Bash(git status)`, `Edit(src/a.rs)` or `mcp__server__tool`, or as `Tool {\"key\": \"value\"}`",
    )
}

fn unknown(name: &str, tools: &Registry) -> RpcError {
    let known: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    RpcError::new(ErrorKind::Usage, format!("there is no tool `{name}`"))
        .hint(format!("the tools are {}, and `mcp__server__tool`", known.join(", ")))
}
