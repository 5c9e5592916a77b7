//! Random numbers from seeds: `stateless_uniform`, `stateless_uniform_int`,
//! `stateless_uniform_full_int`, `stateless_normal`, `stateless_truncated_normal`,
//! `stateless_categorical`, `stateless_shuffle`. And `element_seed`: a seed for each element.
//!
//! The first input is a seed of two integers, and equal seeds give equal numbers: TensorFlow's, bit
//! for bit. Three integers are the state of the generator itself: the counter, lower half first,
//! and the key. The shape of the result is a static argument, or else the second input.

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{
    BufferMut, Column, DType, Dims, Element, PartialShape, Rows, Spec, Tensor, Wanted,
};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, dense, inputs, scratch, to_f64};
use crate::kernels::shape::stacked;
use crate::random::distributions::{Integer, Ranged, Real, permutation};
use crate::random::draw::{Categorical, stateless};
use crate::random::site::OpSeed;
use crate::random::{Philox, Site};

/// What numbers of a shape are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Uniform,
    /// Between two more inputs.
    UniformInt,
    FullInt,
    Normal,
    TruncatedNormal,
}

#[derive(Debug)]
struct Fill {
    law: Law,
    dtype: DType,
    /// `None`: the second input.
    shape: Option<Dims>,
}

#[derive(Debug)]
struct Classes {
    dtype: DType,
    /// Draws for each row of weights.
    count: usize,
}

#[derive(Debug)]
struct Shuffle;

/// A seed that depends on the op, the run and the place of the element, and on no input.
#[derive(Debug)]
struct ElementSeed(OpSeed);

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let law = match op {
        "stateless_uniform" => Law::Uniform,
        "stateless_uniform_int" => Law::UniformInt,
        "stateless_uniform_full_int" => Law::FullInt,
        "stateless_normal" => Law::Normal,
        "stateless_truncated_normal" => Law::TruncatedNormal,
        "stateless_categorical" => {
            attrs.only(&["num_samples", "dtype"])?;
            let samples = attrs.int("num_samples")?;
            let count = usize::try_from(samples).map_err(|_| {
                Error::invalid_argument(format!("num_samples must be at least 0, got {samples}"))
            })?;
            let dtype = attrs.dtype("dtype")?;
            if !matches!(dtype, DType::Int32 | DType::Int64) {
                let text = format!("classes are int32 or int64, not {dtype}");
                return Err(Error::invalid_argument(text));
            }
            return Ok(Some(Arc::new(Classes { dtype, count })));
        }
        "element_seed" => {
            attrs.only(&["number", "seed"])?;
            let op = match attrs.opt_int("seed")? {
                Some(seed) => OpSeed::Given(seed),
                None => OpSeed::Numbered(attrs.int("number")? as u32),
            };
            return Ok(Some(Arc::new(ElementSeed(op))));
        }
        "stateless_shuffle" => {
            attrs.only(&[])?;
            return Ok(Some(Arc::new(Shuffle)));
        }
        _ => return Ok(None),
    };
    attrs.only(&["dtype", "shape"])?;
    let dtype = attrs.dtype("dtype")?;
    let fits = match law {
        Law::Uniform | Law::Normal | Law::TruncatedNormal => dtype.is_float(),
        Law::UniformInt => matches!(dtype, DType::Int32 | DType::Int64),
        Law::FullInt => {
            matches!(dtype, DType::Int32 | DType::Int64 | DType::UInt32 | DType::UInt64)
        }
    };
    if !fits {
        return Err(Error::invalid_argument(format!("{op} does not give {dtype}")));
    }
    let shape = attrs.opt_ints("shape")?.map(|dims| sizes(&dims)).transpose()?;
    Ok(Some(Arc::new(Fill { law, dtype, shape })))
}

/// A shape, none of whose sizes may be negative.
pub(crate) fn sizes(dims: &[i64]) -> Result<Dims> {
    let size = |dim: &i64| {
        usize::try_from(*dim).map_err(|_| {
            Error::invalid_argument(format!("a shape has no negative sizes, got {dims:?}"))
        })
    };
    dims.iter().map(size).collect()
}

/// Refuses what is no seed.
pub(crate) fn check_seed(spec: &Spec) -> Result<()> {
    let (dtype, shape) = dense(spec)?;
    if !dtype.is_integer() {
        return Err(Error::invalid_argument(format!("a seed is two integers, got {dtype}")));
    }
    if !shape.accepts(&[2]) && !shape.accepts(&[3]) {
        return Err(Error::invalid_argument(format!("a seed has shape (2,), got {shape}")));
    }
    Ok(())
}

/// The stream of each row.
pub(crate) fn streams(seed: &Arg, rows: usize) -> Result<Vec<Philox>> {
    let words = cast_tensor(&stacked(seed, rows)?, DType::UInt64)?;
    let words = words.values::<u64>()?;
    match seed.row_dims()? {
        [2] => Ok(words.as_chunks::<2>().0.iter().map(|pair| stateless(*pair)).collect()),
        [3] => {
            let stream = |[low, high, key]: &[u64; 3]| Philox::from_counter(*key, [*low, *high]);
            Ok(words.as_chunks::<3>().0.iter().map(stream).collect())
        }
        dims => {
            let dims = PartialShape::from(dims);
            Err(Error::invalid_argument(format!("a seed has shape (2,), got {dims}")))
        }
    }
}

/// The value of each row of an input that is a scalar in each.
fn scalars<T: Element>(arg: &Arg, rows: usize, dtype: DType, name: &str) -> Result<Vec<T>> {
    if !arg.row_dims()?.is_empty() {
        let dims = PartialShape::from(arg.row_dims()?);
        return Err(Error::invalid_argument(format!("{name} must be a scalar, got shape {dims}")));
    }
    Ok(cast_tensor(&stacked(arg, rows)?, dtype)?.values::<T>()?.to_vec())
}

/// The shape of each row, where there is none for all the first of the inputs, and the inputs after it.
pub(crate) fn shapes<'a>(
    fixed: Option<&Dims>,
    args: &'a [Arg],
    rows: usize,
) -> Result<(Vec<Dims>, &'a [Arg])> {
    if let Some(shape) = fixed {
        return Ok((vec![shape.clone(); rows], args));
    }
    let Some((given, rest)) = args.split_first() else {
        return Err(Error::invalid_argument("the shape is missing"));
    };
    let [rank] = given.row_dims()? else {
        return Err(Error::invalid_argument("a shape is a vector of integers"));
    };
    let rank = *rank;
    let all = cast_tensor(&stacked(given, rows)?, DType::Int64)?;
    let all = all.values::<i64>()?;
    let row = |row: usize| sizes(&all[row * rank..(row + 1) * rank]);
    Ok(((0..rows).map(row).collect::<Result<_>>()?, rest))
}

/// What is known of the shape of each row: `fixed`, or as many sizes as the input `given` has.
pub(crate) fn known_shape(fixed: Option<&Dims>, given: Option<&Spec>) -> Result<PartialShape> {
    let Some(given) = given.filter(|_| fixed.is_none()) else {
        return Ok(fixed.map_or(PartialShape::UNKNOWN, |dims| PartialShape::from(dims.as_slice())));
    };
    let (dtype, shape) = dense(given)?;
    if !dtype.is_integer() {
        return Err(Error::invalid_argument(format!("expected integers, got {dtype}")));
    }
    match shape.dims() {
        Some([Some(rank)]) => Ok(PartialShape::new(vec![None; *rank])),
        Some([None]) | None => Ok(PartialShape::UNKNOWN),
        Some(_) => Err(Error::invalid_argument("a shape is a vector of integers")),
    }
}

/// The values of all rows, one after another, as a column.
pub(crate) fn column(values: Tensor, shapes: Vec<Dims>) -> Result<Column> {
    if shapes.iter().any(|dims| *dims != shapes[0]) {
        return Ok(Column::Rows(Rows::new(values, shapes)?));
    }
    let row = shapes.first().map(|dims| dims.as_slice()).unwrap_or_default();
    let dims = std::iter::once(shapes.len()).chain(row.iter().copied()).collect();
    Ok(Column::Stacked(values.reshape(dims)?))
}

/// How many values each row has, and all of them.
pub(crate) fn counts(shapes: &[Dims]) -> Result<(Vec<usize>, usize)> {
    let counts = shapes.iter().map(|dims| volume(dims)).collect::<Result<Vec<_>>>()?;
    let total = counts.iter().try_fold(0_usize, |sum, count| sum.checked_add(*count));
    Ok((counts, total.ok_or_else(|| Error::resource_exhausted("the numbers are too many"))?))
}

impl Fill {
    /// Fills a row after the other.
    fn each<T: Element>(
        &self,
        shapes: Vec<Dims>,
        mut fill: impl FnMut(usize, &mut [T]) -> Result<()>,
    ) -> Result<Column> {
        let (counts, total) = counts(&shapes)?;
        let mut out: BufferMut = scratch::<T>(total)?;
        let mut rest = out.typed_mut::<T>();
        for (row, count) in counts.iter().enumerate() {
            let (own, after) = rest.split_at_mut(*count);
            fill(row, own)?;
            rest = after;
        }
        column(Tensor::fixed(self.dtype, [total][..].into(), out.freeze())?, shapes)
    }

    fn real<T: Element + Real>(&self, shapes: Vec<Dims>, streams: &[Philox]) -> Result<Column> {
        let fill = match self.law {
            Law::Normal => T::normal,
            Law::TruncatedNormal => T::truncated_normal,
            _ => T::uniform,
        };
        self.each::<T>(shapes, |row, out| {
            fill(&streams[row], out);
            Ok(())
        })
    }

    fn any<T: Element + Integer>(&self, shapes: Vec<Dims>, streams: &[Philox]) -> Result<Column> {
        self.each::<T>(shapes, |row, out| {
            T::any(&streams[row], out);
            Ok(())
        })
    }

    fn between<T: Element + Ranged + Ord + std::fmt::Display>(
        &self,
        shapes: Vec<Dims>,
        streams: &[Philox],
        limits: &[Arg],
    ) -> Result<Column> {
        let [low, high] = inputs(limits)?;
        let low = scalars::<T>(low, streams.len(), self.dtype, "minval")?;
        let high = scalars::<T>(high, streams.len(), self.dtype, "maxval")?;
        self.each::<T>(shapes, |row, out| {
            let (low, high) = (low[row], high[row]);
            if low >= high {
                return Err(Error::invalid_argument(format!(
                    "Need minval < maxval, got {low} >= {high}"
                )));
            }
            T::between(&streams[row], low, high, out);
            Ok(())
        })
    }
}

impl Kernel for Fill {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let limits = if self.law == Law::UniformInt { 2 } else { 0 };
        let wanted = 1 + limits + usize::from(self.shape.is_none());
        if specs.len() != wanted {
            let text = format!("expected {wanted} inputs, got {}", specs.len());
            return Err(Error::invalid_argument(text));
        }
        check_seed(&specs[0])?;
        for spec in &specs[1..] {
            let (dtype, _) = dense(spec)?;
            if !dtype.is_integer() {
                return Err(Error::invalid_argument(format!("expected integers, got {dtype}")));
            }
        }
        let shape = known_shape(self.shape.as_ref(), specs.get(1))?;
        Ok(vec![Spec::Tensor { dtype: self.dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let Some((seed, rest)) = args.split_first() else {
            return Err(Error::invalid_argument("the seed is missing"));
        };
        let streams = streams(seed, rows)?;
        let (shapes, limits) = shapes(self.shape.as_ref(), rest, rows)?;
        let column = match (self.law, self.dtype) {
            (Law::UniformInt, DType::Int32) => self.between::<i32>(shapes, &streams, limits),
            (Law::UniformInt, _) => self.between::<i64>(shapes, &streams, limits),
            (Law::FullInt, DType::Int32) => self.any::<i32>(shapes, &streams),
            (Law::FullInt, DType::UInt32) => self.any::<u32>(shapes, &streams),
            (Law::FullInt, DType::Int64) => self.any::<i64>(shapes, &streams),
            (Law::FullInt, _) => self.any::<u64>(shapes, &streams),
            (_, DType::Float16) => self.real::<half::f16>(shapes, &streams),
            (_, DType::BFloat16) => self.real::<half::bf16>(shapes, &streams),
            (_, DType::Float32) => self.real::<f32>(shapes, &streams),
            _ => self.real::<f64>(shapes, &streams),
        };
        Ok(vec![column?])
    }
}

impl Kernel for Classes {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [seed, logits] = inputs(specs)?;
        check_seed(seed)?;
        let (dtype, shape) = dense(logits)?;
        if !dtype.is_float() {
            return Err(Error::invalid_argument(format!("logits are floats, got {dtype}")));
        }
        let batch = match shape.dims() {
            None => None,
            Some([batch, _]) => *batch,
            Some(_) => {
                let text = format!("logits should be a matrix, got shape {shape}");
                return Err(Error::invalid_argument(text));
            }
        };
        let shape = PartialShape::new([batch, Some(self.count)]);
        Ok(vec![Spec::Tensor { dtype: self.dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [seed, logits] = inputs(args)?;
        let [batch, classes] = *logits.row_dims()? else {
            let shape = PartialShape::from(logits.row_dims()?);
            let text = format!("logits should be a matrix, got shape {shape}");
            return Err(Error::invalid_argument(text));
        };
        if classes == 0 && batch > 0 {
            return Err(Error::invalid_argument("num_classes should be positive, got 0"));
        }
        let streams = streams(seed, rows)?;
        let weights = to_f64(&stacked(logits, rows)?)?;
        let total = volume(&[rows, batch, self.count])?;
        let mut out = scratch::<i64>(total)?;
        let mut places = out.typed_mut::<i64>().iter_mut();
        for (row, mut stream) in streams.into_iter().enumerate() {
            for line in row * batch..(row + 1) * batch {
                let classes =
                    Categorical::from_logits(&weights[line * classes..(line + 1) * classes]);
                for place in places.by_ref().take(self.count) {
                    *place = classes.next(&mut stream) as i64;
                }
            }
        }
        let dims = [rows, batch, self.count][..].into();
        let drawn = Tensor::fixed(DType::Int64, dims, out.freeze())?;
        Ok(vec![Column::Stacked(cast_tensor(&drawn, self.dtype)?)])
    }
}

impl Kernel for ElementSeed {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [] = inputs(specs)?;
        Ok(vec![Spec::Tensor { dtype: DType::Int64, shape: PartialShape::from(&[2][..]) }])
    }

    fn run(&self, _: &[Arg], _: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        Err(Error::internal("a random op has no place in a run"))
    }

    fn run_at(&self, _: &[Arg], rows: usize, _: &[Wanted], site: &Site) -> Result<Vec<Column>> {
        let mut out = scratch::<i64>(rows * 2)?;
        let pairs = out.typed_mut::<i64>().as_chunks_mut::<2>().0;
        for (pair, seeds) in pairs.iter_mut().zip(site.seeds(self.0, rows)) {
            *pair = seeds.map(|word| word as i64);
        }
        let dims = [rows, 2][..].into();
        Ok(vec![Column::Stacked(Tensor::fixed(DType::Int64, dims, out.freeze())?)])
    }

    fn is_pure(&self) -> bool {
        false
    }
}

impl Kernel for Shuffle {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [seed, value] = inputs(specs)?;
        check_seed(seed)?;
        dense(value)?;
        Ok(vec![value.clone()])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [seed, value] = inputs(args)?;
        let value = stacked(value, rows)?;
        let Some(count) = value.dims().get(1).copied() else {
            return Ok(vec![Column::Stacked(value)]);
        };
        let mut order = Vec::with_capacity(rows * count);
        for (row, mut stream) in streams(seed, rows)?.into_iter().enumerate() {
            order.extend(permutation(&mut stream, count).iter().map(|at| row * count + at));
        }
        let dims: Dims = value.dims().into();
        let items = std::iter::once(rows * count).chain(dims.iter().skip(2).copied()).collect();
        Ok(vec![Column::Stacked(value.reshape(items)?.gather(&order)?.reshape(dims)?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}
