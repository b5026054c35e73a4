//! The targets, one file each. A target checks properties that must hold for any input; it never
//! compares with a stored answer, and never touches files or the network.

pub(crate) mod bound_middle;
