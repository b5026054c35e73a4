//! What a file keeps when its content is replaced or moved: owner, mode, access list and
//! extended attributes. Never carries what belongs to the old content, such as
//! capabilities or a signature.

use std::{
    ffi::OsString,
    fs::{File, Metadata},
    io,
    os::unix::fs::{MetadataExt as _, fchown},
};

/// A file's metadata and extended attributes, as they were when it was read.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) meta: Metadata,
    attributes: Vec<(OsString, Vec<u8>)>,
}

impl Kept {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        Ok(Self { meta: file.metadata()?, attributes: read(file)? })
    }

    /// Names that the file has.
    pub(crate) fn names(&self) -> u64 {
        self.meta.nlink()
    }

    /// Gives all of it to another file. Owner first: giving a file away clears its set-id
    /// bits; the mode last, because an access list sets it as well.
    pub(super) fn give(&self, file: &File) -> io::Result<()> {
        let own = file.metadata()?;
        let (uid, gid) = (self.meta.uid(), self.meta.gid());
        if (own.uid(), own.gid()) != (uid, gid) && fchown(file, Some(uid), Some(gid)).is_err() {
            // Not being allowed to keep a foreign owner is no reason to refuse the write.
            let _foreign_group = fchown(file, None, Some(gid));
        }
        write(file, &self.attributes)?;
        file.set_permissions(self.meta.permissions())
    }
}

#[cfg(target_os = "linux")]
const ACCESS_LIST: &str = "system.posix_acl_access";

#[cfg(target_os = "linux")]
fn read(file: &File) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    use std::os::unix::ffi::OsStringExt as _;

    use rustix::{
        fs::{fgetxattr, flistxattr},
        io::Errno,
    };
    /// The kernel's own limit of a list and of a value.
    const MOST: usize = 64 * 1024;

    let mut names = Vec::with_capacity(MOST);
    match flistxattr(file, rustix::buffer::spare_capacity(&mut names)) {
        Ok(_) => {}
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::PERM) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    }
    let mut attributes = Vec::new();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = Vec::with_capacity(MOST);
        // One that is gone meanwhile, or not for us to read, is not for us to keep.
        if fgetxattr(file, name, rustix::buffer::spare_capacity(&mut value)).is_ok() {
            value.shrink_to_fit();
            attributes.push((OsString::from_vec(name.to_vec()), value));
        }
    }
    Ok(attributes)
}

#[cfg(target_os = "linux")]
fn write(file: &File, attributes: &[(OsString, Vec<u8>)]) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;

    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr};

    if !attributes.iter().any(|(name, _)| name == ACCESS_LIST) {
        // The folder may have given one to the new file. An error says that there is none.
        let _none = fremovexattr(file, ACCESS_LIST);
    }
    for (name, value) in attributes {
        let is_of_content = [&b"security.capability"[..], b"security.ima", b"security.evm"]
            .contains(&name.as_bytes());
        if is_of_content {
            continue;
        }
        let is_ours = name.as_bytes().starts_with(b"user.") || name == ACCESS_LIST;
        match fsetxattr(file, name.as_os_str(), value, XattrFlags::empty()) {
            // What the system keeps about the file is the system's to refuse.
            Err(_) if !is_ours => {}
            Err(error) => {
                let why = io::Error::from(error);
                let text = format!("its attribute `{}` cannot be kept: {why}", name.display());
                return Err(io::Error::new(why.kind(), text));
            }
            Ok(()) => {}
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn read(_: &File) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    Ok(Vec::new())
}

#[cfg(not(target_os = "linux"))]
fn write(_: &File, _: &[(OsString, Vec<u8>)]) -> io::Result<()> {
    Ok(())
}
