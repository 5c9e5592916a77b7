//! Random numbers from seeds whose distribution has parameters for each: `stateless_gamma`,
//! `stateless_poisson`, `stateless_binomial`.
//!
//! The inputs are a seed and perhaps a shape, as in `kernels/random.rs`, and the parameters, of one
//! shape. The shape of the result ends with theirs.

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense, scratch, to_f64};
use crate::kernels::random::{check_seed, column, counts, known_shape, shapes, sizes, streams};
use crate::kernels::shape::stacked;
use crate::random::Philox;
use crate::random::rates::{binomial, gamma, poisson};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Gamma,
    Poisson,
    /// Of two parameters: how many events, and how likely each is.
    Binomial,
}

#[derive(Debug)]
struct Rated {
    law: Law,
    dtype: DType,
    /// `None`: the second input.
    shape: Option<Dims>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let law = match op {
        "stateless_gamma" => Law::Gamma,
        "stateless_poisson" => Law::Poisson,
        "stateless_binomial" => Law::Binomial,
        _ => return Ok(None),
    };
    attrs.only(&["dtype", "shape"])?;
    let dtype = attrs.dtype("dtype")?;
    let whole = law != Law::Gamma && matches!(dtype, DType::Int32 | DType::Int64);
    if !whole && !matches!(dtype, DType::Float16 | DType::Float32 | DType::Float64) {
        return Err(Error::invalid_argument(format!("{op} does not give {dtype}")));
    }
    let shape = attrs.opt_ints("shape")?.map(|dims| sizes(&dims)).transpose()?;
    Ok(Some(Arc::new(Rated { law, dtype, shape })))
}

/// How numbers of this type are rounded.
fn narrowing(dtype: Option<DType>) -> fn(f64) -> f64 {
    match dtype {
        Some(DType::Float16) => |x| f64::from(half::f16::from_f64(x)),
        Some(DType::Float32) => |x| f64::from(x as f32),
        _ => |x| x,
    }
}

impl Rated {
    /// The seed, the rest, and how many of the rest are a shape.
    fn parts<'a, T>(&self, given: &'a [T]) -> Result<(&'a T, &'a [T], usize)> {
        let parameters = if self.law == Law::Binomial { 2 } else { 1 };
        let shapes = usize::from(self.shape.is_none());
        match given.split_first() {
            Some((seed, rest)) if rest.len() == shapes + parameters => Ok((seed, rest, shapes)),
            _ => {
                let (wanted, got) = (1 + shapes + parameters, given.len());
                Err(Error::invalid_argument(format!("expected {wanted} inputs, got {got}")))
            }
        }
    }

    fn draw(
        &self,
        stream: &Philox,
        index: u64,
        parameter: &impl Fn(usize) -> f64,
        narrow: fn(f64) -> f64,
    ) -> f64 {
        match self.law {
            Law::Gamma => gamma(stream, index, parameter(0)),
            Law::Poisson => poisson(stream, index, parameter(0), self.highest()),
            Law::Binomial => binomial(stream, index, parameter(0), parameter(1), narrow),
        }
    }

    /// The largest number that the dtype holds.
    fn highest(&self) -> f64 {
        match self.dtype {
            DType::Int32 => f64::from(i32::MAX),
            DType::Int64 => i64::MAX as f64,
            DType::Float16 => f64::from(half::f16::MAX),
            DType::Float32 => f64::from(f32::MAX),
            _ => f64::MAX,
        }
    }
}

/// Fails unless the shape of the result ends with that of the parameters.
fn check(shape: &Dims, dims: &[usize]) -> Result<()> {
    if shape.ends_with(dims) {
        return Ok(());
    }
    let (shape, dims) = (PartialShape::from(&shape[..]), PartialShape::from(dims));
    Err(Error::invalid_argument(format!(
        "the shape of the result must end with that of the parameters, {dims}, got {shape}"
    )))
}

impl Kernel for Rated {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let (seed, rest, own) = self.parts(specs)?;
        check_seed(seed)?;
        let (sizes, parameters) = rest.split_at(own);
        for parameter in parameters {
            let (dtype, shape) = dense(parameter)?;
            if !dtype.is_float() && !dtype.is_integer() {
                let text = format!("parameters are numbers, got {dtype}");
                return Err(Error::invalid_argument(text));
            }
            if let (Some(shapes), Some(dims)) = (&self.shape, shape.known()) {
                check(shapes, &dims)?;
            }
        }
        let shape = known_shape(self.shape.as_ref(), sizes.first())?;
        Ok(vec![Spec::Tensor { dtype: self.dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let (seed, rest, _) = self.parts(args)?;
        let (shapes, given) = shapes(self.shape.as_ref(), rest, rows)?;
        let dims = given[0].row_dims()?;
        shapes.iter().try_for_each(|shape| check(shape, dims))?;
        if given.iter().any(|other| other.row_dims().is_ok_and(|own| own != dims)) {
            return Err(Error::invalid_argument("the parameters have different shapes"));
        }
        let each = volume(dims)?;
        let columns = given.iter().map(|parameter| to_f64(&stacked(parameter, rows)?));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let narrow = narrowing(given[0].dtype());
        let (counts, total) = counts(&shapes)?;
        let mut out = scratch::<f64>(total)?;
        let mut values = out.typed_mut::<f64>();
        for (row, stream) in streams(seed, rows)?.into_iter().enumerate() {
            let samples = counts[row].checked_div(each).unwrap_or(0);
            let (own, after) = values.split_at_mut(counts[row]);
            values = after;
            for at in 0..each {
                let parameter = |k: usize| columns[k][row * each + at];
                for sample in 0..samples {
                    // All numbers of one parameter are numbered before those of the next.
                    let index = (at * samples + sample) as u64;
                    own[sample * each + at] = self.draw(&stream, index, &parameter, narrow);
                }
            }
        }
        let made = Tensor::fixed(DType::Float64, [total][..].into(), out.freeze())?;
        if self.dtype.is_integer() {
            let bad = made.values::<f64>()?.iter().any(|value| !value.is_finite());
            if bad {
                let text = format!("a rate is negative, or too large for {}", self.dtype);
                return Err(Error::invalid_argument(text));
            }
        }
        Ok(vec![column(cast_tensor(&made, self.dtype)?, shapes)?])
    }
}
