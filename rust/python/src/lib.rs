//! Python bindings of headrace: the module `headrace._headrace`, and no logic.
//!
//! `convert` is the NumPy edge; `to_python` and `from_python` stand on it; `nest` packs and
//! unpacks structures. Everything that may wait goes through `enter`.

mod call;
mod columns;
mod convert;
mod elements;
mod enter;
mod errors;
mod from_python;
mod graph;
mod imports;
mod nest;
mod spec;
mod to_python;

use pyo3::prelude::*;

/// The engine of headrace.
#[pymodule]
mod _headrace {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::from_python::echo;
    #[pymodule_export]
    use crate::graph::{Graph, GraphBuilder, run_op};
    #[pymodule_export]
    use crate::spec::echo_spec;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
