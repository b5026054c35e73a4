//! The index file. Whatever is wrong with it, it is made again; it never stops a list.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ostler_protocol::Mode;
use rusqlite::{Connection, OpenFlags, Row as SqlRow, params};

use super::{Found, Known, Row, Stamp, scan};
use crate::{atomic, store::Root};

/// Counted up when the columns change: an index of another version is made again.
const VERSION: i64 = 1;
const BUSY: Duration = Duration::from_secs(5);
const TABLE: &str = "
    CREATE TABLE logs (
        path TEXT PRIMARY KEY, id TEXT NOT NULL, root TEXT NOT NULL,
        size INTEGER NOT NULL, modified_ns INTEGER NOT NULL, problem TEXT, shown INTEGER NOT NULL,
        project TEXT, title TEXT, titled INTEGER, first_prompt TEXT, last_prompt TEXT, tag TEXT,
        created_ms INTEGER, last_turn_ms INTEGER, turns INTEGER, provider TEXT, model TEXT,
        mode TEXT, entrypoint TEXT, open_run INTEGER, is_foreign INTEGER
    ) WITHOUT ROWID;";
const COLUMNS: &str = "path, id, root, size, modified_ns, problem, shown, project, title, titled, \
    first_prompt, last_prompt, tag, created_ms, last_turn_ms, turns, provider, model, mode, \
    entrypoint, open_run, is_foreign";

/// The index of a home; opened by its first use.
#[derive(Debug)]
pub(crate) struct Index {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl Index {
    /// The index at a path; touches no disk.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path, connection: Mutex::new(None) }
    }

    /// What is known of each log, after those that changed were read again. `is_partial`:
    /// other logs than these exist.
    pub(super) fn known(&self, found: &[Found], is_partial: bool) -> Vec<Known> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut old = stored(&mut connection, &self.path);
        let mut fresh = Vec::new();
        let known = found.iter().enumerate().map(|(place, found)| {
            match old.remove(found.path.to_string_lossy().as_ref()) {
                Some((stamp, known)) if stamp == found.stamp => known,
                _ => {
                    fresh.push(place);
                    scan::scan(&found.id, &found.path, found.root)
                }
            }
        });
        let known: Vec<Known> = known.collect();
        let gone: Vec<&String> = if is_partial { Vec::new() } else { old.keys().collect() };
        if (!fresh.is_empty() || !gone.is_empty())
            && let Some(open) = connection.as_mut()
        {
            let changed =
                fresh.iter().filter_map(|&place| Some((&found[place], known.get(place)?)));
            if store(open, changed, &gone).is_err() {
                // Read-only, full or damaged: the list is right, and next time is another try.
                *connection = None;
            }
        }
        known
    }
}

type Stored = HashMap<String, (Stamp, Known)>;

/// Everything that the index holds; opened, and made again if it is damaged.
fn stored(connection: &mut Option<Connection>, path: &Path) -> Stored {
    for _ in 0..2 {
        if connection.is_none() {
            *connection = open(path).ok();
        }
        let Some(open) = connection else {
            remove(path);
            continue;
        };
        match load(open) {
            Ok(rows) => return rows,
            Err(error) => {
                *connection = None;
                if is_damage(&error) {
                    remove(path);
                }
            }
        }
    }
    HashMap::new()
}

fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    !matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// Removes an index that cannot be used; another process that has it open goes on with
/// the old file until it opens it again, and loses nothing by that.
fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        drop(fs::remove_file(name));
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    if let Some(dir) = path.parent() {
        // If it fails, so does opening.
        drop(atomic::private_dir(dir));
    }
    private_file(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    // WAL needs shared memory, which network file systems do not give.
    let mode = if is_remote(path) { "TRUNCATE" } else { "WAL" };
    let got: String =
        connection.query_row(&format!("PRAGMA journal_mode={mode}"), [], |row| row.get(0))?;
    if mode == "WAL" && got != "wal" {
        connection.query_row("PRAGMA journal_mode=TRUNCATE", [], |_| Ok(()))?;
    }
    // Derived: a crash may cost it, never the logs.
    connection.execute_batch("PRAGMA synchronous=OFF")?;
    let setup = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = setup.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version != VERSION {
        setup.execute_batch("DROP TABLE IF EXISTS logs")?;
        setup.execute_batch(TABLE)?;
        setup.execute_batch(&format!("PRAGMA user_version={VERSION}"))?;
    }
    setup.commit()?;
    Ok(connection)
}

fn private_file(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt as _;
    let made: io::Result<fs::File> =
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    drop(made);
}

#[cfg(target_os = "linux")]
fn is_remote(path: &Path) -> bool {
    use nix::sys::statfs::{NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, statfs};
    let kind = path.parent().and_then(|dir| statfs(dir).ok()).map(|stat| stat.filesystem_type());
    kind.is_some_and(|kind| kind == NFS_SUPER_MAGIC || kind == SMB_SUPER_MAGIC)
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_: &Path) -> bool {
    false
}

fn load(connection: &Connection) -> rusqlite::Result<Stored> {
    let mut query = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM logs"))?;
    let rows = query.query_map([], |row| {
        let size: i64 = row.get(3)?;
        let stamp = Stamp { size: size.cast_unsigned(), modified_ns: row.get(4)? };
        let path: String = row.get(0)?;
        let shown: bool = row.get(6)?;
        let session = if shown { Some(session(row, &path, stamp)?) } else { None };
        Ok((path, (stamp, Known { row: session, problem: row.get(5)? })))
    })?;
    rows.collect()
}

fn session(row: &SqlRow<'_>, path: &str, stamp: Stamp) -> rusqlite::Result<Row> {
    let root: String = row.get(2)?;
    let mode: Option<String> = row.get(18)?;
    Ok(Row {
        id: row.get(1)?,
        path: path.into(),
        root: Root::ALL.into_iter().find(|known| known.name() == root),
        project: row.get(7)?,
        title: row.get(8)?,
        titled: row.get(9)?,
        first_prompt: row.get(10)?,
        last_prompt: row.get(11)?,
        tag: row.get(12)?,
        created_ms: row.get(13)?,
        updated_ms: stamp.modified_ns / 1_000_000,
        last_turn_ms: row.get(14)?,
        turns: row.get(15)?,
        bytes: stamp.size,
        provider: row.get(16)?,
        model: row.get(17)?,
        mode: mode.as_deref().and_then(Mode::parse),
        entrypoint: row.get(19)?,
        open_run: row.get(20)?,
        archived: false,
        foreign: row.get(21)?,
    })
}

fn store<'a>(
    connection: &mut Connection,
    changed: impl Iterator<Item = (&'a Found, &'a Known)>,
    gone: &[&String],
) -> rusqlite::Result<()> {
    let change = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    {
        let marks = vec!["?"; COLUMNS.split(',').count()].join(",");
        let mut insert = change
            .prepare_cached(&format!("INSERT OR REPLACE INTO logs ({COLUMNS}) VALUES ({marks})"))?;
        let empty = Row::default();
        for (found, known) in changed {
            let row = known.row.as_ref().unwrap_or(&empty);
            insert.execute(params![
                found.path.to_string_lossy(),
                found.id,
                found.root.name(),
                found.stamp.size.cast_signed(),
                found.stamp.modified_ns,
                known.problem,
                known.row.is_some(),
                row.project,
                row.title,
                row.titled,
                row.first_prompt,
                row.last_prompt,
                row.tag,
                row.created_ms,
                row.last_turn_ms,
                row.turns,
                row.provider,
                row.model,
                row.mode.map(Mode::name),
                row.entrypoint,
                row.open_run,
                row.foreign,
            ])?;
        }
        let mut remove = change.prepare_cached("DELETE FROM logs WHERE path = ?")?;
        for path in gone {
            remove.execute([path])?;
        }
    }
    change.commit()
}
