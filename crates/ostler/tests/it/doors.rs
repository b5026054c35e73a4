//! The same scenario through every door: the same files, and traces that mean the same.
