//! ostler-host
