//! Entry points for fuzzing: any bytes, no panic.

use ostler_stdx::AbsPath;

use crate::{
    rules::{Behavior, RuleSource, Rules, split_rule_list},
    shell,
};

/// Takes any bytes apart as a script.
pub fn fuzz_shell(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let cwd = AbsPath::root().join("project");
    let script = shell::analyse(&text, &cwd, &AbsPath::root());
    script.each_path(&mut |_| {});
    let _ = script.is_read_only();
}

/// Reads any bytes as a list of rules.
pub fn fuzz_rules(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut rules = Rules::default();
    for rule in split_rule_list(&text) {
        drop(rules.add(Behavior::Allow, &rule, RuleSource::Session));
    }
    drop(rules.add(Behavior::Deny, &text, RuleSource::User));
}
