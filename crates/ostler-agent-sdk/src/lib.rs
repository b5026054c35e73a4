//! ostler-agent-sdk
