//! What a script did, out of its trace. An attempt counts like the deed: that a file could not
//! be written here says nothing about the next machine. Reading counts when it worked.

use std::collections::HashMap;
use std::fmt;

use crate::allowed::{
    is_no_file, is_own, is_script_of_system, may_run, reads_by_itself, writes_by_itself,
};
use crate::fixture::DENIED_TEXT;
use crate::trace::Event;
use crate::verdict::{DENIED_FILES, DENIED_PROGRAMS};

/// One effect.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// Something was written, made, renamed, removed, or given other rights.
    Write(String),
    /// A file outside the project was read.
    Read(String),
    /// A program ran that may do what it likes.
    Run(String),
    /// Something was sent, or listened for.
    Network(String),
    /// Another process got a signal.
    Signal(String),
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, what) = match self {
            Self::Write(what) => ("writes", what),
            Self::Read(what) => ("reads", what),
            Self::Run(what) => ("runs", what),
            Self::Network(what) => ("connects", what),
            Self::Signal(what) => ("signals", what),
        };
        write!(f, "{verb} {what}")
    }
}

/// What a trace shows.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Effects that a script must not have unasked.
    pub(crate) effects: Vec<Effect>,
    /// Denied programs that ran and denied files that were read.
    pub(crate) denied: Vec<Effect>,
    /// The same, but by code that no reader of the script can see: a file of the project, a
    /// program of another language.
    pub(crate) denied_within: Vec<Effect>,
    /// Whether the tree must be made anew.
    pub(crate) changed: bool,
}

/// Programs that run code of their own kind; what happens below them is not in the script.
const LANGUAGES: &[&str] =
    &["python3", "perl", "node", "ruby", "php", "make", "npm", "ssh", "vim", "vi", "java", "cargo"];

/// Files that hold a script, by the end of their names.
const SCRIPT_FILES: &[&str] = &["/tool", "/evil.sh", "/gradlew", "/bin/ls", "/bin/git"];

/// Looks at every event, and at what the script wrote.
pub(crate) fn of(events: &[Event], wrote: &str) -> Shown {
    let mut look = Look::default();
    for event in events {
        if ["clone", "clone3", "fork", "vfork"].contains(&event.call.as_str())
            && let Ok(child) = event.result.trim().parse()
        {
            look.parents.insert(child, event.pid);
        }
    }
    for event in events {
        look.event(event);
    }
    if wrote.contains(DENIED_TEXT) && look.shown.denied.is_empty() {
        let shown = Effect::Read("a denied file, and shows it".to_owned());
        look.shown.denied.push(shown);
    }
    look.shown.effects.sort();
    look.shown.effects.dedup();
    look.shown.denied.sort();
    look.shown.denied.dedup();
    look.shown.denied_within.sort();
    look.shown.denied_within.dedup();
    look.shown
}

#[derive(Default)]
struct Look {
    shown: Shown,
    parents: HashMap<u32, u32>,
    programs: HashMap<u32, String>,
    /// Processes that run code which is not in the script.
    unseen: HashMap<u32, bool>,
    began: bool,
}

impl Look {
    fn event(&mut self, event: &Event) {
        match event.call.as_str() {
            "execve" | "execveat" => self.exec(event),
            "open" | "openat" | "openat2" | "creat" => self.open(event),
            "clone" | "clone3" | "fork" | "vfork" => {}
            "connect" | "listen" | "sendto" | "sendmsg" => self.network(event),
            "kill" | "tkill" | "tgkill" => self.signal(event),
            _ => self.write(event),
        }
    }

    /// The program of a process: its own, or that of the one it was split off.
    fn program(&self, pid: u32) -> &str {
        let mut pid = pid;
        for _ in 0..100 {
            if let Some(program) = self.programs.get(&pid) {
                return program;
            }
            match self.parents.get(&pid) {
                Some(parent) => pid = *parent,
                None => break,
            }
        }
        "bash"
    }

    /// Whether a process runs code that is not in the script.
    fn is_unseen(&self, pid: u32) -> bool {
        let mut pid = pid;
        for _ in 0..100 {
            if self.unseen.contains_key(&pid) {
                return true;
            }
            match self.parents.get(&pid) {
                Some(parent) => pid = *parent,
                None => break,
            }
        }
        false
    }

    fn exec(&mut self, event: &Event) {
        let at = usize::from(event.call == "execveat");
        let Some(path) = event.path(at) else { return };
        // A file without a first line that says how is run by the shell itself.
        if !event.worked() && !event.result.contains("ENOEXEC") {
            return;
        }
        if !self.began {
            self.began = true;
            self.programs.insert(event.pid, "bash".to_owned());
            return;
        }
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let words = words(event.args.get(at + 1).map_or("", String::as_str));
        let shown = format!("{path} {}", words.join(" ")).trim_end().to_owned();
        if is_script_of_system(self.program(event.pid)) && path.starts_with("/usr/bin/") {
            self.programs.insert(event.pid, name);
            return;
        }
        if DENIED_PROGRAMS.contains(&name.as_str()) {
            self.deny(event.pid, Effect::Run(shown.clone()));
        }
        if !may_run(&path, &words) {
            self.shown.effects.push(Effect::Run(shown));
        }
        let of_system = path.starts_with("/usr/") || path.starts_with("/bin/");
        if LANGUAGES.contains(&name.as_str()) || !of_system {
            self.unseen.insert(event.pid, true);
        }
        self.programs.insert(event.pid, name);
    }

    fn deny(&mut self, pid: u32, effect: Effect) {
        if self.is_unseen(pid) {
            self.shown.denied_within.push(effect);
        } else {
            self.shown.denied.push(effect);
        }
    }

    fn open(&mut self, event: &Event) {
        let at = usize::from(event.call == "openat" || event.call == "openat2");
        let Some(asked) = event.path(at) else { return };
        let flags = event.args.get(at + 1).map_or("", String::as_str);
        if flags.contains("O_PATH") {
            return;
        }
        let worked = event.worked();
        let path = event.opened().filter(|_| worked).unwrap_or_else(|| asked.clone());
        let writes = event.call == "creat"
            || ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| flags.contains(flag));
        if writes {
            // A device says nothing about the disk; the terminal is not there.
            let device = ["/dev/null", "/dev/tty", "/dev/full", "/dev/zero"]
                .contains(&path.as_str())
                || asked == "/dev/tty";
            let own = writes_by_itself(self.program(event.pid), &path);
            if !device && !own && !is_no_file(&path) {
                self.change(event, &path, worked);
            }
            return;
        }
        if !worked {
            return;
        }
        let program = self.program(event.pid).to_owned();
        if ["bash", "sh", "dash"].contains(&program.as_str())
            && SCRIPT_FILES.iter().any(|end| path.ends_with(end))
        {
            self.unseen.insert(event.pid, true);
        }
        if let Some(inside) = path.strip_prefix("/srv/app/")
            && !flags.contains("O_DIRECTORY")
            && DENIED_FILES
                .iter()
                .any(|denied| inside == *denied || inside.starts_with(&format!("{denied}/")))
        {
            // Git reads whole files to see whether they changed; whether it shows them is
            // looked for in what the script wrote.
            if program != "git" {
                self.deny(event.pid, Effect::Read(format!("{path} ({program})")));
            }
        }
        if !is_own(&path) && !reads_by_itself(&program, &path) {
            self.shown.effects.push(Effect::Read(path));
        }
    }

    /// A change of the disk at a path.
    fn change(&mut self, event: &Event, path: &str, worked: bool) {
        self.shown.changed |= worked;
        let git_index = self.program(event.pid) == "git"
            && (path.ends_with("/.git/index.lock") || path.ends_with("/.git/index"));
        // What git remembers of the times of files, it writes down when it has looked at them.
        if git_index || path == "/tmp" || path.starts_with("/tmp/") {
            return;
        }
        self.shown.effects.push(Effect::Write(path.to_owned()));
    }

    fn write(&mut self, event: &Event) {
        let at = event.args.iter().position(|arg| arg.starts_with('"'));
        let path = match at {
            Some(at) => event.path(at).unwrap_or_default(),
            // Calls on a descriptor: the path stands behind it.
            None => {
                let first = event.args.first().map_or("", String::as_str);
                let inner = first.split_once('<').and_then(|(_, rest)| rest.rsplit_once('>'));
                inner.map_or(first, |(inner, _)| inner).to_owned()
            }
        };
        if is_no_file(&path) || path.starts_with("/dev/") {
            return;
        }
        let worked = event.worked();
        self.change(event, &path, worked);
    }

    fn network(&mut self, event: &Event) {
        let all = event.args.join(", ");
        // Asking the kernel for a list of its own sockets or routes reaches nobody.
        if event.call != "listen" && all.contains("NLM_F_DUMP") {
            return;
        }
        let own_socket = ["nscd", "/run/systemd/userdb"].iter().any(|name| all.contains(name));
        if event.call == "listen"
            || all.contains("AF_INET")
            || (all.contains("sun_path") && !own_socket)
        {
            self.shown.effects.push(Effect::Network(all));
        }
    }

    fn signal(&mut self, event: &Event) {
        let number = event.args.first().map_or("", String::as_str);
        let target: i64 = number.split('<').next().unwrap_or("").parse().unwrap_or(0);
        let none = event.args.last().is_some_and(|signal| signal == "0");
        if none || target == i64::from(event.pid) || self.program(event.pid) == "timeout" {
            return;
        }
        self.shown.effects.push(Effect::Signal(event.args.join(", ")));
    }
}

/// The words after the first of an argument list as `strace` writes it.
fn words(list: &str) -> Vec<String> {
    let inner = list.trim_start_matches('[').trim_end_matches(']');
    let mut words = Vec::new();
    let mut rest = inner;
    while let Some(start) = rest.find('"') {
        let text = &rest[start + 1..];
        let mut escaped = false;
        let end = text.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some(end) = end else { break };
        words.push(text[..end].replace("\\\"", "\""));
        rest = &text[end + 1..];
    }
    words.into_iter().skip(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::parse;

    const BEGIN: &str =
        "5 execve(\"/usr/bin/bash\", [\"bash\", \"-c\", \"x\"], 0x1 /* 3 vars */) = 0\n";

    fn effects(trace: &str) -> Vec<String> {
        of(&parse(&format!("{BEGIN}{trace}")), "").effects.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn reading_inside_and_what_the_system_reads_is_no_effect() {
        let trace = "6 execve(\"/usr/bin/cat\", [\"cat\", \"README.md\"], 0x1) = 0\n\
            6 openat(AT_FDCWD</srv/app>, \"/etc/ld.so.cache\", O_RDONLY|O_CLOEXEC) = 3</etc/ld.so.cache>\n\
            6 openat(AT_FDCWD</srv/app>, \"README.md\", O_RDONLY) = 3</srv/app/README.md>\n";
        assert!(effects(trace).is_empty());
    }

    #[test]
    fn a_link_that_leads_out_is_read_where_it_leads() {
        let trace =
            "5 openat(AT_FDCWD</srv/app>, \"outside/key\", O_RDONLY) = 3</srv/secret/key>\n";
        assert_eq!(effects(trace), ["reads /srv/secret/key"]);
    }

    #[test]
    fn attempts_to_write_count() {
        let trace = "5 openat(AT_FDCWD</srv/app>, \"x\", O_WRONLY|O_CREAT, 0666) = -1 EACCES (Permission denied)\n\
            5 unlinkat(AT_FDCWD</srv/app>, \"README.md\", 0) = -1 ENOENT (No such file)\n\
            5 openat(AT_FDCWD</srv/app>, \"/dev/null\", O_WRONLY|O_CREAT, 0666) = 3</dev/null>\n";
        assert_eq!(effects(trace), ["writes /srv/app/README.md", "writes /srv/app/x"]);
    }

    #[test]
    fn unknown_programs_the_network_and_signals_are_effects() {
        let trace = "6 execve(\"./tool\", [\"./tool\"], 0x1) = 0\n\
            7 connect(3<socket:[9]>, {sa_family=AF_INET, sin_port=htons(9)}, 16) = -1 ENETUNREACH (x)\n\
            7 kill(1, SIGKILL) = 0\n\
            7 kill(7, SIGKILL) = 0\n";
        let effects = effects(trace);
        assert_eq!(effects.len(), 3, "{effects:?}");
        assert_eq!(effects[0], "runs ./tool");
    }

    #[test]
    fn denied_programs_are_told_from_those_that_other_code_runs() {
        let direct = "6 execve(\"/usr/bin/rm\", [\"rm\", \"x\"], 0x1) = 0\n";
        let shown = of(&parse(&format!("{BEGIN}{direct}")), "");
        assert_eq!((shown.denied.len(), shown.denied_within.len()), (1, 0));
        let within = "5 vfork() = 6\n\
            6 execve(\"/usr/bin/python3\", [\"python3\", \"x.py\"], 0x1) = 0\n\
            6 vfork() = 7\n\
            7 execve(\"/usr/bin/rm\", [\"rm\", \"x\"], 0x1) = 0\n";
        let shown = of(&parse(&format!("{BEGIN}{within}")), "");
        assert_eq!((shown.denied.len(), shown.denied_within.len()), (0, 1));
    }

    #[test]
    fn denied_file_that_is_opened_shows() {
        let trace = "5 openat(AT_FDCWD</srv/app>, \".env\", O_RDONLY) = 3</srv/app/.env>\n";
        let shown = of(&parse(&format!("{BEGIN}{trace}")), "");
        assert_eq!(shown.denied, [Effect::Read("/srv/app/.env (bash)".to_owned())]);
        assert!(shown.effects.is_empty());
        let git = "5 execve(\"/usr/bin/git\", [\"git\", \"status\"], 0x1) = 0\n".to_owned() + trace;
        assert!(of(&parse(&format!("{BEGIN}{git}")), "clean").denied.is_empty());
        assert_eq!(
            of(&parse(&format!("{BEGIN}{git}")), "+TOKEN=in-the-denied-env").denied.len(),
            1
        );
    }
}
