//! The offline demo: a scenario in the binary that shows the loop without any model.
//!
//! It says that it is scripted, and it asks before it changes anything, as a model would
//! have to.

use crate::scenario::{Scenario, ScenarioError, Vars};

const DEMO: &str = include_str!("demo.scenario.json");

/// The scenario of `scripted:demo`, for a session in the folder `cwd`.
///
/// # Errors
/// None in practice; a test loads it.
pub fn demo(cwd: &str) -> Result<Scenario, ScenarioError> {
    let vars = Vars::from([("cwd".to_owned(), cwd.to_owned())]);
    Scenario::parse("demo.scenario.json", DEMO, &vars)
}

#[cfg(test)]
mod tests;
