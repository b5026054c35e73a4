//! Settings that change while a session runs, without a session.

use std::{fs, sync::Arc};

use ostler_permission::Behavior;
use ostler_stdx::{Clock, ManualClock};
use ostler_store::Roots;
use serde_json::json;

use super::*;

struct Desk {
    dir: tempfile::TempDir,
    clock: ManualClock,
    watch: Watch,
}

impl Desk {
    fn new(user: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| AbsPath::new(dir.path().join(name)).unwrap();
        for folder in ["home", "project"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("home/settings.json"), user).unwrap();
        let clock = ManualClock::at(1_000_000);
        let shared: Arc<dyn Clock> = Arc::new(clock.clone());
        let roots = Roots { home: at("home"), claude: at("claude") };
        let place = Place {
            store: Store::new(roots, Arc::clone(&shared)),
            managed: dir.path().join("managed.json"),
            project: at("project"),
            tiers: vec![Tier::User, Tier::Project, Tier::Local],
            trust: Trusting::Stored,
            policy: Vec::new(),
            flags: Vec::new(),
        };
        let loaded = place.read(None);
        let watch = Watch::new(place, shared, &loaded);
        let desk = Self { dir, clock, watch };
        // The first look reads again in any case.
        assert!(desk.watch.changed(Look::Now).is_some());
        desk
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join(name), text).unwrap();
    }
}

fn rules(loaded: &Loaded) -> Vec<(Behavior, &str)> {
    loaded.rules.iter().map(|(behavior, rule)| (behavior, rule.text.as_str())).collect()
}

#[test]
fn a_change_is_seen_once_and_looked_for_a_few_times_a_second_at_most() {
    let desk = Desk::new(r#"{"permissions":{"deny":["A"]}}"#);
    assert!(desk.watch.changed(Look::Now).is_none());
    desk.write("home/settings.json", r#"{"permissions":{"deny":["A","B"]}}"#);
    assert!(desk.watch.changed(Look::Seldom).is_none(), "looked again at once");
    desk.clock.advance(199);
    assert!(desk.watch.changed(Look::Seldom).is_none());
    desk.clock.advance(1);
    let loaded = desk.watch.changed(Look::Seldom).unwrap();
    assert_eq!(rules(&loaded), [(Behavior::Deny, "A"), (Behavior::Deny, "B")]);
    desk.clock.advance(200);
    assert!(desk.watch.changed(Look::Seldom).is_none());
    // A clock that was set back does not blind.
    desk.clock.advance(-5_000);
    desk.write("home/settings.json", "{}");
    assert_eq!(rules(&desk.watch.changed(Look::Seldom).unwrap()), []);
}

#[test]
fn a_file_that_broke_keeps_forbidding_and_is_told_once() {
    let desk = Desk::new(r#"{"permissions":{"deny":["A"],"ask":["Q"],"allow":["B"]}}"#);
    desk.write("home/settings.json", r#"{"permissions":{"#);
    let broken = desk.watch.changed(Look::Now).unwrap();
    assert_eq!(rules(&broken), [(Behavior::Deny, "A"), (Behavior::Ask, "Q")]);
    assert_eq!(broken.warnings.len(), 1, "{:?}", broken.warnings);
    assert!(broken.warnings[0].contains("settings.json` line 1"), "{:?}", broken.warnings);
    // Another change somewhere, and the same file broken in the same way.
    desk.write("project/.mcp.json", "{}");
    let still = desk.watch.changed(Look::Now).unwrap();
    assert_eq!(rules(&still), [(Behavior::Deny, "A"), (Behavior::Ask, "Q")]);
    assert_eq!(still.warnings, [""; 0]);
    desk.write("home/settings.json", r#"{"permissions":{"allow":["B"]}}"#);
    let mended = desk.watch.changed(Look::Now).unwrap();
    assert_eq!(rules(&mended), [(Behavior::Allow, "B")]);
}

#[test]
fn a_policy_that_broke_stays_as_it_was() {
    let desk = Desk::new("{}");
    let policy = r#"{"permissions":{"disableBypassPermissionsMode":"disable","deny":["A"]}}"#;
    desk.write("managed.json", policy);
    let loaded = desk.watch.changed(Look::Now).unwrap();
    assert!(loaded.check_mode(Mode::BypassPermissions).is_err());
    desk.write("managed.json", r#"{"permissions":{"deny":7}}"#);
    let loaded = desk.watch.changed(Look::Now).unwrap();
    assert!(loaded.check_mode(Mode::BypassPermissions).is_err());
    assert_eq!(rules(&loaded), [(Behavior::Deny, "A")]);
    assert!(loaded.check_policy().is_ok(), "a session that runs goes on");
    assert!(desk.watch.check_mode(Mode::BypassPermissions).is_err());
    assert!(desk.watch.check_mode(Mode::Plan).is_ok());
}

#[test]
fn a_hosts_settings_replace_whole_keys_and_null_takes_one_out() {
    let desk = Desk::new(r#"{"model":"user"}"#);
    let apply = |keys: Value| desk.watch.apply(keys.as_object().unwrap());
    let loaded = apply(json!({"model": "host", "permissions": {"deny": ["A"]}})).unwrap();
    assert_eq!((loaded.model.as_deref(), rules(&loaded).len()), (Some("host"), 1));
    let loaded = apply(json!({"permissions": {"ask": ["Q"]}})).unwrap();
    assert_eq!(rules(&loaded), [(Behavior::Ask, "Q")]);
    let error = apply(json!({"permissions": {"deny": 7}, "model": "other"})).unwrap_err();
    assert!(error.message.contains("`permissions.deny` takes"), "{}", error.message);
    let loaded = apply(json!({"permissions": null})).unwrap();
    assert_eq!((loaded.model.as_deref(), rules(&loaded).len()), (Some("host"), 0));
    assert_eq!(apply(json!({"model": null})).unwrap().model.as_deref(), Some("user"));
}

#[test]
fn a_rule_that_forbids_and_cannot_be_read_holds_for_its_whole_tool() {
    for (list, text, expected) in [
        ("deny", "Bash(rm", Some("Bash")),
        ("ask", "Edit(a) b", Some("Edit")),
        ("deny", "(((", None),
        ("deny", "", None),
        ("allow", "Bash(rm", None),
    ] {
        let desk = Desk::new("{}");
        let settings = json!({"permissions": {list: [text, "Read(a)"]}});
        desk.write("home/settings.json", &settings.to_string());
        let loaded = desk.watch.changed(Look::Now).unwrap();
        let held: Vec<_> = rules(&loaded).into_iter().map(|(_, text)| text).collect();
        let expected: Vec<_> = expected.into_iter().chain(["Read(a)"]).collect();
        assert_eq!(held, expected, "{list} {text}");
        assert_eq!(loaded.warnings.len(), 1, "{list} {text}: {:?}", loaded.warnings);
    }
}
