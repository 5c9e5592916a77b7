//! From plan to run: nodes, stages, drivers, the work pool.
