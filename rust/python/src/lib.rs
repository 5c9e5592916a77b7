//! Python bindings of headrace.
