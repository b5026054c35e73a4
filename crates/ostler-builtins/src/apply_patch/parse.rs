//! The text of a patch as operations. Looks at no file.

/// What to do with one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    Add { path: String, content: String },
    Delete { path: String },
    Update { path: String, move_to: Option<String>, hunks: Vec<Hunk> },
}

/// One place of a file and its new lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// A line above the place.
    pub(crate) header: Option<String>,
    pub(crate) old: Vec<String>,
    pub(crate) new: Vec<String>,
    pub(crate) ends_file: bool,
}

/// The operations of a patch; the error is for the model and names the line.
pub(crate) fn parse(patch: &str) -> Result<Vec<Operation>, String> {
    let patch = crate::text::unify(patch.trim());
    let mut lines = patch.split('\n').enumerate().peekable();
    if lines.next().map(|(_, line)| line.trim()) != Some("*** Begin Patch") {
        return Err("it does not start with `*** Begin Patch`".to_owned());
    }
    let mut operations = Vec::new();
    while let Some((at, line)) = lines.next() {
        let here = |what: &str| format!("line {} of the patch: {what}", at + 1);
        let is_body =
            |line: &str| !line.starts_with("*** ") || line.trim_end() == "*** End of File";
        if line.trim_end() == "*** End Patch" {
            return match (operations.is_empty(), lines.next()) {
                (true, _) => Err("it changes no file".to_owned()),
                (_, Some((at, _))) => {
                    Err(format!("line {} of the patch: more text after `*** End Patch`", at + 1))
                }
                _ => Ok(operations),
            };
        }
        let named = |prefix: &str| line.strip_prefix(prefix).map(|path| path.trim().to_owned());
        if let Some(path) = named("*** Add File: ") {
            let mut content = String::new();
            while let Some((at, line)) = lines.next_if(|(_, line)| is_body(line)) {
                let text = line.strip_prefix('+').ok_or_else(|| {
                    format!("line {} of the patch: lines of a new file start with `+`", at + 1)
                })?;
                content.push_str(text);
                content.push('\n');
            }
            operations.push(Operation::Add { path, content });
        } else if let Some(path) = named("*** Delete File: ") {
            operations.push(Operation::Delete { path });
        } else if let Some(path) = named("*** Update File: ") {
            let move_to = lines
                .next_if(|(_, line)| line.starts_with("*** Move to: "))
                .map(|(_, line)| line["*** Move to: ".len()..].trim().to_owned());
            let mut body = Vec::new();
            while let Some((at, line)) = lines.next_if(|(_, line)| is_body(line)) {
                body.push((at + 1, line));
            }
            let hunks = hunks(&body)?;
            if hunks.is_empty() && move_to.is_none() {
                return Err(here("the file is neither changed nor moved"));
            }
            operations.push(Operation::Update { path, move_to, hunks });
        } else {
            return Err(here(
                "expected `*** Add File: `, `*** Update File: `, `*** Delete File: ` or `*** End Patch`",
            ));
        }
    }
    Err("it does not end with `*** End Patch`".to_owned())
}

fn hunks(body: &[(usize, &str)]) -> Result<Vec<Hunk>, String> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut open = false;
    for &(number, line) in body {
        if let Some(header) = line.strip_prefix("@@") {
            let header = header.trim().trim_end_matches("@@").trim_end();
            let header = (!header.is_empty()).then(|| header.to_owned());
            hunks.push(Hunk { header, ..Hunk::default() });
            open = true;
            continue;
        }
        if !open {
            hunks.push(Hunk::default());
            open = true;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        if line.trim_end() == "*** End of File" {
            hunk.ends_file = true;
            open = false;
            continue;
        }
        let (old, new) = (&mut hunk.old, &mut hunk.new);
        match line.chars().next() {
            // Editors strip the blank of an empty context line.
            None => {
                old.push(String::new());
                new.push(String::new());
            }
            Some(' ') => {
                old.push(line[1..].to_owned());
                new.push(line[1..].to_owned());
            }
            Some('-') => old.push(line[1..].to_owned()),
            Some('+') => new.push(line[1..].to_owned()),
            Some(_) => {
                return Err(format!(
                    "line {number} of the patch: lines of a hunk start with a blank, `-` or `+`"
                ));
            }
        }
    }
    match hunks.iter().position(|hunk| hunk.old == hunk.new) {
        Some(at) => Err(format!("hunk {} changes nothing", at + 1)),
        None => Ok(hunks),
    }
}
