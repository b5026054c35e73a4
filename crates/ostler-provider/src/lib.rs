//! ostler-provider
