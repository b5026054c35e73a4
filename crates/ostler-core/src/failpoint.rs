//! Places at which a test can end the process: before and after each effect. Compiled into
//! debug builds only.

/// Decides at each place; it may end the process. Gets the number of the place, counted
/// from 1 in the order in which places are reached.
pub type Decide = fn(place: u32);

#[cfg(debug_assertions)]
static DECIDE: std::sync::OnceLock<Decide> = std::sync::OnceLock::new();

/// Sets what failpoints do; the first call counts. Does nothing in a release build.
pub fn install(decide: Decide) {
    #[cfg(debug_assertions)]
    DECIDE.get_or_init(|| decide);
    #[cfg(not(debug_assertions))]
    let _unused = decide;
}

/// A place is reached.
pub(crate) fn reach(place: &mut u32) {
    #[cfg(debug_assertions)]
    if let Some(decide) = DECIDE.get() {
        *place += 1;
        decide(*place);
    }
    #[cfg(not(debug_assertions))]
    let _unused = place;
}
