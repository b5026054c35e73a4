//! Switches of the settings that forbid, whatever else speaks for a call.

use ostler_protocol::Mode;

use super::*;
use crate::rules::Limits;

fn limited(case: Case, limits: Limits) -> Case {
    let mut case = case.allow("Read").allow("Edit").allow("Bash");
    case.rules().set_limits(limits);
    case
}

const READS: Limits =
    Limits { reads_inside_only: true, writes_inside_only: false, asks_nobody: false };
const WRITES: Limits =
    Limits { reads_inside_only: false, writes_inside_only: true, asks_nobody: false };
const NOBODY: Limits =
    Limits { reads_inside_only: false, writes_inside_only: false, asks_nobody: true };

#[test]
fn outside_is_denied_in_every_mode_and_inside_is_not() {
    let cases = [
        ("read outside", Case::read("/etc/hosts"), READS, Verdict::Deny),
        ("read inside", Case::read("/p/a.rs"), READS, Verdict::Allow),
        ("read in a further folder", Case::read("/x/a.rs"), READS, Verdict::Allow),
        ("search outside", Case::grep("/etc"), READS, Verdict::Deny),
        ("write outside", Case::edit("/etc/hosts"), WRITES, Verdict::Deny),
        ("write inside", Case::edit("/p/a.rs"), WRITES, Verdict::Allow),
        ("read is not write", Case::read("/etc/hosts"), WRITES, Verdict::Allow),
        ("write is not read", Case::edit("/etc/hosts"), READS, Verdict::Allow),
        ("command reads", Case::bash("cat /etc/hosts"), READS, Verdict::Deny),
        ("command writes", Case::bash("echo x > /etc/motd"), WRITES, Verdict::Deny),
        ("command to nowhere", Case::bash("echo x > /dev/null"), WRITES, Verdict::Allow),
        ("command inside", Case::bash("cat a.rs"), READS, Verdict::Allow),
    ];
    expect_all(cases.into_iter().map(|(name, case, limits, want)| {
        (name.to_owned(), limited(case, limits).mode(Mode::BypassPermissions).judge(), want)
    }));
    for mode in Mode::ALL {
        let judgement = limited(Case::read("/etc/hosts"), READS).mode(mode).judge();
        assert_eq!(judgement.verdict, Verdict::Deny, "{mode:?}");
        assert!(judgement.reason.text.contains("blockReadsOutside"), "{:?}", judgement.reason);
    }
}

#[test]
fn a_link_out_of_the_project_leads_outside() {
    let case = limited(Case::read("/p/out/a").link("/p/out", "/etc"), READS);
    assert_eq!(case.mode(Mode::BypassPermissions).verdict(), Verdict::Deny);
}

#[test]
fn what_would_be_asked_is_denied_and_says_which_switch_does_it() {
    let mut case = Case::edit("/p/a.rs");
    case.rules().set_limits(NOBODY);
    let judgement = case.judge();
    assert_eq!(judgement.verdict, Verdict::Deny);
    assert!(judgement.reason.text.contains("denyInsteadOfPrompting"), "{:?}", judgement.reason);
    let mut asked = Case::edit("/p/a.rs").ask("Edit").mode(Mode::BypassPermissions);
    asked.rules().set_limits(NOBODY);
    assert_eq!(asked.verdict(), Verdict::Deny);
    assert_eq!(limited(Case::edit("/p/a.rs"), NOBODY).verdict(), Verdict::Allow);
}
