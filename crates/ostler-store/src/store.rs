//! Where sessions lie, and how one is begun, resumed, read and found. `Store::new` touches
//! no disk; everything else does only what its name says.

use std::{
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use ostler_stdx::{AbsPath, Clock};

use crate::{
    error::{Error, Result},
    index::Index,
    journal::{self, Journal},
    lock::{self, WriterLock},
    log::SessionLog,
    replay::{self, Peek, Replay},
    slug::{self, slug},
};

/// The folders that hold everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// `$OSTLER_HOME`.
    pub home: AbsPath,
    /// `$CLAUDE_CONFIG_DIR`, or `~/.claude`.
    pub claude: AbsPath,
}

/// Which of the two folders a session lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Root {
    /// `$OSTLER_HOME/projects`.
    Native,
    /// `$CLAUDE_CONFIG_DIR/projects`, where the Agent SDKs look.
    Claude,
}

impl Root {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Native, Self::Claude];

    /// `native` or `claude`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Claude => "claude",
        }
    }
}

/// What stands on every entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The session's id, a version-4 UUID.
    pub session_id: String,
    /// The working folder.
    pub cwd: AbsPath,
    /// The compatibility version.
    pub version: String,
    /// The git branch; empty if there is none.
    pub git_branch: String,
    /// The door, as the transcripts call it: `cli`, `sdk-ts`, ...
    pub entrypoint: String,
}

/// Where a session lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Its id.
    pub id: String,
    /// Its log.
    pub path: PathBuf,
    /// In which root.
    pub root: Root,
    /// The folder of its project.
    pub project_dir: PathBuf,
}

/// The sessions of a home.
#[derive(Debug, Clone)]
pub struct Store {
    roots: Roots,
    clock: Arc<dyn Clock>,
    index: Arc<Index>,
}

impl Store {
    /// A store over two roots; touches no disk.
    #[must_use]
    pub fn new(roots: Roots, clock: Arc<dyn Clock>) -> Self {
        let index = Arc::new(Index::at(roots.home.join("index.sqlite").to_path_buf()));
        Self { roots, clock, index }
    }

    /// The two roots.
    #[must_use]
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Begins a session and takes its lock; its file appears with the first entry.
    ///
    /// # Errors
    /// `Invalid` for an id that cannot be a file name or is taken, `Busy` if another
    /// process begins it, `Storage` if the disk refuses.
    pub fn create(&self, root: Root, header: Header) -> Result<SessionLog> {
        self.check_id(&header.session_id)?;
        let lock = self.lock(&header.session_id, root)?;
        // The realpath names the folder (agent-sdk.md 4.1); a folder that is gone names itself.
        let real = fs::canonicalize(&header.cwd);
        let dir = self.projects(root).join(slug(real.as_deref().unwrap_or(&header.cwd)));
        let path = file_of(&dir, &header.session_id);
        if exists(&path) {
            let id = &header.session_id;
            let what = format!("session `{id}` exists already; resume it or choose another id");
            return Err(Error::Invalid { what, path });
        }
        let journal = self.journal(&header.session_id);
        Ok(SessionLog::fresh(path, header, Arc::clone(&self.clock), journal, lock))
    }

    /// Begins a session of which nothing is kept: no file, no lock, no journal.
    ///
    /// # Errors
    /// `Invalid` for an id that cannot name a session.
    pub fn create_unsaved(&self, header: Header) -> Result<SessionLog> {
        self.check_id(&header.session_id)?;
        let journal = self.journal(&header.session_id);
        let path = file_of(&self.projects(Root::Native), &header.session_id);
        Ok(SessionLog::fresh(path, header, Arc::clone(&self.clock), journal, None).unsaved())
    }

    /// Takes a session's lock and reads what the next request needs; appends go on in the
    /// file where it lies. The id is the header's.
    ///
    /// # Errors
    /// `NotFound`, `Busy` with the owner's pid, `Storage`.
    pub fn resume(&self, header: Header) -> Result<(SessionLog, Replay)> {
        let located = self.locate(&header.session_id)?;
        let lock = self.lock(&header.session_id, located.root)?;
        let mut replay = self.replay(&located, replay::read_window)?;
        if replay.torn {
            replay.repairs.push(
                "the last line was not finished; it is set aside as a line of its own".to_owned(),
            );
        }
        let journal = self.journal(&header.session_id);
        let clock = Arc::clone(&self.clock);
        let log = SessionLog::fresh(located.path, header, clock, journal, lock).go_on(&replay);
        Ok((log, replay))
    }

    /// Reads what the next request would need; takes no lock.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub fn read(&self, id: &str) -> Result<Replay> {
        self.replay(&self.locate(id)?, replay::read_window)
    }

    /// Reads the whole transcript, what summaries stand for included; takes no lock.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub fn read_all(&self, id: &str) -> Result<Replay> {
        self.replay(&self.locate(id)?, replay::read_whole)
    }

    /// Where a session lies, if its file is in one of the roots and not empty.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Located> {
        if !is_session_id(id) {
            return None;
        }
        Root::ALL.into_iter().find_map(|root| {
            let folders = fs::read_dir(self.projects(root)).ok()?;
            folders.flatten().map(|folder| folder.path()).find_map(|project_dir| {
                let path = file_of(&project_dir, id);
                exists(&path).then(|| Located { id: id.to_owned(), path, root, project_dir })
            })
        })
    }

    /// The session of a project that changed last, for `--continue`.
    #[must_use]
    pub fn newest_in(&self, project: &AbsPath, root: Root) -> Option<Located> {
        let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
        let mut files: Vec<(SystemTime, Located)> = self
            .project_dirs(root, &real)
            .into_iter()
            .flat_map(|dir| sessions_in(root, dir))
            .collect();
        files.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
        let is_here = |path: &Path| path == real || path == project.as_path();
        files.into_iter().map(|(_, located)| located).find(|located| {
            let peek = peek(&located.path);
            // The folder's name is not unique: the path in the records decides.
            !peek.is_sidechain && peek.cwd.is_none_or(|cwd| is_here(Path::new(&cwd)))
        })
    }

    /// The process that writes to a session, if one does.
    #[must_use]
    pub fn lock_owner(&self, id: &str) -> Option<u32> {
        if is_session_id(id) { lock::owner(&self.locks(), id) } else { None }
    }

    /// The folder of project folders of a root.
    #[must_use]
    pub fn projects(&self, root: Root) -> PathBuf {
        match root {
            Root::Native => self.roots.home.join("projects").to_path_buf(),
            Root::Claude => self.roots.claude.join("projects").to_path_buf(),
        }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    fn check_id(&self, id: &str) -> Result<()> {
        if is_session_id(id) {
            return Ok(());
        }
        let what = format!("`{id}` cannot name a session; use a UUID");
        Err(Error::Invalid { what, path: self.roots.home.to_path_buf() })
    }

    pub(crate) fn locate(&self, id: &str) -> Result<Located> {
        self.check_id(id)?;
        self.find(id).ok_or_else(|| Error::NotFound {
            what: id.to_owned(),
            path: self.projects(Root::Native),
        })
    }

    fn replay(&self, located: &Located, read: fn(&Path) -> Result<Replay>) -> Result<Replay> {
        let mut replay = read(&located.path)?;
        replay.foreign &= located.root == Root::Claude;
        Ok(replay.with_journal(journal::read(&self.journal_path(&located.id))))
    }

    /// The writer's lock. The door that writes to the other root goes on without one where
    /// the home cannot be written (design.md 8 (e)).
    pub(crate) fn lock(&self, id: &str, root: Root) -> Result<Option<WriterLock>> {
        match WriterLock::take(&self.locks(), id) {
            Ok(lock) => Ok(Some(lock)),
            Err(Error::Storage { source, .. })
                if root == Root::Claude && cannot_be_written(source.kind()) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn locks(&self) -> PathBuf {
        self.roots.home.join("locks").to_path_buf()
    }

    pub(crate) fn journal_path(&self, id: &str) -> PathBuf {
        self.roots.home.join("journal").join(id).to_path_buf()
    }

    fn journal(&self, id: &str) -> Journal {
        Journal::at(self.journal_path(id))
    }

    /// The folders that may hold a project's sessions: any with the same first 200 units.
    pub(crate) fn project_dirs(&self, root: Root, real: &Path) -> Vec<PathBuf> {
        let projects = self.projects(root);
        let name = slug(real);
        let Some(head) = name.get(..slug::LIMIT).filter(|_| name.len() > slug::LIMIT) else {
            return vec![projects.join(name)];
        };
        let folders = fs::read_dir(projects).into_iter().flatten().flatten();
        let alike = folders.filter(|folder| folder.file_name().to_string_lossy().starts_with(head));
        alike.map(|folder| folder.path()).collect()
    }
}

/// Whether a text can name a session's file.
#[must_use]
pub fn is_session_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn file_of(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("{id}.jsonl"))
}

/// An empty file counts as none (agent-sdk.md 4.1).
fn exists(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() > 0)
}

fn cannot_be_written(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::StorageFull
    )
}

fn sessions_in(root: Root, project_dir: PathBuf) -> Vec<(SystemTime, Located)> {
    let files = fs::read_dir(&project_dir).into_iter().flatten().flatten();
    let located = files.filter_map(|file| {
        let path = file.path();
        let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?.to_owned();
        let meta = fs::metadata(&path).ok().filter(|meta| meta.is_file() && meta.len() > 0)?;
        let modified = meta.modified().ok()?;
        let project_dir = project_dir.clone();
        is_session_id(&id).then_some((modified, Located { id, path, root, project_dir }))
    });
    located.collect()
}

/// Reads the first lines, up to one that names a folder.
fn peek(path: &Path) -> Peek {
    let Ok(file) = File::open(path) else { return Peek::default() };
    let mut reader = BufReader::new(file).take(1024 * 1024);
    let mut found = Peek::default();
    for number in 0..16 {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let peek: Peek = serde_json::from_slice(&line).unwrap_or_default();
            found.is_sidechain |= number == 0 && peek.is_sidechain;
            if peek.cwd.is_some() {
                found.cwd = peek.cwd;
                break;
            }
        }
    }
    found
}
