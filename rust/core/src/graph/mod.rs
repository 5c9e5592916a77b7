//! What a traced function becomes: a graph of kernels that is evaluated on whole columns.
