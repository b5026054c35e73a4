//! One settings file: read and checked against the types of its keys. A file that is no
//! JSON gives nothing; of one with a value of a wrong type only what forbids is taken.
//! Every complaint names line and column. Whether a value counts is not decided here.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{
    SettingsProblem, Sourced, Tier,
    keys::Keys,
    locate::{self, Step},
    schema, table,
};

/// A settings file and its tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SettingsFile {
    pub(super) tier: Tier,
    pub(super) path: PathBuf,
}

impl SettingsFile {
    pub(super) fn sourced<T>(&self, value: T) -> Sourced<T> {
        Sourced { value, tier: self.tier, file: self.path.clone() }
    }
}

/// What stands in a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Parsed {
    /// Its keys, without those that are null.
    pub(super) keys: Map<String, Value>,
    /// Whether every known key has a value of its type.
    pub(super) is_valid: bool,
    pub(super) problems: Vec<SettingsProblem>,
}

/// Reads a file; none if there is none.
pub(super) fn load(path: &Path) -> Result<Option<Vec<u8>>, SettingsProblem> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => {
            let what = format!("it cannot be read: {error}; nothing in it counts");
            Err(SettingsProblem { file: path.to_path_buf(), line: 0, column: 0, what })
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Parses the content of a file; an empty one holds nothing.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Parsed, SettingsProblem> {
    let bytes = without_mark(bytes);
    if bytes.trim_ascii().is_empty() {
        return Ok(Parsed { is_valid: true, ..Parsed::default() });
    }
    let keys: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|error| SettingsProblem {
            file: path.to_path_buf(),
            line: error.line(),
            column: error.column(),
            what: format!("{}; the whole file is skipped until it is corrected", reason(&error)),
        })?;
    let text = str::from_utf8(bytes).unwrap_or_default();
    let mut check = Check { path, text, is_valid: true, problems: Vec::new() };
    if let Some((twice, (line, column))) = locate::repeated(text) {
        let what = format!("`{}` stands twice; only the last one counts", dotted(&twice));
        check.problems.push(SettingsProblem { file: path.to_path_buf(), line, column, what });
    }
    check.group(&mut Vec::new(), &keys);
    let Check { is_valid, problems, .. } = check;
    Ok(Parsed { keys: without_null(keys, ""), is_valid, problems })
}

/// Null stands for a key that is not there, wherever it is a key.
fn without_null(map: Map<String, Value>, prefix: &str) -> Map<String, Value> {
    let keep = |(name, value): (String, Value)| {
        let path = join(prefix, &name);
        match value {
            Value::Null => None,
            Value::Object(below) if table::is_group(&path) => {
                Some((name, without_null(below, &path).into()))
            }
            value => Some((name, value)),
        }
    };
    map.into_iter().filter_map(keep).collect()
}

/// The name of a key in the object of another.
pub(super) fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

/// A path as people write it: `permissions.deny[2]`.
fn dotted(path: &[Step]) -> String {
    path.iter().fold(String::new(), |text, step| match step {
        Step::Key(name) => join(&text, name),
        Step::At(index) => format!("{text}[{index}]"),
    })
}

struct Check<'a> {
    path: &'a Path,
    text: &'a str,
    is_valid: bool,
    problems: Vec<SettingsProblem>,
}

impl Check<'_> {
    fn group(&mut self, at: &mut Vec<Step>, map: &Map<String, Value>) {
        for (name, value) in map {
            at.push(Step::Key(name.clone()));
            let key = dotted(at);
            match value {
                Value::Null => {}
                Value::Object(below) if table::is_group(&key) => self.group(at, below),
                _ if table::is_group(&key) => self.wrong(at, "an object", value),
                _ if table::find(&key).is_some() => self.value(at, &key, value),
                _ => self.stranger(at, &key),
            }
            at.pop();
        }
    }

    fn value(&mut self, at: &[Step], key: &str, value: &Value) {
        if fits(at, value) {
            return;
        }
        let expected = schema::kind_of(key);
        let mut at = at.to_vec();
        let value = blame(&mut at, value);
        self.wrong(&at, &expected, value);
    }

    fn wrong(&mut self, at: &[Step], expected: &str, value: &Value) {
        self.is_valid = false;
        let key: Vec<_> =
            at.iter().take_while(|step| matches!(step, Step::Key(_))).cloned().collect();
        let what = format!(
            "`{}` takes {expected}, and {} stands here; {ONLY_FORBIDS}",
            dotted(&key),
            shown(value, expected)
        );
        self.complain(at, what);
    }

    fn stranger(&mut self, at: &[Step], key: &str) {
        if let Some(meant) = table::meant(key) {
            self.complain(at, format!("unknown key `{key}`; did you mean `{meant}`?"));
        }
    }

    fn complain(&mut self, at: &[Step], what: String) {
        let (line, column) = locate::place_of(self.text, at).unwrap_or_default();
        self.problems.push(SettingsProblem { file: self.path.to_path_buf(), line, column, what });
    }
}

/// Whether a value is of the type of the key that a path leads to.
fn fits(at: &[Step], value: &Value) -> bool {
    let whole = at.iter().rev().fold(value.clone(), |value, step| match step {
        Step::Key(name) => Value::Object(Map::from_iter([(name.clone(), value)])),
        Step::At(_) => Value::Array(vec![value]),
    });
    serde_json::from_value::<Keys>(whole).is_ok()
}

/// Goes down to the part of a value that is to blame.
fn blame<'a>(at: &mut Vec<Step>, value: &'a Value) -> &'a Value {
    let parts: Vec<(Step, &Value)> = match value {
        // Where not even an empty one fits, it is the whole that is wrong.
        Value::Array(_) if !fits(at, &Value::Array(Vec::new())) => return value,
        Value::Object(_) if !fits(at, &Value::Object(Map::new())) => return value,
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (Step::At(index), item)).collect()
        }
        Value::Object(map) => {
            map.iter().map(|(name, item)| (Step::Key(name.clone()), item)).collect()
        }
        _ => return value,
    };
    for (step, part) in parts {
        at.push(step);
        if !fits(at, part) {
            return blame(at, part);
        }
        at.pop();
    }
    value
}

/// A value in words. What stands in a wrong place may be a secret: of texts only words in
/// the place of other words are repeated.
fn shown(value: &Value, expected: &str) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::String(word) if expected.contains('`') && word.len() <= WORD_CAP => {
            format!("`{word}`")
        }
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// What a value of a wrong type costs.
pub(super) const ONLY_FORBIDS: &str = "until it is corrected only what forbids counts of this file";

/// Longest word that is repeated.
const WORD_CAP: usize = 30;

/// Without the byte order mark that some editors write.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// What the parser says, without the place that is told apart.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}
