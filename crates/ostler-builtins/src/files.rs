//! What Read, Write and Edit share: from a path argument to a held file, and from new
//! bytes to the disk, with the checks that stand between.

use std::io::{self, Read as _};

use ostler_protocol::{Access, FileDiff, FileStatus};
use ostler_stdx::AbsPath;
use ostler_tool::{FileReads, ToolCx, ToolError};

use crate::{
    diff::{binary_diff, file_diff},
    disk::{Kept, Parents, Place},
    hands::Hands,
    text::{ContentHash, decode},
};

/// A file that is there, as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Existing {
    pub(crate) kept: Kept,
    pub(crate) bytes: Vec<u8>,
}

/// A file that a call wants to change, before it does.
#[derive(Debug)]
pub(crate) struct Target {
    asked: AbsPath,
    real: AbsPath,
    /// Absent if the folder is not there yet.
    place: Option<Place>,
    pub(crate) existing: Option<Existing>,
}

impl Target {
    /// Resolves the path and reads what is there. Writes nothing.
    pub(crate) fn open(path: &AbsPath, hands: &Hands) -> Result<Self, ToolError> {
        let tell = |error: io::Error| cannot("write", path, &error);
        let real = Place::resolve(path).map_err(tell)?;
        ask(hands, &Access::Write { path: real.clone() })?;
        refuse_reserved(&real)?;
        let place = match Place::open_folder(real.clone(), Parents::Required) {
            Ok(place) => Some(place),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(tell(error)),
        };
        let existing = match &place {
            Some(place) => read_whole(place, path, hands.limits.edit_file_bytes)?,
            None => None,
        };
        Ok(Self { asked: path.clone(), real, place, existing })
    }

    /// Refuses a file that the session has not seen as it is now.
    pub(crate) fn check_seen(&self, cx: &ToolCx) -> Result<(), ToolError> {
        let Some(existing) = &self.existing else { return Ok(()) };
        let path = &self.asked;
        match cx.state.get::<FileReads>().last_seen(&self.real) {
            None => Err(ToolError::Tell(format!(
                "file `{path}` has not been read yet: read it first, then write to it"
            ))),
            Some(hash) if hash != ContentHash::of(&existing.bytes) => {
                Err(ToolError::Tell(format!(
                    "file `{path}` changed since it was read: read it again before writing to it"
                )))
            }
            Some(_) => Ok(()),
        }
    }

    /// The change to `after`.
    pub(crate) fn diff(&self, after: &[u8]) -> FileDiff {
        let status = if self.existing.is_some() { FileStatus::Modified } else { FileStatus::Added };
        let before = self.existing.as_ref().map(|existing| decode(&existing.bytes)).transpose();
        match (before, decode(after)) {
            (Ok(before), Ok(after)) => file_diff(
                &self.asked,
                before.map(|text| text.into_shown()).as_deref(),
                &after.into_shown(),
            ),
            _ => binary_diff(&self.asked, status),
        }
    }

    /// The change if the file goes.
    pub(crate) fn diff_of_removal(&self) -> FileDiff {
        let bytes = self.existing.as_ref().map_or(&[][..], |existing| &existing.bytes);
        match decode(bytes) {
            Ok(text) => FileDiff {
                status: FileStatus::Deleted,
                ..file_diff(&self.asked, Some(&text.into_shown()), "")
            },
            Err(_) => binary_diff(&self.asked, FileStatus::Deleted),
        }
    }

    /// Whether both are one file.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        self.real == other.real
    }

    /// Removes the file that was read.
    pub(crate) fn remove(self) -> Result<(), ToolError> {
        let tell = |error: io::Error| cannot("remove", &self.asked, &error);
        match (&self.place, &self.existing) {
            (Some(place), Some(existing)) => place.remove(&existing.kept.meta).map_err(tell),
            _ => Err(tell(io::ErrorKind::NotFound.into())),
        }
    }

    /// Puts back a file as it was, with its mode, whether or not another stands there now.
    pub(crate) fn restore(self, before: &Existing, cx: &ToolCx) -> Result<(), ToolError> {
        let tell = |error: io::Error| cannot("restore", &self.asked, &error);
        let place = match self.place {
            Some(place) => place,
            None => Place::open_folder(self.real.clone(), Parents::Create).map_err(tell)?,
        };
        let now = self.existing.as_ref().map(|existing| &existing.kept);
        place.replace(now, Some(&before.kept), &before.bytes).map_err(tell)?;
        cx.state.get::<FileReads>().saw(&self.real, ContentHash::of(&before.bytes));
        Ok(())
    }

    /// Writes, and notes that the session knows the new content.
    pub(crate) fn write(self, after: &[u8], cx: &ToolCx) -> Result<(), ToolError> {
        self.write_like(None, after, cx)
    }

    /// Like [`Target::write`]; a new file gets mode, owner and attributes of another.
    pub(crate) fn write_like(
        self,
        other: Option<&Kept>,
        after: &[u8],
        cx: &ToolCx,
    ) -> Result<(), ToolError> {
        let tell = |error: io::Error| cannot("write", &self.asked, &error);
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let seen = self.existing.as_ref().map(|existing| &existing.kept);
        if seen.is_some_and(|seen| seen.meta.permissions().readonly()) {
            return Err(ToolError::Tell(format!(
                "file `{}` is read-only: it was not written, change its mode first if that is meant",
                self.asked
            )));
        }
        if let Some(names @ 2..) = seen.map(Kept::names) {
            // Written in place, all names would change, also those outside of the project;
            // replaced, the names would part unnoticed.
            return Err(ToolError::Tell(format!(
                "file `{}` has {names} names (hard links) that share one content: it was not written. \
                 To change it for all of them, or to make this one a file of its own first \
                 (`cp -p FILE FILE.new && mv FILE.new FILE`), use a command",
                self.asked
            )));
        }
        let place = match self.place {
            Some(place) => place,
            None => Place::open_folder(self.real.clone(), Parents::Create).map_err(tell)?,
        };
        place.replace(seen, seen.or(other), after).map_err(tell)?;
        cx.state.get::<FileReads>().saw(&self.real, ContentHash::of(after));
        Ok(())
    }
}

/// Asks the host about a resolved path.
pub(crate) fn ask(hands: &Hands, access: &Access) -> Result<(), ToolError> {
    hands.gate.ask(access).map_err(ToolError::Tell)
}

/// What the model reads when the disk refuses.
pub(crate) fn cannot(verb: &str, path: &AbsPath, error: &io::Error) -> ToolError {
    let advice = match error.kind() {
        io::ErrorKind::NotFound => ": there is no such file, check the path or find it with Glob",
        io::ErrorKind::PermissionDenied => ": not permitted",
        io::ErrorKind::IsADirectory => ": it is a folder",
        io::ErrorKind::NotADirectory => ": a part of the path is not a folder",
        io::ErrorKind::StorageFull => ": the disk is full, nothing was changed",
        io::ErrorKind::QuotaExceeded => ": the disk quota is used up, nothing was changed",
        io::ErrorKind::FileTooLarge => {
            ": it would be larger than the limit on file size, nothing was changed"
        }
        io::ErrorKind::ResourceBusy => ": it changed at the same time, read it again",
        _ => return ToolError::Tell(format!("cannot {verb} `{path}`: {error}")),
    };
    ToolError::Tell(format!("cannot {verb} `{path}`{advice}"))
}

/// Runs work that blocks, beside the runtime; an order to stop ends the wait at once.
pub(crate) async fn blocking<T: Send + 'static>(
    cx: &ToolCx,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let mut work = tokio::task::spawn_blocking(work);
    tokio::select! {
        biased;
        done = &mut work => done.unwrap_or_else(|error| Err(ToolError::Tell(format!("the tool failed: {error}")))),
        () = cx.cancel.cancelled() => Err(ToolError::Cancelled),
    }
}

/// Like [`blocking`], for work that must not be left halfway: its result is awaited, so
/// that a write which took place is reported. It is bounded by the caps on file size.
pub(crate) async fn committing<T: Send + 'static>(
    cx: &ToolCx,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    if cx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ToolError::Tell(format!("the tool failed: {error}"))))
}

fn read_whole(place: &Place, path: &AbsPath, cap: u64) -> Result<Option<Existing>, ToolError> {
    let tell = |error: io::Error| cannot("read", path, &error);
    let file = match place.open() {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(tell(error)),
    };
    let meta = file.metadata().map_err(tell)?;
    if meta.is_dir() {
        return Err(ToolError::Tell(format!("`{path}` is a folder: name a file in it")));
    }
    if !meta.is_file() {
        return Err(ToolError::Tell(format!(
            "`{path}` is a pipe, socket or device: only ordinary files are written"
        )));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len().min(cap)).unwrap_or_default());
    let kept = Kept::of(&file).map_err(tell)?;
    file.take(cap + 1).read_to_end(&mut bytes).map_err(tell)?;
    if bytes.len() as u64 > cap {
        let text = format!(
            "file `{path}` is larger than {} MB: change it with a command in Bash",
            cap >> 20
        );
        return Err(ToolError::Tell(text));
    }
    Ok(Some(Existing { kept, bytes }))
}

/// `nul` is a device on Windows: a file of that name can be neither checked out nor
/// deleted there. The other device names are refused where they are devices.
fn refuse_reserved(path: &AbsPath) -> Result<(), ToolError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    let numbered = |prefix| {
        stem.strip_prefix(prefix).is_some_and(|rest: &str| matches!(rest.as_bytes(), [b'1'..=b'9']))
    };
    let device =
        matches!(stem, "nul" | "con" | "prn" | "aux") || numbered("com") || numbered("lpt");
    if name == "nul" || cfg!(windows) && device {
        return Err(ToolError::Tell(format!(
            "`{name}` is the name of a device on Windows: choose another name"
        )));
    }
    Ok(())
}
