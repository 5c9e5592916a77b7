//! Python bindings of headrace: the module `headrace._headrace`, and no logic.
//!
//! `convert` is the NumPy edge; `to_python` and `from_python` stand on it; `nest` and `packer`
//! know structures. Everything that may wait goes through `enter`.

mod call;
mod columns;
mod convert;
mod elements;
mod enter;
mod errors;
mod files;
mod forks;
mod from_python;
mod generator;
mod graph;
mod imports;
mod iterator;
mod messages;
mod nest;
mod packer;
mod pages;
mod plan;
mod process;
mod record_index;
mod records;
mod scalars;
mod shared;
mod source;
mod spares;
mod spec;
mod thread_state;
mod to_python;

use pyo3::prelude::*;

/// The engine of headrace.
#[pymodule]
mod _headrace {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::call::{
        FunctionSeeds, argument_key, call_at, call_seed, element_seed, fingerprint, fresh_pair,
        is_in_call,
    };
    #[pymodule_export]
    use crate::from_python::echo;
    #[pymodule_export]
    use crate::graph::{Graph, GraphBuilder, run_op};
    #[pymodule_export]
    use crate::spec::echo_spec;

    #[pymodule_export]
    use crate::files::{
        cache, csv, fixed_length_record, from_source, load, save, sharded_snapshot, snapshot,
        text_line,
    };
    #[pymodule_export]
    use crate::iterator::{Iterator, reshard};
    #[pymodule_export]
    use crate::messages::{decode_message, encode_message};
    #[pymodule_export]
    use crate::plan::random;
    #[pymodule_export]
    use crate::plan::{
        Plan, assert_cardinality, batch, choose_from_datasets, concatenate, counted, counter,
        enumerate, filter, flat_map, from_generator, from_tensor_slices, from_tensors,
        group_by_window, ignore_errors, interleave, map, pack, padded_batch, placeholder, prefetch,
        ragged_batch, range, rebatch, reduce, rejection_resample, repeat, salvage,
        sample_from_datasets, scan, shard, shuffle, skip, sparse_batch, take, take_while, tfrecord,
        unbatch, unique, window, zip,
    };
    #[pymodule_export]
    use crate::process::close_all;
    #[pymodule_export]
    use crate::record_index::index_tfrecord;
    #[pymodule_export]
    use crate::records::{RecordReader, RecordWriter, serialize_example};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // The first who asks has to wait, some 50 us in a virtual machine.
        #[cfg(target_arch = "x86_64")]
        let _ = std::arch::is_x86_feature_detected!("avx2");
        crate::pages::touch();
        crate::convert::load(module.py())?;
        crate::process::install(module.py(), module.getattr("close_all")?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
