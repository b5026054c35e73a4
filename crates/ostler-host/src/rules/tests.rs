//! Updates of a host: each kind to each place, what is then in the file and what is in force
//! (agent-sdk.md 5.2).

use ostler_test::TempHome;
use serde_json::{Value, json};

use super::*;
use crate::{Environment, HostOptions, settings};

struct Stand {
    home: TempHome,
    rules: SessionRules,
}

/// Files of the destinations, below the home and the project.
const FILES: [(&str, &str); 3] = [
    ("userSettings", "settings.json"),
    ("projectSettings", ".ostler/settings.json"),
    ("localSettings", ".ostler/settings.local.json"),
];

impl Stand {
    fn new(files: &str) -> Self {
        let home = TempHome::with_project(files).unwrap();
        let vars =
            home.env().into_iter().map(|(name, value)| (name.into(), value.into_os_string()));
        let env = Environment::new(vars, home.project());
        let host = Host::open(HostOptions::new(env, std::env::current_exe().unwrap()));
        let spec = SessionSpec::new(host.env().cwd.clone());
        let mut loaded = settings::load(&host, &spec);
        let rules = SessionRules::new(&host, &spec, &mut loaded).unwrap();
        Self { home, rules }
    }

    fn file(&self, destination: &str) -> Option<Value> {
        let (_, name) = FILES.into_iter().find(|(of, _)| *of == destination)?;
        let root = match destination {
            "userSettings" => self.home.ostler_home(),
            _ => self.home.project(),
        };
        let text = std::fs::read_to_string(root.join(name)).ok()?;
        Some(serde_json::from_str::<Value>(&text).unwrap()["permissions"].clone())
    }

    fn apply(&self, update: Value) -> Result<Option<Mode>, RpcError> {
        self.rules.apply(&serde_json::from_value(update).unwrap())
    }

    fn in_force(&self, behavior: Behavior) -> Vec<String> {
        self.rules.with_rules(|rules| rules.of(behavior).map(|rule| rule.text.clone()).collect())
    }

    fn dirs(&self) -> Vec<String> {
        let dirs = self.rules.extra_dirs.read().unwrap();
        dirs.iter().map(|dir| dir.to_text()).collect()
    }
}

const DESTINATIONS: [&str; 5] =
    ["userSettings", "projectSettings", "localSettings", "session", "cliArg"];

fn rule(tool: &str, content: Value) -> Value {
    json!({"toolName": tool, "ruleContent": content})
}

#[test]
fn rules_go_where_they_belong_and_count_at_once() {
    for destination in DESTINATIONS {
        for behavior in ["allow", "ask", "deny"] {
            let stand = Stand::new("");
            let exact: Behavior = serde_json::from_value(json!(behavior)).unwrap();
            let update = |kind: &str, rules: Value| {
                let update = json!({"type": kind, "rules": rules, "behavior": behavior, "destination": destination});
                stand.apply(update).unwrap();
                (stand.in_force(exact), stand.file(destination).map(|file| file[behavior].clone()))
            };
            let held = |rules: &[&str]| {
                let file = FILES.iter().any(|(of, _)| *of == destination);
                (rules.iter().map(|r| (*r).to_owned()).collect(), file.then(|| json!(rules)))
            };
            let two = json!([rule("Read", Value::Null), rule("Bash", json!("touch (a)"))]);
            let step = format!("{destination} {behavior}");
            assert_eq!(update("addRules", two), held(&["Read", "Bash(touch \\(a\\))"]), "{step}");
            let one = json!([rule("Bash", json!("touch (a)"))]);
            assert_eq!(update("removeRules", one), held(&["Read"]), "{step}");
            let other = json!([rule("Glob", Value::Null), rule("Grep", Value::Null)]);
            assert_eq!(update("replaceRules", other), held(&["Glob", "Grep"]), "{step}");
            assert_eq!(update("replaceRules", json!([])), held(&[]), "{step}");
        }
    }
}

#[test]
fn modes_and_folders_go_where_they_belong() {
    for destination in DESTINATIONS {
        let stand = Stand::new("");
        let mode = |mode: &str| {
            stand.apply(json!({"type": "setMode", "mode": mode, "destination": destination}))
        };
        assert_eq!(mode("plan").unwrap(), Some(Mode::Plan), "{destination}");
        let wanted = FILES.iter().any(|(of, _)| *of == destination).then(|| json!("plan"));
        assert_eq!(stand.file(destination).map(|file| file["defaultMode"].clone()), wanted);
        let loosens = mode("bypassPermissions");
        assert_eq!(loosens.is_err(), destination == "projectSettings", "{loosens:?}");
        assert!(mode("nonsense").is_err());
        let folders = |kind: &str| {
            let update =
                json!({"type": kind, "directories": ["/opt", "sub"], "destination": destination});
            stand.apply(update).unwrap();
            stand.file(destination).map(|file| file["additionalDirectories"].clone())
        };
        let wanted = wanted.is_some().then(|| json!(["/opt", "sub"]));
        assert_eq!(folders("addDirectories"), wanted, "{destination}");
        assert_eq!(stand.dirs().len(), 2, "{destination}");
        assert_eq!(folders("removeDirectories"), wanted.is_some().then(|| json!([])));
        assert_eq!(stand.dirs(), Vec::<String>::new(), "{destination}");
    }
}

#[test]
fn a_rule_for_a_project_that_waits_for_trust_counts_for_the_session() {
    let stand = Stand::new(
        "=== .ostler/settings.json\n{\"permissions\": {\"allow\": [\"Bash(evil:*)\"]}}\n",
    );
    let rules = json!([rule("Bash", json!("make:*"))]);
    stand
        .apply(json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "projectSettings"}))
        .unwrap();
    assert_eq!(stand.in_force(Behavior::Allow), ["Bash(make:*)"], "the other one waits");
    let file = stand.file("projectSettings").unwrap();
    assert_eq!(file["allow"], json!(["Bash(evil:*)", "Bash(make:*)"]));
}

#[test]
fn a_file_that_is_broken_is_refused_and_what_a_twin_holds_is_told() {
    let stand = Stand::new(
        "=== .ostler/settings.json\n{ broken\n=== .claude/settings.local.json\n{\"permissions\": {\"deny\": [\"Read\"]}}\n",
    );
    let update = |kind: &str, destination: &str| {
        let rules = json!([rule("Read", Value::Null)]);
        stand.apply(
            json!({"type": kind, "rules": rules, "behavior": "deny", "destination": destination}),
        )
    };
    let error = update("addRules", "projectSettings").unwrap_err();
    assert!(error.message.contains("settings.json") && error.message.contains("line"), "{error:?}");
    let error = update("removeRules", "localSettings").unwrap_err();
    assert!(error.message.contains(".claude/settings.local.json"), "{error:?}");
    assert_eq!(stand.in_force(Behavior::Deny), ["Read"], "it still holds");
}
