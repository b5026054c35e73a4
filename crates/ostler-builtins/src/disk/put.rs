//! Puts new content under a name in one step, and only in the place of the file that was
//! seen there. Whatever came between is never lost: it is put back, or left beside.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, Metadata},
    io::{self, Write as _},
    os::{fd::AsRawFd as _, unix::fs::MetadataExt as _},
    sync::atomic::{AtomicU64, Ordering},
};

use nix::{
    errno::Errno,
    fcntl::{AT_FDCWD, AtFlags, OFlag, openat, renameat},
    sys::stat::{Mode, fstatat},
    unistd::{UnlinkatFlags, linkat, unlinkat},
};

use super::{Kept, Place};

/// New content on its way, in the folder where it will stand.
struct Draft {
    file: File,
    id: (u64, u64),
    /// Absent while the file has no name, so that nothing is left of it if we are killed.
    name: Option<OsString>,
}

/// How two names are exchanged, or one is given without taking it from another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Exchange,
    OnlyNew,
}

impl Place {
    /// Puts `bytes` in the place of the file in one step.
    ///
    /// `seen` is the file that the caller read by [`Place::open`], or `None` if there was
    /// none; the new one is as `like` in all but content. Refuses, with nothing changed, if
    /// by now another file stands there or the folder was moved.
    pub(crate) fn replace(
        &self,
        seen: Option<&Kept>,
        like: Option<&Kept>,
        bytes: &[u8],
    ) -> io::Result<()> {
        // A new file gets what the umask leaves; one that is like another its mode later.
        let mode = Mode::from_bits_truncate(if like.is_some() { 0o600 } else { 0o666 });
        if let Some(draft) = self.nameless(mode) {
            match self.fill_and_put(draft?, seen, like, bytes) {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                done => return done,
            }
        }
        self.fill_and_put(self.named(mode)?, seen, like, bytes)
    }

    fn fill_and_put(
        &self,
        mut draft: Draft,
        seen: Option<&Kept>,
        like: Option<&Kept>,
        bytes: &[u8],
    ) -> io::Result<()> {
        let result = self.fill(&draft.file, like, bytes).and_then(|()| self.put(&mut draft, seen));
        if let (Err(_), Some(name)) = (&result, &draft.name) {
            // The error matters, not whether the draft could be removed.
            let _kept = self.unlink_if(name, draft.id);
        }
        result
    }

    fn fill(&self, mut file: &File, like: Option<&Kept>, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)?;
        if let Some(like) = like {
            like.give(file)?;
        }
        file.sync_all()
    }

    fn put(&self, draft: &mut Draft, seen: Option<&Kept>) -> io::Result<()> {
        let seen = seen.map(|seen| &seen.meta);
        self.check_unchanged(seen)?;
        match seen {
            None => self.put_new(draft)?,
            Some(seen) => self.put_over(draft, seen)?,
        }
        // It is done; a file system that cannot sync folders does not undo it.
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        if let Ok(folder) = openat(&self.folder, ".", flags, Mode::empty()) {
            let _unsynced = File::from(folder).sync_all();
        }
        Ok(())
    }

    fn named(&self, mode: Mode) -> io::Result<Draft> {
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let name = self.draft_name();
        let file = File::from(openat(&self.folder, name.as_os_str(), flags, mode)?);
        let id = id(&file.metadata()?);
        Ok(Draft { file, id, name: Some(name) })
    }

    #[cfg(target_os = "linux")]
    fn nameless(&self, mode: Mode) -> Option<io::Result<Draft>> {
        let flags = OFlag::O_WRONLY | OFlag::O_TMPFILE | OFlag::O_CLOEXEC;
        let file = File::from(openat(&self.folder, ".", flags, mode).ok()?);
        Some(file.metadata().map(|meta| Draft { file, id: id(&meta), name: None }))
    }

    #[cfg(not(target_os = "linux"))]
    fn nameless(&self, _: Mode) -> Option<io::Result<Draft>> {
        None
    }

    fn draft_name(&self) -> OsString {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut prefix = self.name.to_string_lossy().into_owned();
        prefix.truncate(ostler_stdx::floor_char_boundary(&prefix, 60));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        OsString::from(format!(".{prefix}.{}-{number}.tmp", std::process::id()))
    }

    /// Gives the draft a name, which nothing else has.
    fn give_name(&self, draft: &Draft, name: &OsStr) -> io::Result<()> {
        let way = format!("/proc/self/fd/{}", draft.file.as_raw_fd());
        match linkat(AT_FDCWD, way.as_str(), &self.folder, name, AtFlags::AT_SYMLINK_FOLLOW) {
            Ok(()) => Ok(()),
            Err(Errno::EEXIST) => Err(changed()),
            Err(error @ (Errno::ENOSPC | Errno::EDQUOT | Errno::EROFS)) => Err(error.into()),
            // Without `/proc`, or where a nameless file never gets a name.
            Err(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn put_new(&self, draft: &mut Draft) -> io::Result<()> {
        if let Some(name) = &draft.name {
            let done = match self.step(name, Step::OnlyNew) {
                Err(Errno::EINVAL | Errno::ENOSYS | Errno::ENOTSUP) => self.link_or_rename(name),
                done => done,
            };
            done.map_err(|error| if error == Errno::EEXIST { changed() } else { error.into() })?;
        } else {
            self.give_name(draft, &self.name)?;
        }
        if let Err(error) = self.check_folder() {
            let _kept = self.unlink_if(&self.name, draft.id);
            return Err(error);
        }
        Ok(())
    }

    fn put_over(&self, draft: &mut Draft, seen: &Metadata) -> io::Result<()> {
        let id = draft.id;
        if draft.name.is_none() {
            let name = self.draft_name();
            self.give_name(draft, &name)?;
            draft.name = Some(name);
        }
        let name = draft.name.as_deref().unwrap_or_default();
        match self.step(name, Step::Exchange) {
            Ok(()) => {}
            Err(Errno::ENOENT) => return Err(changed()),
            Err(Errno::EINVAL | Errno::ENOSYS | Errno::ENOTSUP) => {
                // No exchange here: what is left is to look as late as possible.
                self.check_unchanged(Some(seen))?;
                return Ok(renameat(&self.folder, name, &self.folder, self.name.as_os_str())?);
            }
            Err(error) => return Err(error.into()),
        }
        let out = fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        let is_seen = (out.st_dev, out.st_ino, out.st_size, out.st_mtime, out.st_mtime_nsec)
            == (
                seen.dev(),
                seen.ino(),
                i64::try_from(seen.len()).unwrap_or(i64::MAX),
                seen.mtime(),
                seen.mtime_nsec(),
            );
        let folder = self.check_folder();
        if is_seen && folder.is_ok() {
            // The new content stands; an old file that cannot be removed does not undo that.
            let _left = self.unlink_if(name, (out.st_dev, out.st_ino));
            return Ok(());
        }
        self.step(name, Step::Exchange)?;
        if !self.unlink_if(name, id)? {
            let text = format!(
                "changed while it was being written; another state of it is in `{}`",
                name.display()
            );
            return Err(io::Error::other(text));
        }
        folder.and(Err(changed()))
    }

    /// Removes a name if it is still that file's; says whether it was.
    fn unlink_if(&self, name: &OsStr, id: (u64, u64)) -> nix::Result<bool> {
        let there = fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        let is_it = (there.st_dev, there.st_ino) == id;
        if is_it {
            unlinkat(&self.folder, name, UnlinkatFlags::NoRemoveDir)?;
        }
        Ok(is_it)
    }

    #[cfg(target_os = "linux")]
    fn step(&self, name: &OsStr, step: Step) -> nix::Result<()> {
        use rustix::fs::{RenameFlags, renameat_with};
        let flags = match step {
            Step::Exchange => RenameFlags::EXCHANGE,
            Step::OnlyNew => RenameFlags::NOREPLACE,
        };
        renameat_with(&self.folder, name, &self.folder, self.name.as_os_str(), flags)
            .map_err(|error| Errno::from_raw(error.raw_os_error()))
    }

    #[cfg(not(target_os = "linux"))]
    fn step(&self, _: &OsStr, _: Step) -> nix::Result<()> {
        Err(Errno::ENOSYS)
    }

    /// For file systems without the flag: a second name is never put over another file.
    fn link_or_rename(&self, name: &OsStr) -> nix::Result<()> {
        match linkat(&self.folder, name, &self.folder, self.name.as_os_str(), AtFlags::empty()) {
            Ok(()) => unlinkat(&self.folder, name, UnlinkatFlags::NoRemoveDir),
            Err(Errno::EEXIST) => Err(Errno::EEXIST),
            // Nor second names: the look just before has to do.
            Err(_) => renameat(&self.folder, name, &self.folder, self.name.as_os_str()),
        }
    }
}

fn id(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

pub(super) fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "changed while it was being written")
}

#[cfg(test)]
mod tests;
