//! Nodes without an input.
