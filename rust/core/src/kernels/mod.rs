//! The operations a graph can hold: each has a shape and dtype rule and a vectorised run.
