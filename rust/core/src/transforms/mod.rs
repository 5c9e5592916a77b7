//! Nodes with one input, whose elements stay elements.
