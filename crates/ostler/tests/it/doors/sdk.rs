//! The official Agent SDKs drive the program in place of `claude`.
