//! The targets, one file each. A target checks properties that must hold for any input; it never
//! compares with a stored answer, and never touches files or the network.

pub(crate) mod bound_middle;
pub(crate) mod builtins_edit;
pub(crate) mod builtins_encoding;
pub(crate) mod builtins_lsp_frames;
pub(crate) mod builtins_notebook;
pub(crate) mod builtins_patch;
pub(crate) mod builtins_pdf;
pub(crate) mod permission_rules;
pub(crate) mod permission_shell;
pub(crate) mod provider_anthropic_sse;
pub(crate) mod provider_chat_sse;
pub(crate) mod provider_scenario;
pub(crate) mod rpc_line;
pub(crate) mod store_log;
