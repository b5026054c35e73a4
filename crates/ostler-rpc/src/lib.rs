//! ostler-rpc
