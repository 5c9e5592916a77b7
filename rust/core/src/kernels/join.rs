//! `concatenate` and `stack`.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::data::{BufferMut, BytesArray, Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::dense;
use crate::kernels::shape::normal_axis;

#[derive(Debug)]
struct Join {
    axis: i64,
    /// Along an axis that the inputs do not have.
    new_axis: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let new_axis = match op {
        "concatenate" => false,
        "stack" => true,
        _ => return Ok(None),
    };
    attrs.only(&["axis"])?;
    let axis = attrs.opt_int("axis")?.unwrap_or(0);
    Ok(Some(Arc::new(Join { axis, new_axis })))
}

type Partial = SmallVec<[Option<usize>; 4]>;

impl Join {
    /// The axis, and the shapes with the new axis added.
    fn normal(&self, mut shapes: Vec<Partial>) -> Result<(usize, Vec<Partial>)> {
        let rank = shapes.first().map_or(0, |first| first.len());
        if shapes.iter().any(|shape| shape.len() != rank) {
            let text = "all the input arrays must have same number of dimensions";
            return Err(Error::invalid_argument(text));
        }
        if rank == 0 && !self.new_axis {
            let text = "zero-dimensional arrays cannot be concatenated";
            return Err(Error::invalid_argument(text));
        }
        let axis = normal_axis(self.axis, rank + usize::from(self.new_axis))?;
        if self.new_axis {
            shapes.iter_mut().for_each(|shape| shape.insert(axis, Some(1)));
        }
        Ok((axis, shapes))
    }

    /// The shape of the result.
    fn rule(&self, shapes: Vec<Partial>) -> Result<(usize, Partial)> {
        let (axis, shapes) = self.normal(shapes)?;
        let Some((first, rest)) = shapes.split_first() else {
            return Err(Error::invalid_argument("need at least one array to concatenate"));
        };
        let mut dims = first.clone();
        for shape in rest {
            for (i, (own, other)) in dims.iter_mut().zip(shape).enumerate() {
                *own = match (*own, *other) {
                    (Some(a), Some(b)) if i == axis => Some(a + b),
                    _ if i == axis => None,
                    (Some(a), Some(b)) if a != b => {
                        return Err(Error::invalid_argument(format!(
                            "all the input array dimensions except for the concatenation axis \
                             must match exactly, but along dimension {i} there are sizes {a} and {b}"
                        )));
                    }
                    (a, b) => a.or(b),
                };
            }
        }
        Ok((axis, dims))
    }
}

/// The runs of each input that make up the result, in order: input, first value, count.
fn pieces(args: &[Arg], rows: usize, outer: usize, runs: &[usize]) -> Vec<(usize, usize, usize)> {
    let mut pieces = Vec::with_capacity(rows * outer * args.len());
    for row in 0..rows {
        for o in 0..outer {
            for (i, (arg, run)) in args.iter().zip(runs).enumerate() {
                let row = if arg.is_const() { 0 } else { row };
                pieces.push((i, (row * outer + o) * run, *run));
            }
        }
    }
    pieces
}

impl Kernel for Join {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let Some(first) = specs.first() else {
            return Err(Error::invalid_argument("need at least one array to concatenate"));
        };
        let (dtype, _) = dense(first)?;
        let mut shapes: Option<Vec<Partial>> = Some(Vec::new());
        for spec in specs {
            let (other, shape) = dense(spec)?;
            if other != dtype {
                let text = format!("cannot join {dtype} and {other}: cast one of them");
                return Err(Error::invalid_argument(text));
            }
            match (&mut shapes, shape.dims()) {
                (Some(shapes), Some(dims)) => shapes.push(dims.into()),
                _ => shapes = None,
            }
        }
        let shape = match shapes {
            Some(shapes) => PartialShape::new(self.rule(shapes)?.1),
            None => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let row = |arg: &Arg| Ok(arg.row_dims()?.iter().map(|dim| Some(*dim)).collect());
        let shapes: Vec<Partial> = args.iter().map(row).collect::<Result<_>>()?;
        let (axis, dims) = self.rule(shapes.clone())?;
        let dims = PartialShape::new(dims).known();
        let dims = dims.ok_or_else(|| Error::internal("a shape is known in part only"))?;
        let outer: usize = dims[..axis].iter().product();
        let run = |arg: &Arg| {
            let values: usize = arg.row_dims()?.iter().product();
            Ok(values.checked_div(outer).unwrap_or(0))
        };
        let runs: Vec<usize> = args.iter().map(run).collect::<Result<_>>()?;
        let tensors: Vec<&Tensor> = args.iter().map(Arg::tensor).collect::<Result<_>>()?;
        let dims: Dims = std::iter::once(rows).chain(dims).collect();
        let pieces = pieces(args, rows, outer, &runs);
        let dtype = tensors.first().map_or(DType::Bool, |tensor| tensor.dtype());
        let joined = match dtype.size() {
            Some(size) => join_fixed(&tensors, &pieces, size, dtype, dims)?,
            None => join_text(&tensors, &pieces, dtype, dims)?,
        };
        Ok(vec![Column::Stacked(joined)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

fn join_fixed(
    tensors: &[&Tensor],
    pieces: &[(usize, usize, usize)],
    size: usize,
    dtype: DType,
    dims: Dims,
) -> Result<Tensor> {
    let bytes: Vec<_> = tensors.iter().map(|tensor| tensor.bytes()).collect::<Result<_>>()?;
    let count: usize = pieces.iter().map(|(_, _, count)| count).sum();
    let mut out = BufferMut::scratch(count * size)?;
    let mut at = 0;
    for (input, start, count) in pieces {
        let bytes = &bytes[*input][start * size..(start + count) * size];
        out[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    }
    Tensor::fixed(dtype, dims, out.freeze())
}

fn join_text(
    tensors: &[&Tensor],
    pieces: &[(usize, usize, usize)],
    dtype: DType,
    dims: Dims,
) -> Result<Tensor> {
    let arrays: Vec<&BytesArray> =
        tensors.iter().map(|tensor| tensor.strings()).collect::<Result<_>>()?;
    let mut bases = Vec::with_capacity(arrays.len());
    let mut base = 0;
    for array in &arrays {
        bases.push(base);
        base += array.len();
    }
    let places: Vec<usize> = pieces
        .iter()
        .flat_map(|(input, start, count)| bases[*input] + start..bases[*input] + start + count)
        .collect();
    Tensor::text(dtype, dims, BytesArray::concat(&arrays).gather(&places))
}
