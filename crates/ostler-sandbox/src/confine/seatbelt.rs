//! The profile of the macOS sandbox: a pure function of the policy. Its vendor calls the
//! program deprecated; there is no other way for a program that is not an app.

use std::path::Path;

use super::{
    policy::{Network, Policy},
    protected::Protected,
};

/// The profile, in the language of `sandbox-exec -p`. `proxy` is the port of the proxy on
/// this machine.
pub(crate) fn profile(policy: &Policy, protected: &[Protected], proxy: Option<u16>) -> String {
    let mut out = String::from(
        "(version 1)\n(deny default)\n(allow process*)\n(allow signal (target same-sandbox))\n\
         (allow sysctl-read)\n(allow mach-lookup)\n(allow ipc-posix-shm*)\n(allow file-read*)\n",
    );
    if policy.files_confined {
        for device in ["/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper"] {
            rule(&mut out, "allow file-write*", "literal", Path::new(device));
        }
        for path in policy.write.iter().chain(&policy.temp) {
            rule(&mut out, "allow file-write*", "subpath", path.as_path());
        }
        // Later rules win: what is denied comes behind.
        for path in &policy.deny_write {
            rule(&mut out, "deny file-write*", "subpath", path.as_path());
        }
        for name in protected {
            rule(&mut out, "deny file-write*", "subpath", &name.path);
        }
        for path in &policy.deny_read {
            rule(&mut out, "deny file-read*", "subpath", path.as_path());
        }
        for path in &policy.allow_read {
            rule(&mut out, "allow file-read*", "subpath", path.as_path());
        }
    } else {
        out.push_str("(allow file-write*)\n");
    }
    network(&mut out, policy, proxy);
    out
}

fn network(out: &mut String, policy: &Policy, proxy: Option<u16>) {
    match policy.network {
        Network::Open => out.push_str("(allow network*)\n"),
        Network::Closed => {}
        Network::Proxied => {
            if let Some(port) = proxy {
                let rule = format!("(allow network-outbound (remote ip \"localhost:{port}\"))\n");
                out.push_str(&rule);
            }
        }
    }
    if policy.local_binding {
        out.push_str("(allow network-bind (local ip \"localhost:*\"))\n");
        out.push_str("(allow network-inbound (local ip \"localhost:*\"))\n");
        out.push_str("(allow network-outbound (remote ip \"localhost:*\"))\n");
    }
    if policy.all_unix_sockets {
        out.push_str("(allow network-outbound (remote unix-socket))\n");
    }
    for socket in &policy.unix_sockets {
        rule(out, "allow network-outbound", "remote unix-socket (path-literal", socket.as_path());
    }
}

fn rule(out: &mut String, verb: &str, kind: &str, path: &Path) {
    let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let close = if kind.contains('(') { "))" } else { ")" };
    out.push_str(&format!("({verb} ({kind} \"{text}\"{close})\n"));
}

#[cfg(test)]
mod tests {
    use ostler_stdx::AbsPath;

    use super::*;
    use crate::confine::protected::Kind;

    #[test]
    fn the_whole_of_it() {
        let abs = |path: &str| AbsPath::new(path).unwrap();
        let policy = Policy {
            write: vec![abs("/p \"q\"")],
            deny_write: vec![abs("/p/no")],
            deny_read: vec![abs("/h/.ssh")],
            allow_read: vec![abs("/h/.ssh/config")],
            temp: Some(abs("/own/tmp")),
            files_confined: true,
            network: Network::Proxied,
            unix_sockets: vec![abs("/s")],
            local_binding: true,
            ..Policy::default()
        };
        let protected = [Protected { path: "/p/.git/hooks".into(), kind: Kind::AbsentFolder }];
        let expected = r#"(version 1)
(deny default)
(allow process*)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup)
(allow ipc-posix-shm*)
(allow file-read*)
(allow file-write* (literal "/dev/null"))
(allow file-write* (literal "/dev/zero"))
(allow file-write* (literal "/dev/tty"))
(allow file-write* (literal "/dev/dtracehelper"))
(allow file-write* (subpath "/p \"q\""))
(allow file-write* (subpath "/own/tmp"))
(deny file-write* (subpath "/p/no"))
(deny file-write* (subpath "/p/.git/hooks"))
(deny file-read* (subpath "/h/.ssh"))
(allow file-read* (subpath "/h/.ssh/config"))
(allow network-outbound (remote ip "localhost:7"))
(allow network-bind (local ip "localhost:*"))
(allow network-inbound (local ip "localhost:*"))
(allow network-outbound (remote ip "localhost:*"))
(allow network-outbound (remote unix-socket (path-literal "/s")))
"#;
        assert_eq!(profile(&policy, &protected, Some(7)), expected);
    }
}
