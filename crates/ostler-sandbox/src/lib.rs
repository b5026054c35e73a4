//! ostler-sandbox
