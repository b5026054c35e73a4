//! Lets a test kill this process at a numbered place. Only in debug builds; a release build
//! knows no such variable.

/// Reads `OSTLER_FAILPOINT=N`: the process kills itself at place N.
#[cfg(debug_assertions)]
pub(crate) fn install() {
    use std::sync::OnceLock;

    static WHERE: OnceLock<u32> = OnceLock::new();

    #[expect(clippy::disallowed_methods, reason = "debug builds only, before there is a host")]
    let Some(place) = std::env::var("OSTLER_FAILPOINT").ok().and_then(|place| place.parse().ok())
    else {
        return;
    };
    WHERE.get_or_init(|| place);
    ostler_host::core::failpoint::install(|place| {
        if WHERE.get() == Some(&place) {
            let this = nix::unistd::Pid::this();
            nix::sys::signal::kill(this, nix::sys::signal::Signal::SIGKILL).unwrap_or_default();
        }
    });
}

/// Nothing in a release build.
#[cfg(not(debug_assertions))]
pub(crate) fn install() {}
