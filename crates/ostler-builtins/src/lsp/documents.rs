//! The documents that a server holds open, kept as they are on the disk: before each
//! request what changed since is told by hash of the content. Reads through the gate, and
//! never more than the cap.

use std::{collections::HashMap, io::Read as _, time::SystemTime};

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::ToolError;
use serde_json::json;

use crate::{
    disk::{Parents, Place},
    files::{ask, cannot},
    hands::Hands,
    lsp::client::{Client, Failure},
    text::{ContentHash, decode},
};

/// Bytes of a document that is given to a server.
const DOCUMENT: u64 = 4 << 20;
/// Documents that are open at once; the one not asked about for longest is closed.
const OPEN: usize = 32;

/// What a server holds open.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: HashMap<AbsPath, Document>,
    calls: u64,
}

#[derive(Debug)]
struct Document {
    uri: String,
    version: i64,
    hash: u64,
    stamp: Option<Stamp>,
    used: u64,
}

type Stamp = (u64, SystemTime);

/// A file as a server sees it.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Its path, links resolved.
    pub(crate) real: AbsPath,
    pub(crate) text: String,
    hash: u64,
    stamp: Option<Stamp>,
}

impl Source {
    /// Reads a file. Blocks.
    pub(crate) fn read(path: &AbsPath, hands: &Hands) -> Result<Self, ToolError> {
        let tell = |error: std::io::Error| cannot("read", path, &error);
        let real = Place::resolve(path).map_err(tell)?;
        ask(hands, &Access::Read { path: real.clone() })?;
        let place = Place::open_folder(real.clone(), Parents::Required).map_err(tell)?;
        let file = place.open().map_err(tell)?;
        let meta = file.metadata().map_err(tell)?;
        if !meta.is_file() {
            return Err(ToolError::Tell(format!("`{path}` is not a file: name a source file")));
        }
        let mut bytes = Vec::new();
        file.take(DOCUMENT + 1).read_to_end(&mut bytes).map_err(tell)?;
        if bytes.len() as u64 > DOCUMENT {
            let text = format!("file `{path}` is larger than {} MB: use Grep", DOCUMENT >> 20);
            return Err(ToolError::Tell(text));
        }
        let hash = ContentHash::of(&bytes);
        let text = decode(&bytes)
            .map_err(|error| ToolError::Tell(format!("file `{path}` {error}: use Grep")))?;
        let stamp = meta.modified().ok().map(|time| (meta.len(), time));
        Ok(Self { real, text: text.into_shown(), hash, stamp })
    }
}

/// What is to be told about a document that is open.
#[derive(Debug)]
enum News {
    Changed(Source),
    Gone,
}

impl Documents {
    /// Tells the server what changed of what it holds open, and opens `target`. Gives
    /// whether the server has anything new to read.
    pub(crate) async fn sync(
        &mut self,
        client: &Client,
        target: Option<(&Source, &'static str)>,
        hands: &Hands,
    ) -> Result<bool, Failure> {
        self.calls += 1;
        let mut changed = false;
        for (path, news) in self.news(target.map(|(source, _)| &source.real), hands).await {
            changed = true;
            match news {
                News::Gone => self.close(client, &path).await?,
                News::Changed(source) => self.change(client, &source).await?,
            }
        }
        let Some((source, id)) = target else { return Ok(changed) };
        match self.open.get_mut(&source.real) {
            Some(document) => {
                document.used = self.calls;
                if document.hash != source.hash {
                    self.change(client, source).await?;
                    changed = true;
                }
            }
            None => {
                self.open(client, source, id).await?;
                changed = true;
            }
        }
        Ok(changed)
    }

    /// What changed of the documents that are open, `but` one.
    async fn news(&self, but: Option<&AbsPath>, hands: &Hands) -> Vec<(AbsPath, News)> {
        let known: Vec<_> = self
            .open
            .iter()
            .filter(|(path, _)| Some(*path) != but)
            .map(|(path, document)| (path.clone(), document.hash, document.stamp))
            .collect();
        if known.is_empty() {
            return Vec::new();
        }
        let hands = hands.clone();
        let look = move || {
            let mut all = Vec::new();
            for (path, hash, stamp) in known {
                let meta = path.metadata().ok();
                let now = meta.and_then(|meta| Some((meta.len(), meta.modified().ok()?)));
                if now.is_some() && now == stamp {
                    continue;
                }
                match Source::read(&path, &hands) {
                    Ok(source) if source.hash == hash => {}
                    Ok(source) => all.push((path, News::Changed(source))),
                    Err(_) => all.push((path, News::Gone)),
                }
            }
            all
        };
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    async fn open(&mut self, client: &Client, source: &Source, id: &str) -> Result<(), Failure> {
        if self.open.len() >= OPEN
            && let Some(oldest) = self.open.iter().min_by_key(|(_, document)| document.used)
        {
            let oldest = oldest.0.clone();
            self.close(client, &oldest).await?;
        }
        let uri = super::uri(&source.real);
        client.listen(&source.real);
        let item = json!({"uri": uri, "languageId": id, "version": 1, "text": source.text});
        client.tell("textDocument/didOpen", json!({"textDocument": item})).await?;
        let document =
            Document { uri, version: 1, hash: source.hash, stamp: source.stamp, used: self.calls };
        self.open.insert(source.real.clone(), document);
        Ok(())
    }

    /// The change is on the disk already, so it is told as a save too.
    async fn change(&mut self, client: &Client, source: &Source) -> Result<(), Failure> {
        let Some(document) = self.open.get_mut(&source.real) else { return Ok(()) };
        document.version += 1;
        document.hash = source.hash;
        document.stamp = source.stamp;
        let uri = document.uri.clone();
        client.listen(&source.real);
        let named = json!({"uri": uri, "version": document.version});
        let whole = json!({"textDocument": named, "contentChanges": [{"text": source.text}]});
        client.tell("textDocument/didChange", whole).await?;
        let files = json!({"changes": [{"uri": uri, "type": 2}]});
        client.tell("workspace/didChangeWatchedFiles", files).await?;
        client.tell("textDocument/didSave", json!({"textDocument": {"uri": uri}})).await
    }

    async fn close(&mut self, client: &Client, path: &AbsPath) -> Result<(), Failure> {
        let Some(document) = self.open.remove(path) else { return Ok(()) };
        client.forget(path);
        let named = json!({"textDocument": {"uri": document.uri}});
        client.tell("textDocument/didClose", named).await
    }
}
