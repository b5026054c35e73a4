//! Reads what `strace` wrote: one event for each system call that it was told to watch.

/// The system calls that are watched.
pub(crate) const WATCHED: &str = "clone,clone3,fork,vfork,execve,execveat,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat,rmdir,mknod,mknodat,chmod,fchmod,fchmodat,?fchmodat2,chown,fchown,fchownat,lchown,truncate,ftruncate,utime,utimes,utimensat,futimesat,setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr,connect,listen,sendto,sendmsg,mount,umount2,ptrace,kill,tkill,tgkill";

/// One call of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The process.
    pub(crate) pid: u32,
    /// The name of the call.
    pub(crate) call: String,
    /// Its arguments as written.
    pub(crate) args: Vec<String>,
    /// What it returned as written: a number, a descriptor with its path, or an error.
    pub(crate) result: String,
}

impl Event {
    /// Whether the call did what was asked of it.
    pub(crate) fn worked(&self) -> bool {
        !self.result.starts_with('-') && !self.result.starts_with('?')
    }

    /// The path behind the descriptor that was returned.
    pub(crate) fn opened(&self) -> Option<String> {
        angled(&self.result)
    }

    /// Argument `at` as text, if it was text.
    pub(crate) fn text(&self, at: usize) -> Option<String> {
        let arg = self.args.get(at)?.trim_end_matches("...");
        let inner = arg.strip_prefix('"')?.strip_suffix('"')?;
        Some(unescape(inner))
    }

    /// The path of argument `at`, below the folder of the descriptor before it where there is
    /// one and it is relative.
    pub(crate) fn path(&self, at: usize) -> Option<String> {
        let text = self.text(at)?;
        let folder = at.checked_sub(1).and_then(|before| angled(self.args.get(before)?));
        match folder {
            Some(folder) if !text.starts_with('/') => Some(format!("{folder}/{text}")),
            _ => Some(text),
        }
    }
}

/// All events of a trace, in the order in which the calls were made. Lines that are no system
/// calls (signals, ends of processes) are left out.
pub(crate) fn parse(trace: &str) -> Vec<Event> {
    let mut begun: Vec<(u32, String)> = Vec::new();
    let mut events = Vec::new();
    for line in trace.lines() {
        let Some((pid, rest)) = line.trim_start().split_once(' ') else { continue };
        let Ok(pid) = pid.parse::<u32>() else { continue };
        let rest = rest.trim_start();
        if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            begun.push((pid, start.to_owned()));
            continue;
        }
        let whole = match rest.strip_prefix("<... ") {
            Some(resumed) => {
                let Some(at) = begun.iter().position(|(owner, _)| *owner == pid) else { continue };
                let (_, start) = begun.remove(at);
                let end = resumed.split_once(" resumed>").map_or("", |(_, end)| end);
                format!("{start}{end}")
            }
            None => rest.to_owned(),
        };
        events.extend(event(pid, &whole));
    }
    // What was begun and never came back counts as done.
    for (pid, start) in begun {
        events.extend(event(pid, &format!("{start}) = 0")));
    }
    events
}

fn event(pid: u32, line: &str) -> Option<Event> {
    let (call, rest) = line.split_once('(')?;
    if call.is_empty() || !call.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let (args, result) = rest.rsplit_once(" = ")?;
    let args = args.trim_end().strip_suffix(')')?;
    Some(Event { pid, call: call.to_owned(), args: split(args), result: result.to_owned() })
}

/// Splits at the commas between arguments.
fn split(args: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let (mut deep, mut quoted, mut escaped) = (0_usize, false, false);
    for c in args.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' | '{' | '(' | '<' if !quoted => deep += 1,
            ']' | '}' | ')' | '>' if !quoted => deep = deep.saturating_sub(1),
            ',' if !quoted && deep == 0 => {
                parts.push(part.trim().to_owned());
                part.clear();
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part.trim().to_owned());
    parts
}

/// What stands in angles behind a descriptor: `3</srv/app/x>`.
fn angled(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('<')?;
    let (inner, _) = rest.rsplit_once('>')?;
    Some(unescape(inner.trim_end_matches("(deleted)").trim_end()))
}

/// Undoes the escapes of `strace`; bytes that are no text become a replacement character.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
        if digits > 0 {
            let value =
                rest[..digits].iter().fold(0_u32, |value, b| value * 8 + u32::from(b - b'0'));
            bytes.push(u8::try_from(value).unwrap_or(b'?'));
            rest = &rest[digits..];
            continue;
        }
        let Some((code, after)) = rest.split_first() else { break };
        rest = after;
        bytes.push(match code {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'v' => 11,
            b'f' => 12,
            other => *other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opened_path_comes_from_the_descriptor() {
        let line = r#"7 openat(AT_FDCWD</srv/app>, "outside/key", O_RDONLY|O_CLOEXEC) = 3</srv/secret/key>"#;
        let event = &parse(line)[0];
        assert_eq!(event.path(1).unwrap(), "/srv/app/outside/key");
        assert_eq!(event.opened().unwrap(), "/srv/secret/key");
        assert!(event.worked());
    }

    #[test]
    fn calls_that_were_interrupted_are_put_together() {
        let trace = "7  unlinkat(AT_FDCWD</srv/app>, \"x\", 0 <unfinished ...>\n\
                     8  +++ exited with 0 +++\n\
                     7  <... unlinkat resumed>) = -1 ENOENT (No such file or directory)\n";
        let events = parse(trace);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].args, ["AT_FDCWD</srv/app>", "\"x\"", "0"]);
        assert!(!events[0].worked());
    }

    #[test]
    fn what_never_came_back_counts_as_done() {
        let events =
            parse("7  connect(3, {sa_family=AF_INET, sin_port=htons(9)}, 16 <unfinished ...>");
        assert_eq!(events[0].call, "connect");
        assert!(events[0].worked());
    }

    #[test]
    fn quotes_and_escapes_are_undone() {
        let line = r#"7 execve("/bin/a, b\"\303\251\n", ["a", "b"], 0x1 /* 3 vars */) = 0"#;
        let event = &parse(line)[0];
        assert_eq!(event.text(0).unwrap(), "/bin/a, b\"é\n");
        assert_eq!(event.args[1], r#"["a", "b"]"#);
    }
}
