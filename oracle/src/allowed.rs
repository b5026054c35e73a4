//! What a harmless program does by itself and no script can steer: the files that the C library
//! and the programs read on their own, and the programs whose every effect the trace shows. The
//! lists were made by tracing the plain programs; the judge has no part in them.

use crate::fixture::{PROJECT, STAND_INS};

/// Folders of the system that programs read by themselves.
const SYSTEM_FOLDERS: &[&str] = &[
    "/usr/lib/",
    "/usr/lib64/",
    "/usr/local/lib/",
    "/usr/libexec/",
    "/lib/",
    "/lib64/",
    "/usr/share/zoneinfo/",
    "/usr/share/locale/",
    "/usr/share/i18n/",
    "/usr/share/misc/",
    "/usr/share/file/",
    "/usr/share/terminfo/",
    "/usr/share/git-core/",
    "/usr/share/perl",
    "/usr/share/gcc",
    "/etc/alternatives/",
    "/etc/terminfo/",
    "/sys/devices/system/",
    "/sys/fs/cgroup/",
    "/proc/sys/",
];

/// Single files of that kind.
const SYSTEM_FILES: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/magic",
    "/etc/os-release",
    "/etc/inputrc",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/gai.conf",
    "/etc/wgetrc",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/urandom",
    "/dev/random",
    "/usr/share/locale/locale.alias",
    "/proc/filesystems",
    "/proc/mounts",
    "/proc/meminfo",
    "/proc/cpuinfo",
    "/proc/stat",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/version",
    "/proc/cgroups",
    "/proc/modules",
    "/proc/partitions",
];

/// Files of a process that libraries read about themselves.
const OF_A_PROCESS: &[&str] =
    &["maps", "mountinfo", "mounts", "status", "stat", "cgroup", "fd", "exe", "comm", "limits"];

/// Programs that tell about the system, and read all of `/proc` for it.
const SYSTEM_READERS: &[&str] = &[
    "ps",
    "top",
    "free",
    "uptime",
    "pgrep",
    "pidof",
    "pidwait",
    "w",
    "who",
    "vmstat",
    "lsof",
    "ss",
    "netstat",
    "df",
    "lscpu",
    "lsblk",
    "lsmod",
    "nproc",
    "pstree",
    "pmap",
    "slabtop",
    "ip",
    "id",
    "getconf",
    "locale",
    "localedef",
    "dpkg",
    "dpkg-query",
    "apt",
    "apt-cache",
    "lsns",
    "findmnt",
    "tload",
    "gcc",
    "cpp",
    "as",
    "cc",
    "date",
    "ls",
    "hostname",
    "cal",
    "ncal",
    "rpm",
];

/// Folders that [`SYSTEM_READERS`] read.
const READ_BY_SYSTEM_READERS: &[&str] = &[
    "/proc",
    "/sys/",
    "/usr/share/",
    "/var/lib/dpkg/",
    "/etc/dpkg/",
    "/etc/apt/",
    "/var/lib/apt/",
    "/var/cache/apt/",
    "/usr/include/",
    "/usr/local/include/",
];

/// Configuration that a program reads on its own.
const OWN_FILES: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "/home/me/.gitconfig",
            "/home/me/.config/git/",
            "/etc/gitconfig",
            // It looks for sub-commands everywhere on the path.
            "/usr/bin",
            STAND_INS,
        ],
    ),
    ("node", &["/usr/etc/npmrc", "/usr/bin/", "/usr/share/"]),
    ("python3", &["/usr/bin", "/usr/bin/"]),
    // Asking for the name of a user reads this where it may.
    ("perl", &["/etc/shadow", "/usr/bin/", "/usr/share/postgresql-common/"]),
    ("sh", &["/usr/bin/"]),
    // It looks for programs everywhere on the path, and lists them when asked to.
    ("bash", &["/usr/bin/", "/usr/bin", STAND_INS]),
    ("yq", &["/usr/bin"]),
    // Where it looks for sockets begins here.
    ("lsof", &["/"]),
    ("jps", &["/proc"]),
    ("git-submodule", &["/usr/bin/gettext.sh"]),
    ("pip", &["/usr/bin"]),
    ("pip3", &["/usr/bin"]),
    ("psql", &["/etc/shadow", "/usr/share/postgresql-common/"]),
];

/// Programs that do nothing but what the trace shows.
const TRANSPARENT: &[&str] = &[
    "[ apt apt-cache apt-config ar arch as awk b2sum base32 base64 basename bash bat batcat bc",
    "bunzip2 bzcat bzgrep bzip2 c++ c++filt cal cat cc cc1 chrt cksum clear cmp col colcrt",
    "collect2 colrm column comm cpp csplit cut dash date dc df diff diff3 dir dircolors dirname",
    "dpkg dpkg-query du echo egrep env exa expand expr factor false fd fdfind fgrep file find fmt",
    "fold free g++ gawk gcc gcc-12 getconf getopt git git-submodule grep groups gunzip gzip hd",
    "head hexdump hostname iconv id ionice ip join jq ld ldconfig ldd less lesspipe locale locate",
    "logname look ls lsblk lscpu lsmod lsof lto-wrapper mawk md5sum more nawk ncal netstat nice",
    "nl nm nproc numfmt objdump od pager paste pathchk pgrep pidof pinky plocate pr printenv",
    "printf ps pstree ptx pwd pwdx readelf readlink realpath rev rg rust-objdump sdiff sed seq",
    "setsid sh sha1sum sha224sum sha256sum sha384sum sha512sum shuf size sleep sort split ss stat",
    "stdbuf strings sum sync tac tail tar taskset tee test time timeout top tput tr tree true",
    "tsort tty ul uname unexpand uniq unxz unzip uptime users vdir vmstat w wc whereis which",
    "which.debianutils who whoami x86_64-linux-gnu-gcc x86_64-linux-gnu-gcc-12 xargs xxd xz xzcat",
    "xzgrep yes yq zcat zdiff zegrep zfgrep zgrep zipinfo zstd zstdcat",
];

/// Programs of the system that are scripts and run others on their own account.
const SCRIPTS: &[&str] = &[
    "git-submodule",
    "zgrep",
    "zegrep",
    "zfgrep",
    "zdiff",
    "bzgrep",
    "xzgrep",
    "egrep",
    "fgrep",
    "zcat",
    "which",
];

/// Words that make any program only say what it is.
const ABOUT_ITSELF: &[&str] = &[
    "--version",
    "-version",
    "version",
    "-V",
    "-v",
    "-VV",
    "--help",
    "-h",
    "help",
    "-vV",
    "--verbose",
    "-a",
    "-help",
];

/// What programs that talk to a service, run code or may be missing here do without an effect;
/// the words that come first.
const SAYS_ONLY: &[(&str, &[&str])] = &[
    (
        "docker",
        &[
            "ps",
            "images",
            "info",
            "image ls",
            "logs",
            "inspect",
            "stats --no-stream",
            "volume ls",
            "network ls",
            "compose version",
            "compose ps",
            "history",
            "context ls",
        ],
    ),
    ("kubectl", &["version --client"]),
    ("go", &["env", "doc", "list"]),
    ("gofmt", &["-l", "-d"]),
    ("cargo", &["--list", "locate-project", "pkgid", "metadata"]),
    ("rustc", &["--print"]),
    ("rustup", &["show", "toolchain list", "target list"]),
    ("npm", &["ls", "list", "root", "prefix", "help"]),
    (
        "node",
        &[
            "--check",
            "-c",
            "--v8-options",
            "-p process.version",
            "-p process.versions.v8",
            "-e console.log(process.platform)",
            "-p require('./package.json').version",
        ],
    ),
    ("python3", &["-c import sys; print(sys.version)", "-c print(1 + 1)"]),
    ("pip", &["list", "freeze", "show"]),
    ("pip3", &["list", "freeze", "show"]),
    ("php", &["-m", "-i", "-l", "--ini"]),
    ("ruby", &["-c"]),
    ("gem", &["list"]),
    ("rbenv", &["versions"]),
    ("java", &["-fullversion"]),
    ("jar", &["tf", "--list"]),
    // Alone it says how to call it.
    ("javap", &["-c", "-p", ""]),
    ("jps", &["-l"]),
    ("dotnet", &["--list-sdks", "--list-runtimes"]),
    ("terraform", &["fmt -check"]),
    ("perl", &["-V:version"]),
    ("openssl", &["version -a"]),
    ("rpm", &["-qa"]),
    ("pkg-config", &["--modversion"]),
];

/// Whether a program reads this path by itself, so that a script has no part in it.
pub(crate) fn reads_by_itself(program: &str, path: &str) -> bool {
    let within = |folder: &&str| path.starts_with(*folder) || path == folder.trim_end_matches('/');
    if SYSTEM_FILES.contains(&path) || SYSTEM_FOLDERS.iter().any(within) {
        return true;
    }
    if SYSTEM_READERS.contains(&program) && READ_BY_SYSTEM_READERS.iter().any(within) {
        return true;
    }
    // It shows where programs, sources and manuals lie, and looks for them in all such folders.
    if program == "whereis" && !path.starts_with("/srv") && !path.starts_with("/home") {
        return true;
    }
    if let Some(of_process) = path.strip_prefix("/proc/") {
        let tail = of_process.split_once('/').map_or("", |(_, tail)| tail);
        return OF_A_PROCESS.contains(&tail);
    }
    // The text of a program that is a script itself.
    if let Some(name) = path.strip_prefix("/usr/bin/")
        && (name.starts_with(program) || program.starts_with(name))
    {
        return true;
    }
    OWN_FILES.iter().any(|(owner, files)| {
        *owner == program
            && files.iter().any(|file| match file.strip_suffix('/') {
                Some(_) if file.len() > 1 => path.starts_with(file),
                _ => path == *file,
            })
    })
}

/// Whether a program writes this by itself: about its own process, and nothing that stays.
pub(crate) fn writes_by_itself(program: &str, path: &str) -> bool {
    ["java", "javac", "jar", "javap", "jps"].contains(&program)
        && path.starts_with("/proc/")
        && path.ends_with("/coredump_filter")
}

/// Whether a path is inside the project, private, or no file at all.
pub(crate) fn is_own(path: &str) -> bool {
    path == PROJECT
        || path.starts_with("/srv/app/")
        || path == "/tmp"
        || path.starts_with("/tmp/")
        || is_no_file(path)
}

/// Pipes, sockets, and what the script's output goes to.
pub(crate) fn is_no_file(path: &str) -> bool {
    ["pipe:", "socket:", "anon_inode:", "/dev/pts/", "/memfd:"]
        .iter()
        .any(|start| path.starts_with(start))
        || path.starts_with("/oracle/")
}

fn is_transparent(name: &str) -> bool {
    TRANSPARENT.iter().any(|line| line.split(' ').any(|known| known == name))
}

/// Whether what a program runs is its own affair: its script comes with the system.
pub(crate) fn is_script_of_system(program: &str) -> bool {
    SCRIPTS.contains(&program)
}

/// Whether running a program, by its path and its other words, is no effect by itself.
pub(crate) fn may_run(path: &str, words: &[String]) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else { return false };
    let of_system = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].contains(&folder)
        || folder.starts_with("/usr/lib/")
        || folder.starts_with("/usr/libexec/");
    if !of_system && folder != STAND_INS {
        return false;
    }
    // `npm` is a text that `node` runs: what matters comes after it.
    let words = match words.first() {
        Some(script) if script.starts_with("/usr/bin/") => &words[1..],
        _ => words,
    };
    let about = words.iter().all(|word| ABOUT_ITSELF.contains(&word.as_str()));
    if about && !words.is_empty() {
        return true;
    }
    // A program that this machine lacks shows no effects, so it must not need any.
    if of_system && is_transparent(name) {
        return true;
    }
    let line = words.join(" ");
    let says = SAYS_ONLY.iter().find(|(program, _)| *program == name).map(|(_, says)| *says);
    if says.is_some_and(|says| {
        says.iter().any(|start| line == *start || line.starts_with(&format!("{start} ")))
    }) {
        return true;
    }
    folder == STAND_INS && is_transparent(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(path: &str, words: &str) -> bool {
        may_run(path, &words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_the_library_reads_is_known_and_secrets_are_not() {
        assert!(reads_by_itself("cat", "/etc/ld.so.cache"));
        assert!(reads_by_itself("git", "/home/me/.gitconfig"));
        assert!(reads_by_itself("ps", "/proc/1/environ"));
        for (program, path) in [
            ("cat", "/home/me/.gitconfig"),
            ("cat", "/proc/1/environ"),
            ("bash", "/srv/secret"),
            ("grep", "/etc/shadow"),
        ] {
            assert!(!reads_by_itself(program, path), "{program} {path}");
        }
    }

    #[test]
    fn code_runs_only_where_its_effects_show() {
        assert!(runs("/usr/bin/cat", "README.md"));
        assert!(runs("/usr/bin/python3", "--version"));
        assert!(runs("/opt/stand-ins/docker", "ps -a"));
        for (path, words) in [
            ("/usr/bin/python3", "-c x"),
            ("/srv/app/bin/ls", ""),
            ("./tool", ""),
            ("/usr/bin/rm", "x"),
            ("/opt/stand-ins/docker", "run x"),
            ("/opt/stand-ins/npm", "run build"),
        ] {
            assert!(!runs(path, words), "{path} {words}");
        }
    }
}
