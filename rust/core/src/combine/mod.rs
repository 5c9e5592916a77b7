//! Nodes with several inputs.
