//! ostler-test
