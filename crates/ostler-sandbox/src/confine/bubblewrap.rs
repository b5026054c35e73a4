//! The arguments of `bwrap`: a pure function of policy and disk facts.
//!
//! Every protected name is a mount, and so is every folder above it up to the project: a
//! folder that is a mount cannot be renamed, so that a command cannot move a repository
//! aside and put another one in its place.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{
    policy::{Network, Policy},
    protected::{Kind, Protected},
};

/// What there is besides the policy.
#[derive(Debug, Clone)]
pub(crate) struct Facts<'a> {
    pub(crate) protected: &'a [Protected],
    /// An empty folder, to stand where none should be made.
    pub(crate) empty: &'a Path,
    /// This program, which finishes the work inside.
    pub(crate) exe: &'a Path,
    /// Whether a path is a folder, a file, or not there.
    pub(crate) look: fn(&Path) -> Look,
    /// Without a `/proc` and process ids of its own, inside containers.
    pub(crate) weaker: bool,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Folder,
    File,
    Absent,
}

/// Looks at the disk; a link counts as what it leads to.
pub(crate) fn look(path: &Path) -> Look {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Look::Folder,
        Ok(_) => Look::File,
        Err(_) => Look::Absent,
    }
}

/// How a path is shown inside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Mount {
    Writable,
    ReadOnly,
    /// Something else is shown there, read-only.
    Covered(PathBuf),
    /// An empty folder that is thrown away.
    Empty,
}

/// The arguments up to the program.
pub(crate) fn args(policy: &Policy, facts: &Facts<'_>, cwd: &Path) -> Vec<OsString> {
    let mut args = Args(Vec::new());
    args.flags(["--die-with-parent", "--unshare-user", "--unshare-ipc", "--unshare-uts"]);
    args.flags(["--unshare-cgroup-try", "--cap-drop", "ALL"]);
    if !policy.nested_namespaces {
        args.flags(["--disable-userns"]);
    }
    if policy.network != Network::Open {
        args.flags(["--unshare-net"]);
    }
    args.pair(if policy.files_confined { "--ro-bind" } else { "--bind" }, "/", "/");
    args.one("--dev", "/dev");
    if !facts.weaker {
        args.flags(["--unshare-pid"]);
        args.one("--proc", "/proc");
    }
    if policy.network != Network::Open {
        // Sockets of the system's services, container engines among them.
        args.one("--tmpfs", "/run");
    }
    if let Some(temp) = &policy.temp {
        args.pair("--bind", temp.as_path(), "/tmp");
        args.pair("--bind", temp.as_path(), temp.as_path());
    }
    for (path, mount) in mounts(policy, facts) {
        match mount {
            Mount::Writable => args.pair("--bind", &path, &path),
            Mount::ReadOnly => args.pair("--ro-bind", &path, &path),
            Mount::Covered(by) => args.pair("--ro-bind", &by, &path),
            Mount::Empty => {
                args.one("--tmpfs", &path);
                if !policy.allow_read.iter().any(|kept| kept.starts_with(&path)) {
                    args.one("--remount-ro", &path);
                }
            }
        }
    }
    args.pair("--ro-bind", facts.exe, facts.exe);
    for socket in &policy.unix_sockets {
        args.pair("--bind-try", socket.as_path(), socket.as_path());
    }
    args.one("--chdir", cwd);
    args.flags(["--"]);
    args.0
}

/// All mounts, the upper folder before the lower one, so that the more exact wins; at the
/// same path the stricter.
fn mounts(policy: &Policy, facts: &Facts<'_>) -> Vec<(PathBuf, Mount)> {
    if !policy.files_confined {
        return Vec::new();
    }
    let mut all: Vec<(PathBuf, Mount)> = Vec::new();
    let there = |path: &Path| (facts.look)(path) != Look::Absent;
    for path in policy.write.iter().filter(|path| there(path)) {
        all.push((path.to_path_buf(), Mount::Writable));
    }
    if let Some(project) = &policy.project {
        all.extend(
            folders_above(facts.protected, project.as_path())
                .into_iter()
                .map(|folder| (folder, Mount::Writable)),
        );
    }
    all.extend(facts.protected.iter().map(|name| {
        let mount = match name.kind {
            Kind::Present => Mount::ReadOnly,
            Kind::AbsentFolder => Mount::Covered(facts.empty.to_path_buf()),
            Kind::AbsentFile => Mount::Covered(PathBuf::from("/dev/null")),
        };
        (name.path.clone(), mount)
    }));
    for path in policy.deny_write.iter().filter(|path| there(path)) {
        all.push((path.to_path_buf(), Mount::ReadOnly));
    }
    for path in &policy.allow_read {
        if there(path) {
            all.push((path.to_path_buf(), Mount::ReadOnly));
        }
    }
    for path in &policy.deny_read {
        match (facts.look)(path) {
            Look::Folder => all.push((path.to_path_buf(), Mount::Empty)),
            Look::File => all.push((path.to_path_buf(), Mount::Covered("/dev/null".into()))),
            Look::Absent => {}
        }
    }
    // Stable, so that at the same path what was pushed later comes later and wins.
    all.sort_by_key(|(path, _)| path.components().count());
    all
}

/// The folders between the project and the protected names that lie in it.
fn folders_above(protected: &[Protected], project: &Path) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for name in protected {
        let above = name.path.ancestors().skip(1);
        folders.extend(
            above
                .take_while(|folder| folder.starts_with(project) && *folder != project)
                .map(Path::to_path_buf),
        );
    }
    folders
}

struct Args(Vec<OsString>);

impl Args {
    fn flags<const N: usize>(&mut self, flags: [&str; N]) {
        self.0.extend(flags.map(OsString::from));
    }

    fn one(&mut self, flag: &str, path: impl AsRef<Path>) {
        self.0.extend([flag.into(), path.as_ref().as_os_str().to_owned()]);
    }

    fn pair(&mut self, flag: &str, from: impl AsRef<Path>, to: impl AsRef<Path>) {
        self.one(flag, from);
        self.0.push(to.as_ref().as_os_str().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use ostler_stdx::AbsPath;

    use super::*;

    fn abs(path: &str) -> AbsPath {
        AbsPath::new(path).unwrap()
    }

    fn text(policy: &Policy, protected: &[Protected]) -> String {
        let facts = Facts {
            protected,
            empty: Path::new("/own/empty"),
            exe: Path::new("/bin/ostler"),
            look: |path| match path.to_str() {
                Some("/h/.netrc") => Look::File,
                Some("/gone") => Look::Absent,
                _ => Look::Folder,
            },
            weaker: false,
        };
        let args = args(policy, &facts, Path::new("/p"));
        args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_whole_of_it() {
        let policy = Policy {
            write: vec![abs("/p"), abs("/gone")],
            deny_write: vec![abs("/p/dist")],
            deny_read: vec![abs("/h/.ssh"), abs("/h/.netrc"), abs("/gone")],
            allow_read: vec![abs("/h/.ssh/config")],
            project: Some(abs("/p")),
            temp: Some(abs("/own/tmp")),
            files_confined: true,
            ..Policy::default()
        };
        let protected = [
            Protected { path: "/p/.git/hooks".into(), kind: Kind::AbsentFolder },
            Protected { path: "/p/.git/config".into(), kind: Kind::Present },
            Protected { path: "/p/.mcp.json".into(), kind: Kind::AbsentFile },
        ];
        assert_eq!(
            text(&policy, &protected),
            "--die-with-parent --unshare-user --unshare-ipc --unshare-uts --unshare-cgroup-try \
             --cap-drop ALL --disable-userns --unshare-net --ro-bind / / --dev /dev --unshare-pid \
             --proc /proc --tmpfs /run --bind /own/tmp /tmp --bind /own/tmp /own/tmp --bind /p /p \
             --bind /p/.git /p/.git --ro-bind /dev/null /p/.mcp.json --ro-bind /p/dist /p/dist \
             --tmpfs /h/.ssh --ro-bind /dev/null /h/.netrc --ro-bind /own/empty /p/.git/hooks \
             --ro-bind /p/.git/config /p/.git/config --ro-bind /h/.ssh/config /h/.ssh/config \
             --ro-bind /bin/ostler /bin/ostler --chdir /p --"
        );
    }

    #[test]
    fn an_open_network_and_open_files_are_left_open() {
        let policy = Policy { network: Network::Open, ..Policy::default() };
        let text = text(&policy, &[]);
        assert!(text.contains("--bind / /") && !text.contains("--unshare-net"), "{text}");
    }
}
