//! `Dataset.padded_batch`: batches of elements whose shapes differ, filled up to one shape.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use half::{bf16, f16};

use crate::batching::batch::{AtOnce, BatchStage, Collate, Pending, batches, checked_size};
use crate::batching::parallel::{self, Tasks};
use crate::data::shape::volume;
use crate::data::{
    BufferMut, BytesArray, Chunk, Column, DType, Dims, Element, ElementSpec, PartialShape, Spec,
    Tensor, Value,
};
use crate::engine::apply::Parallel;
use crate::engine::node::{Arg, RunOptions, Unfixed};
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};

/// Batches filled up to the largest element, or to given shapes.
#[derive(Clone)]
pub struct PaddedBatchNode {
    input: Plan,
    size: usize,
    padding: Padding,
    drop_remainder: bool,
    tasks: Tasks,
    spec: ElementSpec,
}

/// What components are filled up to, and with what.
#[derive(Clone, Debug)]
enum Padding {
    /// Of known components.
    Known(Fill),
    /// As given, for components that the run shows.
    Later { shapes: Option<Vec<PartialShape>>, values: Option<Vec<Tensor>> },
}

/// Shape and value of each component.
#[derive(Clone, Debug)]
struct Fill {
    shapes: Vec<PartialShape>,
    values: Vec<Tensor>,
}

impl Fill {
    /// What was given, completed and checked against the components.
    fn new(
        specs: &[Spec],
        shapes: Option<Vec<PartialShape>>,
        values: Option<Vec<Tensor>>,
    ) -> Result<Self> {
        let shapes = shapes.map_or_else(|| default_shapes(specs), Ok)?;
        let values = match values {
            Some(values) => values,
            None => specs.iter().map(zero).collect::<Result<_>>()?,
        };
        if shapes.len() != specs.len() || values.len() != specs.len() {
            let count = specs.len();
            return Err(Error::invalid_argument(format!(
                "padded_shapes and padding_values must have an entry for each of {count} components"
            )));
        }
        for (i, spec) in specs.iter().enumerate() {
            check_component(i, spec, &shapes[i], &values[i])?;
        }
        Ok(Fill { shapes, values })
    }

    /// What was given for components of which nothing was known, now that one chunk is there. One
    /// value stands for all components, and numbers become those of their component.
    fn of_chunk(
        chunk: &Chunk,
        shapes: Option<Vec<PartialShape>>,
        values: Option<Vec<Tensor>>,
    ) -> Result<Self> {
        let specs: Vec<Spec> = chunk.columns().iter().map(Column::loose_spec).collect();
        let values = values.map(|values| {
            let all = if values.len() == 1 { vec![values[0].clone(); specs.len()] } else { values };
            all.iter().zip(&specs).map(|(value, spec)| number_as(value, spec)).collect()
        });
        Self::new(&specs, shapes, values)
    }
}

/// A scalar int64 or float64 (which Python's numbers are) in the dtype of its component, if that
/// holds it.
fn number_as(value: &Tensor, spec: &Spec) -> Tensor {
    fn exact<T: Element>(x: f64, to: T, back: f64) -> Option<Tensor> {
        if back == x || (back.is_nan() && x.is_nan()) { Tensor::scalar(to).ok() } else { None }
    }
    let number = match (value.values::<i64>(), value.values::<f64>()) {
        (Ok(&[x]), _) if (x as f64) as i64 == x => x as f64,
        (_, Ok(&[x])) => x,
        _ => return value.clone(),
    };
    let x = number;
    let converted = match spec.dtype() {
        Some(DType::Int8) => exact(x, x as i8, f64::from(x as i8)),
        Some(DType::Int16) => exact(x, x as i16, f64::from(x as i16)),
        Some(DType::Int32) => exact(x, x as i32, f64::from(x as i32)),
        Some(DType::UInt8) => exact(x, x as u8, f64::from(x as u8)),
        Some(DType::UInt16) => exact(x, x as u16, f64::from(x as u16)),
        Some(DType::UInt32) => exact(x, x as u32, f64::from(x as u32)),
        Some(DType::UInt64) => exact(x, x as u64, (x as u64) as f64),
        Some(DType::Float16) => Tensor::scalar(f16::from_f64(x)).ok(),
        Some(DType::BFloat16) => Tensor::scalar(bf16::from_f64(x)).ok(),
        Some(DType::Float32) => Tensor::scalar(x as f32).ok(),
        Some(DType::Float64) => Tensor::scalar(x).ok(),
        _ => None,
    };
    converted.unwrap_or_else(|| value.clone())
}

impl PaddedBatchNode {
    /// A plan of batches of `size`. `shapes` has the padded shape of each component (`None` sizes
    /// are those of the largest element of the batch), `values` what they are filled with. Where
    /// only a run knows the components, it checks them then.
    ///
    /// # Errors
    /// `InvalidArgument` if shapes or values do not fit the components.
    pub fn plan(
        input: Plan,
        size: i64,
        shapes: Option<Vec<PartialShape>>,
        values: Option<Vec<Tensor>>,
        drop_remainder: bool,
    ) -> Result<Plan> {
        let size = checked_size(size)?;
        let (padding, spec) = match input.spec() {
            ElementSpec::Unknown => (Padding::Later { shapes, values }, ElementSpec::Unknown),
            ElementSpec::Known(structure, specs) => {
                let fill = Fill::new(specs, shapes, values)?;
                let first = drop_remainder.then_some(size);
                let batched = specs.iter().zip(&fill.shapes);
                let batched = batched.map(|(s, shape)| s.map_shape(|_| shape.prepend(first)));
                let spec = ElementSpec::Known(Arc::clone(structure), batched.collect());
                (Padding::Known(fill), spec)
            }
        };
        let tasks = Tasks::NONE;
        Ok(Arc::new(PaddedBatchNode { input, size, padding, drop_remainder, tasks, spec }))
    }

    /// The plan with batches put together by several tasks.
    ///
    /// # Errors
    /// `Internal` for another plan.
    pub fn in_parallel(
        plan: &Plan,
        parallel: Parallel,
        deterministic: Option<bool>,
    ) -> Result<Plan> {
        let node: &dyn Any = &**plan;
        let batch = node.downcast_ref::<PaddedBatchNode>();
        let batch = batch.ok_or_else(|| Error::internal("another plan than padded_batch"))?;
        let tasks = Tasks { parallel, deterministic };
        Ok(Arc::new(PaddedBatchNode { tasks, ..batch.clone() }))
    }

    /// The same with tasks, unless it has some.
    pub(crate) fn with_tasks(&self, tasks: Tasks) -> Option<Self> {
        (!self.tasks.are_some()).then(|| PaddedBatchNode { tasks, ..self.clone() })
    }
}

fn default_shapes(specs: &[Spec]) -> Result<Vec<PartialShape>> {
    let known = |(i, spec): (usize, &Spec)| match spec.shape().rank() {
        Some(_) => Ok(spec.shape()),
        None if !matches!(spec, Spec::Tensor { .. }) => Err(not_dense(spec)),
        None => Err(Error::invalid_argument(format!(
            "you must provide `padded_shapes` because component {i} has unknown rank"
        ))),
    };
    specs.iter().enumerate().map(known).collect()
}

fn not_dense(spec: &Spec) -> Error {
    Error::invalid_argument(format!("padded_batch of a component of type {spec}"))
        .with_hint("convert it to a dense array first")
}

pub(crate) fn zero(spec: &Spec) -> Result<Tensor> {
    match spec {
        Spec::Tensor { dtype, .. } => Tensor::zeros(*dtype, Dims::new()),
        other => Err(not_dense(other)),
    }
}

fn check_component(i: usize, spec: &Spec, shape: &PartialShape, value: &Tensor) -> Result<()> {
    if spec.dtype() != Some(value.dtype()) || !value.dims().is_empty() {
        let (have, want) = (value.dtype(), spec.dtype().map_or("object", |dtype| dtype.name()));
        return Err(Error::invalid_argument(format!(
            "padding value of component {i} is {have}{}, the component is {want}",
            PartialShape::from(value.dims())
        )));
    }
    let own = spec.shape();
    let fits = match (own.dims(), shape.dims()) {
        (Some(own), Some(to)) => {
            let enough = |(own, to): (&Option<usize>, &Option<usize>)| match (own, to) {
                (Some(own), Some(to)) => own <= to,
                _ => true,
            };
            own.len() == to.len() && own.iter().zip(to).all(enough)
        }
        _ => true,
    };
    if fits {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "the padded shape {shape} is not compatible with the shape {own} of component {i}"
    )))
}

impl Node for PaddedBatchNode {
    fn name(&self) -> &'static str {
        "padded_batch"
    }

    fn args(&self) -> Vec<Arg> {
        let (shapes, values) = match &self.padding {
            Padding::Known(fill) => (Some(&fill.shapes), Some(&fill.values)),
            Padding::Later { shapes, values } => (shapes.as_ref(), values.as_ref()),
        };
        let shapes = shapes.map(|shapes| {
            shapes.iter().map(PartialShape::to_string).collect::<Vec<_>>().join(", ")
        });
        vec![
            Arg::new("batch_size", self.size),
            Arg::new("padded_shapes", shapes.unwrap_or_else(|| "None".into())),
            Arg::new("padding_values", format_args!("{:?}", values.unwrap_or(&Vec::new()))),
            Arg::new("drop_remainder", self.drop_remainder),
            Arg::tuning("num_parallel_calls", self.tasks.parallel.text()),
        ]
    }

    fn unfixed(&self, options: &RunOptions) -> Option<Unfixed> {
        self.tasks.are_free(options).then_some(Unfixed::Order)
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(PaddedBatchNode { input, ..self.clone() }))
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        batches(self.input.cardinality(), self.size, self.drop_remainder)
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let pad = Pad { padding: self.padding.clone(), seen: OnceLock::new() };
        parallel::open(opening, &self.input, &self.tasks, |input| BatchStage {
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            input,
            collate: Arc::new(pad),
            size: self.size,
            at_once: AtOnce::One,
            drop_remainder: self.drop_remainder,
            error_ends_batch: true,
            gathers: false,
            pending: Pending::default(),
        })
    }
}

struct Pad {
    padding: Padding,
    /// What the first chunk has shown.
    seen: OnceLock<Fill>,
}

impl Pad {
    fn fill(&self, chunk: &Chunk) -> Result<&Fill> {
        let (shapes, values) = match &self.padding {
            Padding::Known(fill) => return Ok(fill),
            Padding::Later { shapes, values } => (shapes, values),
        };
        if let Some(fill) = self.seen.get() {
            return Ok(fill);
        }
        let fill = Fill::of_chunk(chunk, shapes.clone(), values.clone())?;
        Ok(self.seen.get_or_init(|| fill))
    }
}

impl Collate for Pad {
    fn see(&self, chunk: &Chunk) {
        // What is wrong with it is the error of its batch.
        let _ = self.fill(chunk);
    }

    fn collate(&self, chunk: Chunk, size: usize) -> Result<Chunk> {
        let Fill { shapes, values } = self.fill(&chunk)?;
        let columns = chunk.columns().iter().zip(shapes.iter().zip(values)).enumerate();
        let columns = columns.map(|(i, (column, (shape, value)))| {
            let padded = pad(column, shape, value)
                .map_err(|error| error.at_node(|| format!("padded_batch, component {i}")))?;
            let dims = std::iter::once(1).chain(padded.dims().iter().copied()).collect();
            Ok(Column::Stacked(padded.reshape(dims)?))
        });
        let columns = columns.collect::<Result<_>>()?;
        Chunk::new(chunk.rows() / size, Arc::clone(chunk.structure()), columns)
    }
}

/// The rows of a column as one tensor, each filled up with `value`.
pub(crate) fn pad(column: &Column, shape: &PartialShape, value: &Tensor) -> Result<Tensor> {
    if column.dtype() != Some(value.dtype()) {
        let (seen, dtype) = (column.kind(), value.dtype());
        return Err(Error::invalid_argument(format!(
            "expected a component of {dtype}, got {seen}"
        )));
    }
    let rows: Vec<Tensor> =
        (0..column.len()).map(|row| dense(column, row)).collect::<Result<_>>()?;
    let to = target(&rows, shape)?;
    let dims: Dims = std::iter::once(rows.len()).chain(to.iter().copied()).collect();
    if let Column::Stacked(tensor) = column
        && tensor.dims() == &dims[..]
    {
        return Ok(tensor.clone());
    }
    let count = volume(&dims)?;
    let row = volume(&to)?;
    if let Ok(fill) = value.strings() {
        let fill = fill.get(0);
        let mut places: Vec<&[u8]> = vec![fill; count];
        for (i, tensor) in rows.iter().enumerate() {
            let strings = tensor.strings()?;
            let into = &mut places[i * row..(i + 1) * row];
            runs(tensor.dims(), &to, |from, at, len| {
                (0..len).for_each(|k| into[at + k] = strings.get(from + k));
            });
        }
        return Tensor::text(value.dtype(), dims, BytesArray::from_values(places)?);
    }
    let fill = value.bytes()?;
    let size = fill.len();
    let mut out = BufferMut::scratch(count.saturating_mul(size))?;
    if fill.iter().all(|byte| *byte == 0) {
        out.fill(0);
    } else {
        out.chunks_exact_mut(size.max(1)).for_each(|place| place.copy_from_slice(fill));
    }
    for (i, tensor) in rows.iter().enumerate() {
        let bytes = tensor.bytes()?;
        let into = &mut out[i * row * size..(i + 1) * row * size];
        runs(tensor.dims(), &to, |from, at, len| {
            into[at * size..(at + len) * size]
                .copy_from_slice(&bytes[from * size..(from + len) * size]);
        });
    }
    Tensor::fixed(value.dtype(), dims, out.freeze())
}

fn dense(column: &Column, row: usize) -> Result<Tensor> {
    match column.row(row)? {
        Value::Tensor(tensor) => Ok(tensor),
        _ => Err(Error::invalid_argument("padded_batch of a component that is not dense")),
    }
}

/// The shape that all rows are filled up to.
fn target(rows: &[Tensor], shape: &PartialShape) -> Result<Dims> {
    let rank = shape.rank().unwrap_or_else(|| rows.first().map_or(0, |row| row.dims().len()));
    let mut to: Dims = Dims::from_elem(0, rank);
    for (i, row) in rows.iter().enumerate() {
        if row.dims().len() != rank {
            return Err(Error::invalid_argument(format!(
                "element {i} of the batch has shape {:?}, but padded shape {shape} has rank {rank}",
                row.dims()
            )));
        }
        to.iter_mut().zip(row.dims()).for_each(|(to, size)| *to = (*to).max(*size));
    }
    for (axis, size) in shape.dims().unwrap_or_default().iter().enumerate() {
        let Some(size) = *size else { continue };
        if let Some(row) = rows.iter().position(|row| row.dims()[axis] > size) {
            return Err(Error::data_loss(format!(
                "attempted to pad to a smaller size than the input element: element {row} of the \
                 batch has shape {:?}, padded shape is {shape}",
                rows[row].dims()
            ))
            .with_hint("enlarge padded_shapes, or cut the elements before"));
        }
        to[axis] = size;
    }
    Ok(to)
}

/// Calls `copy(from, to, length)` for each contiguous run of a tensor that is laid into the corner
/// of a larger one.
fn runs(small: &[usize], large: &[usize], mut copy: impl FnMut(usize, usize, usize)) {
    let Some((&len, outer)) = small.split_last() else { return copy(0, 0, 1) };
    if small.contains(&0) {
        return;
    }
    let lines: usize = outer.iter().product();
    for line in 0..lines {
        let (mut rest, mut at, mut stride) = (line, 0, large[outer.len()]);
        for axis in (0..outer.len()).rev() {
            at += rest % outer[axis] * stride;
            rest /= outer[axis];
            stride *= large[axis];
        }
        copy(line * len, at, len);
    }
}
