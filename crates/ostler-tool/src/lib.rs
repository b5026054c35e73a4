//! ostler-tool
