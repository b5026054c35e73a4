//! For what cannot happen: loud where we develop, survivable where people work.

/// Marks a state that cannot be reached: panics in a debug build, does nothing in a
/// release build, where the code after it recovers.
#[macro_export]
macro_rules! never {
    ($($message:tt)*) => {
        debug_assert!(false, $($message)*)
    };
}
