//! Commands in the sandbox: what rules with wildcards deny is hidden from each of them, as
//! it lies on the disk at that moment.

use std::sync::Arc;

use ostler_sandbox::{Folders, LazySandbox, ProbeOptions, SandboxOptions, SandboxSettings};
use serde_json::json;

use crate::{Shelter, tests::bench::Bench};

#[tokio::test]
async fn what_a_wildcard_denies_is_hidden_from_each_command() {
    let mut level = None;
    let bench = Bench::with(|hands| {
        let home = hands.home.clone().unwrap();
        let base = home.parent().unwrap();
        let project = base.join("project");
        let folders = Folders {
            project: project.clone(),
            extra: Vec::new(),
            home,
            temp: base.join("own/tmp"),
            own: vec![base.join("own")],
            allow_write: Vec::new(),
            deny_write: Vec::new(),
            deny_read: Vec::new(),
        };
        let mut settings = SandboxSettings { enabled: true, ..SandboxSettings::default() };
        settings.filesystem.deny_read = vec!["secret?".to_owned()];
        let probe = ProbeOptions {
            exe: std::env::current_exe().unwrap(),
            bwrap: None,
            weaker: false,
            without_bwrap: false,
        };
        let options = SandboxOptions { policy: settings.policy(&folders), probe, decide: None };
        let sandbox = Arc::new(LazySandbox::new(hands.supervisor.clone(), options));
        let mut globs = settings.denied_globs(&folders);
        globs.push(format!("{project}/**/.env*"));
        hands.shelter = Shelter::new(&settings, sandbox, &globs);
        level = hands.shelter.clone();
    });
    if level.unwrap().level().await.is_err() {
        // Where nothing can be confined, nothing is hidden, and the session says so.
        return;
    }
    let level = bench.text("Bash", json!({"command": "echo $OSTLER_SANDBOX"})).await;
    assert!(["bubblewrap", "landlock", "seatbelt"].contains(&level.as_str()), "{level}");
    bench.file("open", "open");
    for name in [".env", "sub/.env.local", "sub/deep/.env", "secret1"] {
        bench.file(name, "hidden");
        let shown = bench.text("Bash", json!({"command": format!("cat open {name} 2>&1")})).await;
        assert!(shown.contains("open") && !shown.contains("hidden"), "{name}: {shown}");
        assert_eq!(bench.bytes(name), b"hidden");
    }
    bench.file("secrets", "of another name");
    let all = "cat $(find . -type f) 2>/dev/null";
    let shown = bench.text("Bash", json!({ "command": all })).await;
    assert!(!shown.contains("hidden") && shown.contains("open"), "{shown}");
}
