//! The engine of headrace.
