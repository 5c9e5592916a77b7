//! `string_join` of several inputs value by value, `reduce_join` along axes, and
//! `unsorted_segment_join` by number.

use std::sync::Arc;

use crate::data::shape::{broadcast, volume};
use crate::data::{
    BytesArray, BytesBuilder, Column, DType, Dims, PartialShape, Spec, Tensor, Wanted,
};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense, inputs};
use crate::kernels::elementwise::loops::{Loops, broadcast_partial};
use crate::kernels::shape::stacked;
use crate::kernels::strings::groups::{Groups, without_innermost};
use crate::kernels::strings::{check_size, check_text};

#[derive(Debug)]
struct Join(Vec<u8>);

#[derive(Debug)]
struct ReduceJoin {
    /// All axes if none are named.
    axes: Option<Vec<i64>>,
    keepdims: bool,
    separator: Vec<u8>,
}

#[derive(Debug)]
struct SegmentJoin {
    segments: usize,
    separator: Vec<u8>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let separator = || separator(attrs, "separator");
    Ok(Some(match op {
        "string_join" => {
            attrs.only(&["separator"])?;
            Arc::new(Join(separator()?))
        }
        "reduce_join" => {
            attrs.only(&["axis", "keepdims", "separator"])?;
            Arc::new(ReduceJoin {
                axes: attrs.opt_ints("axis")?,
                keepdims: attrs.bool_or("keepdims", false)?,
                separator: separator()?,
            })
        }
        "unsorted_segment_join" => {
            attrs.only(&["num_segments", "separator"])?;
            let segments = attrs.int("num_segments")?;
            let segments = usize::try_from(segments).map_err(|_| {
                let text = format!("num_segments must not be negative, got {segments}");
                Error::invalid_argument(text)
            })?;
            // Each needs a place, though it be empty.
            check_size(segments)?;
            Arc::new(SegmentJoin { segments, separator: separator()? })
        }
        _ => return Ok(None),
    }))
}

/// A static argument that is bytes or text.
pub(in crate::kernels) fn separator(attrs: &Attrs, name: &str) -> Result<Vec<u8>> {
    match attrs.opt_str(name) {
        Ok(text) => Ok(text.unwrap_or_default().as_bytes().to_vec()),
        Err(error) => match attrs.opt_tensor(name) {
            Ok(Some(tensor)) => Ok(tensor.strings()?.iter().next().unwrap_or_default().to_vec()),
            _ => Err(error),
        },
    }
}

/// Collects one string of several.
pub(in crate::kernels) struct Joined<'a> {
    separator: &'a [u8],
    value: Vec<u8>,
    empty: bool,
}

impl<'a> Joined<'a> {
    pub(in crate::kernels) fn new(separator: &'a [u8]) -> Self {
        Joined { separator, value: Vec::new(), empty: true }
    }

    pub(in crate::kernels) fn push(&mut self, part: &[u8]) -> Result<()> {
        if !std::mem::take(&mut self.empty) {
            self.value.extend_from_slice(self.separator);
        }
        check_size(self.value.len() + part.len())?;
        self.value.extend_from_slice(part);
        Ok(())
    }

    pub(in crate::kernels) fn finish(&mut self, out: &mut BytesBuilder) {
        out.push(&self.value);
        self.value.clear();
        self.empty = true;
    }
}

impl Kernel for Join {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let Some((first, rest)) = specs.split_first() else {
            return Ok(vec![Spec::scalar(DType::Bytes)]);
        };
        let (dtype, shape) = dense(first)?;
        check_text(dtype)?;
        let mut shape = shape.clone();
        for spec in rest {
            let (other, dims) = dense(spec)?;
            if other != dtype {
                let text = format!("string_join of {dtype} and {other}: make them one type");
                return Err(Error::invalid_argument(text));
            }
            shape = broadcast_partial(&shape, dims)?;
        }
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let mut row: Dims = Dims::new();
        for arg in args {
            row = broadcast(&row, arg.row_dims()?)?;
        }
        let dtype = args.first().and_then(Arg::dtype).unwrap_or(DType::Bytes);
        // A constant without values gives the others their common shape.
        let frame = Tensor::zeros(DType::UInt8, row)?;
        let (mut places, mut strings) = (Vec::new(), Vec::new());
        let mut dims: Dims = std::iter::once(rows).chain(frame.dims().iter().copied()).collect();
        for arg in args {
            let loops = Loops::new(&[arg.clone(), Arg::Const(frame.clone())], rows)?;
            let mut at = vec![0; loops.len];
            loops.run(&mut |start, count, [i, _]| {
                (0..count).for_each(|k| at[start + k] = i + k * loops.steps[0]);
            });
            dims = loops.dims;
            places.push(at);
            strings.push(arg.tensor()?.strings()?);
        }
        let mut out = BytesBuilder::default();
        let mut joined = Joined::new(&self.0);
        for value in 0..volume(&dims)? {
            for (at, strings) in places.iter().zip(&strings) {
                joined.push(strings.get(at[value]))?;
            }
            joined.finish(&mut out);
        }
        Ok(vec![Column::Stacked(Tensor::text(dtype, dims, out.finish()?)?)])
    }
}

impl ReduceJoin {
    /// The axes that go; along the first of them neighbours are joined first.
    fn axes(&self, rank: usize) -> Result<Vec<usize>> {
        let Some(axes) = &self.axes else { return Ok((0..rank).rev().collect()) };
        let mut found = Vec::with_capacity(axes.len());
        for axis in axes {
            let from_start = if *axis < 0 { axis + rank as i64 } else { *axis };
            let Some(axis) = usize::try_from(from_start).ok().filter(|axis| *axis < rank) else {
                let text = format!(
                    "Invalid reduction dimension {axis} for input with {rank} dimension(s)"
                );
                return Err(Error::new(ErrorKind::OutOfRange, text));
            };
            if found.contains(&axis) {
                let text = format!("Duplicate reduction dimension {axis}");
                return Err(Error::invalid_argument(text));
            }
            found.push(axis);
        }
        Ok(found)
    }

    fn reduced<T: Copy>(&self, dims: &[T], one: T) -> Result<Vec<T>> {
        let axes = self.axes(dims.len())?;
        let kept = dims.iter().enumerate().filter_map(|(axis, dim)| {
            match (axes.contains(&axis), self.keepdims) {
                (false, _) => Some(*dim),
                (true, keep) => keep.then_some(one),
            }
        });
        Ok(kept.collect())
    }

    /// True if it is the innermost axis of ragged rows.
    fn is_innermost(&self, rank: usize) -> bool {
        let axes = self.axes.as_deref();
        !self.keepdims && (axes == Some(&[-1]) || axes == Some(&[rank as i64 - 1]))
    }

    fn runs(&self, column: &Column) -> Result<Column> {
        let groups = Groups::of(column)?;
        let mut out = BytesBuilder::default();
        let mut joined = Joined::new(&self.separator);
        let (strings, mut at) = (groups.flat.strings()?, 0);
        for length in &groups.lengths {
            (at..at + length).try_for_each(|k| joined.push(strings.get(k)))?;
            joined.finish(&mut out);
            at += length;
        }
        let (dtype, count) = (groups.flat.dtype(), groups.lengths.len());
        groups.finish(Tensor::text(dtype, [count][..].into(), out.finish()?)?)
    }
}

impl Kernel for ReduceJoin {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        check_text(spec.dtype().unwrap_or(DType::Bool))?;
        if let Spec::Ragged { dtype, ragged_rank, .. } = spec {
            if !self.is_innermost(ragged_rank + 1) {
                let text = "a ragged component is joined along its innermost axis only: axis=-1";
                return Err(Error::invalid_argument(text));
            }
            return Ok(vec![without_innermost(spec, *dtype)?]);
        }
        let (dtype, shape) = dense(spec)?;
        let shape = match shape.dims() {
            Some(dims) => PartialShape::new(self.reduced(dims, Some(1))?),
            None if self.axes.is_none() && !self.keepdims => PartialShape::scalar(),
            None => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        if let Arg::Column(column @ Column::Ragged(_)) = arg {
            return Ok(vec![self.runs(column)?]);
        }
        let tensor = stacked(arg, rows)?;
        let dims = tensor.dims().get(1..).unwrap_or_default();
        let mut axes = self.axes(dims.len())?;
        axes.reverse();
        let stride = |axis: usize| dims[axis + 1..].iter().product::<usize>();
        let offsets = |axes: &[usize]| {
            axes.iter().fold(vec![0], |offsets: Vec<usize>, axis| {
                let steps = |offset: &usize| {
                    let offset = *offset;
                    (0..dims[*axis]).map(move |k| offset + k * stride(*axis))
                };
                offsets.iter().flat_map(steps).collect()
            })
        };
        let kept: Vec<usize> = (0..dims.len()).filter(|axis| !axes.contains(axis)).collect();
        let (outer, inner) = (offsets(&kept), offsets(&axes));
        let row: usize = dims.iter().product();
        let strings = tensor.strings()?;
        let mut out = BytesBuilder::default();
        let mut joined = Joined::new(&self.separator);
        for start in (0..rows).flat_map(|k| outer.iter().map(move |offset| k * row + offset)) {
            for offset in &inner {
                joined.push(strings.get(start + offset))?;
            }
            joined.finish(&mut out);
        }
        let dims = std::iter::once(rows).chain(self.reduced(dims, 1)?).collect();
        Ok(vec![Column::Stacked(Tensor::text(tensor.dtype(), dims, out.finish()?)?)])
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Ragged(_))
    }
}

impl SegmentJoin {
    /// The strings of one row joined by their numbers.
    fn join(
        &self,
        strings: &BytesArray,
        ids: &[i64],
        inner: usize,
        out: &mut BytesBuilder,
    ) -> Result<()> {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.segments];
        for (k, id) in ids.iter().enumerate() {
            let found = usize::try_from(*id).ok().and_then(|id| members.get_mut(id));
            let members = found.ok_or_else(|| {
                let text = "segment_ids are not allowed to exceed num_segments or to have negative \
                            values.";
                let segments = self.segments;
                Error::invalid_argument(text).with_hint(format!("got {id} of {segments} segments"))
            })?;
            members.push(k);
        }
        let mut joined = Joined::new(&self.separator);
        for members in &members {
            for column in 0..inner {
                for k in members {
                    joined.push(strings.get(k * inner + column))?;
                }
                joined.finish(out);
            }
        }
        Ok(())
    }
}

impl Kernel for SegmentJoin {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [text, ids] = inputs(specs)?;
        let ((dtype, shape), (ids, of_ids)) = (dense(text)?, dense(ids)?);
        check_text(dtype)?;
        if !ids.is_integer() {
            return Err(Error::invalid_argument(format!("segment_ids are integers, got {ids}")));
        }
        let (Some(dims), Some(of_ids)) = (shape.dims(), of_ids.dims()) else {
            return Ok(vec![Spec::Tensor { dtype, shape: PartialShape::UNKNOWN }]);
        };
        let differs = |(k, size): (usize, &Option<usize>)| match (size, dims.get(k)) {
            (Some(a), Some(Some(b))) if a != b => Some((k, *a, *b)),
            _ => None,
        };
        if of_ids.len() > dims.len() {
            let (more, fewer) = (of_ids.len(), dims.len());
            let text = format!("segment_ids have {more} axes, the input has {fewer}");
            return Err(Error::invalid_argument(text));
        }
        if let Some((axis, a, b)) = of_ids.iter().enumerate().find_map(differs) {
            return Err(Error::invalid_argument(format!(
                "Segment dimension is {a} while input dimension is {b} in rank {axis}"
            )));
        }
        let rest = dims[of_ids.len()..].iter().copied();
        let shape = PartialShape::new(std::iter::once(Some(self.segments)).chain(rest));
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [text, ids] = inputs(args)?;
        let rank = ids.row_dims()?.len();
        if text.row_dims()?.get(..rank) != Some(ids.row_dims()?) {
            let (a, b) = (PartialShape::from(ids.row_dims()?), text.row_dims()?);
            let text = format!("segment_ids {a} do not fit an input {}", PartialShape::from(b));
            return Err(Error::invalid_argument(text));
        }
        let (text, ids) = (stacked(text, rows)?, stacked(ids, rows)?);
        let ids = cast_tensor(&ids, DType::Int64)?;
        let ids = ids.values::<i64>()?;
        let (per_row, ids_per_row) = (text.len() / rows.max(1), ids.len() / rows.max(1));
        let rest = text.dims()[1 + rank..].iter().copied();
        let inner: usize = rest.clone().product();
        check_size(self.segments.saturating_mul(inner))?;
        let mut out = BytesBuilder::default();
        for row in 0..rows {
            let strings = text.strings()?.slice(row * per_row..(row + 1) * per_row);
            let ids = &ids[row * ids_per_row..(row + 1) * ids_per_row];
            self.join(&strings, ids, inner, &mut out)?;
        }
        let dims = [rows, self.segments].into_iter().chain(rest).collect();
        Ok(vec![Column::Stacked(Tensor::text(text.dtype(), dims, out.finish()?)?)])
    }
}
