//! LS: a folder as a tree, folders first, level by level until the cap. Reads names and
//! sizes only, follows no link, and opens no folder that it does not list.

mod tree;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use crate::{args::absolute, files::blocking, hands::Hands, ls::tree::Tree, search::Search};

/// Lists folders.
#[derive(Debug)]
pub(crate) struct Ls(pub(crate) Hands);

/// Arguments of LS.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The folder to list (default: the working folder).
    #[serde(default)]
    path: Option<String>,
    /// Globs of what to leave out.
    #[serde(default, deserialize_with = "globs")]
    #[schemars(with = "Vec<String>")]
    ignore: Vec<String>,
}

/// A list of globs, or one alone, as models send it.
fn globs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }
    match OneOrMore::deserialize(from) {
        // A list that was quoted once too often.
        Ok(OneOrMore::One(text)) if text.trim_start().starts_with('[') => {
            serde_json::from_str(&text).map_err(de::Error::custom)
        }
        Ok(OneOrMore::One(text)) => Ok(vec![text]),
        Ok(OneOrMore::More(list)) => Ok(list),
        Err(_) => Err(de::Error::custom("ignore: expected a list of globs")),
    }
}

impl Ls {
    fn folder(&self, args: &Args, cwd: &AbsPath) -> AbsPath {
        let home = self.0.home.as_ref();
        args.path.as_deref().map_or_else(|| cwd.clone(), |path| absolute(path, cwd, home))
    }
}

impl Tool for Ls {
    const NAME: &'static str = "LS";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("ls.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        vec![Access::Search { root: self.folder(args, cwd) }]
    }

    fn title(&self, args: &Args) -> String {
        format!("LS {}", args.path.as_deref().unwrap_or("."))
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let folder = self.folder(&args, &cx.cwd);
        let (hands, inner) = (self.0.clone(), cx.clone());
        blocking(&cx, move || list(&folder, &args, &hands, &inner)).await
    }
}

fn list(
    folder: &AbsPath,
    args: &Args,
    hands: &Hands,
    cx: &ToolCx,
) -> Result<ToolOutput, ToolError> {
    let search = Search::new(folder, hands, cx)?;
    if !search.root.is_dir() {
        return Err(ToolError::Tell(format!("`{folder}` is not a folder: read it with Read")));
    }
    let tree = Tree::read(&search, &ignored(&args.ignore)?, hands.limits.ls_entries);
    if cx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    Ok(tree.report(&search, folder))
}

/// A glob without a slash is a name in any folder, as in an ignore file.
fn ignored(globs: &[String]) -> Result<GlobSet, ToolError> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let no_glob = |error: globset::Error| {
            ToolError::Tell(format!("ignore: `{glob}` is not a glob: {}", error.kind()))
        };
        let plain = glob.trim_start_matches("./").trim_end_matches('/');
        let text = match plain.strip_suffix("/**").unwrap_or(plain) {
            rooted if rooted.contains('/') => rooted.trim_start_matches('/').to_owned(),
            name => format!("**/{name}"),
        };
        let glob = GlobBuilder::new(&text).literal_separator(true).backslash_escape(true).build();
        set.add(glob.map_err(no_glob)?);
    }
    set.build().map_err(|error| ToolError::Tell(format!("ignore: {}", error.kind())))
}
