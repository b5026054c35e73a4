//! The tools that a host offers, in a stable order.

use std::{collections::BTreeMap, sync::Arc};

use ostler_protocol::canonical_tool;

use crate::tool::AnyTool;

/// Tools by name. Lookup ignores case; the order is that of the names, so that the
/// list that a model sees never changes by accident.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn AnyTool>>,
}

/// Two tools have the same name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two tools are called `{0}`")]
pub struct DuplicateTool(pub String);

impl Registry {
    /// Adds a tool.
    ///
    /// # Errors
    /// [`DuplicateTool`] if the name is taken, case ignored.
    pub fn add(&mut self, tool: Arc<dyn AnyTool>) -> Result<(), DuplicateTool> {
        let key = tool.name().to_ascii_lowercase();
        if self.tools.contains_key(&key) {
            return Err(DuplicateTool(tool.name().to_owned()));
        }
        self.tools.insert(key, tool);
        Ok(())
    }

    /// The tool of this name or of an older one, case ignored.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn AnyTool>> {
        let by = |name: &str| self.tools.get(&name.to_ascii_lowercase());
        by(name).or_else(|| by(canonical_tool(name)))
    }

    /// All tools in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn AnyTool>> {
        self.tools.values()
    }

    /// Keeps the tools for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.tools.retain(|_, tool| keep(tool.name()));
    }
}
