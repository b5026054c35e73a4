//! What a call changes in the session itself, and the lists that tools keep there.
//!
//! The tool changes the list in [`crate::SessionState`] and says so by a [`Change`] in
//! its output; the session writes that to its log before anyone sees it, and fills the
//! lists again when it is resumed.

use std::sync::{Mutex, PoisonError};

use ostler_protocol::{Mode, PlannedTask, Todo};
use ostler_stdx::AbsPath;

/// A change that a call makes in its session.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The to-do list is now this.
    Todos(Vec<Todo>),
    /// The planned tasks are now these.
    Plan(Vec<PlannedTask>),
    /// The mode is now this.
    Mode(Mode),
    /// Plan mode ends: back to the mode before it.
    LeavePlan,
    /// The working folder is now this; `None` is the project folder again.
    Folder(Option<AbsPath>),
}

/// The session's to-do list. Kept in [`crate::SessionState`].
#[derive(Debug, Default)]
pub struct TodoList(Mutex<Vec<Todo>>);

impl TodoList {
    /// Puts a new list in the place of the old one, which it gives.
    pub fn replace(&self, new: Vec<Todo>) -> Vec<Todo> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), new)
    }

    /// The list as it is.
    #[must_use]
    pub fn get(&self) -> Vec<Todo> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The session's planned tasks. Kept in [`crate::SessionState`].
#[derive(Debug, Default)]
pub struct PlanList(Mutex<Vec<PlannedTask>>);

impl PlanList {
    /// Changes the list in one step and gives what `change` gives and the list after it.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<PlannedTask>) -> T,
    ) -> (T, Vec<PlannedTask>) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let given = change(&mut list);
        (given, list.clone())
    }

    /// The list as it is.
    #[must_use]
    pub fn get(&self) -> Vec<PlannedTask> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
