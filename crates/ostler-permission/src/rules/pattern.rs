//! What stands in a rule's parentheses, and when it matches.
//!
//! An allow rule must match exactly what was meant, a deny rule whatever could be meant;
//! so the two ask through different functions. Never reads the disk: bases and real paths
//! come from the facts.

use ostler_stdx::AbsPath;

use super::Rule;
use crate::{
    facts::Facts,
    glob,
    shell::{Form, Word},
};

/// A parsed pattern.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    /// The whole tool.
    Any,
    /// A shell command.
    Command(CommandPattern),
    /// A file or folder.
    Path(PathPattern),
    /// A host and its subdomains, lower case.
    Host(String),
    /// Exactly this argument.
    Text(String),
    /// Arguments that start so.
    Prefix(String),
}

/// The pattern of a `Bash` rule.
#[derive(Debug, Clone)]
pub(crate) enum CommandPattern {
    /// The whole command.
    Exact(String),
    /// The first words.
    Prefix(String),
    /// `*` stands for any text.
    Glob(String),
}

impl CommandPattern {
    /// Nothing means any command.
    pub(super) fn parse(content: &str) -> Option<Self> {
        let content = content.trim();
        let prefix = content.strip_suffix(":*").or_else(|| content.strip_suffix(" *"));
        match prefix.map(str::trim_end) {
            Some("" | "*") => return None,
            Some(prefix) if !prefix.contains('*') => return Some(Self::Prefix(prefix.to_owned())),
            _ => {}
        }
        let glob = content.strip_suffix(":*").map(|head| format!("{head}*"));
        let content = glob.as_deref().unwrap_or(content);
        Some(if content.contains('*') {
            Self::Glob(content.to_owned())
        } else {
            Self::Exact(content.to_owned())
        })
    }

    /// Whether the pattern matches a whole script as written.
    pub(crate) fn matches_text(&self, script: &str) -> bool {
        let script = script.trim();
        match self {
            Self::Exact(text) => text == script,
            Self::Prefix(prefix) => starts_at_boundary(script, prefix),
            Self::Glob(pattern) => glob_text(pattern, script),
        }
    }

    /// For allow rules: every word that the pattern speaks of must be fixed text, spelled so
    /// in the script.
    pub(crate) fn allows(&self, form: &Form<'_>) -> bool {
        let fixed = form.words.iter().take_while(|word| word.text.is_some()).count();
        match self {
            Self::Exact(text) => {
                fixed == form.words.len() && (*text == form.raw() || same_words(text, form.words))
            }
            Self::Prefix(prefix) => {
                let tokens: Vec<&str> = prefix.split_whitespace().collect();
                tokens.len() <= fixed && tokens.iter().zip(form.words).all(|(t, w)| w.is(t))
                    || fixed == form.words.len() && starts_at_boundary(&form.raw(), prefix)
            }
            Self::Glob(pattern) => {
                // Only what a single last `*` swallows may be unknown.
                let head = pattern.strip_suffix('*').filter(|head| !head.contains('*'));
                let known = match head {
                    Some(head) => head.split_whitespace().count() <= fixed,
                    None => fixed == form.words.len(),
                };
                known && (glob_text(pattern, &form.raw()) || glob_text(pattern, &form.text()))
            }
        }
    }

    /// For deny and ask rules: any reading of the words that matches counts.
    pub(crate) fn catches(&self, form: &Form<'_>) -> bool {
        let Some(first) = form.words.first() else { return false };
        let raw = form.raw();
        let text = form.text();
        let base = base_name(first.text.as_deref().unwrap_or(&first.raw));
        let rest = text.split_once(' ').map_or("", |(_, rest)| rest);
        let bare = if rest.is_empty() { base.to_owned() } else { format!("{base} {rest}") };
        [raw, text, bare].iter().any(|line| match self {
            Self::Exact(pattern) => pattern == line,
            Self::Prefix(prefix) => starts_at_boundary(line, prefix),
            Self::Glob(pattern) => glob_text(pattern, line),
        })
    }
}

impl CommandPattern {
    /// For deny and ask rules: whether words that are not known could make it match.
    pub(crate) fn could_catch(&self, form: &Form<'_>) -> bool {
        let (Self::Exact(text) | Self::Prefix(text) | Self::Glob(text)) = self;
        let fixed: Vec<&str> = text.split('*').next().unwrap_or("").split_whitespace().collect();
        for (at, word) in form.words.iter().enumerate() {
            let Some(token) = fixed.get(at) else { return false };
            match word.text.as_deref() {
                None => return true,
                Some(text) if at == 0 && base_name(text) == *token => {}
                Some(text) if text == *token => {}
                Some(_) => return false,
            }
        }
        false
    }
}

/// The last component of a program's path.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn same_words(text: &str, words: &[Word]) -> bool {
    let tokens: Vec<&str> = text.split(' ').collect();
    tokens.len() == words.len() && tokens.iter().zip(words).all(|(token, word)| word.is(token))
}

fn starts_at_boundary(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// `*` is any text; nothing else is special. A last ` *` also matches no argument at all.
fn glob_text(pattern: &str, text: &str) -> bool {
    let escaped: String = pattern
        .chars()
        .flat_map(|c| {
            let special = matches!(c, '?' | '[' | '\\');
            special.then_some('\\').into_iter().chain(std::iter::once(c))
        })
        .collect();
    glob::matches(&escaped, text)
        || escaped.strip_suffix(" *").is_some_and(|head| glob::matches(head, text))
}

/// The folder that a path pattern starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Root,
    Home,
    Settings,
    Project,
}

/// A gitignore-like pattern of paths.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    base: Base,
    /// How many folders above the base it starts (`../x`).
    up: usize,
    parts: Vec<String>,
}

impl PathPattern {
    pub(super) fn parse(content: &str) -> Result<Self, &'static str> {
        let content = content.trim();
        if content.starts_with('!') {
            return Err("a pattern cannot be negated; put the path into another list");
        }
        let (base, rest) = if let Some(rest) = content.strip_prefix("//") {
            (Base::Root, rest)
        } else if content == "~" {
            (Base::Home, "")
        } else if let Some(rest) = content.strip_prefix("~/") {
            (Base::Home, rest)
        } else if let Some(rest) = content.strip_prefix('/') {
            (Base::Settings, rest)
        } else {
            (Base::Project, content)
        };
        // As in gitignore: without a slash but at the end it matches at any depth.
        let floating = base == Base::Project && !rest.trim_end_matches('/').contains('/');
        let mut up = 0;
        let mut parts: Vec<String> = Vec::new();
        for part in rest.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.is_empty() => up += 1,
                ".." => {
                    parts.pop();
                }
                "**" if parts.last().is_some_and(|last| last == "**") => {}
                part => parts.push(part.to_owned()),
            }
        }
        if floating && !parts.is_empty() && rest != ".." {
            parts.insert(0, "**".into());
        }
        Ok(Self { base, up, parts })
    }

    /// The folders that the pattern may start from: as spelled and as resolved.
    fn bases(&self, rule: &Rule, facts: &Facts) -> Vec<AbsPath> {
        let base = match self.base {
            Base::Root => AbsPath::root(),
            Base::Home => facts.home.clone(),
            Base::Settings => rule.root.clone().unwrap_or_else(|| facts.project.clone()),
            Base::Project => facts.project.clone(),
        };
        let mut bases = vec![base.clone()];
        bases.extend(facts.real(&base).filter(|real| **real != base).cloned());
        for base in &mut bases {
            for _ in 0..self.up {
                *base = base.parent().unwrap_or_else(AbsPath::root);
            }
        }
        bases
    }

    /// For allow rules: the path itself, or what lies below a folder that is named in full.
    pub(crate) fn allows(&self, rule: &Rule, facts: &Facts, real: &AbsPath) -> bool {
        let whole_folders = !self.parts.last().is_some_and(|last| glob::is_wild(last));
        self.matches(rule, facts, real, whole_folders)
    }

    /// For deny and ask rules: the path, or whatever lies below a path that matches. Case is
    /// no difference, since for some file systems it is none.
    pub(crate) fn catches(&self, rule: &Rule, facts: &Facts, path: &AbsPath) -> bool {
        self.matches(rule, facts, path, true) || self.catches_in_any_case(rule, facts, path)
    }

    fn catches_in_any_case(&self, rule: &Rule, facts: &Facts, path: &AbsPath) -> bool {
        let lower = |text: &str| text.to_lowercase();
        let parts: Vec<String> = self.parts.iter().map(|part| lower(part)).collect();
        let path = lower(&path.to_text());
        self.bases(rule, facts).iter().any(|base| {
            let base = lower(&base.to_text());
            let Some(rest) = path.strip_prefix(base.trim_end_matches('/')) else { return false };
            if !rest.is_empty() && !rest.starts_with('/') {
                return false;
            }
            let components: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
            (0..=components.len()).any(|end| glob::matches_path(&parts, &components[..end]))
        })
    }

    fn matches(&self, rule: &Rule, facts: &Facts, path: &AbsPath, folders: bool) -> bool {
        self.bases(rule, facts).iter().any(|base| {
            let Ok(rest) = path.as_path().strip_prefix(base.as_path()) else { return false };
            let rest = rest.to_string_lossy();
            let components: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
            if glob::matches_path(&self.parts, &components) {
                return true;
            }
            folders
                && (0..components.len())
                    .any(|end| glob::matches_path(&self.parts, &components[..end]))
        })
    }

    /// Whether something below `root` could match. `last` is the pattern of the last
    /// component of what is touched there, if it is known.
    pub(crate) fn could_lie_below(
        &self,
        rule: &Rule,
        facts: &Facts,
        root: &AbsPath,
        last: Option<&str>,
    ) -> bool {
        let fixed = self.parts.iter().take_while(|part| !glob::is_wild(part)).count();
        let name = self.parts.last().filter(|name| !glob::is_wild(name));
        if let (Some(last), Some(name)) = (last, name) {
            // A wildcard does not match a leading dot.
            let hidden = name.starts_with('.') && !last.starts_with('.');
            // The name may also be that of a folder on the way, which a glob that stays
            // in one folder does not enter.
            if hidden || !glob::matches(last, name) {
                return false;
            }
        }
        self.bases(rule, facts).iter().any(|base| {
            let start = self.parts[..fixed].iter().fold(base.clone(), |at, part| at.join(part));
            start.is_within(root) || (root.is_within(&start) && fixed < self.parts.len())
        })
    }

    /// The pattern as an absolute glob, for tools that can skip what it names.
    pub(crate) fn absolute(&self, rule: &Rule, facts: &Facts) -> Vec<String> {
        let join = |base: AbsPath| {
            let mut out = base.to_text().trim_end_matches('/').to_owned();
            for part in &self.parts {
                out.push('/');
                out.push_str(part);
            }
            out
        };
        self.bases(rule, facts).into_iter().map(join).collect()
    }
}

/// Whether a host is the named one or one below it, compared by labels.
pub(crate) fn host_matches(pattern: &str, host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let (pattern, exact) = match pattern.strip_prefix("*.") {
        Some(rest) => (rest, false),
        None => (pattern, true),
    };
    (exact && host == pattern)
        || host.strip_suffix(pattern).is_some_and(|head| head.ends_with('.') && head.len() > 1)
}
