//! One function per dataset op that reads or writes files or foreign objects, as in `plan`.

use std::sync::Arc;

use headrace::data::{DType, ForeignValue, Tensor, Value};
use headrace::formats::csv::Syntax;
use headrace::io::compress::Compression;
use headrace::sources::csv::{CsvColumn, CsvNode, CsvOptions};
use headrace::sources::fixed_length::{FixedLengthNode, Layout};
use headrace::sources::from_source::FromSourceNode;
use headrace::sources::load::LoadNode;
use headrace::sources::text_line::TextLineNode;
use headrace::transforms::cache::CacheNode;
use headrace::transforms::save as saving;
use headrace::transforms::sharded_snapshot::ShardedSnapshotNode;
use headrace::transforms::snapshot::SnapshotNode;
use pyo3::prelude::*;

use crate::call::{PythonFunction, attached};
use crate::enter::enter;
use crate::errors::{Result, invalid};
use crate::from_python::{Arrays, value};
use crate::imports;
use crate::iterator::options;
use crate::plan::{Plan, plan};
use crate::process;
use crate::source::PythonObject;
use crate::spec::{element_spec, element_spec_to_python};

#[pyfunction]
#[pyo3(signature = (filenames, compression_type, buffer_size))]
pub(crate) fn text_line(
    filenames: Vec<String>,
    compression_type: Option<&str>,
    buffer_size: Option<usize>,
) -> Result<Plan> {
    let compression = Compression::from_name(compression_type)?;
    Ok(Plan(TextLineNode::plan(filenames, compression, buffer_size)))
}

#[pyfunction]
#[pyo3(signature = (filenames, record_bytes, header_bytes, footer_bytes, compression_type, buffer_size))]
pub(crate) fn fixed_length_record(
    filenames: Vec<String>,
    record_bytes: u64,
    header_bytes: u64,
    footer_bytes: u64,
    compression_type: Option<&str>,
    buffer_size: Option<usize>,
) -> Result<Plan> {
    let compression = Compression::from_name(compression_type)?;
    let layout = Layout { header: header_bytes, record: record_bytes, footer: footer_bytes };
    Ok(Plan(FixedLengthNode::plan(filenames, layout, compression, buffer_size)?))
}

#[pyfunction]
#[pyo3(signature = (
    filenames, record_defaults, compression_type, buffer_size, header, field_delim,
    use_quote_delim, na_value, select_cols, exclude_cols
))]
#[allow(clippy::too_many_arguments)] // tf.data's
pub(crate) fn csv(
    filenames: Vec<String>,
    record_defaults: Vec<(String, Option<Bound<'_, PyAny>>)>,
    compression_type: Option<&str>,
    buffer_size: Option<usize>,
    header: bool,
    field_delim: &[u8],
    use_quote_delim: bool,
    na_value: Vec<u8>,
    select_cols: Vec<u64>,
    exclude_cols: Vec<u64>,
) -> Result<Plan> {
    let column = |(dtype, default): &(String, Option<Bound<'_, PyAny>>)| {
        let default = default.as_ref().map(scalar).transpose()?;
        Ok(CsvColumn { dtype: DType::from_name(dtype)?, default })
    };
    let [delimiter] = *field_delim else { return invalid("field_delim should be only 1 char") };
    let options = CsvOptions {
        compression: Compression::from_name(compression_type)?,
        buffer_size,
        header,
        syntax: Syntax { delimiter, quotes: use_quote_delim },
        na_value,
        select: select_cols,
        exclude: exclude_cols,
    };
    let columns = record_defaults.iter().map(column).collect::<Result<_>>()?;
    Ok(Plan(CsvNode::plan(filenames, columns, options)?))
}

fn scalar(object: &Bound<'_, PyAny>) -> Result<Tensor> {
    match value(object, Arrays::Copy)? {
        Value::Tensor(tensor) => Ok(tensor),
        _ => invalid(format!("expected a scalar, got {}", object.repr()?)),
    }
}

#[pyfunction]
#[pyo3(signature = (input, filename))]
pub(crate) fn cache(input: &Bound<'_, Plan>, filename: Option<String>) -> Plan {
    Plan(CacheNode::plan(plan(input), filename))
}

#[pyfunction]
#[pyo3(signature = (input, path, compression))]
pub(crate) fn snapshot(
    input: &Bound<'_, Plan>,
    path: String,
    compression: Option<&str>,
) -> Result<Plan> {
    let compression = Compression::of_elements(compression)?;
    Ok(Plan(SnapshotNode::plan(plan(input), path, compression)))
}

#[pyfunction]
#[pyo3(signature = (input, path, compression, sharded, function))]
pub(crate) fn sharded_snapshot(
    input: &Bound<'_, Plan>,
    path: String,
    compression: Option<&str>,
    sharded: bool,
    function: &Bound<'_, PyAny>,
) -> Result<Plan> {
    let compression = Compression::of_elements(compression)?;
    let reader = PythonFunction::wrap(function)?;
    Ok(Plan(ShardedSnapshotNode::plan(plan(input), path, compression, sharded, reader)))
}

#[pyfunction]
#[pyo3(signature = (path, spec, shard))]
pub(crate) fn load(path: &str, spec: &Bound<'_, PyAny>, shard: Option<usize>) -> Result<Plan> {
    Ok(Plan(LoadNode::plan(path, element_spec(spec)?, shard)?))
}

/// Runs the plan and writes its elements: the run's name, the metadata that is still to be
/// written, and what the first elements look like.
#[pyfunction]
#[pyo3(signature = (input, options, path, compression, sharded, checkpoints))]
pub(crate) fn save<'py>(
    py: Python<'py>,
    input: &Bound<'_, Plan>,
    options: &str,
    path: &str,
    compression: Option<&str>,
    sharded: bool,
    checkpoints: Option<(u64, Option<String>, Py<PyAny>)>,
) -> Result<(String, String, Option<Bound<'py, PyAny>>)> {
    let options = self::options(options)?;
    let compression = Compression::of_elements(compression)?;
    let plan = plan(input);
    let context: ForeignValue = Arc::new(imports::copy_context(py)?.call0()?.unbind());
    let target = saving::Target { path, compression, sharded };
    let saved = enter(py, || {
        let mut keep;
        let checkpoints = match &checkpoints {
            None => None,
            Some((interval, from, call)) => {
                keep = |text: &str, rows: u64| {
                    attached(|py| Ok(call.call1(py, (text, rows)).map(drop)?))
                };
                let (interval, from) = (*interval, from.as_deref());
                Some(saving::Checkpoints { interval, from, keep: &mut keep })
            }
        };
        let opened = process::register_context;
        saving::save(&plan, options, Some(context), &target, checkpoints, &opened)
    })?;
    let spec = saved.spec.map(|spec| element_spec_to_python(py, &spec)).transpose()?;
    Ok((saved.run, saved.metadata, spec))
}

#[pyfunction]
pub(crate) fn from_source(source: &Bound<'_, PyAny>) -> Result<Plan> {
    Ok(Plan(FromSourceNode::plan(PythonObject::wrap(source)?)))
}
