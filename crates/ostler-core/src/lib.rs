//! ostler-core
