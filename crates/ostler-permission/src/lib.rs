//! Pure judgement: may this access happen, under these rules and this mode.
//!
//! No I/O, no clock, no environment: what the judge must know of the disk comes in as
//! [`Facts`]. Whatever is not understood asks, and asking with nobody to answer is no.

#![doc = include_str!("../README.md")]

mod facts;
mod fuzz;
mod glob;
mod judge;
mod mode;
mod protected;
mod repository;
mod rules;
mod shell;
mod suggest;
mod update;

pub use facts::{Facts, Glob, LookUps, Resolved, look_ups, paths_to_resolve};
pub use fuzz::{fuzz_rules, fuzz_shell};
pub use glob::glob_fits;
pub use judge::{Call, Explanation, Judgement, Reason, ReasonKind, Step, Verdict, explain, judge};
pub use mode::{Cell, Column, MODES, cell, modes_markdown};
pub use repository::{GitSetting, Repository, git_settings};
pub use rules::{
    Behavior, Limits, Rule, RuleError, RuleSource, Rules, canonical_tool, split_rule_list,
};
pub use shell::{is_one_word, shell_words};
pub use update::{Destination, PermissionUpdate, RuleValue};
