//! Ostler started by an agent's own command: it is never wider than what started it. How deep
//! it is stands in the environment of children; what a command line could loosen does not
//! count there.

use ostler_permission::Behavior;
use ostler_protocol::{ErrorKind, Mode, RpcError};

use crate::live::SessionSpec;

/// Says in the environment of children how many of us are above.
pub(crate) const DEPTH: &str = "OSTLER_DEPTH";

/// More starts within each other than these are a mistake that feeds itself.
const MOST: u32 = 3;

/// Whether a nested Ostler may be in a mode.
///
/// # Errors
/// `managed`: the mode needs fewer answers than the default.
pub(crate) fn check_mode(depth: u32, mode: Mode) -> Result<(), RpcError> {
    let loosens = matches!(mode, Mode::BypassPermissions | Mode::AcceptEdits | Mode::Auto);
    if depth == 0 || !loosens {
        return Ok(());
    }
    let text = format!(
        "the mode `{}` is not for an Ostler that an agent's command started: it is never wider than what started it",
        mode.name()
    );
    Err(RpcError::new(ErrorKind::Managed, text)
        .hint("leave the mode out, or start it from a terminal of your own"))
}

/// Takes out of the order for a session what would loosen; gives what is to be said.
///
/// # Errors
/// `managed` for a mode; `limit` for a start too deep.
pub(crate) fn tighten(depth: u32, spec: &mut SessionSpec) -> Result<Option<String>, RpcError> {
    if depth == 0 {
        return Ok(None);
    }
    if depth > MOST {
        let text = format!("agents started each other {depth} times, and at most {MOST} may");
        return Err(RpcError::new(ErrorKind::Limit, text));
    }
    if let Some(mode) = spec.mode {
        check_mode(depth, mode)?;
    }
    let rules = spec.rules.len();
    spec.rules.retain(|(behavior, _)| *behavior != Behavior::Allow);
    let overlay = spec.settings.take();
    let loosened = rules != spec.rules.len() || overlay.is_some() || spec.trust;
    spec.trust = false;
    // Of settings on the command line what forbids still counts.
    spec.managed_settings = spec.managed_settings.take().or(overlay);
    Ok(loosened.then(|| {
        "an agent's command started this, so its command line may forbid and not allow".to_owned()
    }))
}
