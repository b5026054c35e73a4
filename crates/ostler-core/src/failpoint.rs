//! Places at which a test can stop the process or the run. Compiled into debug builds only.

/// What a failpoint does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Continue,
    /// Interrupt the run, as a person would.
    Interrupt,
}

/// Decides at each place; it may also end the process. Gets the number of the place,
/// counted from 1 in the order in which places are reached.
pub type Decide = fn(place: u32) -> Action;

#[cfg(debug_assertions)]
static DECIDE: std::sync::OnceLock<Decide> = std::sync::OnceLock::new();

/// Sets what failpoints do; the first call counts. Does nothing in a release build.
pub fn install(decide: Decide) {
    #[cfg(debug_assertions)]
    DECIDE.get_or_init(|| decide);
    #[cfg(not(debug_assertions))]
    let _unused = decide;
}

/// A place: reached before and after each effect.
pub(crate) fn reach(place: &mut u32) -> Action {
    #[cfg(debug_assertions)]
    if let Some(decide) = DECIDE.get() {
        *place += 1;
        return decide(*place);
    }
    let _unused = place;
    Action::Continue
}
