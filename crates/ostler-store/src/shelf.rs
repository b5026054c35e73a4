//! Putting sessions away: archived (a mark beside the log, as the Agent SDKs write it) and
//! deleted. Never for a session that another process writes to, and never deletes one of
//! another program.

use std::{fs, io, path::Path};

use crate::{
    atomic::{self, Access},
    error::{Error, Result},
    store::{Located, Store},
    time,
};

impl Store {
    /// Archives a session or brings it back; the log itself stays as it is.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub fn set_archived(&self, id: &str, archived: bool) -> Result<()> {
        let mark = folder_of(&self.locate(id)?).join("archived.json");
        if !archived && !mark.exists() {
            return Ok(());
        }
        let at = time::iso(self.now_ms());
        let text = format!("{{\"archived\":{archived},\"at\":\"{at}\",\"by\":\"ostler\"}}");
        atomic::update(&mark, Access::Private, |_| Ok(Some(text.into_bytes())))
    }

    /// Deletes a session of ours: its log, its folder and its journal.
    ///
    /// # Errors
    /// `NotFound`, `Busy` while a process writes to it, `Invalid` if another program wrote
    /// it, `Storage`.
    pub fn delete(&self, id: &str) -> Result<()> {
        let located = self.locate(id)?;
        let _lock = self.lock(id, located.root)?;
        if self.read(id)?.foreign {
            let what = format!("session `{id}` belongs to another program; delete it there");
            return Err(Error::Invalid { what, path: located.path });
        }
        let folder = folder_of(&located);
        remove(&located.path, fs::remove_file(&located.path))?;
        remove(&folder, fs::remove_dir_all(&folder))?;
        let journal = self.journal_path(id);
        remove(&journal, fs::remove_file(&journal))
    }
}

/// The folder beside a log, for what belongs to the session.
fn folder_of(located: &Located) -> std::path::PathBuf {
    located.project_dir.join(&located.id)
}

fn remove(path: &Path, result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::storage("delete", path)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Filter, Root,
        log::tests::{Home, user},
        record::{Own, Record},
    };

    #[test]
    fn an_archived_session_says_so_until_it_is_brought_back() {
        let home = Home::new();
        home.log("s1").append(&[user("u1", "a")]).unwrap();
        for archived in [true, false] {
            home.store.set_archived("s1", archived).unwrap();
            assert_eq!(home.store.list(&Filter::default()).rows[0].archived, archived);
        }
    }

    #[test]
    fn a_deleted_session_leaves_nothing_and_a_foreign_one_stays() {
        let home = Home::new();
        let mut log = home.log("s1");
        log.append(&[user("u1", "a")]).unwrap();
        home.store.set_archived("s1", true).unwrap();
        assert!(matches!(home.store.delete("s1").unwrap_err(), Error::Busy { .. }));
        let dir = log.path().parent().unwrap().to_owned();
        drop(log);
        home.store.delete("s1").unwrap();
        assert_eq!(fs::read_dir(dir).unwrap().count(), 0);
        assert!(matches!(home.store.delete("s1").unwrap_err(), Error::NotFound { .. }));

        // Without a record of ours, a session there is another program's.
        let mut log = home.store.create(Root::Claude, home.header("s2")).unwrap();
        log.append(&[user("u1", "a")]).unwrap();
        let path = log.path().to_owned();
        drop(log);
        assert!(home.store.delete("s2").unwrap_err().to_string().contains("another program"));
        assert!(path.exists());
        let (mut log, _) = home.store.resume(home.header("s2")).unwrap();
        log.append(&[Record::Own(Own::Project { path: "/x".to_owned() })]).unwrap();
        drop(log);
        home.store.delete("s2").unwrap();
        assert!(!path.exists());
    }
}
