//! One function per dataset op: arguments converted, a node made.

use std::sync::Arc;

use headrace::batching::batch::BatchNode;
use headrace::batching::group_by_window::{GroupByWindowNode, GroupOrder, WindowSize};
use headrace::batching::pack::PackNode;
use headrace::batching::padded_batch::PaddedBatchNode;
use headrace::batching::ragged_batch::RaggedBatchNode;
use headrace::batching::rebatch::RebatchNode;
use headrace::batching::sparse_batch::SparseBatchNode;
use headrace::batching::unbatch::UnbatchNode;
use headrace::batching::window::WindowNode;
use headrace::combine::choose::ChooseNode;
use headrace::combine::concatenate::ConcatenateNode;
use headrace::combine::flat_map::FlatMapNode;
use headrace::combine::interleave::InterleaveNode;
use headrace::combine::selector::{SelectorNode, Weights};
use headrace::combine::zip::ZipNode;
use headrace::data::{DType, PartialShape, Tensor, Value};
use headrace::engine::access::Access;
use headrace::engine::apply::Parallel;
use headrace::engine::node::{find_elements, is_quiet};
use headrace::engine::optimise::optimise;
use headrace::engine::pool::parallelism;
use headrace::engine::seeds::SeedGenerator;
use headrace::engine::{self, RunOptions, explain, fingerprint};
use headrace::formats::tfrecord::ReadOptions;
use headrace::io::compress::Compression;
use headrace::sources::counter::{CounterNode, Steps};
use headrace::sources::generator::GeneratorNode;
use headrace::sources::placeholder::PlaceholderNode;
use headrace::sources::random::RandomNode;
use headrace::sources::range::RangeNode;
use headrace::sources::tensors::TensorsNode;
use headrace::sources::tfrecord::TfRecordNode;
use headrace::sources::tfrecord_in_turn::InTurnNode;
use headrace::sources::tfrecord_index::IndexPlace;
use headrace::transforms::assert_cardinality::AssertCardinalityNode;
use headrace::transforms::enumerate::EnumerateNode;
use headrace::transforms::filter::FilterNode;
use headrace::transforms::global_shuffle::GlobalShuffleNode;
use headrace::transforms::ignore_errors::{ErrorReport, IgnoreErrorsNode};
use headrace::transforms::map::MapNode;
use headrace::transforms::prefetch::PrefetchNode;
use headrace::transforms::reduce::ReduceNode;
use headrace::transforms::repeat::RepeatNode;
use headrace::transforms::resample::{
    Acceptance, Classified, Estimate, EstimateNode, Keep, RejectNode,
};
use headrace::transforms::salvage::SalvageNode;
use headrace::transforms::scan::{Carry, ScanNode};
use headrace::transforms::shard::{Equal, ShardNode};
use headrace::transforms::shuffle::ShuffleNode;
use headrace::transforms::skip::SkipNode;
use headrace::transforms::take::TakeNode;
use headrace::transforms::take_while::TakeWhileNode;
use headrace::transforms::unique::UniqueNode;
use pyo3::prelude::*;

use crate::call::{self, PythonFunction, PythonReport};
use crate::elements::only_element;
use crate::enter::enter;
use crate::errors::{Result, invalid};
use crate::from_python::{Arrays, slices, value};
use crate::generator::PythonSource;
use crate::iterator::options as options_of;
use crate::nest::{Lists, flatten};
use crate::packer::Packer;
use crate::spec::{dtype, element_spec, element_spec_to_python, shape};

/// One node of a pipeline's plan.
#[pyclass(frozen, module = "headrace._headrace")]
pub(crate) struct Plan(pub(crate) engine::Plan);

#[pymethods]
impl Plan {
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    #[getter]
    fn inputs(&self) -> Vec<Plan> {
        self.0.inputs().into_iter().map(Plan).collect()
    }

    #[getter]
    fn element_spec<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        element_spec_to_python(py, self.0.spec())
    }

    #[getter]
    fn cardinality(&self) -> i64 {
        self.0.cardinality().code()
    }

    /// How many elements there are; `find`: they are counted if that takes reading.
    #[pyo3(signature = (find=true))]
    fn count(&self, py: Python<'_>, find: bool) -> Result<i64> {
        let found = || if find { find_elements(&self.0) } else { Ok(()) };
        enter(py, || found().map(|()| self.0.cardinality().code()))
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }

    #[getter]
    fn quiet(&self) -> bool {
        is_quiet(&self.0)
    }

    fn explain(&self, options: &str) -> Result<String> {
        Ok(explain::explain(&optimise(&self.0, &options_of(options)?)?.plan))
    }

    fn rewrites(&self, options: &str) -> Result<Vec<String>> {
        Ok(optimise(&self.0, &options_of(options)?)?.made)
    }

    /// Element `index`, without those before it.
    fn at<'py>(&self, py: Python<'py>, index: i64) -> Result<Bound<'py, PyAny>> {
        let chunk = enter(py, || Access::open(&self.0, RunOptions::default())?.at(index))?;
        let packer = Packer::new(py, chunk.structure())?;
        only_element(py, &packer, chunk)
    }

    fn fingerprint(&self, py: Python<'_>) -> Result<u64> {
        enter(py, || Ok(fingerprint::fingerprint(&self.0)))
    }

    fn seeds(&self) -> Option<(u64, u64, u64)> {
        let generator = self.0.seeds()?;
        let (first, second) = generator.pair();
        Some((first, second, generator.drawn()))
    }

    fn advance_seeds(&self, count: u64) {
        if let Some(generator) = self.0.seeds() {
            generator.advance(count);
        }
    }
}

pub(crate) fn plan(plan: &Bound<'_, Plan>) -> engine::Plan {
    Arc::clone(&plan.get().0)
}

#[pyfunction]
pub(crate) fn range(start: i64, stop: i64, step: i64, dtype: &str) -> Result<Plan> {
    Ok(Plan(RangeNode::plan(start, stop, step, DType::from_name(dtype)?)?))
}

#[pyfunction]
#[pyo3(signature = (seeds, rerandomize))]
pub(crate) fn random(seeds: Option<(u64, u64)>, rerandomize: bool) -> Plan {
    let generator = SeedGenerator::new(seeds, rerandomize).made_in_call(call::is_inside());
    Plan(RandomNode::plan(generator))
}

#[pyfunction]
pub(crate) fn from_tensors(value: &Bound<'_, PyAny>) -> Result<Plan> {
    let (structure, leaves) = flatten(value, Lists::Leaf)?;
    let column = |leaf| Ok(crate::from_python::value(leaf, Arrays::Borrow)?.to_column()?);
    let columns = leaves.iter().map(column).collect::<Result<_>>()?;
    Ok(Plan(TensorsNode::one(structure, columns)?))
}

#[pyfunction]
pub(crate) fn from_tensor_slices(value: &Bound<'_, PyAny>) -> Result<Plan> {
    let (structure, leaves) = flatten(value, Lists::Leaf)?;
    let columns = leaves.iter().map(slices).collect::<Result<_>>()?;
    Ok(Plan(TensorsNode::slices(structure, columns)?))
}

#[pyfunction]
pub(crate) fn from_generator(source: &Bound<'_, PyAny>) -> Result<Plan> {
    Ok(Plan(GeneratorNode::plan(PythonSource::wrap(source)?)))
}

#[pyfunction]
pub(crate) fn counter(
    start: &Bound<'_, PyAny>,
    step: &Bound<'_, PyAny>,
    dtype: &str,
) -> Result<Plan> {
    let dtype = DType::from_name(dtype)?;
    let steps = match dtype.is_float() {
        true => Steps::Float(start.extract()?, step.extract()?),
        false => Steps::Int(start.extract()?, step.extract()?),
    };
    Ok(Plan(CounterNode::plan(steps, dtype)?))
}

#[pyfunction]
#[pyo3(signature = (
    filenames, compression_type, buffer_size, num_parallel_reads, index, salvage,
))]
pub(crate) fn tfrecord(
    py: Python<'_>,
    filenames: Vec<String>,
    compression_type: Option<&str>,
    buffer_size: Option<usize>,
    num_parallel_reads: Option<i64>,
    index: Option<&str>,
    salvage: bool,
) -> Result<Plan> {
    // One file after another: the next one is read ahead by a `prefetch` above.
    let _ = num_parallel_reads;
    let compression = Compression::from_name(compression_type)?;
    let options = ReadOptions { buffer_size, salvage, ..ReadOptions::default() };
    let Some(index) = index else {
        return Ok(Plan(TfRecordNode::plan(filenames, compression, options)));
    };
    let place = match index {
        "auto" => IndexPlace::Auto,
        path => IndexPlace::At(path.into()),
    };
    enter(py, || TfRecordNode::indexed(filenames, compression, options, place)).map(Plan)
}

#[pyfunction]
#[pyo3(signature = (
    input, function, num_parallel_calls, deterministic, output_signature, reorder_window=None
))]
pub(crate) fn map(
    input: &Bound<'_, Plan>,
    function: &Bound<'_, PyAny>,
    num_parallel_calls: Option<i64>,
    deterministic: Option<bool>,
    output_signature: Option<&Bound<'_, PyAny>>,
    reorder_window: Option<usize>,
) -> Result<Plan> {
    let parallel = Parallel::from_calls(num_parallel_calls)?;
    let declared = output_signature.map(element_spec).transpose()?;
    let function = PythonFunction::wrap(function)?;
    if let Some(window) = reorder_window {
        let input = plan(input);
        return Ok(Plan(MapNode::plan_reordering(input, function, parallel, window, declared)?));
    }
    Ok(Plan(MapNode::plan(plan(input), function, parallel, deterministic, declared)?))
}

#[pyfunction]
pub(crate) fn filter(input: &Bound<'_, Plan>, predicate: &Bound<'_, PyAny>) -> Result<Plan> {
    Ok(Plan(FilterNode::plan(plan(input), PythonFunction::wrap(predicate)?)?))
}

#[pyfunction]
pub(crate) fn take_while(input: &Bound<'_, Plan>, predicate: &Bound<'_, PyAny>) -> Result<Plan> {
    Ok(Plan(TakeWhileNode::plan(plan(input), PythonFunction::wrap(predicate)?)?))
}

fn carry(state: &Bound<'_, PyAny>) -> Result<Carry> {
    let (structure, leaves) = flatten(state, Lists::Leaf)?;
    let column = |leaf| Ok(value(leaf, Arrays::Copy)?.to_column()?);
    Ok(Carry::new(structure, leaves.iter().map(column).collect::<Result<_>>()?)?)
}

#[pyfunction]
pub(crate) fn scan(
    input: &Bound<'_, Plan>,
    initial_state: &Bound<'_, PyAny>,
    scan_func: &Bound<'_, PyAny>,
) -> Result<Plan> {
    let function = PythonFunction::wrap(scan_func)?;
    Ok(Plan(ScanNode::plan(plan(input), carry(initial_state)?, function)?))
}

#[pyfunction]
pub(crate) fn reduce(
    input: &Bound<'_, Plan>,
    initial_state: &Bound<'_, PyAny>,
    reduce_func: &Bound<'_, PyAny>,
) -> Result<Plan> {
    let function = PythonFunction::wrap(reduce_func)?;
    Ok(Plan(ReduceNode::plan(plan(input), carry(initial_state)?, function)?))
}

#[pyfunction]
#[pyo3(signature = (input, limit, report))]
pub(crate) fn ignore_errors(
    input: &Bound<'_, Plan>,
    limit: Option<u64>,
    report: Option<Bound<'_, PyAny>>,
) -> Plan {
    let report =
        report.map(|report| Arc::new(PythonReport(report.unbind())) as Arc<dyn ErrorReport>);
    Plan(IgnoreErrorsNode::plan(plan(input), limit, report))
}

/// The elements of `input`: those of `one_by_one`, from `cycle_length` files in turn.
#[pyfunction]
#[pyo3(signature = (input, one_by_one, cycle_length))]
pub(crate) fn counted(
    input: &Bound<'_, Plan>,
    one_by_one: &Bound<'_, Plan>,
    cycle_length: Option<usize>,
) -> Plan {
    let cycle = cycle_length.unwrap_or_else(parallelism);
    Plan(InTurnNode::plan(plan(input), plan(one_by_one), cycle))
}

#[pyfunction]
#[pyo3(signature = (input, corruption_limit))]
pub(crate) fn salvage(input: &Bound<'_, Plan>, corruption_limit: Option<u64>) -> Plan {
    Plan(SalvageNode::plan(plan(input), corruption_limit))
}

#[pyfunction]
pub(crate) fn unique(input: &Bound<'_, Plan>) -> Result<Plan> {
    Ok(Plan(UniqueNode::plan(plan(input))?))
}

#[pyfunction]
#[pyo3(signature = (input, num_shards, index, equal))]
pub(crate) fn shard(
    input: &Bound<'_, Plan>,
    num_shards: i64,
    index: i64,
    equal: Option<&str>,
) -> Result<Plan> {
    let equal = match equal {
        None => Equal::No,
        Some("drop") => Equal::Drop,
        Some("wrap") => Equal::Wrap,
        Some(other) => {
            return invalid(format!("equal must be \"drop\" or \"wrap\", got {other:?}"));
        }
    };
    Ok(Plan(ShardNode::plan(plan(input), num_shards, index, equal)?))
}

#[pyfunction]
pub(crate) fn assert_cardinality(input: &Bound<'_, Plan>, expected: i64) -> Result<Plan> {
    Ok(Plan(AssertCardinalityNode::plan(plan(input), expected)?))
}

#[pyfunction]
#[pyo3(signature = (input, buffer_size, seeds, reshuffle))]
pub(crate) fn shuffle(
    input: &Bound<'_, Plan>,
    buffer_size: Option<i64>,
    seeds: Option<(u64, u64)>,
    reshuffle: bool,
) -> Result<Plan> {
    let generator = SeedGenerator::new(seeds, reshuffle).made_in_call(call::is_inside());
    let Some(buffer_size) = buffer_size else {
        return Ok(Plan(GlobalShuffleNode::plan(plan(input), generator)?));
    };
    Ok(Plan(ShuffleNode::plan(plan(input), buffer_size, generator)?))
}

#[pyfunction]
pub(crate) fn repeat(input: &Bound<'_, Plan>, count: i64) -> Plan {
    Plan(RepeatNode::plan(plan(input), count))
}

#[pyfunction]
pub(crate) fn take(input: &Bound<'_, Plan>, count: i64) -> Plan {
    Plan(TakeNode::plan(plan(input), count))
}

#[pyfunction]
pub(crate) fn skip(input: &Bound<'_, Plan>, count: i64) -> Plan {
    Plan(SkipNode::plan(plan(input), count))
}

#[pyfunction]
#[pyo3(signature = (input, batch_size, drop_remainder, num_parallel_calls, deterministic))]
pub(crate) fn batch(
    input: &Bound<'_, Plan>,
    batch_size: i64,
    drop_remainder: bool,
    num_parallel_calls: Option<i64>,
    deterministic: Option<bool>,
) -> Result<Plan> {
    let parallel = Parallel::from_calls(num_parallel_calls)?;
    Ok(Plan(BatchNode::plan(plan(input), batch_size, drop_remainder, parallel, deterministic)?))
}

#[pyfunction]
#[pyo3(signature = (
    input, batch_size, padded_shapes, padding_values, drop_remainder, num_parallel_calls=None,
    deterministic=None
))]
pub(crate) fn padded_batch(
    input: &Bound<'_, Plan>,
    batch_size: i64,
    padded_shapes: Option<Vec<Bound<'_, PyAny>>>,
    padding_values: Option<Vec<Bound<'_, PyAny>>>,
    drop_remainder: bool,
    num_parallel_calls: Option<i64>,
    deterministic: Option<bool>,
) -> Result<Plan> {
    let parallel = Parallel::from_calls(num_parallel_calls)?;
    let shapes = padded_shapes.map(|shapes| shapes.iter().map(shape).collect::<Result<Vec<_>>>());
    let shapes: Option<Vec<PartialShape>> = shapes.transpose()?;
    let values =
        padding_values.map(|values| values.iter().map(padding).collect::<Result<Vec<_>>>());
    let values: Option<Vec<Tensor>> = values.transpose()?;
    let plan = PaddedBatchNode::plan(plan(input), batch_size, shapes, values, drop_remainder)?;
    Ok(Plan(PaddedBatchNode::in_parallel(&plan, parallel, deterministic)?))
}

fn padding(object: &Bound<'_, PyAny>) -> Result<Tensor> {
    match value(object, Arrays::Copy)? {
        Value::Tensor(tensor) => Ok(tensor),
        _ => invalid(format!("expected a scalar as padding, got {}", object.repr()?)),
    }
}

#[pyfunction]
#[pyo3(signature = (
    input, batch_size, drop_remainder, row_splits_dtype, num_parallel_calls=None,
    deterministic=None
))]
pub(crate) fn ragged_batch(
    input: &Bound<'_, Plan>,
    batch_size: i64,
    drop_remainder: bool,
    row_splits_dtype: &Bound<'_, PyAny>,
    num_parallel_calls: Option<i64>,
    deterministic: Option<bool>,
) -> Result<Plan> {
    let parallel = Parallel::from_calls(num_parallel_calls)?;
    let splits = dtype(row_splits_dtype)?;
    let plan = RaggedBatchNode::plan(plan(input), batch_size, drop_remainder, splits)?;
    Ok(Plan(RaggedBatchNode::in_parallel(&plan, parallel, deterministic)?))
}

#[pyfunction]
pub(crate) fn sparse_batch(
    input: &Bound<'_, Plan>,
    batch_size: i64,
    row_shape: &Bound<'_, PyAny>,
) -> Result<Plan> {
    Ok(Plan(SparseBatchNode::plan(plan(input), batch_size, shape(row_shape)?)?))
}

#[pyfunction]
pub(crate) fn rebatch(
    input: &Bound<'_, Plan>,
    batch_size: Vec<i64>,
    drop_remainder: bool,
) -> Result<Plan> {
    Ok(Plan(RebatchNode::plan(plan(input), &batch_size, drop_remainder)?))
}

#[pyfunction]
#[pyo3(signature = (input, length, open_rows, padding_values))]
pub(crate) fn pack(
    input: &Bound<'_, Plan>,
    length: i64,
    open_rows: i64,
    padding_values: Option<Vec<Bound<'_, PyAny>>>,
) -> Result<Plan> {
    let values =
        padding_values.map(|values| values.iter().map(padding).collect::<Result<Vec<_>>>());
    Ok(Plan(PackNode::plan(plan(input), length, open_rows, values.transpose()?)?))
}

#[pyfunction]
#[pyo3(signature = (input, size, shift, stride, drop_remainder, as_arrays))]
pub(crate) fn window(
    input: &Bound<'_, Plan>,
    size: i64,
    shift: Option<i64>,
    stride: i64,
    drop_remainder: bool,
    as_arrays: bool,
) -> Result<Plan> {
    Ok(Plan(WindowNode::plan(plan(input), size, shift, stride, drop_remainder, as_arrays)?))
}

#[pyfunction]
#[pyo3(signature = (input, key_func, reduce_func, window_size, window_size_func, order))]
pub(crate) fn group_by_window(
    input: &Bound<'_, Plan>,
    key_func: &Bound<'_, PyAny>,
    reduce_func: &Bound<'_, PyAny>,
    window_size: i64,
    window_size_func: Option<&Bound<'_, PyAny>>,
    order: &str,
) -> Result<Plan> {
    let size = match window_size_func {
        Some(function) => WindowSize::Function(PythonFunction::wrap(function)?),
        None => WindowSize::Fixed(window_size),
    };
    let (key, reduce) = (PythonFunction::wrap(key_func)?, PythonFunction::wrap(reduce_func)?);
    let order = if order == "first" { GroupOrder::First } else { GroupOrder::Key };
    Ok(Plan(GroupByWindowNode::plan(plan(input), key, reduce, size, order)?))
}

#[pyfunction]
pub(crate) fn unbatch(input: &Bound<'_, Plan>) -> Result<Plan> {
    Ok(Plan(UnbatchNode::plan(plan(input))?))
}

#[pyfunction]
pub(crate) fn prefetch(input: &Bound<'_, Plan>, buffer_size: i64) -> Result<Plan> {
    Ok(Plan(PrefetchNode::plan(plan(input), buffer_size)?))
}

#[pyfunction]
pub(crate) fn zip(inputs: &Bound<'_, PyAny>) -> Result<Plan> {
    let (structure, leaves) = flatten(inputs, Lists::Leaf)?;
    let plans = leaves.iter().map(|leaf| Ok(plan(leaf.cast::<Plan>()?)));
    Ok(Plan(ZipNode::plan(structure, plans.collect::<Result<_>>()?)?))
}

#[pyfunction]
pub(crate) fn concatenate(first: &Bound<'_, Plan>, second: &Bound<'_, Plan>) -> Result<Plan> {
    Ok(Plan(ConcatenateNode::plan(plan(first), plan(second))?))
}

#[pyfunction]
pub(crate) fn flat_map(input: &Bound<'_, Plan>, function: &Bound<'_, PyAny>) -> Result<Plan> {
    Ok(Plan(FlatMapNode::plan(plan(input), PythonFunction::wrap(function)?)?))
}

#[pyfunction]
#[pyo3(signature = (
    input, function, cycle_length, block_length, num_parallel_calls, deterministic
))]
pub(crate) fn interleave(
    input: &Bound<'_, Plan>,
    function: &Bound<'_, PyAny>,
    cycle_length: Option<i64>,
    block_length: Option<i64>,
    num_parallel_calls: Option<i64>,
    deterministic: Option<bool>,
) -> Result<Plan> {
    let parallel = Parallel::from_calls(num_parallel_calls)?;
    let (input, function) = (plan(input), PythonFunction::wrap(function)?);
    let plan =
        InterleaveNode::plan(input, function, cycle_length, block_length, parallel, deterministic);
    Ok(Plan(plan?))
}

#[pyfunction]
pub(crate) fn placeholder(spec: &Bound<'_, PyAny>) -> Result<Plan> {
    Ok(Plan(PlaceholderNode::plan(element_spec(spec)?)))
}

#[pyfunction]
pub(crate) fn enumerate(input: &Bound<'_, Plan>, start: i64) -> Plan {
    Plan(EnumerateNode::plan(plan(input), start))
}

fn plans(plans: &[Bound<'_, Plan>]) -> Vec<engine::Plan> {
    plans.iter().map(plan).collect()
}

#[pyfunction]
pub(crate) fn choose_from_datasets(
    datasets: Vec<Bound<'_, Plan>>,
    choices: &Bound<'_, Plan>,
    stop_on_empty: bool,
) -> Result<Plan> {
    let (sources, choices) = (plans(&datasets), plan(choices));
    Ok(Plan(ChooseNode::plan("choose_from_datasets", choices, sources, stop_on_empty)?))
}

#[pyfunction]
#[pyo3(signature = (datasets, weights, logits, seeds, rerandomize, stop_on_empty))]
pub(crate) fn sample_from_datasets(
    datasets: Vec<Bound<'_, Plan>>,
    weights: Option<&Bound<'_, Plan>>,
    logits: Vec<f64>,
    seeds: Option<(u64, u64)>,
    rerandomize: bool,
    stop_on_empty: bool,
) -> Result<Plan> {
    let weights = weights.map_or(Weights::Logits(logits), |weights| Weights::Each(plan(weights)));
    let choices = SelectorNode::plan(weights, SeedGenerator::new(seeds, rerandomize))?;
    let sources = plans(&datasets);
    Ok(Plan(ChooseNode::plan("sample_from_datasets", choices, sources, stop_on_empty)?))
}

#[pyfunction]
#[pyo3(signature = (input, class_func, target_dist, initial_dist, seeds))]
pub(crate) fn rejection_resample(
    input: &Bound<'_, Plan>,
    class_func: &Bound<'_, PyAny>,
    target_dist: Vec<f32>,
    initial_dist: Option<Vec<f32>>,
    seeds: Option<(u64, u64)>,
) -> Result<Plan> {
    let function = Arc::new(Classified(PythonFunction::wrap(class_func)?));
    let all = MapNode::plan(plan(input), function, Parallel::Serial, None, None)?;
    let seeds = SeedGenerator::new(seeds, false);
    let target: Arc<[f32]> = target_dist.into();
    let (weights, keep) = match initial_dist.map(|initial| Acceptance::of(&initial, &target)) {
        // A dataset that is as it should be, or that must be rejected from alone, is not mixed.
        Some(acceptance) if acceptance.original == 1.0 => return Ok(Plan(all)),
        Some(acceptance) if acceptance.original == 0.0 => {
            let keep = Keep::Always(acceptance.keep.into());
            return Ok(Plan(RejectNode::plan(all, keep, seeds)));
        }
        Some(acceptance) => {
            let logits = acceptance.logits();
            (Weights::Logits(logits), Keep::Always(acceptance.keep.into()))
        }
        None => {
            let estimate =
                |yields| EstimateNode::plan(Arc::clone(&all), Arc::clone(&target), yields);
            (Weights::Each(estimate(Estimate::Weights)), Keep::Each(estimate(Estimate::Keep)))
        }
    };
    let choices = SelectorNode::plan(weights, seeds.alike())?;
    let kept = RejectNode::plan(Arc::clone(&all), keep, seeds);
    Ok(Plan(ChooseNode::plan("rejection_resample", choices, vec![all, kept], true)?))
}
