//! Attacks from inside, at every level that this machine has. What a level does not claim
//! is held to that, too: nothing is skipped in silence.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
};

use ostler_sandbox::{
    Command, Decide, Level, Network, Policy, ProbeOptions, Sandbox, SandboxOptions, Supervisor,
    child_env,
};
use ostler_stdx::{AbsPath, Cancel};
use tempfile::TempDir;

use crate::harness::{exe, supervisor, tests};

tests![
    the_project_is_written_and_nothing_else,
    links_do_not_lead_out,
    denied_files_are_not_read,
    names_that_other_programs_obey_stay_as_they_are,
    absent_names_leave_no_trace_and_are_not_made,
    a_repository_cannot_be_moved_aside,
    the_network_is_closed,
    sockets_of_the_system_are_refused,
    other_processes_are_not_looked_into,
    variables_are_hidden_and_masked,
    only_chosen_hosts_are_reached,
    exit_codes_and_output_come_through,
    the_tree_ends_with_its_command,
    a_machine_without_any_means_is_told,
    background_and_piped_commands_are_confined_too,
];

struct Cell {
    dir: TempDir,
    supervisor: Supervisor,
    sandbox: Sandbox,
}

impl Cell {
    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn names(&self) -> bool {
        matches!(self.sandbox.level(), Level::Bubblewrap { .. })
    }

    fn command(&self, script: &str) -> Command {
        let vars =
            [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("SECRET_CODE", "s3cret"), ("OTHER", "o")];
        let vars = vars.map(|(name, value)| (name.into(), value.into()));
        let pass = ["SECRET_CODE"];
        let none: [&str; 0] = [];
        Command::new("bash", AbsPath::new(self.path("project")).unwrap())
            .args(["-c", script])
            .env(child_env(vars, &none, &pass))
    }

    /// Exit code, and both streams.
    async fn run(&self, script: &str) -> (Option<i32>, String) {
        let (command, _traces) = self.sandbox.confine(self.command(script));
        let exit = self.supervisor.run(&command, &Cancel::new(), |_, _| {}).await.unwrap();
        (exit.code, exit.combined.to_text())
    }
}

/// A cell at each level that works here; at least one must.
async fn cells(change: impl Fn(&mut Policy, &Path)) -> Vec<Cell> {
    cells_with(change, None).await
}

async fn cells_with(change: impl Fn(&mut Policy, &Path), decide: Option<Decide>) -> Vec<Cell> {
    let mut cells = Vec::new();
    for without_bwrap in [false, true] {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["project", "outside", "temp"] {
            fs::create_dir(base.join(folder)).unwrap();
        }
        fs::write(base.join("outside/secret"), "s3cret").unwrap();
        let abs = |name: &str| AbsPath::new(base.join(name)).unwrap();
        let mut policy = Policy {
            write: vec![abs("project")],
            project: Some(abs("project")),
            temp: Some(abs("temp")),
            files_confined: true,
            ..Policy::default()
        };
        change(&mut policy, &base);
        let supervisor = supervisor();
        let probe = ProbeOptions { exe: exe(), without_bwrap, ..ProbeOptions::default() };
        let options = SandboxOptions { policy, probe, decide: decide.clone() };
        match Sandbox::start(&supervisor, options).await {
            Ok(sandbox) => cells.push(Cell { dir, supervisor, sandbox }),
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
    assert!(!cells.is_empty(), "this machine has neither bubblewrap nor Landlock");
    cells
}

async fn the_project_is_written_and_nothing_else() {
    for cell in cells(|_, _| {}).await {
        let level = cell.sandbox.level().clone();
        let script = "echo in > in && mkdir -p a/b && echo x > a/b/c && echo t > \"$TMPDIR/t\" && cat /etc/passwd > copy && echo fine";
        let (code, text) = cell.run(script).await;
        assert_eq!((code, text.as_str()), (Some(0), "fine\n"), "{level}");
        assert_eq!(fs::read_to_string(cell.path("project/a/b/c")).unwrap(), "x\n");
        for attack in [
            "echo x > ../outside/new",
            "echo x >> ../outside/secret",
            "rm ../outside/secret",
            "mv ../outside ../gone",
            "chmod 777 ../outside/secret",
            "ln ../outside/secret hard && echo x > hard",
            "mkdir ../more",
            "echo x > /usr/x",
            "touch ~/x",
            "truncate -s 0 ../outside/secret",
        ] {
            let (code, text) = cell.run(attack).await;
            // Landlock knows no rule for modes, and the claim says so.
            let is_claimed = cell.names() || !attack.starts_with("chmod");
            assert!(!is_claimed || code != Some(0), "{level}: {attack}: {text}");
        }
        assert_eq!(fs::read_to_string(cell.path("outside/secret")).unwrap(), "s3cret");
        assert!(!cell.path("more").exists() && !cell.path("outside/new").exists());
    }
}

async fn links_do_not_lead_out() {
    for cell in cells(|_, _| {}).await {
        symlink(cell.path("outside"), cell.path("project/link")).unwrap();
        let (code, _) = cell.run("echo x > link/secret").await;
        assert_ne!(code, Some(0));
        let (code, _) = cell.run("ln -s ../outside/secret own && echo x > own").await;
        assert_ne!(code, Some(0));
        let (code, _) = cell.run("echo x > /proc/self/root/$PWD/../outside/secret").await;
        assert_ne!(code, Some(0));
        assert_eq!(fs::read_to_string(cell.path("outside/secret")).unwrap(), "s3cret");
    }
}

async fn denied_files_are_not_read() {
    let deny = |policy: &mut Policy, base: &Path| {
        fs::create_dir(base.join("outside/keys")).unwrap();
        fs::write(base.join("outside/keys/a"), "s3cret").unwrap();
        fs::write(base.join("outside/keys/open"), "shown").unwrap();
        fs::write(base.join("project/.env"), "s3cret").unwrap();
        let abs = |name: &str| AbsPath::new(base.join(name)).unwrap();
        policy.deny_read = vec![abs("outside/keys"), abs("outside/secret"), abs("project/.env")];
        policy.allow_read = vec![abs("outside/keys/open")];
    };
    for cell in cells(deny).await {
        symlink(cell.path("outside/secret"), cell.path("outside/link")).unwrap();
        for attack in [
            "cat ../outside/secret",
            "cat ../outside/keys/a",
            "cat .env",
            "cat ../outside/link",
            "cp ../outside/secret got && cat got",
            "cat /proc/self/root/$PWD/../outside/secret",
            "cat ../outside/keys/*",
            "exec 3< ../outside/secret; cat <&3",
            "tail -c +0 ../outside/secret",
        ] {
            let (_, text) = cell.run(attack).await;
            assert!(!text.contains("s3cret"), "{}: {attack}: {text}", cell.sandbox.level());
        }
        let (_, text) = cell.run("cat ../outside/keys/open").await;
        assert_eq!(text, "shown", "{}", cell.sandbox.level());
    }
}

fn repository(base: &Path) {
    for folder in [".git/hooks", ".git/objects", ".claude"] {
        fs::create_dir_all(base.join("project").join(folder)).unwrap();
    }
    fs::write(base.join("project/.git/config"), "[core]\n").unwrap();
    fs::write(base.join("project/.claude/settings.json"), "{}").unwrap();
}

async fn names_that_other_programs_obey_stay_as_they_are() {
    for cell in cells(|_, base| repository(base)).await {
        let claim = cell.sandbox.claims();
        let claim = claim.iter().find(|claim| claim.what == "protected names read-only").unwrap();
        assert_eq!(claim.holds, cell.names());
        let (code, text) = cell.run("echo x > .git/objects/new && echo y > src && echo fine").await;
        assert_eq!((code, text.as_str()), (Some(0), "fine\n"));
        if !claim.holds {
            // Landlock cannot; the session says so, and asks instead.
            assert!(!claim.note.is_empty());
            continue;
        }
        for attack in [
            "echo x > .git/hooks/pre-commit",
            "echo x >> .git/config",
            "rm .git/config",
            "mv .git/hooks .git/h2",
            "echo x > .claude/settings.json",
            "mv .claude gone",
            "rm -r .claude",
            "cp /bin/true .git/hooks/x",
        ] {
            let (code, text) = cell.run(attack).await;
            assert_ne!(code, Some(0), "{attack}: {text}");
        }
        assert_eq!(fs::read_to_string(cell.path("project/.git/config")).unwrap(), "[core]\n");
        assert_eq!(fs::read_dir(cell.path("project/.git/hooks")).unwrap().count(), 0);
    }
}

async fn absent_names_leave_no_trace_and_are_not_made() {
    for cell in cells(|_, _| {}).await.into_iter().filter(Cell::names) {
        for attack in [
            "mkdir -p .claude && echo x > .claude/settings.json",
            "echo x > .mcp.json",
            "mkdir .ostler && echo x > .ostler/settings.json",
            "echo x > .envrc",
            "mkdir .vscode; echo x > .vscode/tasks.json",
        ] {
            let (code, text) = cell.run(attack).await;
            assert_ne!(code, Some(0), "{attack}: {text}");
        }
        let left: Vec<_> = fs::read_dir(cell.path("project")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        // Two at once: the first that ends takes nothing away from the other.
        let (first, traces) = cell.sandbox.confine(cell.command("true"));
        let (second, _held) = cell.sandbox.confine(cell.command("echo x > .mcp.json"));
        cell.supervisor.run(&first, &Cancel::new(), |_, _| {}).await.unwrap();
        drop(traces);
        let exit = cell.supervisor.run(&second, &Cancel::new(), |_, _| {}).await.unwrap();
        assert_ne!(exit.code, Some(0));
    }
}

async fn a_repository_cannot_be_moved_aside() {
    for cell in cells(|_, base| repository(base)).await.into_iter().filter(Cell::names) {
        let (code, text) =
            cell.run("mv .git g && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit").await;
        assert_ne!(code, Some(0), "{text}");
        assert!(!cell.path("project/.git/hooks/pre-commit").exists());
        let (code, _) = cell.run("cd .. && mv project p2").await;
        assert_ne!(code, Some(0));
    }
}

async fn the_network_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    for cell in cells(|_, _| {}).await {
        for attack in [
            format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo through"),
            format!("echo x > /dev/udp/127.0.0.1/{port} && echo through"),
        ] {
            let (_, text) = cell.run(&attack).await;
            // A name space of its own has a loopback of its own, where UDP goes nowhere.
            let goes_nowhere = cell.names() && attack.contains("udp");
            assert!(
                goes_nowhere || !text.contains("through"),
                "{}: {attack}: {text}",
                cell.sandbox.level()
            );
        }
        assert!(listener.accept().is_err(), "{}: nobody came", cell.sandbox.level());
    }
}

async fn sockets_of_the_system_are_refused() {
    for cell in cells(|_, _| {}).await {
        let socket = cell.path("project/s");
        let listener = UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let script = "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"s\")' || perl -e 'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or exit 1; connect(S, sockaddr_un(\"s\")) or exit 1'";
        let (code, text) = cell.run(script).await;
        assert_ne!(code, Some(0), "{}: {text}", cell.sandbox.level());
        assert!(listener.accept().is_err());
    }
}

async fn other_processes_are_not_looked_into() {
    let own = std::process::id();
    for cell in cells(|_, _| {}).await {
        let script = format!(
            "cat /proc/{own}/environ /proc/{own}/maps /proc/{own}/mem 2>&1; kill -0 {own} && echo signalled"
        );
        let (_, text) = cell.run(&script).await;
        let leaks =
            text.contains("PATH=") || text.contains("[stack]") || text.contains("signalled");
        let abi = match cell.sandbox.level() {
            Level::Landlock { abi } => *abi,
            _ => u32::MAX,
        };
        // Signals are refused from the sixth version on.
        assert!(!leaks || (abi < 6 && !text.contains("PATH=")), "{}: {text}", cell.sandbox.level());
    }
}

async fn variables_are_hidden_and_masked() {
    let hide = |policy: &mut Policy, _: &Path| {
        policy.hidden_vars.insert("SECRET_CODE".to_owned());
        policy.masked_vars.insert("OTHER".to_owned(), "masked".to_owned());
    };
    for cell in cells(hide).await {
        let (_, text) = cell.run("echo \"[$SECRET_CODE$OTHER]\"; cat /proc/$$/environ | tr '\\0' '\\n' | grep -c s3cret").await;
        assert_eq!(text, "[masked]\n0\n");
    }
}

async fn only_chosen_hosts_are_reached() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let serving = std::thread::spawn(move || {
        for stream in server.incoming().take(4) {
            let mut stream = stream.unwrap();
            let mut head = [0; 1024];
            let len = stream.read(&mut head).unwrap();
            if len == 0 {
                return;
            }
            stream
                .write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
                )
                .unwrap();
        }
    });
    let decide = Decide::new(|host, _| host == "localhost" || host == "127.0.0.1");
    let local = |policy: &mut Policy, _: &Path| {
        policy.network = Network::Proxied;
        policy.local_binding = true;
    };
    for cell in cells_with(local, Some(decide.clone())).await {
        let level = cell.sandbox.level().clone();
        let get = |host: &str| {
            format!(
                "p=${{HTTP_PROXY##*:}}; exec 3<>/dev/tcp/127.0.0.1/$p; \
                 printf 'GET http://{host}:{port}/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; cat <&3"
            )
        };
        let (_, text) = cell.run(&get("localhost")).await;
        assert!(text.ends_with("hello"), "{level}: {text}");
        let (_, text) = cell.run(&get("example.invalid")).await;
        assert!(text.contains("403") && text.contains("allowedDomains"), "{level}: {text}");
        let tunnel = format!(
            "p=${{HTTP_PROXY##*:}}; exec 3<>/dev/tcp/127.0.0.1/$p; \
             printf 'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n' >&3; read -r l <&3; echo \"$l\"; read -r l <&3; \
             printf 'GET / HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"
        );
        let (_, text) = cell.run(&tunnel).await;
        assert!(text.contains("200 Connection") && text.ends_with("hello"), "{level}: {text}");
    }
    // Without leave for this machine its addresses stay closed, whatever the name.
    let closed = |policy: &mut Policy, _: &Path| policy.network = Network::Proxied;
    for cell in cells_with(closed, Some(decide)).await {
        let (_, text) = cell
            .run(&format!(
                "p=${{HTTP_PROXY##*:}}; exec 3<>/dev/tcp/127.0.0.1/$p; \
             printf 'CONNECT localhost:{port} HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"
            ))
            .await;
        assert!(text.contains("403") && text.contains("private network"), "{text}");
    }
    drop(std::net::TcpStream::connect(("127.0.0.1", port)));
    drop(serving);
}

async fn exit_codes_and_output_come_through() {
    for cell in cells(|_, _| {}).await {
        assert_eq!(
            cell.run("echo out; echo err >&2; exit 7").await,
            (Some(7), "out\nerr\n".to_owned())
        );
        let (command, _traces) = cell.sandbox.confine(cell.command("x"));
        let missing = Command::new("no-such-program", AbsPath::new(cell.path("project")).unwrap());
        drop(command);
        let (command, _traces) = cell.sandbox.confine(missing);
        let exit = cell.supervisor.run(&command, &Cancel::new(), |_, _| {}).await.unwrap();
        assert_eq!(exit.code, Some(126));
        assert!(exit.stderr.to_text().contains("no-such-program"), "{}", exit.stderr.to_text());
    }
}

async fn the_tree_ends_with_its_command() {
    for cell in cells(|_, _| {}).await {
        let mark = crate::harness::Mark::new();
        let command =
            cell.command("trap '' TERM; (trap '' TERM; setsid sleep 1000) & echo up; exit 0");
        let mut env = mark.env();
        env.insert("PATH".into(), "/usr/bin:/bin".into());
        let (command, _traces) = cell.sandbox.confine(command.env(env));
        let exit = cell.supervisor.run(&command, &Cancel::new(), |_, _| {}).await.unwrap();
        assert_eq!(exit.stdout.to_text(), "up\n");
        mark.assert_gone();
    }
}

async fn a_machine_without_any_means_is_told() {
    let probe = ProbeOptions {
        exe: "/bin/false".into(),
        bwrap: Some("/bin/false".into()),
        ..ProbeOptions::default()
    };
    let options = SandboxOptions { policy: Policy::default(), probe, decide: None };
    let why = Sandbox::start(&supervisor(), options).await.unwrap_err().to_string();
    assert!(why.contains("it failed without a word") && why.contains("no Landlock"), "{why}");
}

async fn background_and_piped_commands_are_confined_too() {
    for cell in cells(|_, _| {}).await {
        let (command, _traces) = cell.sandbox.confine(cell.command("echo x > ../outside/new"));
        let file = AbsPath::new(cell.path("out")).unwrap();
        let background = cell.supervisor.spawn_background(&command, &file).await.unwrap();
        assert_ne!(background.wait().await.code, Some(0));
        let piped = cell.supervisor.spawn_piped(&command).await.unwrap();
        assert_ne!(piped.wait().await.code, Some(0));
        assert!(!cell.path("outside/new").exists());
    }
}
