//! What stood at a path before a call and after it, as the session log keeps it. Disk types:
//! fields and kinds are only ever added.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::blob::BlobId;

/// A path or the target of a link, whatever its bytes. On disk a string; where it is not
/// UTF-8, `{"hex": "..."}` of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeptPath(pub PathBuf);

impl KeptPath {
    /// The path as std's type.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl<P: Into<PathBuf>> From<P> for KeptPath {
    fn from(path: P) -> Self {
        Self(path.into())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathOnDisk<'a> {
    Text(std::borrow::Cow<'a, str>),
    Bytes { hex: String },
}

impl Serialize for KeptPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => PathOnDisk::Text(text.into()),
            None => PathOnDisk::Bytes { hex: to_hex(self.0.as_os_str().as_bytes()) },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for KeptPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match PathOnDisk::deserialize(deserializer)? {
            PathOnDisk::Text(text) => Ok(Self(PathBuf::from(text.into_owned()))),
            PathOnDisk::Bytes { hex } => from_hex(&hex)
                .map(|bytes| Self(PathBuf::from(OsString::from_vec(bytes))))
                .ok_or_else(|| serde::de::Error::custom("a path in `hex` has two digits a byte")),
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _infallible = write!(hex, "{byte:02x}");
        hex
    })
}

fn from_hex(hex: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|&[high, low]| {
        let value = digit(high)? * 16 + digit(low)?;
        u8::try_from(value).ok()
    });
    rest.is_empty().then(|| bytes.collect())?
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum State {
    /// Nothing.
    Absent,
    /// A regular file whose content is known by its hash. Before a call the content is among
    /// the blobs; after it, only what a later call was about to change is.
    File {
        /// Its content.
        blob: BlobId,
        /// Bytes.
        size: u64,
        /// Permission bits, as in `0o644`.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// What it says, which need not exist.
        target: KeptPath,
    },
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// Something whose content was not kept, and so cannot be brought back.
    Unkept {
        /// Bytes, as far as known.
        size: u64,
        /// Permission bits.
        mode: u32,
        /// Why.
        why: Unkept,
    },
    /// A state of a later version.
    #[serde(other)]
    Unknown,
}

impl State {
    /// Whether both are known to be the same. What was not kept is the same as nothing.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        !matches!(self, Self::Unkept { .. } | Self::Unknown) && self == other
    }
}

/// Why a content was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unkept {
    /// It is larger than the cap of one file.
    TooLarge,
    /// The copies of one call have a cap together, and others came first.
    Limit,
    /// It cannot be read.
    Unreadable,
    /// It is a socket, a pipe or a device.
    Special,
    /// It was being written while it was looked at.
    Changing,
    /// Git was to give it back, and has it in another form or no longer.
    Git,
    /// The blobs cannot be written.
    Storage,
    /// The work was cancelled before.
    Cancelled,
    /// A reason of a later version.
    #[serde(other)]
    Unknown,
}

/// The change of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The path, absolute, its folders free of links.
    pub path: KeptPath,
    /// What stood there before.
    pub before: State,
    /// What stands there after.
    pub after: State,
}

/// What a picture of a folder did not cover; all of it is told to the person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Uncovered {
    /// Files that were seen and whose content was not kept.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether there were more files than are looked at, or folders that cannot be read.
    pub more: bool,
}

impl Uncovered {
    /// Whether everything was covered.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.files == 0 && !self.more
    }
}

/// What a call changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Manifest {
    /// The changes, sorted by path.
    pub files: Vec<FileChange>,
    /// What the picture before the call did not cover.
    pub uncovered: Uncovered,
}
