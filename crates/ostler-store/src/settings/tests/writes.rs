//! Writes of settings files: each kind of change, and many processes at once of which some
//! are killed.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
};

use serde_json::json;

use super::*;

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

#[test]
fn each_change_does_what_it_says_and_nothing_else() {
    let (a, b, c) = (list(&["A"]), list(&["B", "C"]), list(&["A", "X"]));
    let rows = [
        (
            SettingsChange::AddRules(Behavior::Allow, &b),
            json!({"allow": ["A", "B", "C"], "deny": ["A"]}),
        ),
        (
            SettingsChange::AddRules(Behavior::Allow, &a),
            json!({"allow": ["A", "B"], "deny": ["A"]}),
        ),
        (
            SettingsChange::AddRules(Behavior::Ask, &a),
            json!({"allow": ["A", "B"], "deny": ["A"], "ask": ["A"]}),
        ),
        (
            SettingsChange::ReplaceRules(Behavior::Allow, &c),
            json!({"allow": ["A", "X"], "deny": ["A"]}),
        ),
        (
            SettingsChange::ReplaceRules(Behavior::Deny, &[]),
            json!({"allow": ["A", "B"], "deny": []}),
        ),
        (SettingsChange::RemoveRules(Behavior::Allow, &c), json!({"allow": ["B"], "deny": ["A"]})),
        (
            SettingsChange::RemoveRules(Behavior::Ask, &c),
            json!({"allow": ["A", "B"], "deny": ["A"]}),
        ),
        (
            SettingsChange::SetMode("plan"),
            json!({"allow": ["A", "B"], "deny": ["A"], "defaultMode": "plan"}),
        ),
        (
            SettingsChange::AddDirectories(&a),
            json!({"allow": ["A", "B"], "deny": ["A"], "additionalDirectories": ["A"]}),
        ),
        (SettingsChange::RemoveDirectories(&a), json!({"allow": ["A", "B"], "deny": ["A"]})),
    ];
    let of_project = |place: &Place| {
        [
            (RuleFile::User, "ostler/settings.json"),
            (RuleFile::Project(place.project.clone()), "project/.ostler/settings.json"),
            (RuleFile::Local(place.project.clone()), "project/.ostler/settings.local.json"),
        ]
    };
    for (change, wanted) in rows {
        let place = Place::new();
        for (file, name) in of_project(&place) {
            let before =
                json!({"z": 1, "permissions": {"allow": ["A", "B"], "deny": ["A"]}, "a": [1]});
            place.write(name, &before.to_string());
            place.home.store.change_settings(&file, change).unwrap();
            let text = fs::read_to_string(place.home.dir.path().join(name)).unwrap();
            let wanted = json!({"z": 1, "permissions": wanted, "a": [1]});
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), wanted, "{change:?} {name}");
            assert!(text.find("\"z\"") < text.find("\"a\""), "unknown keys keep their order");
        }
    }
}

#[test]
fn a_file_that_is_wrong_is_refused_with_its_place_and_stays() {
    let rules = list(&["A"]);
    for (text, line) in [
        ("{\n \"permissions\": {\n", 3),
        ("[]", 1),
        ("{\"permissions\": 1}", 1),
        ("{\"permissions\": {\"allow\": {}}}", 1),
    ] {
        let place = Place::new();
        place.write("ostler/settings.json", text);
        let change = SettingsChange::AddRules(Behavior::Allow, &rules);
        let error = place.home.store.change_settings(&RuleFile::User, change).unwrap_err();
        assert!(
            matches!(error, Error::Damaged { line: at, .. } if at == line),
            "{text}: {error:?}"
        );
        let kept = fs::read_to_string(place.home.dir.path().join("ostler/settings.json")).unwrap();
        assert_eq!(kept, text);
    }
}

#[test]
fn what_the_twin_still_holds_is_told() {
    let place = Place::new();
    place.write("project/.claude/settings.json", r#"{"permissions": {"allow": ["A"]}}"#);
    let file = RuleFile::Project(place.project.clone());
    let gone = list(&["A"]);
    let change = |change| place.home.store.change_settings(&file, change).unwrap().twin;
    let twin = place.project.join(".claude/settings.json").to_path_buf();
    assert_eq!(change(SettingsChange::RemoveRules(Behavior::Allow, &gone)), Some(twin));
    assert_eq!(change(SettingsChange::RemoveRules(Behavior::Deny, &gone)), None);
    assert_eq!(change(SettingsChange::AddRules(Behavior::Allow, &list(&["B"]))), None);
}

#[test]
fn a_first_rule_of_ones_own_in_a_project_counts() {
    let place = Place::new();
    let file = RuleFile::Project(place.project.clone());
    place.home.store.add_rule(&file, Behavior::Allow, "A").unwrap();
    assert_eq!(rules(&place.settings(|_| {})), ["A"], "nothing else was there to trust");
    let place = Place::new();
    place.write("project/.mcp.json", "{}");
    let file = RuleFile::Project(place.project.clone());
    place.home.store.add_rule(&file, Behavior::Allow, "A").unwrap();
    assert_eq!(
        rules(&place.settings(|_| {})),
        Vec::<&str>::new(),
        "what was there waits, and all with it"
    );
}

/// Names the home in which this process is one of the writers.
const WRITER: &str = "OSTLER_TEST_WRITER";
/// Updates of one process.
const UPDATES: usize = 100;

/// Adds rules and says each that is stored.
fn write_rules(home: &str, name: &str) {
    let roots = crate::Roots {
        home: AbsPath::new(format!("{home}/ostler")).unwrap(),
        claude: AbsPath::new(format!("{home}/claude")).unwrap(),
    };
    let store = Store::new(roots, std::sync::Arc::new(ostler_stdx::SystemClock));
    for n in 0..UPDATES {
        let rule = format!("Bash({name} {n})");
        store.add_rule(&RuleFile::User, Behavior::Allow, &rule).unwrap();
        let mut out = std::io::stdout();
        writeln!(out, "stored {rule}").unwrap();
        out.flush().unwrap();
    }
}

#[expect(clippy::disallowed_methods, reason = "the test is its own writer")]
fn writer(home: &Path, name: usize) -> Child {
    let test = "settings::tests::writes::no_update_of_eleven_processes_is_lost";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    command.env(WRITER, format!("{} {name}", home.display()));
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test is its own writer")]
fn no_update_of_eleven_processes_is_lost() {
    if let Ok(writer) = std::env::var(WRITER) {
        let (home, name) = writer.split_once(' ').unwrap();
        return write_rules(home, name);
    }
    let place = Place::new();
    let home = place.home.dir.path();
    place.write("ostler/settings.json", r#"{"kept": true}"#);
    // Every third is killed after some of its updates.
    let read = |name: usize| {
        let mut child = writer(home, name);
        let most = if name.is_multiple_of(3) { 7 + 13 * name } else { usize::MAX };
        thread::spawn(move || {
            let mut stored = Vec::new();
            for line in BufReader::new(child.stdout.take().unwrap()).lines() {
                let line = line.unwrap();
                stored.extend(line.split_once("stored ").map(|(_, rule)| rule.to_owned()));
                if stored.len() >= most {
                    child.kill().unwrap();
                }
            }
            child.wait().unwrap();
            stored
        })
    };
    let threads: Vec<_> = (0..11).map(read).collect();
    let stored: Vec<Vec<String>> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert!(stored.iter().enumerate().all(|(n, s)| n.is_multiple_of(3) || s.len() == UPDATES));
    let text = fs::read_to_string(home.join("ostler/settings.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["kept"], true);
    let held: Vec<&str> = value["permissions"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for rule in stored.iter().flatten() {
        assert!(held.contains(&rule.as_str()), "`{rule}` was stored and is lost");
    }
    // The next writer takes away what killed ones left.
    place.home.store.add_rule(&RuleFile::User, Behavior::Allow, "last").unwrap();
    let left: Vec<_> =
        fs::read_dir(home.join("ostler")).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("settings.json.")), "{left:?}");
}
