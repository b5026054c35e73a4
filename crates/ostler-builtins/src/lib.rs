//! ostler-builtins
