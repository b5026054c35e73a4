//! ostler-permission
