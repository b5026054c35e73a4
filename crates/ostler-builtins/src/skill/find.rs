//! Where skills lie, and what a `SKILL.md` says. A link in a project leads nowhere
//! outside of it: the project may come from anyone.

use std::{fs, io::Read as _, path::Path};

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::ToolError;

use crate::{
    disk::{Parents, Place},
    files::ask,
    hands::Hands,
};

/// Folders with skills, below the project and the home folder; the first one wins
/// (ipc.md 5.5).
const FOLDERS: [&str; 3] = [".ostler/skills", ".agents/skills", ".claude/skills"];
/// Bytes of a `SKILL.md` that are read.
const FILE: u64 = 1 << 20;
/// Files beside it that are listed, and how deep.
const BESIDE: usize = 50;
const DEPTH: usize = 3;

/// A skill.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) folder: AbsPath,
    pub(super) file: AbsPath,
    /// The instructions, without what stands before them.
    pub(super) body: String,
    /// Whether the model may not start it by itself.
    pub(super) persons_only: bool,
    /// Files beside it, relative.
    pub(super) files: Vec<String>,
}

/// Folders that may hold skills, and whether they are the project's.
fn folders(project: &AbsPath, hands: &Hands) -> Vec<(AbsPath, bool)> {
    let below = |base: &AbsPath, own: bool| FOLDERS.map(|folder| (base.join(folder), own));
    let home = hands.home.iter().flat_map(|home| below(home, false));
    below(project, true).into_iter().chain(home).collect()
}

/// The skill of this name.
pub(super) fn find(
    name: &str,
    project: &AbsPath,
    hands: &Hands,
) -> Result<Option<Found>, ToolError> {
    if !is_name(name) {
        return Ok(None);
    }
    for (folder, of_project) in folders(project, hands) {
        let folder = folder.join(name);
        let file = folder.join("SKILL.md");
        let Some(text) = read(&file, of_project.then_some(project), hands)? else { continue };
        let (front, body) = split(&text);
        let persons_only = value(front, "disable-model-invocation") == Some("true");
        let mut files = Vec::new();
        list(folder.as_path(), folder.as_path(), DEPTH, &mut files);
        return Ok(Some(Found { folder, file, body: body.to_owned(), persons_only, files }));
    }
    Ok(None)
}

/// The names of all skills, sorted.
pub(super) fn known(project: &AbsPath, hands: &Hands) -> Vec<String> {
    let mut names: Vec<String> = folders(project, hands)
        .iter()
        .filter_map(|(folder, _)| fs::read_dir(folder).ok())
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("SKILL.md").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| is_name(name))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_alphanumeric())
        && name.chars().count() <= 64
        && name.chars().all(plain)
}

/// The text of a file that is there.
fn read(
    file: &AbsPath,
    project: Option<&AbsPath>,
    hands: &Hands,
) -> Result<Option<String>, ToolError> {
    let Ok(real) = Place::resolve(file) else { return Ok(None) };
    if !real.as_path().exists() {
        return Ok(None);
    }
    if let Some(project) = project {
        let inside = Place::resolve(project).is_ok_and(|project| real.is_within(&project));
        if !inside {
            return Err(ToolError::Tell(format!(
                "skill file `{file}` leads out of the project, to `{real}`: it was not read"
            )));
        }
        ask(hands, &Access::Read { path: real.clone() })?;
    }
    let cannot = |error| ToolError::Tell(format!("cannot read skill file `{file}`: {error}"));
    let open = Place::open_folder(real, Parents::Required).and_then(|place| place.open());
    let open = open.map_err(cannot)?;
    if !open.metadata().map_err(cannot)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    open.take(FILE).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The front matter and the rest.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches('\u{feff}');
    let Some(front) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return ("", text);
    };
    let mut at = 0;
    for line in front.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (&front[..at], &front[at + line.len()..]);
        }
        at += line.len();
    }
    ("", text)
}

/// The value of a key at the start of a line.
fn value<'a>(front: &'a str, key: &str) -> Option<&'a str> {
    front
        .lines()
        .find_map(|line| Some(line.strip_prefix(key)?.trim_start().strip_prefix(':')?.trim()))
}

/// Files below a folder, links not followed.
fn list(base: &Path, folder: &Path, depth: usize, files: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && depth > 1 {
            list(base, &path, depth - 1, files);
        } else if kind.is_file()
            && files.len() < BESIDE
            && let Ok(name) = path.strip_prefix(base)
            && name != Path::new("SKILL.md")
        {
            files.push(name.to_string_lossy().into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_told_from_the_instructions() {
        let (front, body) =
            split("---\nname: x\ndisable-model-invocation : true\n---\nDo it.\n---\n");
        assert_eq!(value(front, "disable-model-invocation"), Some("true"));
        assert_eq!(value(front, "name"), Some("x"));
        assert_eq!(body, "Do it.\n---\n");
        assert_eq!(split("---\nnever closed"), ("", "---\nnever closed"));
        assert_eq!(split("Do it."), ("", "Do it."));
    }

    #[test]
    fn a_name_is_no_path() {
        assert!(is_name("pdf") && is_name("a-b_c.d2"));
        for bad in ["", ".", "..", "../x", "a/b", "-x", ".git", "a b"] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
