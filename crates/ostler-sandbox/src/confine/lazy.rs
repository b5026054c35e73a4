//! A sandbox that is made at first use: a session that runs no command pays nothing.

use std::sync::{Mutex, PoisonError};

use tokio::sync::OnceCell;

use super::sandbox::{Sandbox, SandboxOptions, Unavailable};
use crate::Supervisor;

/// A sandbox, or why there is none, once somebody asked.
#[derive(Debug)]
pub struct LazySandbox {
    supervisor: Supervisor,
    options: Mutex<Option<SandboxOptions>>,
    made: OnceCell<Result<Sandbox, Unavailable>>,
}

impl LazySandbox {
    /// A sandbox that is not made yet.
    #[must_use]
    pub fn new(supervisor: Supervisor, options: SandboxOptions) -> Self {
        Self { supervisor, options: Mutex::new(Some(options)), made: OnceCell::new() }
    }

    /// The sandbox; made now if nobody asked before.
    ///
    /// # Errors
    /// [`Unavailable`] says what is missing on this machine.
    pub async fn get(&self) -> Result<&Sandbox, &Unavailable> {
        let make = || async {
            let options = self.options.lock().unwrap_or_else(PoisonError::into_inner).take();
            match options {
                Some(options) => Sandbox::start(&self.supervisor, options).await,
                // Whoever was making it gave up in the middle.
                None => Err(Unavailable::new("its start was interrupted; start a new session")),
            }
        };
        self.made.get_or_init(make).await.as_ref()
    }
}
